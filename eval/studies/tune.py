"""The search over TRIP-RAG's weights and thresholds on one corpus."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import product
from random import Random

from pydantic import Field

from eval.corpora.corpus import Corpus, Question
from eval.corpora.sensitive import sensitive_in
from eval.experiment import SYSTEMS, Experiment
from eval.measures.leakage import SensitiveIndex
from eval.measures.uncertainty import Estimate
from eval.prepared import Prepared, prepared
from eval.progress import Progress, no_progress, only
from eval.provenance import Frozen, Provenance, provenance_of, reference_of
from eval.rows import Row
from eval.studies.compare.figures import method_figures
from eval.studies.compare.methods import GRID, at_share
from eval.targets import reading_once
from eval.tasks.index import IndexReader
from eval.tasks.questions import Questions
from ingest.deciding.policy import Policy
from ingest.documents import Decision, Document
from ingest.scoring.scale import Weights
from models.errors import ConfigurationError, LetheError
from retrieval.system import System

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

    def shuffled(ids: Iterable[str]) -> list[str]:
        listed = list(ids)
        drawn.shuffle(listed)
        return listed

    about = shuffled(each.doc_id for each in documents if each.doc_id in asked)
    others = shuffled(each.doc_id for each in documents if each.doc_id not in asked)
    loose = shuffled(each.question_id for each in questions if not each.about)

    def half(place: int) -> Half:
        # An odd document goes to one half, an odd question to the other.
        own = frozenset((*about[place::2], *others[1 - place :: 2]))
        of_own = (each.question_id for each in questions if each.about in own)
        return Half(own, frozenset((*of_own, *loose[1 - place :: 2])))

    return half(0), half(1)


class TunedFigures(Frozen):
    """The disclosure of one half of the documents, and the usefulness on its questions.

    ``disclosed`` counts all sensitive entities, ``identifiers`` those that identify; ``kept`` the unchanged
    mentions; ``recall_overlap`` is by k.
    """

    disclosed: Estimate
    identifiers: Estimate
    kept: Estimate
    recall_overlap: dict[int, Estimate]
    rouge_l: Estimate


class Cell(Frozen):
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


class TuningReport(Frozen):
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
    leakage, recall, rouge = (
        each.value for each in (figures.disclosed, figures.recall_overlap[5], figures.rouge_l)
    )
    if leakage is None or recall is None or rouge is None:
        raise ValueError("a half without sensitive entities, questions or passages has nothing to compare")
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


SHARES = (0.2, 0.4, 0.6, 0.8)
Halved = tuple[TunedFigures, TunedFigures]
"""Figures on the first half and on the held-out half."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy and its decisions; ``share`` is the target of its threshold, None for the policy in force."""

    share: float | None
    policy: Policy
    decisions: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Search:
    """The grid: weights of knowledge and of topic, each also 0, by shares of entities to generalize.

    The weight of privacy is the policy's. Weights are 0 or more; shares lie in (0, 1].
    """

    betas: Sequence[float] = GRID
    gammas: Sequence[float] = GRID
    shares: Sequence[float] = SHARES
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("betas", "gammas"):
            for value in getattr(self, name):
                if not 0 <= value < math.inf:
                    raise ConfigurationError(f"--{name} holds {value:g}: give weights of 0 or more.")
        for value in self.shares:
            if not 0 < value <= 1:
                raise ConfigurationError(f"--shares holds {value:g}: give shares above 0 and up to 1.")
        if not self.shares:
            raise ConfigurationError("--shares holds nothing: give one share above 0 and up to 1, or more.")

    def settings(self) -> list[tuple[float, float, float]]:
        """Beta, gamma and share of every cell, rising, each once."""
        betas, gammas = sorted({0.0, *self.betas}), sorted({0.0, *self.gammas})
        return list(product(betas, gammas, sorted(set(self.shares))))


