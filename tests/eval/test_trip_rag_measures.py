"""Figures of the TRIP-RAG benchmark, held to other implementations and to cases by hand. Invented data."""

from collections.abc import Sequence
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from eval.corpora.corpus import Question
from eval.documents import SensitiveEntity
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import SensitiveIndex
from eval.measures.uncertainty import Estimate
from eval.progress import no_progress
from eval.rows import Row
from eval.studies.compare import figures as study
from eval.studies.compare.report import Frontier, MethodFigures, whole
from eval.tasks.index import IndexReader
from eval.tasks.questions import (
    ANSWERED_WITH,
    DEPTHS,
    RANK,
    Questions,
    answer_scorer,
    bleu1,
    sacrebleu_signature,
)
from ingest.documents import Action, Decision, Identifier, Risk, SanitizedDocument, Scores
from retrieval.documents import Answer, Passage, RetrievedPassage
from retrieval.writing import Writing, at_once
from tests.doubles import WordEncoder, entity

PIECES = ["a", "b", "Cat", "cat", "running", "runs", "x.", "."]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
SHARE = st.integers(0, 8).map(lambda eighths: eighths / 8)
POINTS = st.lists(st.tuples(SHARE, SHARE), max_size=8)


# NLTK warns of longer runs of words that are not shared, which weigh nothing here.
@pytest.mark.filterwarnings("ignore:\\nThe hypothesis contains 0 counts:UserWarning")
@given(TEXTS, TEXTS)
def test_bleu1_is_that_of_nltk(reference: str, answer: str) -> None:
    theirs = import_module("nltk.translate.bleu_score").sentence_bleu
    wanted, said = reference.lower().split(), answer.lower().split()
    expected = theirs([wanted], said, weights=(1, 0, 0, 0)) if said else 0.0
    assert bleu1(reference, answer) == pytest.approx(expected)


@given(TEXTS, TEXTS)
def test_the_other_scores_are_those_of_their_packages(reference: str, answer: str) -> None:
    found = answer_scorer()(reference, answer)
    assert {"eff:yes", "tok:13a", "nrefs:1"} <= {*sacrebleu_signature().split("|")}
    assert found.bleu1 == bleu1(reference, answer)
    standard = BLEU(effective_order=True).sentence_score(answer, [reference]).score
    assert found.sacrebleu == pytest.approx(standard / 100)
    rouge = RougeScorer(["rougeL"], use_stemmer=True).score(reference, answer)["rougeL"].fmeasure
    assert found.rouge_l == pytest.approx(rouge)
    assert all(0 <= value <= 1 + 1e-9 for value in (found.bleu1, found.sacrebleu, found.rouge_l))


def test_dominated_by_hand() -> None:
    curve = [(0.1, 0.5), (0.4, 0.9)]
    assert study.dominated_by(curve, [(0.1, 0.5)]) == 0
    assert study.dominated_by(curve, [(0.1, 0.4), (0.2, 0.5), (0.4, 0.8), (1.0, 0.9)]) == 4
    assert study.dominated_by(curve, [(0.05, 0.1), (0.1, 0.6), (0.39, 0.51), (0.5, 0.91)]) == 0
    assert study.dominated_by([], [(1.0, 0.0)]) == study.dominated_by(curve, []) == 0


def test_an_area_needs_some_leakage() -> None:
    with pytest.raises(ValueError, match=r"^the largest leakage is 0\.0: nothing leaks"):
        study.area_under([(0.0, 1.0)], 0.0)


@given(POINTS, st.integers(1, 8).map(lambda eighths: eighths / 8), st.tuples(SHARE, SHARE))
def test_the_area_is_that_of_steps_and_never_falls(
    curve: list[study.Spot], most: float, more: study.Spot
) -> None:
    # Leakages are eighths, so that the best usefulness is the same all through each eighth.
    eighths = round(most * 8)
    best = [max((use for leak, use in curve if leak <= e / 8), default=0.0) for e in range(eighths)]
    area = study.area_under(curve, most)
    assert area == pytest.approx(sum(best) / eighths)
    assert -1e-9 <= area <= 1 + 1e-9
    assert study.area_under([*curve, more], most) >= area - 1e-9


