"""What people see at a terminal in place of JSON, in a real one. All texts are invented."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from app.cli.people import show_answer
from retrieval.documents import Answer, Citation, Passage, RetrievedPassage
from tests.commands import command, environment, lethe


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    (folder / "note.txt").write_text("The boiler of the laundry was replaced in spring.\n\nLunch is at one.")
    assert lethe(folder / "data", "ingest", str(folder / "note.txt"), "-c", "clinic").code == 0
    return folder / "data"


def at_terminal(data: Path, *arguments: str) -> str:
    """What a verb prints where standard output is a terminal."""
    ours, theirs = os.openpty()
    env = environment(data) | {"TERM": "dumb", "COLUMNS": "200"}
    with subprocess.Popen(command(*arguments), stdout=theirs, stderr=subprocess.DEVNULL, env=env) as process:
        os.close(theirs)
        said = b""
        # At the end of the process reading fails.
        with suppress(OSError):
            while piece := os.read(ours, 4096):
                said += piece
        assert process.wait() == 0
    os.close(ours)
    return said.decode()


def test_an_answer_is_shown_with_its_passage(data: Path) -> None:
    said = at_terminal(data, "ask", "What was replaced in the laundry?", "-c", "clinic")
    assert said.startswith("The boiler of the laundry was replaced in spring. [1]")
    assert "Lunch is at one" in said
    assert "{" not in said


def test_where_nothing_answers_the_nearest_passages_are_shown_as_such(data: Path) -> None:
    said = at_terminal(data, "ask", "Who won the chess final in the harbour?", "-c", "clinic")
    assert said.startswith("Nothing in this collection answers that.")
    assert "which do not answer it" in said


@pytest.mark.parametrize(
    ("verb", "shown"),
    [("search boiler -c clinic", "1. "), ("documents -c clinic", "doc_id"), ("settings", "retrieval.k")],
)
def test_rows_are_for_people_at_a_terminal_and_json_with_json(data: Path, verb: str, shown: str) -> None:
    said = at_terminal(data, *verb.split())
    assert shown in said
    assert not said.startswith("{")
    for line in at_terminal(data, *verb.split(), "--json").splitlines():
        json.loads(line)


def test_a_document_that_an_answer_names_is_opened(data: Path) -> None:
    (row,) = map(json.loads, at_terminal(data, "search", "boiler", "-c", "clinic", "--json").splitlines())
    opened = ("documents", row["doc_id"], "-c", "clinic")
    said = at_terminal(data, *opened)
    assert said.startswith("The boiler of the laundry was replaced in spring.")
    assert row["doc_id"] in said
    whole = json.loads(at_terminal(data, *opened, "--json"))
    assert whole["text"].endswith("Lunch is at one.")
    assert whole["title"] == row["title"]
    unknown = lethe(data, "documents", "nothing", "-c", "clinic")
    assert unknown.code == 1
    assert "lethe documents -c clinic lists all" in unknown.err


def test_nothing_of_a_document_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    text = "The mill\x1b[31m is\x9b2J old.\x07"
    found = RetrievedPassage(Passage(1, "doc\x1b]0;x\x07", 0, len(text), text), 0.5)
    show_answer("mill", Answer(f"{text} [1]", [Citation(1, 1, "doc")], (found,), "test"))
    said = capsys.readouterr().out
    assert said.count("The mill") == 2
    assert not {"\x1b", "\x9b", "\x07"} & {*said}


def test_an_ingest_says_what_it_did_and_a_dry_run_what_it_would_do(data: Path) -> None:
    note = str(data.parent / "note.txt")
    said = at_terminal(data, "ingest", note, "-c", "clinic")
    assert said.splitlines()[0].startswith("Documents of clinic: 1 read, 1 were there already; 0 passages")
    (data.parent / "letter.txt").write_text("Mr Tobias Zorvathian called from 01632 960 123 on 4 May 2021.")
    planned = at_terminal(data, "ingest", str(data.parent / "letter.txt"), "-c", "new", "--dry-run")
    assert planned.startswith("Nothing was stored; a run would have new: 1 read, 1 stored;")
    assert "phone number" in planned and "generalize" in planned
    assert "{" not in said + planned and "Zorvathian" not in planned
