"""Rows of the comparison folded into table rows."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eval.attacks.extraction import Aim
from eval.documents import EntityRef
from eval.measures.agreement import estimated, spearman, value_of
from eval.measures.leakage import entity_leakage, is_identifier
from eval.measures.overlap import RecallOverlap, recall_at_k_overlap
from eval.measures.uncertainty import (
    Drawn,
    Estimate,
    Floats,
    bootstrap,
    clustered_share,
    difference,
    holding,
    less,
    mean_of,
    paired_ratio,
    ratio,
    share_of,
)
from eval.prepared import Prepared
from eval.progress import Progress
from eval.rows import Row
from eval.studies.calibrate import COUNTED, LeakCurve, check_on_halves, leak_curves
from eval.studies.compare.methods import scores_alone
from eval.studies.compare.report import (
    AttackFigures,
    Correlation,
    Frontier,
    GuessFigures,
    MethodFigures,
    PromiseFigures,
    Summary,
    TripRagReport,
    whole,
)
from eval.studies.extraction import summarize
from eval.tasks import index as guessed
from eval.tasks.attack import AttackTask
from eval.tasks.index import KEPT, MENTIONS
from eval.tasks.questions import DEPTHS, FACTS, RANK
from ingest.documents import Scores
from retrieval.generators.verbatim import VerbatimGenerator

CONFIDENCE = 0.9
OF_IDENTIFIERS, OF_ALL = (0.05, 0.1, 0.2), (0.3, 0.5)
"""The promised leakages."""


def promises(ready: Prepared, seed: int, progress: Progress) -> list[PromiseFigures]:
    """Promises of the default policy and of its scores alone.

    The rules of the default generalize identifiers at every threshold, so a promise about these is an easy
    test. Scores alone, and all sensitive entities, depend on the threshold.
    """
    if len(ready.texts) < 2:
        return []
    default = ready.system.policy
    found: list[PromiseFigures] = []
    for name, policy in (("trip", default), ("scores alone", scores_alone(default))):
        identifiers, everything = leak_curves(
            ready, policy, [COUNTED["identifiers"], COUNTED["all"]], progress
        )
        found += _checked(name, "identifiers", identifiers, OF_IDENTIFIERS, seed)
        found += _checked(name, "all", everything, OF_ALL, seed)
    return found


def _checked(
    policy: str, counted: str, curve: LeakCurve, limits: Sequence[float], seed: int
) -> list[PromiseFigures]:
    found: list[PromiseFigures] = []
    if len(curve.losses) < 2:
        return found
    for limit in limits:
        check = check_on_halves(curve.taus, curve.losses, limit, CONFIDENCE, seed=seed)
        figures = PromiseFigures(
            policy=policy,
            counted=counted,
            max_leak=limit,
            confidence=CONFIDENCE,
            documents=check.documents,
            splits=check.splits,
            promised=check.promised,
            violated=check.violated,
        )
        found.append(figures)
    return found


PAIRS = (("P", "K"), ("P", "D"), ("K", "D"))


def correlations(documents: Sequence[Sequence[Scores]]) -> list[Correlation]:
    """The three pairs of P, K and D, in the paper's order; none where rho is not defined.

    Scores are given per linked entity, by document. Intervals bootstrap documents.
    """
    found = []
    for one, other in PAIRS:
        rows = [(_column(one, own), _column(other, own)) for own in documents]
        rho = estimated(spearman, rows)
        if rho.value is not None:
            n = sum(map(len, documents))
            found.append(Correlation(one=one, other=other, rho=rho, n=n))
    return found


def _column(letter: str, scores: Sequence[Scores]) -> list[float]:
    if letter == "P":
        return [each.marginal_privacy_risk for each in scores]
    if letter == "K":
        return [each.knowledge_divergence for each in scores if each.knowledge_divergence is not None]
    return [1 - each.topical_relevance for each in scores if each.topical_relevance is not None]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rho; None if one side is constant or there are fewer than two pairs."""
    return value_of(spearman, [(one, other)]) if len(one) > 1 else None


AIMS: Mapping[str, Sequence[Aim]] = {
    "mts_dialog": (Aim.HEALTH, Aim.UNTARGETED),
    "aci_bench": (Aim.HEALTH, Aim.UNTARGETED),
    "healthcaremagic": (Aim.HEALTH, Aim.UNTARGETED),
    "enronqa": (Aim.OFFICE, Aim.UNTARGETED),
    "aeslc": (Aim.OFFICE, Aim.UNTARGETED),
    "ewt_email": (Aim.OFFICE, Aim.UNTARGETED),
    "tab": (Aim.LEGAL, Aim.UNTARGETED),
}
"""The aims of the prompts by corpus; all four for corpora of unknown topics."""