def test_methods_come_by_their_area_in_the_first_frontier() -> None:
    def frontier(**areas: float) -> Frontier:
        estimates = {name: Estimate(area, 0, 1) for name, area in areas.items()}
        return Frontier(dominated=0, by_trip=0, points=0, share=Estimate(), areas=estimates)

    assert study.by_area(frontier(a=0.1, b=0.3, c=0.3), frontier(c=0.5, d=0.9)) == ["c", "b", "a", "d"]
    assert study.by_area(frontier(), frontier()) == []


def test_rank_correlation_by_hand() -> None:
    assert study.rank_correlation([1, 2, 3], [10, 20, 90]) == pytest.approx(1)
    assert study.rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: Pearson's correlation of the ranks.
    assert study.rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    for one, other in ([], []), ([1.0], [2.0]), ([1.0, 1.0], [1.0, 2.0]):
        assert study.rank_correlation(one, other) is None


def test_the_pairs_come_in_order_and_distance_is_the_opposite_of_relevance() -> None:
    scores = [Scores(n / 10, n / 20, n / 30, 0.5) for n in range(5)]
    found = study.correlations([scores[:2], scores[2:]])
    assert [(each.one, each.other, each.n) for each in found] == [("P", "K", 5), ("P", "D", 5), ("K", "D", 5)]
    assert [each.rho.value for each in found] == pytest.approx([1, -1, -1])
    assert [each.rho.low for each in found] == [each.rho.high for each in found] == pytest.approx([1, -1, -1])
    alone = study.correlations([scores])
    assert [each.rho.value for each in alone] == pytest.approx([1, -1, -1])
    assert {end for each in alone for end in (each.rho.low, each.rho.high)} == {None}
    same = [Scores(0.5, n / 20, n / 30, 0.5) for n in range(5)]
    assert [(each.one, each.other) for each in study.correlations([same])] == [("K", "D")]
    assert study.correlations([]) == []


class Shelf:
    """Finds for each question the passages of the documents that it names, in its order."""

    def __init__(self, documents: Sequence[SanitizedDocument]) -> None:
        self._texts = {each.doc_id: each.text for each in documents}

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        found = []
        for question in questions:
            named = [word for word in question.split() if word in self._texts][:k]
            passages = [Passage(n, name, 0, 1, self._texts[name]) for n, name in enumerate(named)]
            found.append([RetrievedPassage(passage, 1.0) for passage in passages])
        return found


class Counting:
    """Answers with the number of passages that it was given."""

    name = "counting"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        return at_once(Answer(str(len(passages)), (), tuple(passages), self.name))


DOCUMENTS = ("d1", "d2", "d3", "d4", "d5", "d6")
QUESTIONS = (
    Question("q1", "d1 d2 d3 d4 d5 d6", "5", "d6"),
    Question("q2", "d2 d2 d1", "no", "d1"),
    Question("q3", "d3", "1", ""),
    Question("q4", "d4", "1", "d5"),
)


def kept_and_changed(texts: dict[str, str]) -> list[SanitizedDocument]:
    """Documents whose every other decision keeps what it decides about."""
    actions = (Action.KEEP, Action.GENERALIZE)
    changed: list[SanitizedDocument] = []
    for place, (doc_id, text) in enumerate(texts.items()):
        decisions = [Decision(entity(0, 1, "city name"), None, actions[n % 2], "test") for n in range(place)]
        risk = Risk(0.0, 0.0, "test")
        changed.append(SanitizedDocument(doc_id, text, decisions, [(0, 1)] * place, risk, "test", 0))
    return changed


NOBODY = SensitiveIndex([])
ABOUT = frozenset(("q1", "q2", "q4"))


def kept(**texts: str) -> SanitizedCorpus:
    documents = kept_and_changed(dict.fromkeys(DOCUMENTS, "nothing") | texts)
    return SanitizedCorpus("trip", len(documents), {}, {}, lambda encoder: Shelf(documents), documents)


TASK = Questions(QUESTIONS, WordEncoder(), Counting())


def asked() -> list[Row]:
    return list(TASK.rows(kept(), TASK.cases, no_progress))


def index(sensitive: SensitiveIndex = NOBODY, failed: Sequence[str] = (), **texts: str) -> list[Row]:
    """Rows of an index, as an experiment reads them."""
    reader = IndexReader([*DOCUMENTS, *failed], sensitive)
    rows = reader.rows(kept(**texts), reader.cases, no_progress)
    return [row.model_copy(update={"present": sensitive.behind(row.doc_ids)}) for row in rows]


