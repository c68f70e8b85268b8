"""What follows from the rows and figures of a benchmark: trade-offs, and the summary."""

from collections.abc import Mapping, Sequence

from eval.trip_rag.asking import overlap_of
from eval.trip_rag.frontier import Point, frontier_of
from eval.trip_rag.goals import UNSANITIZED, summary_of
from eval.trip_rag.report import AnswerRow, MethodFigures, TripRagReport

DEFAULT, STRENGTH, ABLATION, WEIGHTED = "method", "strength", "ablation", "grid"
"""Kinds of parts of a run."""


def part_name(kind: str, method: str, strength: float | None) -> str:
    """What the rows of a part say that they are of."""
    return f"{kind} {method}" if kind == DEFAULT else f"{kind} {method} {strength}"


def with_comparisons(report: TripRagReport) -> TripRagReport:
    """The report with its frontiers and its summary, out of its rows; without rows nothing is compared."""
    rows = _by_part(report)
    methods = {each.method: _part(DEFAULT, each) for each in report.methods}
    if _unsanitized() not in rows:
        return report
    points = {each.method: _point(rows, methods[each.method], each) for each in report.methods}
    swept = [_point(rows, _part(STRENGTH, each), each) for each in report.sweep]
    plane = [*points.values(), *swept]
    by_identifiers = frontier_of(plane, lambda each: each.identifiers, report.seed)
    by_all = frontier_of(plane, lambda each: each.disclosed, report.seed)
    asked = {name: rows[part] for name, part in methods.items()}
    summary = summary_of(points, asked, report.attacks, by_identifiers, by_all, report.seed)
    return report.model_copy(update={"frontier": by_identifiers, "frontier_all": by_all, "summary": summary})


def _part(kind: str, figures: MethodFigures) -> str:
    return part_name(kind, figures.method, figures.strength)


def _unsanitized() -> str:
    return part_name(DEFAULT, UNSANITIZED, None)


def _by_part(report: TripRagReport) -> Mapping[str, Sequence[AnswerRow]]:
    """Those of the encoder that answers, which the methods' figures are of."""
    encoders = {each.encoder for each in report.methods}
    found: dict[str, list[AnswerRow]] = {}
    for row in report.rows:
        if row.encoder in encoders:
            found.setdefault(row.part, []).append(row)
    return found


def _point(rows: Mapping[str, Sequence[AnswerRow]], part: str, figures: MethodFigures) -> Point:
    return Point(figures, overlap_of(rows[part], rows[_unsanitized()], 1).per_query)
