"""Privacy against usefulness: which points a curve dominates, and the area under it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from eval.measures.contrasts import of_mean, of_share
from eval.measures.intervals import Estimate, Share
from eval.trip_rag.report import Area, Frontier, MethodFigures, whole

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


DEFAULT, UNSANITIZED = "trip", "origin"
OURS = frozenset((DEFAULT, "scores alone"))
"""Whose points are Lethe's curve: the default policy and the same scores without its rules."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A point of a method, and where it would be at the worse and the better ends of its intervals."""

    point: Point
    worst: Point
    best: Point


def frontier_of(figures: Iterable[MethodFigures], leakage: Callable[[MethodFigures], Share]) -> Frontier:
    """Leakage against Recall@1 overlap: whose points lie where, each point once.

    Arms that failed on a document are left out.
    """
    curves: dict[str, dict[Point, Reached]] = {}
    for each in figures:
        reached = _reached(leakage(each), each.recall_overlap[1])
        if reached is not None and whole(each):
            curves.setdefault(each.method, {})[reached.point] = reached
    most = max((leaked for leaked, _ in curves.get(UNSANITIZED, ())), default=0.0)
    ours = [point for name in OURS for point in curves.get(name, ())]
    theirs = {point for name, curve in curves.items() if name not in OURS | {UNSANITIZED} for point in curve}
    compared = {name: list(curve.values()) for name, curve in curves.items() if name != UNSANITIZED}
    return Frontier(
        dominated=dominated_by(ours, list(theirs)),
        by_trip=dominated_by(list(curves.get(DEFAULT, ())), list(theirs)),
        points=len(theirs),
        areas={name: area_of(curve, most) for name, curve in compared.items()} if most else {},
    )


def _reached(leaked: Share, recall: Estimate) -> Reached | None:
    across, up = of_share(leaked), of_mean(recall)
    if across is None or up is None:
        return None
    return Reached(
        (across.value, up.value),
        (_or(across.high, across.value), _or(up.low, up.value)),
        (_or(across.low, across.value), _or(up.high, up.value)),
    )


def _or(end: float | None, value: float) -> float:
    return value if end is None else end


def by_area(*frontiers: Frontier) -> list[str]:
    """The methods of frontiers, the largest area in the first of them first."""
    names = {name for each in frontiers for name in each.areas}

    def areas(name: str) -> list[float]:
        return [each.areas[name].area if name in each.areas else 0.0 for each in frontiers]

    return sorted(sorted(names), key=areas, reverse=True)


def area_of(curve: Sequence[Reached], most: float) -> Area:
    """The area under a curve, and under the curves of its worst and its best ends."""
    return Area(
        area=area_under([each.point for each in curve], most),
        low=area_under([each.worst for each in curve], most),
        high=area_under([each.best for each in curve], most),
    )