def folded(rows: Sequence[Row], original: Sequence[Row], read: Sequence[Row]) -> MethodFigures:
    return study.method_figures("trip", "words", rows, read, original, ABOUT, 3, 0.5)


def test_each_question_is_asked_once_and_answered_from_five() -> None:
    steps: list[tuple[int, int | None]] = []
    rows = list(TASK.rows(kept(), TASK.cases, lambda phase, done, total: steps.append((done, total))))
    assert [row.case for row in rows] == ["q1", "q2", "q3", "q4"]
    assert rows[0].doc_ids == DOCUMENTS
    assert rows[1].doc_ids == ("d2", "d2", "d1")
    assert [row.figures[RANK] for row in rows] == [6, 3, 0, 0]
    assert [row.figures["BLEU-1"] for row in rows] == [1.0, 0.0, 1.0, 1.0]
    assert ANSWERED_WITH == 5
    assert steps == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert [row.case for row in TASK.rows(kept(), ["q2", "q4"], no_progress)] == ["q2", "q4"]


def test_figures_count_what_they_say() -> None:
    original = asked()
    other = [row.model_copy(update={"doc_ids": ("d2", *row.doc_ids[1:])}) for row in original]
    figures = folded(other, original, index(failed=["x", "y"]))
    assert figures.recall_overlap[1].value == pytest.approx(1 / 4)
    assert figures.recall_overlap[5].value == pytest.approx((4 / 5 + 1 + 0 + 0) / 4)
    assert figures.recall_overlap[10].n == 4
    assert {k: (each.hits, each.n) for k, each in figures.found.items()} == {1: (0, 3), 5: (1, 3), 10: (2, 3)}
    assert set(figures.found) == set(DEPTHS)
    assert figures.bleu1.value == pytest.approx(3 / 4)
    assert (figures.kept.hits, figures.kept.n) == (9, 15)
    assert (figures.documents_failed, figures.strength) == (2, 0.5)
    assert figures.disclosed.value is None
    same = folded(asked(), asked(), index())
    assert [same.recall_overlap[k].value for k in DEPTHS] == [1.0, 1.0, 1.0]


def test_disclosed_counts_what_stands_in_its_own_document() -> None:
    names = [
        SensitiveEntity(doc_id, "Quillfeather", "person full name", Identifier.DIRECT)
        for doc_id in ("d1", "d2", "elsewhere")
    ]
    sensitive = SensitiveIndex([*names, SensitiveEntity("d1", "gout", "disease", Identifier.ATTRIBUTE)])
    rows = index(sensitive, d1="somebody has GOUT", d2="nothing", d3="Quillfeather")
    everything = study.disclosed(rows, lambda entity: True, seed=3)
    assert (everything.hits, everything.n) == (1, 3)
    direct = study.disclosed(rows, lambda each: each.identifier is Identifier.DIRECT, seed=3)
    assert (direct.hits, direct.n) == (0, 2)
    figures = folded(asked(), asked(), index(sensitive, d2="mr QUILLFEATHER"))
    assert (figures.identifiers.hits, figures.identifiers.n) == (1, 2)
    assert (figures.disclosed.hits, figures.disclosed.n) == (1, 3)


def test_what_stands_in_failed_documents_is_reported_as_not_measured() -> None:
    known = (("d1", "Quillfeather"), ("worst", "Brandtner"), ("worst", "Jaspersen"))
    sensitive = SensitiveIndex(
        SensitiveEntity(doc_id, name, "person full name", Identifier.DIRECT) for doc_id, name in known
    )
    figures = folded(asked(), asked(), index(sensitive, failed=["worst"]))
    for found in (figures.disclosed, figures.identifiers):
        assert (found.hits, found.n) == (0, 1)
    assert (figures.documents_failed, figures.entities_failed) == (1, 2)
    assert not whole(figures)
    figures = folded(asked(), asked(), index(sensitive))
    assert whole(figures) and figures.entities_failed == 0


def test_the_texts_that_a_system_keeps_are_in_no_repr() -> None:
    assert "Quillfeather" not in repr(kept(d1="Quillfeather"))
