"""The privacy-usefulness trade-off: which points a curve dominates, and the area under it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eval.measures.uncertainty import Drawn, Estimate, Floats, bootstrap, holding
from eval.studies.compare.report import Frontier, MethodFigures, whole

Spot = tuple[float, float]
"""Leakage (lower is better) and usefulness (higher is better)."""
DEFAULT, UNSANITIZED = "trip", "origin"
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
