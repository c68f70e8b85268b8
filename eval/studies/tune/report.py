"""The search over TRIP-RAG's weights and thresholds: its halves, its cells and the Pareto set."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from pydantic import BaseModel, ConfigDict, Field

from eval.corpora.corpus import Question
from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance
from eval.studies.compare.report import MethodFigures
from ingest.documents import Document

PROCEDURE = (
    "The seed splits the documents into two halves, and the questions with the document that they are "
    "about. Thresholds and the Pareto set were chosen on the first half, so its figures (chosen_on) flatter "
    "what was chosen; held_out are the same cells on the second half, which had no say. The halves hold "
    "other documents and questions, so compare cells within one. Both lie in one index and share one scale "
    "of the scores, as an ingest of all the documents would have it."
)

Objectives = tuple[float, float, float]
"""Leakage of all sensitive entities (lower is better), Recall@5 overlap and ROUGE-L (higher is better)."""


@dataclass(frozen=True, slots=True)
class Half:
    """A half of the documents and of the questions, both by id."""

    documents: frozenset[str] = field(repr=False)
    questions: frozenset[str] = field(repr=False)


def halves(documents: Sequence[Document], questions: Sequence[Question], seed: int) -> tuple[Half, Half]:
    """The half to choose on and the half that is held out, the same for the same seed.

    A question goes with its document. The split is stratified: documents with questions, documents without,
    and questions about no document.
    """
    asked = {question.about for question in questions if question.about}
    drawn = Random(f"{seed}:halves")
    about = _shuffled((each.doc_id for each in documents if each.doc_id in asked), drawn)
    others = _shuffled((each.doc_id for each in documents if each.doc_id not in asked), drawn)
    loose = _shuffled((each.question_id for each in questions if not each.about), drawn)
    one, two = (
        # An odd document goes to one half, an odd question to the other.
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
    """The disclosure of one half of the documents, and the usefulness on its questions.

    ``disclosed`` counts all sensitive entities, ``identifiers`` those that identify; ``kept`` the unchanged
    mentions; ``recall_overlap`` is by k.
    """

    disclosed: Estimate
    identifiers: Estimate
    kept: Estimate
    recall_overlap: dict[int, Estimate]
    rouge_l: Estimate

    @classmethod
    def of(cls, figures: MethodFigures) -> "TunedFigures":
        """The part of a method's figures that a search uses."""
        return cls(
            disclosed=figures.disclosed,
            identifiers=figures.identifiers,
            kept=figures.kept,
            recall_overlap=figures.recall_overlap,
            rouge_l=figures.rouge_l,
        )


class Cell(_Frozen):
    """Weights and a threshold, with their figures on the first half.

    ``share`` is the target share of the half's linked entities, None for the policy in force. ``decisions``
    is a digest of the action for each mention of every document: cells with the same digest are the same
    method on this corpus, and are measured once.
    """

    share: float | None
    tau: float
    beta: float
    gamma: float
    decisions: str
    chosen_on: TunedFigures


class CheckedCell(Cell):
    """A cell with its figures on the held-out half; ``alike`` counts other cells with the same decisions."""

    held_out: TunedFigures
    alike: int


class TuningReport(_Frozen):
    """A search on one corpus. ``pareto`` is by rising leakage, ``current`` the policy in force.

    ``scale`` is that of the scores; a threshold is not valid under another. ``split`` says where the
    questions come from, ``reference`` where the sensitive entities come from.
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
    measured: int
    """The number of methods measured; the other cells have the same decisions as one of them."""
    current: CheckedCell
    pareto: tuple[CheckedCell, ...]
    cells: tuple[Cell, ...] = Field(repr=False)


def objectives(figures: TunedFigures) -> Objectives:
    """The objectives of a cell.

    Raises:
        ValueError: One of the three was not measured.
    """
    found = figures.disclosed.value, figures.recall_overlap[5].value, figures.rouge_l.value
    if None in found:
        raise ValueError("a half without sensitive entities, questions or passages has nothing to compare")
    leakage, recall, rouge = (each or 0.0 for each in found)
    return leakage, recall, rouge


def pareto_places(points: Sequence[Objectives]) -> list[int]:
    """Indices of the non-dominated points; equal points do not dominate each other."""
    distinct = set(points)
    best = {point for point in distinct if not any(beats(other, point) for other in distinct)}
    return [place for place, point in enumerate(points) if point in best]


def beats(one: Objectives, other: Objectives) -> bool:
    """Whether one dominates: at least as good in all three, and better in one."""
    no_worse = one[0] <= other[0] and one[1] >= other[1] and one[2] >= other[2]
    return no_worse and one != other


def pareto_set(cells: Sequence[Cell]) -> list[Cell]:
    """The non-dominated cells on the first half, by rising leakage.

    Of cells with the same decisions, only the first is included.
    """
    first: dict[str, Cell] = {}
    for cell in cells:
        first.setdefault(cell.decisions, cell)
    distinct = list(first.values())
    points = [objectives(cell.chosen_on) for cell in distinct]
    return [distinct[place] for place in sorted(pareto_places(points), key=lambda place: points[place])]