def aims_of(corpus: str) -> Sequence[Aim]:
    """The aims of the extraction attack on a corpus."""
    return AIMS.get(corpus, tuple(Aim))


def method_figures(
    method: str,
    encoder: str,
    asked: Sequence[Row],
    index: Sequence[Row],
    original: Sequence[Row],
    about: frozenset[str],
    seed: int,
    strength: float | None = None,
) -> MethodFigures:
    """The usefulness and disclosure of one method's index.

    ``asked`` are its rows of questions and ``original`` those of the unsanitized system with the same
    encoder; ``about`` are the questions that are about a document.
    """
    known = [row for row in asked if row.case in about]
    sanitized = [row for row in index if row.measured]
    kept, mentions = (int(sum(row.figures[name] for row in sanitized)) for name in (KEPT, MENTIONS))
    return MethodFigures(
        method=method,
        encoder=encoder,
        strength=strength,
        recall_overlap={k: overlap_of(asked, original, k, seed).estimate for k in DEPTHS},
        found={k: share_of(sum(0 < row.figures[RANK] <= k for row in known), len(known)) for k in DEPTHS},
        bleu1=mean_of([row.figures["BLEU-1"] for row in asked], seed),
        sacrebleu=mean_of([row.figures["sacreBLEU"] for row in asked], seed),
        rouge_l=mean_of([row.figures["ROUGE-L"] for row in asked], seed),
        facts=mean_of([row.figures[FACTS] for row in asked if FACTS in row.figures], seed),
        disclosed=disclosed(sanitized, lambda entity: True, seed),
        identifiers=disclosed(sanitized, is_identifier, seed),
        kept=share_of(kept, mentions),
        documents_failed=len(index) - len(sanitized),
        entities_failed=sum(len(row.present) for row in index if not row.measured),
    )


def overlap_of(rows: Sequence[Row], original: Sequence[Row], k: int, seed: int = 0) -> RecallOverlap:
    """Recall@k overlap of rows with those of the same questions to the unsanitized system."""
    return recall_at_k_overlap([row.doc_ids for row in original], [row.doc_ids for row in rows], k, seed)


def disclosed(index: Sequence[Row], counted: Callable[[EntityRef], bool], seed: int) -> Estimate:
    """The share of counted entities that remain in the sanitized text of their own document."""
    hits = [sum(counted(leak.entity) for leak in row.leaked) for row in index]
    totals = [sum(map(counted, row.present)) for row in index]
    return clustered_share(hits, totals, seed)


def attack_figures(method: str, task: AttackTask, rows: Sequence[Row]) -> AttackFigures:
    """One attack on one method."""
    seed = task.attack.seed
    found = summarize(method, rows, seed, len(task.sensitive), {})
    return AttackFigures(
        method=method,
        attack=task.attack.name,
        generator=task.generator.name,
        k=task.k,
        prompts=found.completed,
        failed=found.not_measured,
        all_entities=found.entity_leakage,
        identifiers=entity_leakage(rows, seed, is_identifier),
        prompts_leaking=found.query_leakage,
        repeat_prompts=found.repeat_prompts,
        repeat_passages=found.repeat_passages,
        rouge_recall_prompts=found.rouge_recall_prompts,
        rouge_f_prompts=found.rouge_f_prompts,
    )


def guess_figures(method: str, rows: Sequence[Row], seed: int) -> GuessFigures:
    """Entity inference and reconstruction against one method."""
    those = [row for row in rows if row.measured]
    with_slots = [row for row in those if row.figures[guessed.SLOTS]]
    slots = [int(row.figures[guessed.SLOTS]) for row in with_slots]

    def share(name: str) -> Estimate:
        return clustered_share([int(row.figures[name]) for row in with_slots], slots, seed)

    def of_entities(name: str) -> Estimate:
        totals = [int(row.figures[guessed.SENSITIVE]) for row in those]
        return clustered_share([int(row.figures[name]) for row in those], totals, seed)

    chance = sum(row.figures[guessed.CHANCE] for row in with_slots)
    return GuessFigures(
        method=method,
        documents=len(those),
        slots=sum(slots),
        top1=share(guessed.FIRST),
        top5=share(guessed.FIRST_FIVE),
        prior_top1=share(guessed.PRIOR_FIRST),
        prior_top5=share(guessed.PRIOR_FIVE),
        chance_top1=chance / sum(slots) if slots else None,
        rouge_l=mean_of([row.figures[guessed.ROUGE] for row in those], seed),
        rebuilt_rouge_l=mean_of([row.figures[guessed.REBUILT_ROUGE] for row in those], seed),
        entities_left=of_entities(guessed.LEFT),
        entities_recovered=of_entities(guessed.RECOVERED),
    )


