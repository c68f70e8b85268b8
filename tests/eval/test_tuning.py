"""The search over weights and thresholds: its halves, its Pareto set, its cells. Every letter is invented."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compose import system_of
from app.settings.load import load_settings
from eval.corpora.corpus import Corpus, Question
from eval.corpora.sensitive import sensitive_in
from eval.experiment import kept_in_memory
from eval.measures.uncertainty import Estimate, clustered_share
from eval.prepared import prepared
from eval.reports.render import html_page
from eval.reports.tuning import tuning
from eval.studies import tune as tuned
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.scoring.scale import Scale
from models.errors import ConfigurationError, LetheError
from retrieval.system import System
from tests.doubles import WordEncoder, entity

PEOPLE = (
    "Tobias Quellmann",
    "Ada Vennström",
    "Oswin Tarrant",
    "Mira Jaspersen",
    "Ilko Brandtner",
    "Una Voss",
)
THINGS = ("boiler", "kettle", "harvest", "ferry", "orchard", "lantern")
LETTERS = [
    Document(
        f"letter-{number}",
        f"Invented.{' The snow is deep.' * number} Mr {person} asked about the {thing} in March. The {thing} "
        f"stands in Varde and is old. Mr {person} is a plumber, aged {41 + number}, and has diabetes; "
        f"write to {person.split()[0].lower()}@example.org.",
    )
    for number, (person, thing) in enumerate(zip(PEOPLE, THINGS, strict=True))
]
QUESTIONS = [
    Question(f"q{n}", f"Who asked about the {thing}?", f"A plumber asked about the {thing}.", f"letter-{n}")
    for n, thing in enumerate(THINGS)
]
BENCH = Corpus("folder", LETTERS, QUESTIONS, None, "Questions are invented.", "invented", "none")
SEARCH = tuned.Search((0.5, 1.0), (0.4,), (0.3, 0.31, 0.9), seed=3)


@pytest.fixture(scope="module")
def system() -> System:
    settings = load_settings({"risk.kind": "prior", "policy.name": "trip"})
    return system_of(settings, encoder=WordEncoder())


@pytest.fixture(scope="module")
def report(system: System) -> tuned.TuningReport:
    return tuned.tune(system, BENCH, SEARCH)


def corpus_of(abouts: list[int], documents: int) -> tuple[list[Document], list[Question]]:
    """Invented documents, and a question about each number; what is no document's number is about none."""
    names = [f"d{number}" if number < documents else "" for number in abouts]
    made = [Document(f"d{number}", "Invented.") for number in range(documents)]
    return made, [Question(f"q{place}", "Who?", "Nobody.", name) for place, name in enumerate(names)]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 8), st.integers(0, 3))
def test_halves_share_nothing_lack_nothing_and_are_both_asked_where_they_can_be(
    abouts: list[int], documents: int, seed: int
) -> None:
    made, questions = corpus_of(abouts, documents)
    one, two = tuned.halves(made, questions, seed)
    assert (one, two) == tuned.halves(made, questions, seed)
    assert not one.documents & two.documents and not one.questions & two.questions
    assert one.documents | two.documents == {each.doc_id for each in made}
    assert one.questions | two.questions == {each.question_id for each in questions}
    for half in (one, two):
        asked = [each for each in questions if each.question_id in half.questions]
        assert half.documents >= {each.about for each in asked} - {""}
    units = {each.about or each.question_id for each in questions}
    assert bool(one.questions and two.questions) == (len(units) > 1)
    if len(units) > 5:
        assert len({tuned.halves(made, questions, other) for other in range(6)}) > 1, "the seed draws them"


TENTHS = st.integers(0, 4).map(lambda number: number / 4)
POINTS = st.lists(st.tuples(TENTHS, TENTHS, TENTHS), max_size=12)


@given(POINTS)
def test_nothing_beats_what_is_in_the_set_and_something_in_it_beats_the_rest(
    points: list[tuned.Objectives],
) -> None:
    places = tuned.pareto_places(points)
    best = [points[place] for place in places]
    assert not any(tuned.beats(other, point) for point in best for other in points)
    others = [point for place, point in enumerate(points) if place not in places]
    assert all(any(tuned.beats(point, other) for point in best) for other in others)
    assert bool(best) == bool(points)


def test_what_beats_what() -> None:
    this = (0.1, 0.5, 0.5)
    for better in ((0.0, 0.5, 0.5), (0.1, 0.6, 0.5), (0.1, 0.5, 0.6)):
        assert tuned.beats(better, this) and not tuned.beats(this, better)
    for no_better in (this, (0.0, 0.4, 0.5), (0.2, 0.9, 0.9)):
        assert not tuned.beats(no_better, this)


