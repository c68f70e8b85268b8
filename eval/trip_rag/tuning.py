"""The search over TRIP-RAG's weights and thresholds: its halves, what was tried, and what no other beats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from pydantic import BaseModel, ConfigDict, Field

from eval.corpora.bench_corpus import Question
from eval.measures.intervals import Estimate, Share
from eval.report import Provenance
from eval.trip_rag.report import MethodFigures
from ingest.documents import Document

PROCEDURE = (
    "The seed splits the documents into two halves, and the questions with the document that they are "
    "about. Thresholds and the Pareto set were chosen on the first half, so its figures (chosen_on) flatter "
    "what was chosen; held_out are the same cells on the second half, which had no say. The halves hold "
    "other documents and questions, so compare cells within one. Both lie in one index and share one scale "
    "of the scores, as an ingest of all the documents would have it."
)

Objectives = tuple[float, float, float]
"""Leakage of all sensitive entities, better small; then Recall@5 overlap and ROUGE-L, both better large."""


@dataclass(frozen=True, slots=True)
class Half:
    """A half of the documents and of the questions, both by id."""

    documents: frozenset[str] = field(repr=False)
    questions: frozenset[str] = field(repr=False)


def halves(documents: Sequence[Document], questions: Sequence[Question], seed: int) -> tuple[Half, Half]:
    """The half to choose on and the half that is held out, the same for the same seed.

    A question goes with its document. Documents that are asked about and those that are not are dealt out
    apart, and so are questions about no document.
    """
    asked = {question.about for question in questions if question.about}
    drawn = Random(f"{seed}:halves")
    about = _shuffled((each.doc_id for each in documents if each.doc_id in asked), drawn)
    others = _shuffled((each.doc_id for each in documents if each.doc_id not in asked), drawn)
    loose = _shuffled((each.question_id for each in questions if not each.about), drawn)
    one, two = (
        # What is left over of an odd number goes to one half with documents, to the other with questions.
        _half({*about[place::2], *others[1 - place :: 2]}, {*loose[1 - place :: 2]}, questions)
        for place in (0, 1)
    )
    return one, two


def _shuffled(ids: Iterable[str], drawn: Random) -> list[str]:
    listed = list(ids)
    drawn.shuffle(listed)
    return listed


def _half(documents: set[str], loose: set[str], questions: Sequence[Question]) -> Half:
    asked = {each.question_id for each in questions if each.about in documents}
    return Half(frozenset(documents), frozenset(asked | loose))


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TunedFigures(_Frozen):
    """What one half of the documents discloses in its sanitized text, and how useful its questions find it.

    ``disclosed`` counts all sensitive entities, ``identifiers`` those that identify; ``kept`` the mentions
    that were left as they were; ``recall_overlap`` is by k.
    """

    disclosed: Share
    identifiers: Share
    kept: Share
    recall_overlap: dict[int, Estimate]
    rouge_l: Estimate

    @classmethod
    def of(cls, figures: MethodFigures) -> "TunedFigures":
        """The part of a method's figures that a search looks at."""
        return cls(
            disclosed=figures.disclosed,
            identifiers=figures.identifiers,
            kept=figures.kept,
            recall_overlap=figures.recall_overlap,
            rouge_l=figures.rouge_l,
        )


class Cell(_Frozen):
    """Weights and a threshold, and what they do on the half to choose on.

    ``share`` is the share of the half's linked entities that the threshold was to take, None for the policy
    in force. ``decisions`` is a digest of what was done with each mention of every document: cells with the
    same one are the same method on this corpus, and were measured once.
    """

    share: float | None
    tau: float
    beta: float
    gamma: float
    decisions: str
    chosen_on: TunedFigures


class CheckedCell(Cell):
    """A cell with its figures on the half that had no say; ``alike`` other cells decided the same."""

    held_out: TunedFigures
    alike: int


class TuningReport(_Frozen):
    """A search on one corpus. ``pareto`` is by rising leakage, ``current`` the policy in force.

    ``scale`` and ``engine`` are those of the scores that all thresholds are compared with; a threshold is
    worth nothing under others. ``split`` says how the questions came about, ``reference`` where the
    sensitive entities come from.
    """

    corpus: str
    documents: int
    questions: int
    split: str
    sensitive_entities: int
    reference: str
    generator: str
    seed: int
    procedure: str = PROCEDURE
    provenance: Provenance
    scale: tuple[float, float, float, float]
    engine: str
    measured: int
    """How many methods were measured; the other cells decide like one of them."""
    current: CheckedCell
    pareto: tuple[CheckedCell, ...]
    cells: tuple[Cell, ...] = Field(repr=False)


def objectives(figures: TunedFigures) -> Objectives:
    """What is compared of a cell.

    Raises:
        ValueError: One of the three was not measured.
    """
    found = figures.disclosed.share, figures.recall_overlap[5].mean, figures.rouge_l.mean
    if None in found:
        raise ValueError("a half without sensitive entities, questions or passages has nothing to compare")
    leakage, recall, rouge = (each or 0.0 for each in found)
    return leakage, recall, rouge


def pareto_places(points: Sequence[Objectives]) -> list[int]:
    """Places of the points that no other one beats; equal points do not beat each other."""
    distinct = set(points)
    best = {point for point in distinct if not any(beats(other, point) for other in distinct)}
    return [place for place, point in enumerate(points) if point in best]


def beats(one: Objectives, other: Objectives) -> bool:
    """Whether one is at least as good in all three, and better in one."""
    no_worse = one[0] <= other[0] and one[1] >= other[1] and one[2] >= other[2]
    return no_worse and one != other


def pareto_set(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that no other one beats on the half to choose on, by rising leakage.

    Of cells that decide alike the first stands for all.
    """
    first: dict[str, Cell] = {}
    for cell in cells:
        first.setdefault(cell.decisions, cell)
    distinct = list(first.values())
    points = [objectives(cell.chosen_on) for cell in distinct]
    return [distinct[place] for place in sorted(pareto_places(points), key=lambda place: points[place])]
