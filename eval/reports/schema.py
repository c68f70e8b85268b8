"""The content of a report before rendering: sections of words, plots and tables, all plain text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

from eval.measures.uncertainty import Estimate

NOT_MEASURED = "not measured"
PUBLISHED = "published, other data"
DASH = "–"
PERCENT, DECIMAL = "{:.1%}", "{:.3f}"

Mark = Literal["", "muted", "strong", "em", "code", "calm"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure or a few words, with its interval and a note such as the counts."""

    text: str = field(repr=False)
    ends: tuple[str, str] | None = field(default=None, repr=False)
    note: str = field(default="", repr=False)
    mark: Mark = ""


Row = Sequence[Cell | str]
NOTHING = Cell(NOT_MEASURED, mark="muted")


@dataclass(frozen=True, slots=True)
class Table:
    """The first column names the rows. ``groups`` are heads over the other columns, with their widths.

    ``folded`` is the title of a collapsed table; others are open.
    """

    caption: str = field(repr=False)
    head: Sequence[str] = field(repr=False)
    rows: Sequence[Row] = field(repr=False)
    groups: Sequence[tuple[str, int]] = field(default=(), repr=False)
    folded: str = field(default="", repr=False)

    @property
    def labels(self) -> list[str]:
        """The heads of the columns behind the first, each with its group, for narrow screens."""
        heads = self.head[1:]
        over = [name for name, width in self.groups for _ in range(width)] or [""] * len(heads)
        return [f"{group}: {head}" if group else head for group, head in zip(over, heads, strict=True)]


Column = tuple[str, str, Callable[[Any], Cell | str]]
"""A column group or "", a head, and a function from a row to its cell."""


def table(caption: str, rows: Iterable[Any], columns: Sequence[Column], folded: str = "") -> Table:
    """A table from its columns; the first names the rows."""
    groups = [(name, len([*own])) for name, own in groupby(group for group, _, _ in columns[1:])]
    return Table(
        caption,
        [head for _, head, _ in columns],
        [[cell(row) for _, _, cell in columns] for row in rows],
        groups if any(name for name, _ in groups) else (),
        folded,
    )


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a plot. Bars have a name as ``label`` and a value as ``y``; maps have the value as ``z``."""

    x: float
    y: float
    label: str = field(default="", repr=False)
    ends: tuple[float, float] | None = None
    z: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A group of points: a curve, a kind of marks, a panel of bars or a map."""

    name: str = field(repr=False)
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars with whiskers or maps, one panel per series; or curves or marks in one frame.

    ``across`` and ``up`` name the axes. Shares on the x axis are in percent. Tables have all the figures.
    """

    kind: Literal["bars", "curves", "marks", "maps"]
    title: str = field(repr=False)
    words: str = field(repr=False)
    series: tuple[Series, ...]
    across: str = field(default="", repr=False)
    up: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Section:
    """``missing`` has sentences about what was not measured; ``terms`` are names with definitions."""

    title: str = field(repr=False)
    words: str = field(default="", repr=False)
    plots: Sequence[Plot] = ()
    missing: Sequence[str] = field(default=(), repr=False)
    tables: Sequence[Table] = ()
    terms: Sequence[tuple[str, str]] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Report:
    """A page: ``facts`` go below its title, ``cards`` are headline figures."""

    title: str = field(repr=False)
    lead: str = field(repr=False)
    facts: Sequence[str] = field(repr=False)
    sections: Sequence[Section]
    cards: Sequence[tuple[Cell, str]] = field(default=(), repr=False)
    problems: Sequence[str] = field(default=(), repr=False)
    alert: str = field(default="Not a verdict.", repr=False)
    """Stands before the problems."""
    quotes: str = field(default="document, prompt or output", repr=False)
    """What the page never quotes."""


def estimate_cell(estimate: Estimate | None, style: str = DECIMAL, note: str = "") -> Cell:
    """A cell with a figure and its interval."""
    if estimate is None or estimate.value is None:
        return NOTHING
    ends = estimate.interval
    # Only the value has a percent sign; -0.0 is shown as 0.0.
    bare = style.replace("%", "f") if style.endswith("%}") else style
    scale = 100 if style.endswith("%}") else 1
    shown = ends and (_plain(bare, scale * ends[0]), _plain(bare, scale * ends[1]))
    return Cell(_plain(style, estimate.value), shown, note)


def paired_cell(estimate: Estimate | None, difference: Estimate | None) -> Cell:
    """A cell with a figure, its interval and its paired difference to another one."""
    found = estimate_cell(estimate)
    if difference is None or difference.value is None or difference.interval is None:
        return found
    low, high = difference.interval
    return replace(found, note=f"{difference.value:+.3f}, {low:+.3f} to {high:+.3f}")


def _plain(style: str, value: float) -> str:
    text = style.format(value)
    return style.format(0.0) if text == style.format(-0.0) else text


def share(estimate: Estimate | None, style: str = PERCENT) -> Cell:
    """A share with its interval and counts."""
    return estimate_cell(estimate, style, "" if estimate is None else f"{estimate.hits:,} of {estimate.n:,}")


def mean(estimate: Estimate | None, style: str = DECIMAL) -> Cell:
    """A mean with its interval and its number of values."""
    return estimate_cell(estimate, style, "" if estimate is None else f"n = {estimate.n:,}")


def printed(value: float | None, style: str = DECIMAL) -> Cell:
    """A published figure, styled apart from ours; a dash if there is none."""
    return Cell(DASH if value is None else style.format(value), mark="muted")


def bars(name: str, figures: Mapping[str, Estimate | None]) -> Series:
    """A panel of bars; what was not measured is left out."""
    known = enumerate((label, each) for label, each in figures.items() if each is not None)
    points = (
        Point(number, each.value, label, each.interval)
        for number, (label, each) in known
        if each.value is not None
    )
    return Series(name, tuple(points))
