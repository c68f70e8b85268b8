"""``python -m benchmarks.coverage`` writes docs/coverage.md from its template and the rows of coverage.toml.

Each row of a paper has a state, and what has to be there for it: a command that the parser takes, a test that
exists. It fails with every fault of the rows at once.
"""

import argparse
import ast
import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from app.cli.arguments import parser
from benchmarks.results_page import DOCS, ROOT, rendered
from eval.reports.render import markdown_table
from eval.reports.schema import DASH, Cell, Column, table
from models.errors import LetheError

PAGE, TEMPLATE = DOCS / "coverage.md", DOCS / "coverage.template.md"
ROWS = Path(__file__).parent / "coverage.toml"
OFFLINE, BY_PATH, ACCELERATOR = "runs offline", "needs a model by path", "needs an accelerator"
ADAPTER, NOT_DONE = "adapter only", "not done"
STATES = (OFFLINE, BY_PATH, ACCELERATOR, ADAPTER, NOT_DONE)
NEEDED: Mapping[str, Sequence[str]] = {
    OFFLINE: ("engine", "command", "test"),
    BY_PATH: ("command", "test"),
    ACCELERATOR: ("command", "test"),
    ADAPTER: ("test",),
    NOT_DONE: (),
}
"""What a row of a state must have."""
FORBIDDEN: Mapping[str, Sequence[str]] = {ADAPTER: ("command",), NOT_DONE: ("engine", "command", "test")}
"""And what it must not have."""
PLACEHOLDERS = frozenset(("PATH", "DATA", "NAME"))
BY_MODEL = frozenset(("--gguf", "--model", "--ask-model", "--preset", "--encoder", "--encoders", "pull"))
"""Words of commands that ask for a model that does not ship."""
MODULE = ("python", "-m")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a paper. ``engine`` is the name that figures carry, ``note`` what differs from the paper."""

    row: str
    state: str
    engine: str = ""
    command: str = ""
    test: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and its rows, in order."""

    title: str
    rows: Sequence[Row]


def main() -> int:
    """Rewrite the page, or say every fault of the rows; the exit code."""
    try:
        made = page(papers_in(ROWS.read_text(encoding="utf-8")))
    except LetheError as error:
        print(error, file=sys.stderr)
        return 1
    PAGE.write_text(made, encoding="utf-8")
    print(PAGE)
    return 0


def papers_in(text: str) -> list[Paper]:
    """The papers of a table in TOML, in the order of their titles.

    Raises:
        LetheError: A row lacks a name or state, has a field that there is not, or its paper has no title.
    """
    said = tomllib.loads(text)
    titles: Mapping[str, str] = said.pop("titles", {})
    if said.keys() != titles.keys():
        raise LetheError(
            f"titles are of {', '.join(titles)}, and rows of {', '.join(said)}: give each paper both."
        )
    return [Paper(title, [_row(title, each) for each in said[key]]) for key, title in titles.items()]


def _row(title: str, said: Mapping[str, Any]) -> Row:
    known = {each.name for each in fields(Row)}
    named = said.get("row", "a row without a name")
    if unknown := sorted(said.keys() - known):
        raise LetheError(
            f"{title}, {named}: there is no field {', '.join(unknown)}; the fields are {_listed(known)}."
        )
    if lacking := sorted({"row", "state"} - said.keys()):
        raise LetheError(f"{title}, {named}: {_listed(lacking)} is missing.")
    return Row(**said)


def faults(papers: Sequence[Paper]) -> list[str]:
    """Every fault of the rows, in order; empty if there is none."""
    found = [f"{row.row}: {fault}" for paper in papers for row in paper.rows for fault in _faults(row)]
    times = Counter(row.row for paper in papers for row in paper.rows)
    return found + [
        f"{name}: the name of {count} rows; give each its own" for name, count in times.items() if count > 1
    ]


