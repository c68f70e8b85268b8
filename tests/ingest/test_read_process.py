"""Files are read in a process that is ended where a document takes too much. All content is invented."""

import argparse
import gzip
import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import docx
import pytest

from app.cli.given import readings_of
from app.settings.load import load_settings
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.reading import ReadLimits
from ingest.read.sources import read_documents
from tests.relative import relative

GENEROUS = ReadLimits()
SMALL = ReadLimits(seconds=60, memory_bytes=96 << 20)
QUICK = ReadLimits(seconds=0.5)
TOO_MUCH = "needed more than 96 MB of memory to read; split it or raise LETHE_INGEST__DOCUMENT_MEGABYTES"
TOO_LONG = "took longer than 0.5 s to read; split it or raise LETHE_INGEST__DOCUMENT_SECONDS"

TROUBLE = '''
"""Goes into the reading process: what some words make a reader do."""
import os, re, signal, sys, time
if "ingest.read.worker" in sys.orig_argv:
    import ingest.errors, ingest.read.record_text, ingest.read.sources

    def troubled(checked):
        def check(raw, place):
            if "Hanging" in raw:
                re.match("(a+)+$", "a" * 60 + "b")
            if "Dying" in raw:
                os.kill(os.getpid(), signal.SIGKILL)
            if "Slow" in raw:
                time.sleep(0.2)
                raise ingest.errors.UnreadableDocument(place, "is slow")
            if "Printing" in raw:
                print(raw)
                print(raw, file=sys.stderr)
                os.write(1, raw.encode())
            return checked(raw, place)
        return check

    for module in (ingest.read.sources, ingest.read.record_text):
        module.checked_text = troubled(module.checked_text)
'''


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")


@pytest.fixture
def _troubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trouble").mkdir()
    (tmp_path / "trouble" / "sitecustomize.py").write_text(TROUBLE)
    monkeypatch.syspath_prepend(tmp_path / "trouble")


def outcomes(limits: ReadLimits) -> list[str]:
    """What reading the folder gives: ids of documents, sentences of errors."""
    items = [reading.item for reading in read_documents(["."], limits=limits)]
    return [relative(item.doc_id) if isinstance(item, Document) else str(item) for item in items]


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(pid: int) -> bool:
    """Whether a process is gone within ten seconds."""
    until = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_running(pid)


def test_a_word_file_of_empty_paragraphs_costs_itself_only() -> None:
    empty = io.BytesIO()
    docx.Document().save(empty)
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile("a.docx", "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(
                part.filename, old.read(part).replace(b"<w:body>", b"<w:body>" + b"<w:p/>" * 3_400_000)
            )
    Path("b.txt").write_text("words")
    assert Path("a.docx").stat().st_size < 100_000
    first, second = outcomes(SMALL)
    # A reader that needs little for an empty paragraph may well come to its end.
    assert first in (
        f"a.docx: {TOO_MUCH}",
        "a.docx: holds no text, or only white space; fill it in or leave it out",
    )
    assert second == "b.txt"


def test_json_that_grows_in_memory_costs_itself_only() -> None:
    Path("a.json.gz").write_bytes(gzip.compress(b"[" + b'{"a":{}},' * 1_100_000 + b"1]"))
    Path("b.txt").write_text("words")
    assert Path("a.json.gz").stat().st_size < 25_000
    assert outcomes(SMALL) == [f"a.json.gz: {TOO_MUCH}", "b.txt"]


@pytest.mark.parametrize("mail", [b"", b"From: ada@example.org\nContent-Type: text/html\n\n"])
def test_a_page_that_is_a_bomb_costs_itself_only(mail: bytes) -> None:
    name = "a.eml" if mail else "a.html"
    Path(name).write_bytes(mail + b"<p>" + b"<b>" * 3_000 + b"</i>" * 300_000)
    Path("b.txt").write_text("words")
    assert outcomes(GENEROUS) == [
        f"{name}: its HTML could not be parsed (more than 2,000 elements in each other); save the page again",
        "b.txt",
    ]


@pytest.mark.usefixtures("_troubled")
def test_a_reader_that_hangs_is_ended_and_the_next_file_read() -> None:
    for number, words in enumerate(("first", "Hanging", "third", "Hanging", "fifth")):
        Path(f"{number}.txt").write_text(words)
    assert outcomes(QUICK) == ["0.txt", f"1.txt: {TOO_LONG}", "2.txt", f"3.txt: {TOO_LONG}", "4.txt"]


@pytest.mark.usefixtures("_troubled")
def test_records_that_are_no_documents_have_the_time_of_one_together() -> None:
    Path("a.jsonl").write_text('{"text": "Slow"}\n' * 5)
    Path("b.txt").write_text("words")
    assert outcomes(QUICK)[-2:] == [f"a.jsonl: {TOO_LONG}", "b.txt"]


