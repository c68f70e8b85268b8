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
SMALL = ReadLimits(seconds=200, memory_bytes=96 << 20)
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


def test_what_grows_in_memory_or_is_a_bomb_costs_itself_only() -> None:
    empty = io.BytesIO()
    docx.Document().save(empty)
    with zipfile.ZipFile(empty) as old, zipfile.ZipFile("a.docx", "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            paragraphs = b"<w:body>" + b"<w:p/>" * 3_400_000
            new.writestr(part.filename, old.read(part).replace(b"<w:body>", paragraphs))
    Path("b.json.gz").write_bytes(gzip.compress(b"[" + b'{"a":{}},' * 1_100_000 + b"1]"))
    page = b"<p>" + b"<b>" * 3_000 + b"</i>" * 300_000
    Path("c.eml").write_bytes(b"From: ada@example.org\nContent-Type: text/html\n\n" + page)
    Path("d.html").write_bytes(page)
    Path("e.txt").write_text("words")
    assert Path("a.docx").stat().st_size < 100_000 and Path("b.json.gz").stat().st_size < 25_000
    first, *others = outcomes(SMALL)
    # A reader that needs little for an empty paragraph may well come to its end.
    no_text = "holds no text, or only white space; fill it in or leave it out"
    assert first in (f"a.docx: {TOO_MUCH}", f"a.docx: {no_text}")
    deep = "its HTML could not be parsed (more than 2,000 elements in each other); save the page again"
    assert others == [f"b.json.gz: {TOO_MUCH}", f"c.eml: {deep}", f"d.html: {deep}", "e.txt"]


@pytest.mark.usefixtures("_troubled")
def test_a_reader_that_hangs_is_ended_and_records_that_are_no_documents_have_the_time_of_one() -> None:
    for number, words in enumerate(("first", "Hanging", "third", "Hanging", "fifth")):
        Path(f"{number}.txt").write_text(words)
    Path("5.jsonl").write_text('{"text": "Slow"}\n' * 5)
    Path("6.txt").write_text("words")
    found = outcomes(QUICK)
    assert found[:5] == ["0.txt", f"1.txt: {TOO_LONG}", "2.txt", f"3.txt: {TOO_LONG}", "4.txt"]
    assert found[-2:] == [f"5.jsonl: {TOO_LONG}", "6.txt"]


@pytest.mark.usefixtures("_troubled")
def test_a_process_that_prints_and_dies_keeps_what_it_had_read_and_counts_what_it_had_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows = [f'{{"text": "{words}"}}\n' for words in ("one", "two", "Dying", "four")]
    for name, text in {"a.jsonl": "".join(rows), "b.txt": "Dying", "c.txt": "Printing"}.items():
        Path(name).write_text(text)
    ended = "ended the process that reads files (signal 9); leave it out or save it again"
    assert outcomes(GENEROUS) == [
        "a.jsonl#1",
        "a.jsonl#2",
        f"a.jsonl: {ended}; what stands behind its first 2 documents was not read",
        f"b.txt: {ended}",
        "c.txt",
    ]
    assert [reading.bytes_read for reading in read_documents(["b.txt", "c.txt"])] == [5, 13]
    assert capfd.readouterr() == ("", ""), "what a library prints reaches nobody"


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
    limits = (None, GENEROUS)
    here, there = ([each.item for each in read_documents(["."], limits=limit)] for limit in limits)
    read = [[each for each in items if isinstance(each, Document)] for items in (here, there)]
    assert read[0] == read[1]
    assert [str(item) for item in here] == [str(item) for item in there]
    assert len(here) == 4


def test_hundreds_of_files_with_long_names_are_read_in_order_and_no_module_beside_them_is_run() -> None:
    names = [f"{number:03}{'é' * 100}.txt" for number in range(300)]
    for name in names:
        Path(name).write_text("words")
    Path("json.py").write_text("raise SystemExit('run')")
    assert outcomes(GENEROUS)[:-1] == names


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
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command, no = [sys.executable, "-c", code], subprocess.DEVNULL
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=no)
    with program:
        assert program.stdout
        assert program.stdout.readline() == b"read\n"
        (process,) = children(program.pid)
        assert is_running(process)
        program.send_signal(end)
    until = time.monotonic() + 10
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(process)


def test_a_text_beyond_the_limit_is_refused_with_the_setting_that_raises_it() -> None:
    Path("long.txt").write_text("ash " * 300)
    Path("short.txt").write_text("ash")
    readings = read_documents(
        ["long.txt", "short.txt", "-"], stdin=io.BytesIO(b"oak " * 300), limits=ReadLimits(characters=1_000)
    )
    long, short, typed = (each.item for each in readings)
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