def _faults(row: Row) -> Iterator[str]:
    if row.state not in STATES:
        yield f"{row.state!r} is no state; the states are {_listed(STATES)}"
        return
    for name in NEEDED[row.state]:
        if not getattr(row, name):
            yield f"what {row.state} needs {_article(name)}"
    for name in FORBIDDEN.get(row.state, ()):
        if getattr(row, name):
            yield f"what is {row.state} has no {name}"
    if row.command and (fault := command_fault(row.command)):
        yield fault
    if row.state == OFFLINE and (asked := sorted(BY_MODEL & set(shlex.split(row.command)))):
        yield f"{_listed(asked)} asks for a model that does not ship, so it does not run offline"
    if row.test and (fault := missing(row.test)):
        yield fault


def command_fault(command: str) -> str:
    """Why a command is none; empty if it is one. Nothing is run."""
    words = shlex.split(command)
    if stray := sorted({each for each in words if each.isupper() and each not in PLACEHOLDERS}):
        return f"`{command}` has {_listed(stray)}; the placeholders are {_listed(sorted(PLACEHOLDERS))}"
    if tuple(words[:2]) == MODULE and len(words) > 2:
        module = ROOT.joinpath(*words[2].split(".")).with_suffix(".py")
        return "" if module.is_file() else f"`{command}`: there is no module {words[2]}"
    if words[:1] != ["lethe"]:
        return f"`{command}` is neither a verb of lethe nor a module of this project"
    said = StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(StringIO()):
            _parser().parse_args(words[1:])
    except SystemExit:
        last = said.getvalue().strip().splitlines()[-1:] or ["it only shows help"]
        return f"`{command}` is no command: {last[0]}"
    return ""


def missing(test: str) -> str:
    """What a test lacks, the file or the function; empty if it is there."""
    path, _, function = test.partition("::")
    if not (path.startswith("tests/") and (ROOT / path).is_file()):
        return f"there is no file of tests {path}"
    if function and function not in _tests(path):
        return f"{path} has no test {function}"
    return ""


@cache
def _parser() -> argparse.ArgumentParser:
    return parser()


@cache
def _tests(path: str) -> frozenset[str]:
    """The names of the functions of a file that are tests."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    )


def page(papers: Sequence[Paper]) -> str:
    """The page in Markdown.

    Raises:
        LetheError: There are faults; the message has one in each line.
    """
    if found := faults(papers):
        raise LetheError("\n".join(found))
    shown = [{"title": each.title, "table": rows_table(each.rows)} for each in papers]
    return rendered(TEMPLATE, counts=counts_table(papers), papers=shown).rstrip() + "\n"


def counts_table(papers: Sequence[Paper]) -> str:
    """How many rows of each paper have each state, and of all."""
    everything = Paper("all", [row for paper in papers for row in paper.rows])
    columns: list[Column] = [
        ("", "paper", lambda paper: paper.title),
        *(_count_column(state) for state in STATES),
        ("", "rows", lambda paper: str(len(paper.rows))),
    ]
    return markdown_table(table("", [*papers, everything], columns)).rstrip()


def _count_column(state: str) -> Column:
    return ("", state, lambda paper: str(sum(row.state == state for row in paper.rows)))


def rows_table(rows: Sequence[Row]) -> str:
    """A line for each row."""
    columns: list[Column] = [
        ("", "row", lambda row: row.row),
        ("", "state", lambda row: Cell(row.state, mark="strong" if row.state == NOT_DONE else "")),
        ("", "engine", lambda row: row.engine or DASH),
        ("", "command", lambda row: _code(row.command)),
        ("", "test", lambda row: _code(row.test)),
        ("", "note", lambda row: row.note),
    ]
    return markdown_table(table("", rows, columns), words=len(columns)).rstrip()


def _code(words: str) -> Cell:
    return Cell(words, mark="code") if words else Cell(DASH)


def _listed(words: Sequence[str] | set[str]) -> str:
    return ", ".join(sorted(words) if isinstance(words, set) else words)


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


if __name__ == "__main__":
    sys.exit(main())
