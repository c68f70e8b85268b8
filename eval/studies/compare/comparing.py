"""Derived results of a comparison: trade-offs and the summary."""

from collections.abc import Mapping, Sequence

from eval.rows import Row
from eval.studies.compare.figures import overlap_of
from eval.studies.compare.frontier import Point, frontier_of
from eval.studies.compare.goals import UNSANITIZED, summary_of
from eval.studies.compare.report import MethodFigures, TripRagReport

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
