"""Rows of the comparison folded into table rows."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

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
from eval.studies.calibrate import COUNTED, SPLITS, check_on_halves, leak_curves
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
LIMITS = {"identifiers": (0.05, 0.1, 0.2), "all": (0.3, 0.5)}
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
        curves = leak_curves(ready, policy, [COUNTED[counted] for counted in LIMITS], progress)
        for (counted, limits), curve in zip(LIMITS.items(), curves, strict=True):
            for limit in limits if len(curve.losses) >= 2 else ():
                kept, broken = check_on_halves(curve.taus, curve.losses, limit, CONFIDENCE, seed)
                found.append(
                    PromiseFigures(
                        policy=name,
                        counted=counted,
                        max_leak=limit,
                        confidence=CONFIDENCE,
                        documents=len(curve.losses),
                        splits=SPLITS,
                        promised=kept,
                        violated=broken,
                    )
                )
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
            found.append(Correlation(one=one, other=other, rho=rho, n=sum(map(len, documents))))
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


AIMS = {
    **dict.fromkeys(("mts_dialog", "aci_bench", "healthcaremagic"), (Aim.HEALTH, Aim.UNTARGETED)),
    **dict.fromkeys(("enronqa", "aeslc", "ewt_email"), (Aim.OFFICE, Aim.UNTARGETED)),
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
        bleu1=mean_of(_values(asked, "BLEU-1"), seed),
        sacrebleu=mean_of(_values(asked, "sacreBLEU"), seed),
        rouge_l=mean_of(_values(asked, "ROUGE-L"), seed),
        facts=mean_of(_values([row for row in asked if FACTS in row.figures], FACTS), seed),
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
    slots = sum(map(int, _values(with_slots, guessed.SLOTS)))

    def pooled(among: Sequence[Row], hits: str, total: str) -> Estimate:
        counted, all_of_them = ([int(value) for value in _values(among, name)] for name in (hits, total))
        return clustered_share(counted, all_of_them, seed)

    return GuessFigures(
        method=method,
        documents=len(those),
        slots=slots,
        top1=pooled(with_slots, guessed.FIRST, guessed.SLOTS),
        top5=pooled(with_slots, guessed.FIRST_FIVE, guessed.SLOTS),
        prior_top1=pooled(with_slots, guessed.PRIOR_FIRST, guessed.SLOTS),
        prior_top5=pooled(with_slots, guessed.PRIOR_FIVE, guessed.SLOTS),
        chance_top1=sum(_values(with_slots, guessed.CHANCE)) / slots if slots else None,
        rouge_l=mean_of(_values(those, guessed.ROUGE), seed),
        rebuilt_rouge_l=mean_of(_values(those, guessed.REBUILT_ROUGE), seed),
        entities_left=pooled(those, guessed.LEFT, guessed.SENSITIVE),
        entities_recovered=pooled(those, guessed.RECOVERED, guessed.SENSITIVE),
    )


def _values(rows: Sequence[Row], name: str) -> list[float]:
    return [row.figures[name] for row in rows]


Spot = tuple[float, float]
"""Leakage (lower is better) and usefulness (higher is better)."""
DEFAULT, REDACTED, UNSANITIZED = "trip", "redact", "origin"
OURS = frozenset((DEFAULT, "scores alone"))
"""The methods of Lethe's curve: the default policy, and its scores without the rules."""


@dataclass(frozen=True, slots=True)
class Point:
    """A method at one strength, with its Recall@1 overlap per question, in the same order for all."""

    figures: MethodFigures
    overlaps: Sequence[float] = field(repr=False)


def dominated_by(curve: Sequence[Spot], points: Sequence[Spot]) -> int:
    """The number of points that a point of the curve dominates: no worse in both, better in one."""
    return sum(
        any(spot != point and spot[0] <= point[0] and spot[1] >= point[1] for spot in curve)
        for point in points
    )


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
    points: Iterable[Point], leakage: Callable[[MethodFigures], Estimate], seed: int, redraws: int = 1_000
) -> Frontier:
    """The frontier of leakage against Recall@1 overlap, each point once.

    Arms that failed on a document are left out. The bootstrap resamples questions with the seed.
    """
    known = dict.fromkeys(
        (each.figures.method, leaked, tuple(each.overlaps))
        for each in points
        if (leaked := leakage(each.figures).value) is not None and each.overlaps and whole(each.figures)
    )
    names, leaks = [name for name, _, _ in known], [leaked for _, leaked, _ in known]
    overlaps = np.array([own for _, _, own in known], dtype=np.float64)
    found = _measured(names, leaks, overlaps.mean(axis=1).tolist() if known else [])

    def redrawn(drawn: Drawn) -> Floats:
        each = [_measured(names, leaks, overlaps[:, chosen].mean(axis=1).tolist()) for chosen in drawn]
        return np.array([[one.share, *one.areas.values()] for one in each])

    # One question cannot be resampled.
    questions = overlaps.shape[1] if known else 0
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
class _Measured:
    dominated: int
    by_trip: int
    points: int
    areas: Mapping[str, float]

    @property
    def share(self) -> float:
        return self.dominated / self.points if self.points else math.nan


def _measured(names: Sequence[str], leaks: Sequence[float], recalls: Sequence[float]) -> _Measured:
    curves: dict[str, set[Spot]] = {}
    for name, leaked, recall in zip(names, leaks, recalls, strict=True):
        curves.setdefault(name, set()).add((leaked, recall))
    most = max((leaked for leaked, _ in curves.get(UNSANITIZED, ())), default=0.0)
    ours = [spot for name in OURS for spot in curves.get(name, ())]
    compared = {name: list(curve) for name, curve in curves.items() if name != UNSANITIZED}
    theirs = list({spot for name, curve in compared.items() if name not in OURS for spot in curve})
    return _Measured(
        dominated=dominated_by(ours, theirs),
        by_trip=dominated_by(compared.get(DEFAULT, []), theirs),
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
    identifiers = [_leakage(attacked, name, lambda each: each.identifiers) for name in (DEFAULT, REDACTED)]
    everything = [_leakage(attacked, name, lambda each: each.all_entities) for name in (DEFAULT, UNSANITIZED)]
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


def _leakage(
    attacks: Iterable[AttackFigures], method: str, of: Callable[[AttackFigures], Estimate]
) -> Estimate:
    """That of the extraction attack whose victim repeats ``DEPTH`` passages; no value if it was not run."""
    victim = (method, VerbatimGenerator().name, DEPTH)
    for each in attacks:
        if each.attack.startswith("extraction") and (each.method, each.generator, each.k) == victim:
            return of(each)
    return Estimate()


STRENGTH, ABLATION, WEIGHTED = "strength", "ablation", "grid"
"""Kinds of systems beside the methods at their defaults."""


def system_name(method: str, strength: float | None = None, kind: str = "") -> str:
    """The system name in rows: a method's name, before its strength and the kind of variant if any."""
    return f"{method}{'' if strength is None else f' {strength}'} ({kind})" if kind else method


def with_comparisons(report: TripRagReport) -> TripRagReport:
    """The report with frontiers and summary, computed from its rows; unchanged without rows."""
    # The methods' figures are based on the answering encoder.
    tasks = {f"questions, {each.encoder}" for each in report.methods}
    rows: dict[str, list[Row]] = {}
    for row in report.rows:
        if row.task in tasks:
            rows.setdefault(row.system, []).append(row)
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


def _point(rows: Mapping[str, Sequence[Row]], system: str, figures: MethodFigures) -> Point:
    return Point(figures, overlap_of(rows[system], rows[UNSANITIZED], 1).per_query)