def figures(leak: float | None, recall: float | None = 0.5, rouge: float | None = 0.5) -> tuned.TunedFigures:
    share, overlap = Estimate(leak, hits=0, n=9), dict.fromkeys((1, 5, 10), Estimate(recall, n=9))
    given = {"recall_overlap": overlap, "rouge_l": Estimate(rouge, n=9)}
    return tuned.TunedFigures(disclosed=share, identifiers=share, kept=share, **given)  # type: ignore[arg-type]


def cell(decisions: str, leakage: float, recall: float) -> tuned.Cell:
    chosen_on = figures(leakage, recall)
    return tuned.Cell(share=0.5, tau=0.1, beta=0.2, gamma=0.3, decisions=decisions, chosen_on=chosen_on)


def test_the_first_of_cells_that_decide_alike_stands_for_them() -> None:
    cells = [cell("a", 0.3, 0.9), cell("b", 0.1, 0.4), cell("b", 0.1, 0.4), cell("c", 0.3, 0.8)]
    assert list(map(id, tuned.pareto_set(cells))) == [id(cells[1]), id(cells[0])], "by rising leakage"


@pytest.mark.parametrize("lacking", [figures(None), figures(0.1, None), figures(0.1, 0.5, None)])
def test_what_was_not_measured_is_not_compared(lacking: tuned.TunedFigures) -> None:
    with pytest.raises(ValueError, match=r"^a half without sensitive entities, questions or passages has"):
        tuned.objectives(lacking)


def test_the_default_search_is_the_grid_of_the_paper_with_zero_beside_it() -> None:
    tried = tuned.Search().settings()
    assert len(tried) == len(set(tried)) == 7 * 7 * 4
    assert {beta for beta, gamma, _ in tried if gamma == 0.0} == {0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0}
    assert tuned.Search((1.0, 0.0, 1.0), (), (0.5,)).settings() == [(0.0, 0.0, 0.5), (1.0, 0.0, 0.5)]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"betas": (0.2, -0.5)}, "--betas holds -0.5: give weights of 0 or more."),
        ({"gammas": (float("inf"),)}, "--gammas holds inf: give weights of 0 or more."),
        ({"gammas": (float("nan"),)}, "--gammas holds nan: give weights of 0 or more."),
        ({"shares": (0.0,)}, "--shares holds 0: give shares above 0 and up to 1."),
        ({"shares": (0.5, 1.5)}, "--shares holds 1.5: give shares above 0 and up to 1."),
        ({"shares": ()}, "--shares holds nothing: give one share above 0 and up to 1, or more."),
    ],
)
def test_lists_out_of_range_are_refused(lists: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}$"):
        tuned.Search(**lists)


def test_a_digest_is_of_actions_in_their_places() -> None:
    keep = Decision(entity(0, 4, "city name"), None, Action.KEEP, "")
    take = replace(keep, action=Action.GENERALIZE)
    places = ([[keep, take]], [[take, keep]], [[keep], [take]], [[keep, keep]])
    assert len(set(map(tuned.digest_of, places))) == 4
    assert tuned.digest_of([[replace(keep, reason="another")]]) == tuned.digest_of([[keep]])


def test_every_cell_has_its_figures(report: tuned.TuningReport) -> None:
    assert len(report.cells) == 3 * 2 * 3
    assert [(each.beta, each.gamma, each.share) for each in report.cells] == SEARCH.settings()
    for each in report.cells:
        assert each.chosen_on.recall_overlap[5].n == each.chosen_on.rouge_l.n == 3
    assert report.measured == len({each.decisions for each in [*report.cells, report.current]})
    assert (report.documents, report.questions, report.seed) == (6, 6, 3)
    assert report.split == BENCH.split and report.generator == "extractive"
    kept: dict[tuple[float, float], list[float]] = {}
    for each in report.cells:
        kept.setdefault((each.beta, each.gamma), []).append(each.chosen_on.kept.value or 0.0)
    falling = [sorted(each, reverse=True) for each in kept.values()]
    assert list(kept.values()) == falling, "a larger share keeps less"
    assert any(each[0] > each[-1] for each in falling)


def test_members_of_the_set_are_cells_and_have_figures_of_both_halves(report: tuned.TuningReport) -> None:
    assert report.pareto
    for each in report.pareto:
        alike = [other.chosen_on for other in report.cells if other.decisions == each.decisions]
        assert each.chosen_on in alike and each.alike == len(alike) - 1
        assert each.held_out.rouge_l.n == 3
        here = tuned.objectives(each.chosen_on)
        assert not any(tuned.beats(tuned.objectives(other.chosen_on), here) for other in report.cells)
    sensitive = report.current.chosen_on.disclosed.n + report.current.held_out.disclosed.n
    assert sensitive == report.sensitive_entities


