"""A report as a self-contained page, and tables as Markdown and for the terminal.

Names of arms, corpora, engines and settings come from users: all output is escaped.
"""

from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from eval.reports.plots import INSTALL, draw
from eval.reports.schema import Cell, Plot, Report, Row, Table

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from rich.table import Table as TerminalTable

TEMPLATES = Path(__file__).parent / "templates"


def html_page(report: Report) -> str:
    """The whole page: no scripts, no network, no fonts; light and dark."""
    template = _environment(escaping=True).get_template("page.html.j2")
    return template.render(report=report).strip() + "\n"


def markdown_table(table: Table, words: int = 1) -> str:
    """Rows and heads, ending in a line end; the first ``words`` columns are words and the others figures."""
    return _environment(escaping=False).get_template("table.md.j2").render(table=table, words=words)


def terminal_table(table: Table, narrow: bool = False) -> "TerminalTable":
    """The same for a terminal; ``narrow`` puts the interval below its figure."""
    from rich.box import SIMPLE
    from rich.markup import escape as plain
    from rich.table import Table as TerminalTable

    shown = TerminalTable(box=SIMPLE, title=plain(table.caption), pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(table.head):
        if number:
            shown.add_column(plain(name), justify="right", no_wrap=not narrow, max_width=10)
        else:
            shown.add_column(plain(name), overflow="fold", max_width=11 if narrow else 24)
    for row in table.rows:
        shown.add_row(*map(plain, _terminal_cells(row, narrow)))
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
