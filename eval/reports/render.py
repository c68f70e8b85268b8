"""A report as a self-contained page, and tables as Markdown and for the terminal.

Names of arms, corpora, engines and settings come from users: all output is escaped.
"""

import io
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from html import escape
from importlib.util import find_spec
from itertools import cycle, islice, repeat
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

from eval.reports.schema import Cell, Plot, Report, Series, Table

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.table import Table as TerminalTable

INSTALL = "There is no plot here, for matplotlib is not installed: pip install 'lethe[reports]'."
INK = "#010203"
"""Placeholder for the color of the text, which is light on dark pages."""
COLORS = ("#c2541b", "#64748b", "#0f9183", "#7d5bd2", "#3b7bc0", "#a07f12")
MARKS, DASHES = "osD^vPX", ("-", "--", ":", "-.")
LOOKS = 14
"""Series that are distinguishable without color: seven marks, filled and hollow."""
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lethe",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


@lru_cache(64)
def draw(plot: Plot) -> str | None:
    """The plot, byte-identical each time; None if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = io.StringIO()
    with rc_context(STYLE), catch_warnings():
        # Text stays text, so that the reader's fonts are used.
        filterwarnings("ignore", "Glyph .* missing")
        most = max((len(each.points) for each in plot.series), default=0)
        rows = -(-len(plot.series) // 2)
        heights = {"bars": 0.5 + rows * (0.7 + 0.22 * most), "maps": 0.4 + 2.1 * rows, "marks": 3.4}
        figure = Figure(figsize=(9.6, heights.get(plot.kind, 5.4)), layout="constrained")
        {"bars": _bars, "maps": _maps, "curves": _curves, "marks": _curves}[plot.kind](figure, plot)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return inline(file.getvalue(), f"{plot.title}. {plot.words}")


def inline(svg: str, label: str) -> str:
    """Remove external references, add an accessible label, and use the color of the page."""
    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>", "", svg, flags=re.DOTALL)
    # Group ids repeat across plots; ids of marks and clips are unique.
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href").replace(INK, "currentColor")
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" stroke-linejoin="round" ', 1)


def standalone(svg: str) -> str:
    """A drawn plot as a separate file, with light ink in dark mode."""
    ink = "svg { color: #1c2024 } @media (prefers-color-scheme: dark) { svg { color: #e8eaed } }"
    svg = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return svg.replace(">", f"><style>{ink}</style>", 1)


def _looks() -> Iterator[dict[str, Any]]:
    """Fourteen styles that differ without color, repeated."""
    for number in cycle(range(LOOKS)):
        color = COLORS[number % len(COLORS)]
        yield {
            "color": color,
            "marker": MARKS[number % len(MARKS)],
            "linestyle": DASHES[number % len(DASHES)],
            "markerfacecolor": color if number < len(MARKS) else "none",
        }


def _panels(figure: "Figure", plot: Plot) -> Iterator[tuple["Axes", Series]]:
    """One frame per series, two per row."""
    rows = -(-len(plot.series) // 2)
    frames = figure.subplots(rows, min(2, len(plot.series)), squeeze=False)
    for frame in frames.flat[len(plot.series) :]:
        frame.set_visible(False)
    for frame, series in zip(frames.flat, plot.series, strict=False):
        frame.set_title(fill(series.name, 48), loc="left", fontsize=9)
        yield frame, series


def _bars(figure: "Figure", plot: Plot) -> None:
    for frame, series in _panels(figure, plot):
        places = range(len(series.points))
        values = [each.y for each in series.points]
        colors = list(islice(cycle(COLORS), len(values)))
        frame.barh(places, values, color=colors, height=0.7)
        for place, each in zip(places, series.points, strict=True):
            low, high = each.ends or (each.y, each.y)
            frame.plot([low, high], [place, place], color=INK, linewidth=1.2)
        frame.set_yticks(places, [each.label for each in series.points])
        frame.set_xlim(0, max(1.0, *values) if values else 1.0)
        frame.invert_yaxis()


def _maps(figure: "Figure", plot: Plot) -> None:
    """Each cell shows its figure; the shade is decoration."""
    from matplotlib.patches import Rectangle

    for frame, series in _panels(figure, plot):
        xs, ys = ([*sorted({getattr(each, of) for each in series.points})] for of in ("x", "y"))
        values = [each.z or 0.0 for each in series.points]
        low, reach = min(values), (max(values) - min(values)) or 1.0
        for each, value in zip(series.points, values, strict=True):
            place = xs.index(each.x), ys.index(each.y)
            shade = 0.06 + 0.5 * (value - low) / reach
            corner = place[0] - 0.48, place[1] - 0.46
            frame.add_patch(Rectangle(corner, 0.96, 0.92, color=COLORS[2], alpha=shade, linewidth=0))
            frame.text(*place, each.label, ha="center", va="center", fontsize=8)
        frame.set_xlim(-0.5, len(xs) - 0.5)
        frame.set_ylim(-0.5, len(ys) - 0.5)
        frame.set_xticks(range(len(xs)), [f"{each:g}" for each in xs])
        frame.set_yticks(range(len(ys)), [f"{each:g}" for each in ys])
        frame.set_xlabel(plot.across)
        frame.set_ylabel(plot.up)


def _curves(figure: "Figure", plot: Plot) -> None:
    """Each curve with labels at its ends; single marks have all labels."""
    from matplotlib.ticker import PercentFormatter

    frame = figure.subplots()
    for series, look in zip(plot.series, _looks(), strict=False):
        if plot.kind == "marks":
            look["linestyle"] = "none"
        points = series.points
        if not points:
            continue
        xs, ys = zip(*((each.x, each.y) for each in points), strict=True)
        # Legends skip labels that begin with an underscore.
        frame.plot(xs, ys, markersize=5, linewidth=1.4, label=f" {series.name}", **look)
        for each in points if plot.kind == "marks" else {points[0], points[-1]}:
            place = (each.x, each.y)
            frame.annotate(each.label, place, xytext=(4, 4), textcoords="offset points", fontsize=7)
    frame.set_xlabel(plot.across)
    frame.set_ylabel(plot.up)
    frame.set_xlim(left=0)
    if plot.kind == "marks":
        # A narrow range would make small differences look large.
        frame.set_ylim(0, 1.08 * frame.get_ylim()[1])
    frame.xaxis.set_major_formatter(PercentFormatter(1))
    frame.grid(alpha=0.25, linewidth=0.6)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8)


AUDIT, PAGE = "audit.json", "report.html"
"""What the files of a report are called."""
TEMPLATES = Path(__file__).parent / "templates"


def html_page(report: Report) -> str:
    """The whole page: no scripts, no network, no fonts; light and dark."""
    template = _environment(escaping=True).get_template("page.html.j2")
    return template.render(report=report).strip() + "\n"


def markdown_table(table: Table, words: int = 1) -> str:
    """Rows and heads, ending in a line end; the first ``words`` columns are words and the others figures."""
    return _environment(escaping=False).get_template("table.md.j2").render(table=table, words=words)


def terminal_table(table: Table, width: int, narrow: bool = False) -> "TerminalTable":
    """Rows and heads for a terminal of so many columns; ``narrow`` puts the interval below its figure.

    No word or figure is cut but long names of rows, which are the user's: where they do not fit beside each
    other, each row becomes a block of lines.
    """
    from rich.box import SIMPLE
    from rich.markup import escape as plain
    from rich.table import Table as TerminalTable

    def shown_as(cell: Cell) -> str:
        return f"{cell.text}\n{'-'.join(cell.ends)}" if narrow and cell.ends else cell.text

    cells = [[shown_as(_cell(each)) for each in row] for row in table.rows]
    columns = [*zip(table.head, *cells, strict=True)]
    caps = [11 if narrow else 24, *repeat(10 if narrow else width, len(columns) - 1)]
    least = [max(len(word) for text in column for word in text.split() or [""]) for column in columns]
    least[0] = min(least[0], caps[0])
    most = [max(len(line) for text in column for line in text.splitlines() or [""]) for column in columns]
    wanted = [max(low, min(high, cap)) for low, high, cap in zip(least, most, caps, strict=True)]
    padding = 0 if narrow else 1
    # The box takes a column at each end and one between two columns.
    room = width - (len(columns) + 1) - padding * (len(columns) - 1)
    if sum(least) > room:
        return _in_blocks(table)
    shown = TerminalTable(box=SIMPLE, pad_edge=False, padding=(0, padding, 0, 0))
    sizes = wanted if sum(wanted) <= room else least
    for number, (name, size) in enumerate(zip(table.head, sizes, strict=True)):
        shown.add_column(plain(name), justify="right" if number else "left", width=size)
    for row in cells:
        shown.add_row(*map(plain, row))
    return shown


def _in_blocks(table: Table) -> "TerminalTable":
    """A line for each figure, below the name of its row."""
    from rich.box import SIMPLE
    from rich.markup import escape as plain
    from rich.table import Table as TerminalTable

    shown = TerminalTable(box=SIMPLE, show_header=False, pad_edge=False)
    for row in table.rows:
        first, *others = map(_cell, row)
        for number, (name, cell) in enumerate(zip(table.head[1:], others, strict=True)):
            interval = f" ({'-'.join(cell.ends)})" if cell.ends else ""
            shown.add_row(*map(plain, ("" if number else first.text, name, f"{cell.text}{interval}")))
        shown.add_section()
    return shown


def _cell(given: Cell | str) -> Cell:
    return Cell(given) if isinstance(given, str) else given


@cache
def _environment(escaping: bool) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        autoescape=escaping,
        loader=FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    missing = f'<p class="missing">{escape(INSTALL)}</p>'
    made.globals |= {"style": Markup(style()), "draw": lambda plot: Markup(draw(plot) or missing)}
    made.filters |= {
        "cell": _cell,
        # Text escaped for a cell of a Markdown table.
        "plain": lambda text: " ".join(
            escape(text, quote=False).replace("\\", "\\\\").replace("|", "\\|").split()
        ),
        # Text in backticks, without backticks and pipes.
        "code": lambda text: text.replace("`", "'").replace("|", "/") or " ",
    }
    return made


def style() -> str:
    """The style sheet of every page."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def asked(usage: Mapping[str, float]) -> str:
    """What was asked of a language model, in a sentence."""
    counts = "; ".join(f"{name.replace('_', ' ')}: {value:,.0f}" for name, value in usage.items())
    return f"Asked of the language model: {counts}."
