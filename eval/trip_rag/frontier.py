"""Privacy against usefulness: which points a curve dominates, and the area under it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from eval.measures.intervals import Share
from eval.trip_rag.report import Frontier, MethodFigures, whole

Point = tuple[float, float]
"""Leakage, which is better small, and usefulness, which is better large."""


def dominated_by(curve: Sequence[Point], points: Sequence[Point]) -> int:
    """How many points have one of the curve that leaks no more, is as useful, and is better in either."""
    return sum(any(_dominates(each, point) for each in curve) for point in points)


def _dominates(one: Point, other: Point) -> bool:
    no_worse = one[0] <= other[0] and one[1] >= other[1]
    return no_worse and one != other


def area_under(curve: Sequence[Point], most: float) -> float:
    """Of the best usefulness at or below each leakage from 0 to ``most``, the mean; 0 where there is none.

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


def areas_of(curves: Mapping[str, Sequence[Point]], most: float) -> dict[str, float]:
    """The area under each method's curve."""
    return {name: area_under(curve, most) for name, curve in curves.items()}


DEFAULT, UNSANITIZED = "trip", "origin"
OURS = frozenset((DEFAULT, "scores alone"))
"""Whose points are Lethe's curve: the default policy and the same scores without its rules."""


def frontier_of(figures: Iterable[MethodFigures], leakage: Callable[[MethodFigures], Share]) -> Frontier:
    """Leakage against Recall@1 overlap: whose points lie where, each point once.

    Arms that failed on a document are left out.
    """
    curves: dict[str, set[Point]] = {}
    for each in figures:
        recall, leaked = each.recall_overlap[1].mean, leakage(each).share
        if leaked is not None and recall is not None and whole(each):
            curves.setdefault(each.method, set()).add((leaked, recall))
    most = max((leaked for leaked, _ in curves.get(UNSANITIZED, ())), default=0.0)
    ours = [point for name in OURS for point in curves.get(name, ())]
    theirs = {point for name, curve in curves.items() if name not in OURS | {UNSANITIZED} for point in curve}
    areas = {name: list(curve) for name, curve in curves.items() if name != UNSANITIZED} if most else {}
    return Frontier(
        dominated=dominated_by(ours, list(theirs)),
        by_trip=dominated_by(list(curves.get(DEFAULT, ())), list(theirs)),
        points=len(theirs),
        areas=areas_of(areas, most),
    )
