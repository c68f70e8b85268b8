"""A report as a self-contained page, and tables as Markdown and for the terminal.

Names of arms, corpora, engines and settings come from users: all output is escaped.
"""

from collections.abc import Mapping
from functools import cache
from html import escape
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from eval.reports.plots import INSTALL, draw
from eval.reports.schema import Cell, Plot, Report, Row, Table

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from rich.table import Table as TerminalTable

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

    cells = [_terminal_cells(row, narrow) for row in table.rows]
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
    for number, (name, size) in enumerate(
        zip(table.head, wanted if sum(wanted) <= room else least, strict=True)
    ):
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


def _terminal_cells(row: Row, narrow: bool) -> list[str]:
    cells = map(_cell, row)
    return [f"{each.text}\n{'-'.join(each.ends)}" if narrow and each.ends else each.text for each in cells]


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
    made.globals["style"] = Markup(style())
    made.globals["draw"] = _drawn
    made.filters["cell"] = _cell
    made.filters["plain"] = _plain
    made.filters["code"] = _code
    return made


def style() -> str:
    """The style sheet of every page."""
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


def _drawn(plot: Plot) -> "Markup":
    from markupsafe import Markup

    svg = draw(plot)
    return Markup(svg or f'<p class="missing">{escape(INSTALL)}</p>')


def _plain(words: str) -> str:
    """Text escaped for a cell of a Markdown table."""
    return " ".join(escape(words, quote=False).replace("\\", "\\\\").replace("|", "\\|").split())


def _code(words: str) -> str:
    """Text in backticks, without backticks and pipes."""
    return words.replace("`", "'").replace("|", "/") or " "


def asked(usage: Mapping[str, float]) -> str:
    """What was asked of a language model, in a sentence."""
    counts = "; ".join(f"{name.replace('_', ' ')}: {value:,.0f}" for name, value in usage.items())
    return f"Asked of the language model: {counts}."
