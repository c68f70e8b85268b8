"""Which documents are about the same person. All people and texts are invented."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.linkage import Bm25
from eval.experiment import Experiment, SanitizedCorpus
from eval.measures.uncertainty import clustered_share
from eval.progress import no_progress
from eval.rows import Row
from eval.tasks import same_person as measured
from eval.tasks.same_person import (
    MARK,
    NO_TWIN,
    Found,
    SamePerson,
    SamePersonTask,
    aliases_in,
    found_twins,
    marks_in,
    same_person,
)
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.deciding.policy import Policy, Replacements
from ingest.documents import Document, SanitizedDocument
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

ENCODER = HashingEncoder()
FAMILIES = "Talvik Ostrem Brandal Kvisla Myrhaug Tveiten Solbakk Hagness Lunder Fosdahl".split()
GIVEN = "Alvi Ersu Marun Petlo Laulo Tomru Julvo Martil".split()
NAMES = [f"{given} {family}" for family in FAMILIES for given in GIVEN][:40]
PLAIN = ("The ferry was late.", "It rained all day.", "We had tea.", "The road is closed.", "Nobody came.")
THINGS = "anvil barge churn dory easel fiddle gondola harrow inkwell jib kiln loom mangle niche oar".split()


def about(names: Sequence[str]) -> tuple[list[Document], list[tuple[str, str]]]:
    """Two letters of each person, which share nothing but the name."""
    random = Random(0)
    documents, people = [], []
    for number, name in enumerate(names):
        ids = f"d{number:02}a", f"d{number:02}b"
        for doc_id in ids:
            said = " ".join(random.sample(PLAIN, 3))
            documents.append(Document(doc_id, f"A letter from {name}. {said}"))
        people.append(ids)
    return documents, people


def kept(
    documents: Sequence[Document], method: Method, replacements: Replacements = "descriptor"
) -> SanitizedCorpus:
    detector = PhraseDetector(dict.fromkeys(NAMES, "person full name"))
    policy = Policy(replacements=replacements)
    key = b"k" * 32
    done = DecidingSanitizer(detector, method, RiskPrior(), policy, key).sanitize(documents)
    there = [each for each in done if isinstance(each, SanitizedDocument)]

    def retriever(encoder: Encoder) -> object:
        raise AssertionError("nothing is asked")

    return SanitizedCorpus("s", len(there), {}, {}, retriever, there)  # type: ignore[arg-type]


def rows(corpus: SanitizedCorpus, people: Sequence[Sequence[str]], encoder: Encoder = ENCODER) -> list[Row]:
    task = SamePersonTask(people, encoder)
    return list(task.rows(corpus, task.cases, no_progress))


def test_the_same_person_in_two_unsanitized_documents_is_caught() -> None:
    documents, people = about(NAMES)
    figures = same_person(rows(kept(documents, ORIGIN), people))
    assert (figures.first.value, figures.first_five.value, figures.first.n) == (1, 1, 80)
    assert figures.chance_first == pytest.approx(1 / 79)
    assert figures.chance_first_five == pytest.approx(5 / 79)
    assert figures.alias.value == 0


@pytest.mark.parametrize("method", [REDACT, SUPPRESS], ids=["generalized", "suppressed"])
def test_where_nothing_is_left_linking_is_chance(method: Method) -> None:
    documents, people = about(NAMES)
    figures = same_person(rows(kept(documents, method), people))
    # Of 80 draws with 1/79, and with 5/79, more come once in ten thousand times.
    assert figures.first.hits <= 7
    assert figures.first_five.hits <= 16


def test_aliases_show_as_the_cost_that_they_are() -> None:
    documents, people = about(NAMES)
    aliased = same_person(rows(kept(documents, REDACT, "alias"), people))
    described = same_person(rows(kept(documents, REDACT), people))
    assert (aliased.first.value, aliased.alias.value, described.alias.value) == (1, 1, 0)
    assert described.first.hits <= 7


def test_an_alias_is_found_among_many_other_words() -> None:
    random = Random(1)
    texts = [" ".join(random.choices(THINGS, k=200)) for _ in range(20)]
    documents = [
        Document(f"d{number:02}", f"{text}. {NAMES[number // 2]} wrote.") for number, text in enumerate(texts)
    ]
    people = [(one.doc_id, other.doc_id) for one, other in list(pairwise(documents))[::2]]
    figures = same_person(rows(kept(documents, REDACT, "alias"), people))
    assert figures.first.value == 1


def test_what_is_left_in_both_documents_links_them(minilm: Encoder) -> None:
    hobbies = (
        "plays the harpsichord in a chapel",
        "breeds tortoises in a greenhouse",
        "repairs clocks of old lighthouses",
        "paints whales on the hulls of boats",
        "bakes bread for a monastery",
        "teaches chess to prisoners",
    )
    others = (
        "performs baroque keyboard music at church",
        "keeps reptiles under glass",
        "mends timepieces in coastal towers",
        "decorates ships with sea animals",
        "makes loaves for monks",
        "gives lessons in board games in jail",
    )
    documents = [Document(f"a{n}", f"{NAMES[n]} {said}.") for n, said in enumerate(hobbies)]
    documents += [Document(f"b{n}", f"There is {NAMES[n]}, who {said}.") for n, said in enumerate(others)]
    people = [(f"a{n}", f"b{n}") for n in range(len(hobbies))]
    figures = same_person(rows(kept(documents, SUPPRESS), people, minilm))
    assert figures.first.hits >= 8
    assert figures.chance_first == pytest.approx(1 / 11)


def test_ranks_by_hand() -> None:
    scores = np.array([-np.inf, 3.0, 2.0, 1.0, 0.0])
    rng = np.random.default_rng(0)
    assert found_twins(scores, 0, [3], rng) == Found(3, 1, 4)
    assert found_twins(scores, 0, [3, 1], rng) == Found(1, 2, 4)


def test_equals_are_ranked_at_random() -> None:
    scores = np.zeros(5)
    ranks = [found_twins(scores, 0, [4], np.random.default_rng(seed)).rank for seed in range(400)]
    assert set(ranks) == {1, 2, 3, 4}
    assert 60 <= ranks.count(1) <= 140


def test_chance_by_hand() -> None:
    assert Found(1, 1, 4).chance(1) == pytest.approx(1 / 4)
    # No twin among two of four: 2/4 * 1/3.
    assert Found(1, 2, 4).chance(2) == pytest.approx(5 / 6)
    assert Found(1, 1, 4).chance(5) == pytest.approx(1)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 40))
def test_chance_grows_to_certainty(twins: int, without: int, top: int) -> None:
    found = Found(1, twins, twins + without)
    assert 0 < found.chance(top) <= found.chance(top + 1) + 1e-12 <= 1 + 2e-12
    assert found.chance(1) == pytest.approx(twins / (twins + without))
    assert found.chance(without + 1) == pytest.approx(1)


def test_shares_are_of_documents_and_intervals_over_people() -> None:
    def row(person: int, rank: int, alias: bool) -> Row:
        figures: dict[str, float] = {measured.PERSON: person, measured.RANK: rank, measured.ALIAS: alias}
        figures |= {measured.CHANCE: 0.25, measured.CHANCE_FIVE: 1.0}
        return Row(system="s", task="t", case=f"{person} {rank}", figures=figures)

    failed = Row(system="s", task="t", case="x", failure=NO_TWIN)
    figures = same_person([row(1, 1, True), row(1, 5, False), row(2, 6, False), failed])
    assert figures.first == clustered_share([1, 0], [2, 1])
    assert figures.first_five == clustered_share([2, 0], [2, 1])
    assert (figures.alias.hits, figures.alias.n) == (1, 3)
    assert (figures.chance_first, figures.chance_first_five) == (0.25, 1.0)
    assert same_person([failed]).first.value is same_person([]).chance_first is None


def test_people_with_several_documents_have_rows_and_all_documents_are_candidates() -> None:
    documents, people = about(NAMES[:4])
    three = [(*people[0], *people[1]), ("d02a",)]
    found = rows(kept(documents, ORIGIN), three)
    assert [row.case for row in found] == ["d00a", "d00b", "d01a", "d01b"]
    assert {row.figures[measured.TWINS] for row in found} == {3}
    assert {row.figures[measured.OTHERS] for row in found} == {7}
    assert all(row.figures[measured.RANK] == 1 for row in found)


def test_who_has_no_twin_left_is_not_measured() -> None:
    documents, people = about(NAMES[:4])
    found = {row.case: row for row in rows(kept(documents[1:], ORIGIN), people)}
    assert found["d00a"].failure == "not sanitized"
    assert (found["d00b"].failure, found["d00b"].figures) == (NO_TWIN, {})
    assert same_person(found.values()).first.n == 6


def test_some_cases_have_the_same_rows() -> None:
    documents, people = about(NAMES[:10])
    task, corpus = SamePersonTask(people, ENCODER), kept(documents, REDACT)
    every = {row.case: row for row in task.rows(corpus, task.cases, no_progress)}
    assert list(task.rows(corpus, ["d07b", "d03a"], no_progress)) == [every["d07b"], every["d03a"]]


def test_the_scores_are_the_sum_of_three() -> None:
    documents, _ = about(NAMES[:3])
    corpus = kept(documents, REDACT, "alias")
    scores = SamePerson(ENCODER).scores(corpus.documents)
    texts = [each.text for each in corpus.documents]
    words = np.array(list(Bm25().scores(texts, texts)))
    vectors = np.array([ENCODER.encode([" ".join(split_sentences(text))])[0] for text in texts], np.float64)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.isinf(np.diag(scores)).all()
    one, same, other, *_ = map(marks_in, corpus.documents)
    assert one == same != other and len(one) == 1
    expected = words / np.diag(words)[:, None] + vectors @ vectors.T
    # Two of six documents show the alias: log(6 / 2) / log(6 / 2).
    assert scores[0, 1] == pytest.approx(expected[0, 1] + MARK, abs=1e-5)
    assert scores[0, 2] == pytest.approx(expected[0, 2], abs=1e-5)
    assert SamePerson(ENCODER).scores([]).shape == (0, 0)


def test_marks_are_aliases_and_what_was_kept_and_may_identify() -> None:
    documents, _ = about(NAMES[:3])
    origin = kept(documents, ORIGIN).documents
    assert marks_in(origin[0]) == {"person full name: alvi talvik"}
    assert not aliases_in(origin[0])
    assert not marks_in(kept(documents, REDACT).documents[0])


def test_no_text_is_shown() -> None:
    documents, people = about(NAMES[:2])
    shown = repr([SamePersonTask(people, ENCODER), rows(kept(documents, ORIGIN), people)])
    assert "Talvik" not in shown and "letter" not in shown


def test_gold_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="A document is about two people, or named twice"):
        SamePersonTask([("a", "b"), ("b", "c")], ENCODER)
    with pytest.raises(ConfigurationError, match="No person has two documents: name at least two ids"):
        SamePersonTask([("a",), ()], ENCODER)


def test_it_is_a_task_of_an_experiment() -> None:
    documents, people = about(NAMES[:3])
    task = SamePersonTask(people, ENCODER)
    assert Experiment(documents, {}, {"s": [task]}).tasks["s"][0].name == task.name
    assert task.name.startswith("same person, bm25[k1 0.9, b 0.4], dense[")
