"""Privacy against usefulness: which points a curve dominates, and the area under it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eval.measures.contrasts import Figure, redrawn
from eval.measures.intervals import Share
from eval.trip_rag.report import Frontier, MethodFigures, whole

Spot = tuple[float, float]
"""Leakage, which is better small, and usefulness, which is better large."""
DEFAULT, UNSANITIZED = "trip", "origin"
OURS = frozenset((DEFAULT, "scores alone"))
"""Whose points are Lethe's curve: the default policy and the same scores without its rules."""
REDRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Point:
    """A method at one strength, with its Recall@1 overlap of every question, in the same order for all."""

    figures: MethodFigures
    overlaps: Sequence[float] = field(repr=False)


def dominated_by(curve: Sequence[Spot], points: Sequence[Spot]) -> int:
    """How many points have one of the curve that leaks no more, is as useful, and is better in either."""
    return sum(any(_dominates(each, point) for each in curve) for point in points)


def _dominates(one: Spot, other: Spot) -> bool:
    no_worse = one[0] <= other[0] and one[1] >= other[1]
    return no_worse and one != other


def area_under(curve: Sequence[Spot], most: float) -> float:
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


def by_area(*frontiers: Frontier) -> list[str]:
    """The methods of frontiers, the largest area in the first of them first."""
    names = {name for each in frontiers for name in each.areas}

    def areas(name: str) -> list[float]:
        return [each.areas[name].value if name in each.areas else 0.0 for each in frontiers]

    return sorted(sorted(names), key=areas, reverse=True)


def frontier_of(
    points: Iterable[Point], leakage: Callable[[MethodFigures], Share], seed: int, redraws: int = REDRAWS
) -> Frontier:
    """Leakage against Recall@1 overlap: whose points lie where, each point once.

    Arms that failed on a document are left out. The seed draws the questions of the intervals.
    """
    plane = _Plane.of(points, leakage)
    found = _measured(plane, plane.recalls())
    drawn = [_measured(plane, recalls) for recalls in plane.redrawn(seed, redraws)]
    shares = [each.dominated / each.points for each in drawn if each.points]
    share = redrawn(found.dominated / found.points, shares, len(drawn)) if found.points else None
    areas = {name: _area(area, [each.areas[name] for each in drawn]) for name, area in found.areas.items()}
    return Frontier(
        dominated=found.dominated, by_trip=found.by_trip, points=found.points, share=share, areas=areas
    )


def _area(area: float, drawn: Sequence[float]) -> Figure:
    """With the basic interval: the best of points that vary by chance is too good, redrawn twice so."""
    percentiles = redrawn(area, drawn, len(drawn)).interval
    if percentiles is None:
        return Figure(area)
    low, high = (min(1.0, max(0.0, 2 * area - end)) for end in reversed(percentiles))
    return Figure(area, low, high)


@dataclass(frozen=True, slots=True)
class _Plane:
    """Points by their places: ``names`` and ``leaks``, and ``overlaps`` of shape (points, questions)."""

    names: Sequence[str]
    leaks: Sequence[float]
    overlaps: NDArray[np.float64]

    @classmethod
    def of(cls, points: Iterable[Point], leakage: Callable[[MethodFigures], Share]) -> "_Plane":
        known: dict[tuple[str, float, tuple[float, ...]], None] = {}
        for each in points:
            leaked = leakage(each.figures).share
            if leaked is not None and each.overlaps and whole(each.figures):
                known[each.figures.method, leaked, tuple(each.overlaps)] = None
        overlaps = np.array([each[2] for each in known], dtype=np.float64)
        return cls([each[0] for each in known], [each[1] for each in known], overlaps)

    def recalls(self) -> list[float]:
        """The usefulness of every point."""
        return self.overlaps.mean(axis=1).tolist() if self.names else []

    def redrawn(self, seed: int, redraws: int) -> Iterable[list[float]]:
        """The same with questions redrawn; nothing where there is no second one to draw."""
        questions = self.overlaps.shape[1] if self.names else 0
        if questions < 2:
            return
        rng = np.random.default_rng(seed)
        for _ in range(redraws):
            yield self.overlaps[:, rng.integers(0, questions, questions)].mean(axis=1).tolist()


@dataclass(frozen=True, slots=True)
class _Measured:
    dominated: int
    by_trip: int
    points: int
    areas: Mapping[str, float]


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
