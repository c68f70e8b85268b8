"""Privacy against usefulness as inline SVG: a curve a method, told apart by mark, dashes, color and name."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from eval.trip_rag.plot_labels import Placer

WIDTH, HEIGHT = 960, 460
LEFT, RIGHT, TOP, BOTTOM = 62, 930, 22, 408
REACH = 5.0
DASHES = ("", "7 4", "2 4", "10 3 2 3")
MARKS = 7


@dataclass(frozen=True, slots=True)
class Dot:
    """One strength of a method: ``label`` is drawn where there is room, ``note`` shown on request."""

    x: float
    y: float
    label: str = field(repr=False)
    note: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Curve:
    """The dots of one method from weak to strong; ``place`` picks how they look."""

    name: str = field(repr=False)
    place: int
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from ``low`` to ``high`` onto drawn places from ``start`` to ``end``, with steps between."""

    low: float
    high: float
    step: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a number is drawn."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """The numbers that are written at the axis."""
        return [self.low + n * self.step for n in range(round((self.high - self.low) / self.step) + 1)]


def axis_of(values: Sequence[float], start: float, end: float, from_zero: bool) -> Axis:
    """An axis with four to eight round steps that holds all values, with some air unless it is at 0."""
    low, high = (0.0 if from_zero else min(values)), max(values)
    reach = max(high - low, 0.02)
    step = 10.0 ** math.floor(math.log10(reach))
    step *= next(part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if reach / (step * part) <= 6)
    lowest = max(0.0, math.floor(low / step + 1e-9))
    highest = max(lowest + 1, math.ceil(high / step - 1e-9))
    return Axis(lowest * step, highest * step, step, start, end)


def scatter(title: str, explanation: str, across: str, up: str, curves: Sequence[Curve]) -> str:
    """A titled figure with its legend; the leakage across is in shares, written as percent."""
    dots = [dot for curve in curves for dot in curve.dots]
    x = axis_of([dot.x for dot in dots], LEFT, RIGHT, from_zero=True)
    y = axis_of([dot.y for dot in dots], BOTTOM, TOP, from_zero=False)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *(_line_across(x, value) for value in x.ticks()),
        *(_line_up(y, value) for value in y.ticks()),
        f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>',
        f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>',
        f'<text transform="translate(14 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(up)}</text>",
        *(_curve(curve, x, y) for curve in curves),
        *(_marks(curve, x, y) for curve in curves),
        *_labels(curves, x, y),
        "</svg>",
    ]
    return (
        f'<figure class="chart plot"><figcaption><strong>{escape(title)}</strong>'
        f"<span>{escape(explanation)}</span></figcaption>"
        f'<div class="wide">{"".join(parts)}</div>{_legend(curves)}</figure>'
    )


def _line_across(x: Axis, value: float) -> str:
    at = x.at(value)
    return (
        f'<line class="rule" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{BOTTOM}"/>'
        f'<text x="{at:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{_short(100 * value)}%</text>'
    )


def _line_up(y: Axis, value: float) -> str:
    at = y.at(value)
    return (
        f'<line class="rule" x1="{LEFT}" x2="{RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_short(value)}</text>'
    )


def _short(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _curve(curve: Curve, x: Axis, y: Axis) -> str:
    if len(curve.dots) < 2:
        return ""
    points = " ".join(f"{x.at(dot.x):.1f},{y.at(dot.y):.1f}" for dot in curve.dots)
    return f'<polyline class="curve ink-{curve.place % 6}"{_dashes(curve.place)} points="{points}"/>'


def _dashes(place: int) -> str:
    dashes = DASHES[place % len(DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _marks(curve: Curve, x: Axis, y: Axis) -> str:
    return "".join(
        f"<g><title>{escape(f'{curve.name}: {dot.note}')}</title>"
        f"{mark(curve.place, x.at(dot.x), y.at(dot.y))}</g>"
        for dot in curve.dots
    )


def mark(place: int, x: float, y: float) -> str:
    """One of fourteen marks: seven shapes, hollow in every second round."""
    r, d, e, t = REACH, REACH * 1.3, REACH * 0.7, REACH * 0.35
    shapes = (
        f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z",
        f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z",
        f"M{x:.1f} {y - d:.1f}l{d} {2 * r}h{-2 * d}z",
        f"M{x:.1f} {y - d:.1f}l{d} {d}l{-d} {d}l{-d} {-d}z",
        f"M{x:.1f} {y + d:.1f}l{d} {-2 * r}h{-2 * d}z",
        f"M{x - 3 * t:.2f} {y - t:.2f}h{e}v{-e}h{e}v{e}h{e}v{e}h{-e}v{e}h{-e}v{-e}h{-e}z",
        f"M{x - d:.1f} {y - r:.1f}l{2 * d} {2 * r}v{-2 * r}l{-2 * d} {2 * r}z",
    )
    hollow = " hollow" if place // MARKS % 2 else f" series-{place % 6}"
    return f'<path class="mark ink-{place % 6}{hollow}" d="{shapes[place % MARKS]}"/>'


def _labels(curves: Sequence[Curve], x: Axis, y: Axis) -> list[str]:
    """Names of methods first, each at one of its dots, then strengths; what has no room stays away."""
    placer = Placer(LEFT, TOP - 14, RIGHT + 24, BOTTOM)
    for curve in curves:
        for dot in curve.dots:
            placer.block(x.at(dot.x), y.at(dot.y), REACH + 1)
        for one, other in pairwise(curve.dots):
            placer.block_line((x.at(one.x), y.at(one.y)), (x.at(other.x), y.at(other.y)))
    drawn = []
    for curve in sorted(curves, key=lambda curve: len(curve.dots)):
        places = [(x.at(dot.x), y.at(dot.y)) for dot in (*curve.dots[-1:], *curve.dots[:-1])]
        drawn.append(
            placer.place(curve.name, places, "name", 13)
            or placer.place_far(curve.name, places[0], "name", 13)
        )
    for curve in curves:
        for dot in curve.dots:
            if dot.label:
                drawn.append(placer.place(dot.label, [(x.at(dot.x), y.at(dot.y))], "strength", 11))
    return drawn


def _legend(curves: Sequence[Curve]) -> str:
    items = "".join(
        '<li><svg viewBox="0 0 34 14" aria-hidden="true">'
        f'<path class="curve ink-{curve.place % 6}"{_dashes(curve.place)} d="M0 7H34"/>'
        f"{mark(curve.place, 17, 7)}</svg>{escape(curve.name)}</li>"
        for curve in curves
    )
    return f'<ul class="legend">{items}</ul>'
