"""How many people of an invented population fit what a text says. All texts are invented."""

from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest

from eval.attacks import said_of_person as person
from eval.experiment import SanitizedCorpus
from eval.measures.said import Area, areas_in
from eval.measures.uncertainty import wilson
from eval.progress import no_progress
from eval.rows import Row
from eval.tasks.anonymity import FACTS, AnonymityTask, among, hardly_hidden
from ingest.deciding.baselines.uniform import ORIGIN, REDACT
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector

POPULATION = person.new_population(20_000, seed=1)
UNIQUE = "She is a 61-year-old German woman who lives in Leeds and works as a plumber. She has asthma."
PHRASES = {
    "61-year-old": "person age", "German": "nationality", "Leeds": "city name", "plumber": "job title",
    "asthma": "disease"
}  # fmt: skip


def area(words: str) -> frozenset[Area]:
    return frozenset(each.area for each in areas_in(words))


def kept(documents: Sequence[Document], method: Method, phrases: dict[str, str] = PHRASES) -> SanitizedCorpus:
    done = DecidingSanitizer(PhraseDetector(phrases), method, RiskPrior()).sanitize(documents)
    there = [each for each in done if isinstance(each, SanitizedDocument)]
    return SanitizedCorpus("s", len(there), {}, {}, None, there)  # type: ignore[arg-type]


def test_marginals_are_as_stated() -> None:
    size = len(POPULATION)
    ages = (person.TODAY.toordinal() - POPULATION.born) / 365.25
    for low, high, share in person.AGES:
        assert np.mean((ages >= low) & (ages < high)) == pytest.approx(share, abs=0.015)
    assert POPULATION.female.mean() == pytest.approx(0.5, abs=0.015)
    assert np.mean(POPULATION.condition >= 0) == pytest.approx(person.ILL, abs=0.015)
    nation = person.places().country_of[POPULATION.town]
    weights = person.places().weights / person.places().weights.sum()
    shares = np.bincount(nation, minlength=len(weights)) / size
    assert np.abs(shares - weights).max() < 0.015
    abroad = np.mean(POPULATION.nationality != nation)
    assert abroad == pytest.approx(0.1 * (1 - (weights**2).sum()), abs=0.01)
    grown = ages >= 18.01
    assert (POPULATION.job[grown] >= 0).all() and (POPULATION.job[ages < 17.9] == -1).all()


def test_a_small_population_is_the_beginning_of_a_large_one() -> None:
    small = person.new_population(500, seed=1)
    for column in person.Population.__slots__:
        assert (getattr(small, column) == getattr(POPULATION, column)[:500]).all(), column
    assert (person.new_population(500, seed=2).born != small.born).any()


def test_who_fits_by_hand() -> None:
    day = date(1959, 6, 1).toordinal()
    towns = [
        next(n for n, each in enumerate(person.places().towns) if code in each.countries)
        for code in ("GB", "DE")
    ]
    nations = [person.places().codes.index(code) for code in ("GB", "DE")]
    people = person.Population(
        born=np.array([day, day, day - 4000, day]),
        female=np.array([True, False, True, True]),
        town=np.array([towns[0], towns[0], towns[0], towns[1]]),
        nationality=np.array([nations[0], nations[1], nations[0], nations[0]]),
        job=np.array([3, 3, 4, -1]),
        condition=np.array([5, -1, 5, 6]),
    )
    elsewhere = person.SaidOfPerson(areas=area("Kenya"), nationalities=frozenset(("KE",)))
    fits = [
        # What no member can have is set aside.
        (elsewhere, [0, 1, 2, 3]),
        (person.SaidOfPerson(), [0, 1, 2, 3]),
        (person.SaidOfPerson(female=True), [0, 2, 3]),
        (person.SaidOfPerson(ages=(60, 60)), [0, 1, 3]),
        (person.SaidOfPerson(born=(day, day + 1)), [0, 1, 3]),
        (person.SaidOfPerson(areas=area("England and Scotland")), []),
        (person.SaidOfPerson(areas=area("Germany")), [3]),
        (person.SaidOfPerson(nationalities=frozenset(("DE",))), [1]),
        (person.SaidOfPerson(jobs=frozenset((3, 4)), conditions=frozenset((5,))), [0, 2]),
        (person.SaidOfPerson(female=True, ages=(60, 61), jobs=frozenset((3,))), [0]),
    ]
    for said, expected in fits:
        assert people.fitting(said).tolist() == expected
    three = [person.SaidOfPerson(), person.SaidOfPerson(female=True), person.SaidOfPerson(ages=(60, 60))]
    assert person.anonymity(people, three, [1, 4]).tolist() == [[2, 5], [2, 4], [2, 4]]