@pytest.mark.usefixtures("_troubled")
def test_a_process_that_dies_within_a_file_keeps_what_it_had_read() -> None:
    Path("a.jsonl").write_text(
        "".join(f'{{"text": "{words}"}}\n' for words in ("one", "two", "Dying", "four"))
    )
    Path("b.txt").write_text("Dying")
    Path("c.txt").write_text("words")
    ended = "ended the process that reads files (signal 9); leave it out or save it again"
    assert outcomes(GENEROUS) == [
        "a.jsonl#1",
        "a.jsonl#2",
        f"a.jsonl: {ended}; what stands behind its first 2 documents was not read",
        f"b.txt: {ended}",
        "c.txt",
    ]


@pytest.mark.usefixtures("_troubled")
def test_bytes_read_rise_past_a_file_that_was_the_end() -> None:
    Path("a.txt").write_text("Dying")
    Path("b.txt").write_text("words")
    assert [reading.bytes_read for reading in read_documents(["."])] == [5, 10]


@pytest.mark.usefixtures("_troubled")
def test_what_a_library_prints_reaches_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text("Printing")
    Path("b.txt").write_text("words")
    assert outcomes(GENEROUS) == ["a.txt", "b.txt"]
    assert capfd.readouterr() == ("", "")


def test_time_in_which_nobody_takes_the_documents_does_not_count() -> None:
    # More than fits between the two processes, so that the other one has to wait.
    Path("a.jsonl").write_text(f'{{"text": "{"words " * 10_000}"}}\n' * 20)
    readings = read_documents(["a.jsonl"], limits=QUICK)
    next(readings)
    time.sleep(1.5)
    assert all(isinstance(reading.item, Document) for reading in readings)


def test_a_document_arrives_as_it_would_be_read_here() -> None:
    Path("a.html").write_text('<title>Vis\u00edt</title><!-- note --><img alt="A scan"><p>\U0001f600 \u00e9')
    Path("b.csv").write_text("id;text;age\nk;words;41\n")
    Path(os.fsdecode(b"caf\xe9.txt")).write_text("words")
    Path("d.txt").write_bytes(b"\xff")
    here, there = (
        [reading.item for reading in read_documents(["."], limits=limits)] for limits in (None, GENEROUS)
    )
    assert [item for item in here if isinstance(item, Document)] == [
        item for item in there if isinstance(item, Document)
    ]
    assert [str(item) for item in here] == [str(item) for item in there]
    assert len(here) == 4


def test_hundreds_of_files_with_long_names_are_read_in_order() -> None:
    names = [f"{number:03}{'é' * 100}.txt" for number in range(300)]
    for name in names:
        Path(name).write_text("words")
    assert outcomes(GENEROUS) == names


def test_a_module_in_the_folder_of_the_files_is_not_run() -> None:
    Path("json.py").write_text("raise SystemExit('run')")
    Path("a.txt").write_text("words")
    assert [str(r.item) for r in read_documents(["a.txt"]) if isinstance(r.item, UnreadableDocument)] == []


def test_nothing_runs_on_when_reading_ends_or_is_given_up() -> None:
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("words")
    before = set(children(os.getpid()))
    readings = read_documents(["."])
    next(readings)
    (process,) = set(children(os.getpid())) - before
    readings.close()  # type: ignore[attr-defined]
    assert not is_running(process)
    assert outcomes(GENEROUS) == ["a.txt", "b.txt"]
    assert set(children(os.getpid())) == before


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.usefixtures("_troubled")
def test_nothing_runs_on_when_the_program_ends(end: signal.Signals) -> None:
    Path("a.txt").write_text("words")
    Path("b.txt").write_text("Hanging")
    code = (
        "import sys\nfrom ingest.read.sources import read_documents, ReadLimits\n"
        "for _ in read_documents(['.'], limits=ReadLimits(seconds=4)):\n  print('read', flush=True)"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with program:
        assert program.stdout
        assert program.stdout.readline() == b"read\n"
        (process,) = children(program.pid)
        assert is_running(process)
        program.send_signal(end)
    assert ends(process)


def test_a_text_beyond_the_limit_is_refused_with_the_setting_that_raises_it(tmp_path: Path) -> None:
    Path("long.txt").write_text("ash " * 300, encoding="utf-8")
    Path("short.txt").write_text("ash", encoding="utf-8")
    limits = ReadLimits(characters=1_000)
    named = [str(Path("long.txt")), str(Path("short.txt")), "-"]
    piped = io.BytesIO(b"oak " * 300)
    long, short, typed = (each.item for each in read_documents(named, stdin=piped, limits=limits))
    assert isinstance(short, Document)
    for item in (long, typed):
        assert isinstance(item, UnreadableDocument)
        assert item.reason == (
            "has 1,200 characters, more than 1,000; split it or raise LETHE_INGEST__DOCUMENT_CHARACTERS"
        )
    assert isinstance(long, UnreadableDocument) and long.source


def test_limits_come_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_INGEST__DOCUMENT_MEGABYTES", "64")
    Path("a.json.gz").write_bytes(gzip.compress(b"[" + b'{"a":{}},' * 1_100_000 + b"1]"))
    arguments = argparse.Namespace(paths=["a.json.gz"], text_field="text", id_field="id")
    (reading,) = readings_of(arguments, load_settings({}))
    assert str(reading.item).startswith("a.json.gz: needed more than 64 MB of memory to read; split it or")