def tune(system: System, corpus: Corpus, search: Search, progress: Progress = no_progress) -> TuningReport:
    """Score the corpus once, measure every cell with distinct decisions, and choose on the first half.

    Raises:
        LetheError: The corpus has too few questions or nothing sensitive in one half, or a document of it
            cannot be sanitized.
    """
    parts = halves(corpus.documents, corpus.questions, search.seed)
    if not corpus.questions:
        raise LetheError(f"{corpus.name} has no questions: more documents, or longer ones, would give some.")
    if not all(half.questions for half in parts):
        raise LetheError(
            f"All {len(corpus.questions)} questions of {corpus.name} are about one document, and choosing "
            "and checking take two: give more documents."
        )
    ready = prepared(system, corpus, progress)
    sensitive = sensitive_in(corpus, ready.system.detector)
    there = [len(sensitive.behind(half.documents)) for half in parts]
    if not all(there):
        raise LetheError(
            f"Nothing sensitive stands in one half of the documents ({there[0]} entities in the first, "
            f"{there[1]} in the second): give more documents, or another --seed."
        )
    current, candidates = _candidates(ready, parts[0], search, progress)
    figures = _figures(ready, sensitive, parts, [current, *candidates], search.seed, progress)
    times = Counter(each.decisions for each in candidates)

    def measured(candidate: Candidate) -> Cell:
        policy = candidate.policy
        return Cell(
            share=candidate.share,
            tau=policy.tau,
            beta=policy.weights.beta,
            gamma=policy.weights.gamma,
            decisions=candidate.decisions,
            chosen_on=figures[candidate.decisions][0],
        )

    def checked(cell: Cell, others: int) -> CheckedCell:
        return CheckedCell(**dict(cell), held_out=figures[cell.decisions][1], alike=others)

    cells = [measured(each) for each in candidates]

    return TuningReport(
        corpus=corpus.name,
        documents=len(corpus.documents),
        questions=len(corpus.questions),
        split=corpus.split,
        sensitive_entities=len(sensitive),
        reference=reference_of(corpus, system.detector),
        generator=system.generator.name,
        seed=search.seed,
        provenance=provenance_of(system, {"scale": ready.scale.source}),
        scale=ready.scale.percentiles,
        measured=len(figures),
        current=checked(measured(current), times[current.decisions]),
        pareto=tuple(checked(cell, times[cell.decisions] - 1) for cell in pareto_set(cells)),
        cells=tuple(cells),
    )


def _candidates(
    ready: Prepared, first: Half, search: Search, progress: Progress
) -> tuple[Candidate, list[Candidate]]:
    """The policy in force, and one for each cell, with a threshold fitted to the first half."""
    policy, settings = ready.system.policy, search.settings()
    own = [place for place, each in enumerate(ready.corpus.documents) if each.doc_id in first.documents]
    half, found = ready.only(own), []
    for number, (beta, gamma, share) in enumerate(settings):
        progress("deciding", number, len(settings))
        weights = Weights(policy.weights.alpha, beta, gamma, policy.weights.marginal)
        chosen = at_share(half, replace(policy, weights=weights), share)
        found.append(Candidate(share, chosen, _decided(ready, chosen)))
    progress("deciding", len(settings), len(settings))
    return Candidate(None, policy, _decided(ready, policy)), found


def _decided(ready: Prepared, policy: Policy) -> str:
    return digest_of(ready.decisions(ready.by(policy).method()))


def digest_of(decided: Sequence[Sequence[Decision]]) -> str:
    """A digest of the action for every mention of every document, without the reasons."""
    found = blake2b(digest_size=8)
    for decisions in decided:
        found.update(",".join(each.action for each in decisions).encode() + b"\n")
    return found.hexdigest()


def _figures(
    ready: Prepared,
    sensitive: SensitiveIndex,
    parts: Sequence[Half],
    candidates: Sequence[Candidate],
    seed: int,
    progress: Progress,
) -> dict[str, Halved]:
    """The figures by digest of decisions; usefulness is relative to no sanitizing."""
    corpus, system = ready.corpus, ready.system
    asking = Questions(corpus.questions, reading_once(system.encoder), system.generator)
    index = IndexReader([document.doc_id for document in corpus.documents], sensitive)
    policies = {each.decisions: each.policy for each in candidates}
    systems = {"origin": ready.by(replace(system.policy, name="origin"))}
    systems |= {decisions: ready.by(policy) for decisions, policy in policies.items()}
    experiment = Experiment(corpus.documents, systems, dict.fromkeys(systems, [asking, index]))
    about = frozenset(each.question_id for each in corpus.questions if each.about)
    original: Sequence[Row] = ()
    found = {}
    for measured in experiment.run(progress=only(SYSTEMS, "measuring", progress)):
        rows, read = measured.rows[asking.name], measured.rows[index.name]
        if failed := sum(not row.measured for row in read):
            raise LetheError(
                f"{failed} of {len(read)} documents could not be sanitized, and a cell without "
                "them would seem to leak less: `lethe sanitize` names them. Leave them out."
            )
        original = original or rows
        first, second = (
            _tuned(half, rows, read, original, about, asking.encoder.name, seed) for half in parts
        )
        found[measured.system] = (first, second)
    del found["origin"]
    return found


def _tuned(
    half: Half,
    asked: Sequence[Row],
    index: Sequence[Row],
    original: Sequence[Row],
    about: frozenset[str],
    encoder: str,
    seed: int,
) -> TunedFigures:
    now, before = ([row for row in each if row.case in half.questions] for each in (asked, original))
    own = [row for row in index if row.case in half.documents]
    figures = method_figures("tuning", encoder, now, own, before, about, seed)
    return TunedFigures(**{name: getattr(figures, name) for name in TunedFigures.model_fields})