@pytest.mark.parametrize(
    ("text", "ages"),
    [
        ("a 61-year-old clerk", (61, 61)),
        ("He is sixty one years old.", (61, 61)),
        ("She is in her sixties.", (60, 69)),
        ("aged 54", (54, 54)),
        ("somebody between 60 and 64 years old", (60, 64)),
        ("It took nine years.", None),
        ("a person in his early forties", (40, 44)),
    ],
)
def test_ages_are_read(text: str, ages: tuple[int, int] | None) -> None:
    assert person.said_of_person(text).ages == ages


def test_everything_is_read() -> None:
    said = person.said_of_person(UNIQUE)
    assert (said.ages, said.female) == ((61, 61), True)
    assert said.nationalities == {"DE"}
    assert [each.countries for each in said.areas] == [{"GB"}]
    assert {person.jobs()[each] for each in said.jobs} == {"plumber"}
    assert {person.conditions()[each] for each in said.conditions} == {"asthma"}
    assert said.facts == 6
    born = person.said_of_person("He was born on 5 May 1960 and lives in Lyon.")
    assert born.born == (date(1960, 5, 5).toordinal(), date(1960, 5, 6).toordinal())
    assert [each.countries for each in born.areas] == [{"FR"}]
    assert born.facts == 3


def test_what_is_not_said_of_the_person_is_not_read() -> None:
    assert (
        person.said_of_person("The train to Leeds was late, and the plumber came at nine.")
        == person.SaidOfPerson()
    )
    assert not person.said_of_person("He denies any asthma.").conditions
    assert person.said_of_person("She told him that he had met her.").female is None


def test_a_planted_unique_combination_is_caught_and_gone_when_redacted() -> None:
    documents = [Document("planted", UNIQUE), Document("silent", "The ferry was late and the tea was cold.")]
    task = AnonymityTask(documents, (1_000, 20_000), seed=1)
    for method, planted in ((ORIGIN, 1), (REDACT, None)):
        rows = {row.case: row for row in task.rows(kept(documents, method), task.cases, no_progress)}
        k = rows["planted"].figures[among(20_000)]
        assert k == 1 if planted else k > 5_000
        assert rows["silent"].figures == {FACTS: 0, among(1_000): 1_001, among(20_000): 20_001}
        shown = repr([task, person.said_of_person(UNIQUE), rows, POPULATION])
        assert not any(phrase in shown for phrase in ("61", "Leeds", "GB", "DE"))
    # What was not sanitized is not measured.
    one, other = task.rows(kept(documents[:1], ORIGIN), task.cases, no_progress)
    assert one.measured
    assert (other.failure, other.figures) == ("not sanitized", {})


def test_shares_by_hand() -> None:
    ks = (1, 1, 4, 5, 19, 100_000)
    rows = [Row(system="s", task="t", case=str(n), figures={among(9): k, FACTS: 2}) for n, k in enumerate(ks)]
    failed = Row(system="s", task="t", case="x", failure="Broken")
    found = hardly_hidden([*rows, failed], 9)
    assert (found.hits, found.n, found.interval) == (3, 6, wilson(3, 6))
    assert hardly_hidden([], 9).value is None


def test_nobody_is_no_population() -> None:
    with pytest.raises(ConfigurationError, match="a population of 0 has nobody in it: ask for at least 1"):
        person.new_population(0)
    with pytest.raises(ConfigurationError, match="A size of the population is missing or below 1: give at"):
        AnonymityTask([], ())
