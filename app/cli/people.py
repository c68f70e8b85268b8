"""Results for people at a terminal; into a file or a pipe, or with ``--json``, go JSON lines."""

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.rows import warnings_of
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Passage, RetrievedPassage

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

NEAREST = 2
"""Passages that are shown where nothing answers."""
_LETTERS = 4
"""Words of a question are marked in passages by so many first letters; shorter ones are not."""


def for_people(arguments: argparse.Namespace) -> bool:
    """Whether somebody reads the results as they come."""
    return sys.stdout.isatty() and not arguments.json


def show_answer(question: str, answer: Answer) -> None:
    """The answer, then the passages that it cites, or the nearest where there is none."""
    screen = _screen()
    screen.print(_plain(answer.text))
    cited = {each.mark: answer.passages[each.mark - 1] for each in answer.citations}
    if answer.text == NO_ANSWER and answer.passages:
        screen.print("\nThe nearest passages, which do not answer it:", style="dim")
        cited = dict(enumerate(answer.passages[:NEAREST], start=1))
    for mark, found in cited.items():
        _passage(screen, f"[{mark}]", found, question)
    for warning in warnings_of(answer.passages):
        screen.print(_plain(warning), style="yellow")


def show_passages(question: str, passages: Sequence[RetrievedPassage]) -> None:
    """Passages, best first."""
    screen = _screen()
    for number, found in enumerate(passages, start=1):
        _passage(screen, f"{number}.", found, question)
    if not passages:
        screen.print("There is no passage.")


def show_document(passages: Sequence[Passage]) -> None:
    """A document as it stands in its collection."""
    screen = _screen()
    screen.print(_plain(f"{passages[0].title} ({passages[0].doc_id})"), style="bold")
    for line in "".join(each.text for each in passages).splitlines():
        screen.print(_plain(line))
    for doubt in passages[0].doubts:
        screen.print(_plain(f"entities may have been missed: {doubt}"), style="yellow")


def show_rows(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> None:
    """A table of some columns."""
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(_plain(str(row[name])) for name in columns))
    _screen().print(table)


_COUNTS = {
    "documents_read": "read",
    "documents_kept": "stored",
    "duplicates_skipped": "were there already",
    "documents_replaced": "replaced others",
    "documents_erased": "erased",
    "documents_failed": "failed",
}


def show_ingest(found: Mapping[str, Any]) -> None:
    """What an ingest did, or a dry run would do: counts, what was not read, decisions and fields."""
    from rich.table import Table

    screen = _screen()
    counts = ", ".join(f"{found[name]:,} {words}" for name, words in _COUNTS.items() if found[name])
    begin = "Nothing was stored; a run would have" if found.get("dry_run") else "Documents of"
    size = f"{found['passages']:,} passages, {found['seconds']:g} s"
    screen.print(_plain(f"{begin} {found['collection']}: {counts or 'none'}; {size}."))
    for part in found["not_read"]:
        read = "read" if part["read"] else "not read"
        screen.print(_plain(f"{part['kind']}, {part['count']:,}, {read}: {part['reason']}"), style="dim")
    for doubt, count in found["doubts"].items():
        screen.print(_plain(f"entities may have been missed in {count:,}: {doubt}"), style="yellow")
    tables = (
        ("decisions", ("label", "action", "mentions", "replacements", "reason")),
        ("fields", ("field", "kind", "values")),
    )
    for name, columns in tables:
        table = Table(*columns, box=None, pad_edge=False)
        for row in found.get(name, ()):
            cells = (row[column] for column in columns)
            table.add_row(
                *(_plain(", ".join(each) if isinstance(each, list) else str(each)) for each in cells)
            )
        if table.row_count:
            screen.print()
            screen.print(table)


def _passage(screen: "Console", mark: str, found: RetrievedPassage, question: str) -> None:
    passage = found.passage
    screen.print()
    screen.print(_plain(f"{mark} {passage.title or passage.doc_id}"), style="bold")
    text = _plain(" ".join(passage.text.split()))
    for word in {
        each[:_LETTERS].casefold() for each in re.findall(r"\w+", question) if len(each) >= _LETTERS
    }:
        text.highlight_regex(re.compile(rf"\b{re.escape(word)}\w*", re.IGNORECASE), "bold green")
    screen.print(text)
    screen.print(_plain(f"{passage.doc_id}, score {found.score:.2f}"), style="dim")


def _plain(text: str) -> "Text":
    # Signs that steer a terminal may come from a document.
    from rich.text import Text

    return Text("".join(each if each.isprintable() else " " for each in text))


def _screen() -> "Console":
    from rich.console import Console

    return Console(highlight=False)