Spot = tuple[float, float]
"""Leakage (lower is better) and usefulness (higher is better)."""
DEFAULT, REDACTED, UNSANITIZED = "trip", "redact", "origin"
OURS = frozenset((DEFAULT, "scores alone"))
"""The methods of Lethe's curve: the default policy, and its scores without the rules."""
REDRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Point:
    """A method at one strength, with its Recall@1 overlap per question, in the same order for all."""

    figures: MethodFigures
    overlaps: Sequence[float] = field(repr=False)


def dominated_by(curve: Sequence[Spot], points: Sequence[Spot]) -> int:
    """The number of points that a point of the curve dominates: no worse in both, better in one."""
    return sum(any(_dominates(each, point) for each in curve) for point in points)


def _dominates(one: Spot, other: Spot) -> bool:
    no_worse = one[0] <= other[0] and one[1] >= other[1]
    return no_worse and one != other


def area_under(curve: Sequence[Spot], most: float) -> float:
    """The mean over leakages from 0 to ``most`` of the best usefulness at or below each; 0 if there is none.

    Points that leak more than ``most`` do not count.

    Raises:
        ValueError: ``most`` is not positive.
    """
    if most <= 0:
        raise ValueError(f"the largest leakage is {most}: nothing leaks, so there is no trade-off")
    area, best, at = 0.0, 0.0, 0.0
    for leakage, use in sorted(curve):
        if leakage > most:
            break
        area += best * (leakage - at)
        best, at = max(best, use), leakage
    return (area + best * (most - at)) / most


def by_area(*frontiers: Frontier) -> list[str]:
    """The methods of the frontiers, by falling area in the first."""
    names = {name for each in frontiers for name in each.areas}

    def areas(name: str) -> list[float]:
        return [each.areas.get(name, Estimate()).value or 0.0 for each in frontiers]

    return sorted(sorted(names), key=areas, reverse=True)


def frontier_of(
    points: Iterable[Point], leakage: Callable[[MethodFigures], Estimate], seed: int, redraws: int = REDRAWS
) -> Frontier:
    """The frontier of leakage against Recall@1 overlap, each point once.

    Arms that failed on a document are left out. The bootstrap resamples questions with the seed.
    """
    plane = _Plane.of(points, leakage)
    found = _measured(plane, plane.recalls())

    def redrawn(drawn: Drawn) -> Floats:
        each = [_measured(plane, plane.overlaps[:, chosen].mean(axis=1).tolist()) for chosen in drawn]
        return np.array([[one.share, *one.areas.values()] for one in each])

    # One question cannot be resampled.
    questions = plane.overlaps.shape[1] if plane.names else 0
    none = np.empty((0, 1 + len(found.areas)))
    shares, *areas = (bootstrap(redrawn, questions, seed, redraws) if questions > 1 else none).T
    return Frontier(
        dominated=found.dominated,
        by_trip=found.by_trip,
        points=found.points,
        share=holding(found.share, shares) if found.points else Estimate(),
        areas={
            name: _area(area, drawn) for (name, area), drawn in zip(found.areas.items(), areas, strict=True)
        },
    )


def _area(area: float, drawn: Floats) -> Estimate:
    """An area with the basic bootstrap interval, since the best of noisy points is biased upwards."""
    ends = holding(area, drawn).interval
    if ends is None:
        return Estimate(area)
    low, high = (min(1.0, max(0.0, 2 * area - end)) for end in reversed(ends))
    return Estimate(area, low, high)


@dataclass(frozen=True, slots=True)
class _Plane:
    """Points as columns: ``names`` and ``leaks``, and ``overlaps`` of shape (points, questions)."""

    names: Sequence[str]
    leaks: Sequence[float]
    overlaps: NDArray[np.float64]

    @classmethod
    def of(cls, points: Iterable[Point], leakage: Callable[[MethodFigures], Estimate]) -> "_Plane":
        known: dict[tuple[str, float, tuple[float, ...]], None] = {}
        for each in points:
            leaked = leakage(each.figures).value
            if leaked is not None and each.overlaps and whole(each.figures):
                known[each.figures.method, leaked, tuple(each.overlaps)] = None
        overlaps = np.array([each[2] for each in known], dtype=np.float64)
        return cls([each[0] for each in known], [each[1] for each in known], overlaps)

    def recalls(self) -> list[float]:
        """The usefulness of every point."""
        return self.overlaps.mean(axis=1).tolist() if self.names else []


@dataclass(frozen=True, slots=True)
class _Measured:
    dominated: int
    by_trip: int
    points: int
    areas: Mapping[str, float]

    @property
    def share(self) -> float:
        return self.dominated / self.points if self.points else math.nan