def in_held_out(text: Callable[[str], str]) -> Corpus:
    """The corpus with other texts in the half that is held out."""
    there = tuned.halves(LETTERS, QUESTIONS, SEARCH.seed)[1].documents
    changed = [replace(each, text=text(each.text)) if each.doc_id in there else each for each in LETTERS]
    return replace(BENCH, documents=changed)


def test_the_half_held_out_has_no_say_in_the_choice(system: System, report: tuned.TuningReport) -> None:
    changed = in_held_out(lambda text: f"{text} Mr Peer Holm of Varde, aged 77, has asthma and anemia.")
    again = tuned.tune(replace(system, scale=Scale(*report.scale, source="given")), changed, SEARCH)

    def chosen(made: tuned.TuningReport) -> list[object]:
        return [(each.tau, each.chosen_on.disclosed) for each in made.cells]

    assert chosen(again) == chosen(report)
    held = [[each.held_out.disclosed for each in made.pareto] for made in (again, report)]
    assert held[0] != held[1]


def test_the_same_seed_gives_the_same_figures_and_what_decides_alike_is_measured_once(
    system: System, report: tuned.TuningReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counting(name: str, documents: Any, made: System, *others: Any) -> Any:
        asked.append(made.policy.name)
        return kept_in_memory(name, documents, made, *others)

    monkeypatch.setattr("eval.experiment.kept_in_memory", counting)
    again = tuned.tune(system, BENCH, SEARCH)
    assert asked == ["origin", *["trip"] * again.measured]
    assert again.measured < len(again.cells)
    assert again.model_copy(update={"provenance": report.provenance}) == report


def test_the_figures_are_those_of_the_sanitizer_itself(system: System, report: tuned.TuningReport) -> None:
    strict = min(report.pareto, key=lambda each: each.chosen_on.kept.value or 0.0)
    weights = replace(system.policy.weights, beta=strict.beta, gamma=strict.gamma)
    policy = replace(system.policy, tau=strict.tau, weights=weights)
    outcomes = prepared(system, BENCH).by(policy).sanitizer().sanitize(LETTERS)
    first = tuned.halves(LETTERS, QUESTIONS, SEARCH.seed)[0].documents
    sensitive = sensitive_in(BENCH, system.detector)
    own = [each for each in outcomes if isinstance(each, SanitizedDocument) and each.doc_id in first]
    hits = [len(sensitive.leaked([each.doc_id], each.text, "")) for each in own]
    there = [len(sensitive.behind([each.doc_id])) for each in own]
    assert clustered_share(hits, there, SEARCH.seed) == strict.chosen_on.disclosed


@pytest.mark.parametrize(
    ("bench", "message"),
    [
        (replace(BENCH, questions=[]), "folder has no questions: more documents, or longer ones, would"),
        (
            replace(BENCH, questions=[QUESTIONS[0], replace(QUESTIONS[0], question_id="again")]),
            "All 2 questions of folder are about one document, and choosing",
        ),
        (
            in_held_out(lambda text: "Invented. The boiler is old."),
            r"Nothing sensitive stands in one half of the documents \(\d+ entit",
        ),
    ],
)
def test_a_corpus_that_cannot_be_searched_is_refused(system: System, bench: Corpus, message: str) -> None:
    with pytest.raises(LetheError, match=f"^{message}"):
        tuned.tune(system, bench, SEARCH)


def test_a_document_that_cannot_be_sanitized_stops_the_search(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: object) -> object:
        raise RuntimeError("Tobias Quellmann")

    monkeypatch.setattr("ingest.sanitize.apply", failing)
    with pytest.raises(LetheError, match=r"^6 of 6 documents could not be sanitized, and a cell without"):
        tuned.tune(system, BENCH, SEARCH)


def test_the_page_shows_all_cells_and_quotes_nothing(report: tuned.TuningReport) -> None:
    page = html_page(tuning(report.model_copy(update={"corpus": "<b>mine</b>"})))
    assert page.startswith("<!doctype html>") and page.count("<svg ") == 2
    assert "<b>mine" not in page and "&lt;b&gt;mine" in page
    assert report.procedure in page and f"All {len(report.cells)} cells" in page
    assert page.count('<th scope="row">') == len(report.cells) + len(report.pareto) + 1
    assert not any(name.split()[1] in page for name in PEOPLE)
    for marker in ("http://", "https://", "<script"):
        assert marker not in page