def _measured(plane: _Plane, recalls: Sequence[float]) -> _Measured:
    curves: dict[str, set[Spot]] = {}
    for name, leaked, recall in zip(plane.names, plane.leaks, recalls, strict=True):
        curves.setdefault(name, set()).add((leaked, recall))
    most = max((leaked for leaked, _ in curves.get(UNSANITIZED, ())), default=0.0)
    ours = [spot for name in OURS for spot in curves.get(name, ())]
    theirs = {spot for name, curve in curves.items() if name not in OURS | {UNSANITIZED} for spot in curve}
    compared = {name: list(curve) for name, curve in curves.items() if name != UNSANITIZED}
    return _Measured(
        dominated=dominated_by(ours, list(theirs)),
        by_trip=dominated_by(list(curves.get(DEFAULT, ())), list(theirs)),
        points=len(theirs),
        areas={name: area_under(curve, most) for name, curve in compared.items()} if most else {},
    )


DEPTH = 5


def summary_of(
    points: Mapping[str, Point],
    rows: Mapping[str, Sequence[Row]],
    attacks: Iterable[AttackFigures],
    by_identifiers: Frontier,
    by_all: Frontier,
    seed: int,
) -> Summary:
    """The summary of a corpus, of its methods and their rows by name; leakage at five passages.

    ``rows`` are of the same questions in the same order.
    """
    if not all(name in points and whole(points[name].figures) for name in (DEFAULT, REDACTED, UNSANITIZED)):
        return Summary()
    ours, redact, attacked = points[DEFAULT], points[REDACTED], list(attacks)
    identifiers = [_leakage(attacked, name, identifiers=True) for name in (DEFAULT, REDACTED)]
    everything = [_leakage(attacked, name, identifiers=False) for name in (DEFAULT, UNSANITIZED)]
    rouge = [[row.figures["ROUGE-L"] for row in rows[name]] for name in (DEFAULT, REDACTED)]
    return Summary(
        recall=ours.figures.recall_overlap[1],
        recall_ratio=paired_ratio(ours.overlaps, redact.overlaps, seed),
        identifier_excess=difference(*identifiers),
        leakage_change=less(ratio(*everything), 1),
        rouge_change=less(paired_ratio(rouge[0], rouge[1], seed), 1),
        dominated=by_identifiers.share,
        dominated_all=by_all.share,
    )


def worst_case(attacks: Iterable[AttackFigures], method: str, k: int) -> AttackFigures | None:
    """The extraction attack on a method whose victim repeats ``k`` passages, None if it was not run."""
    victim = (method, VerbatimGenerator().name, k)
    for each in attacks:
        if each.attack.startswith("extraction") and (each.method, each.generator, each.k) == victim:
            return each
    return None


def _leakage(attacks: Iterable[AttackFigures], name: str, identifiers: bool) -> Estimate:
    found = worst_case(attacks, name, DEPTH)
    if found is None:
        return Estimate()
    return found.identifiers if identifiers else found.all_entities


STRENGTH, ABLATION, WEIGHTED = "strength", "ablation", "grid"
"""Kinds of systems beside the methods at their defaults."""


def system_name(method: str, strength: float | None = None, kind: str = "") -> str:
    """The system name in rows: a method's name, before its strength and the kind of variant if any."""
    return f"{method}{'' if strength is None else f' {strength}'} ({kind})" if kind else method


def with_comparisons(report: TripRagReport) -> TripRagReport:
    """The report with frontiers and summary, computed from its rows; unchanged without rows."""
    rows = _by_system(report)
    if UNSANITIZED not in rows:
        return report
    points = {each.method: _point(rows, system_name(each.method), each) for each in report.methods}
    swept = [_point(rows, system_name(each.method, each.strength, STRENGTH), each) for each in report.sweep]
    plane = [*points.values(), *swept]
    by_identifiers = frontier_of(plane, lambda each: each.identifiers, report.seed)
    by_all = frontier_of(plane, lambda each: each.disclosed, report.seed)
    asked = {each.method: rows[system_name(each.method)] for each in report.methods}
    summary = summary_of(points, asked, report.attacks, by_identifiers, by_all, report.seed)
    return report.model_copy(update={"frontier": by_identifiers, "frontier_all": by_all, "summary": summary})


def _by_system(report: TripRagReport) -> Mapping[str, Sequence[Row]]:
    """The rows of the answering encoder, on which the methods' figures are based."""
    tasks = {f"questions, {each.encoder}" for each in report.methods}
    found: dict[str, list[Row]] = {}
    for row in report.rows:
        if row.task in tasks:
            found.setdefault(row.system, []).append(row)
    return found


def _point(rows: Mapping[str, Sequence[Row]], system: str, figures: MethodFigures) -> Point:
    return Point(figures, overlap_of(rows[system], rows[UNSANITIZED], 1).per_query)
