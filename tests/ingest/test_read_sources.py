"""All files and people here are invented."""

import gzip
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, TextIO

import pytest

import ingest.read.sources
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.paths import FOLDERS_ALONE, Walk
from ingest.read.reading import Fields, File, Reading, ReadLimits
from ingest.read.reading_process import reading_process
from ingest.read.sources import EXTENSIONS, file_readings, read_documents, sources_of, total_bytes
from ingest.read.text import decoded
from tests.relative import relative

UNREAD = (
    f"has an extension that is not read; convert it to one of {' '.join(EXTENSIONS)} "
    "(gzip: .csv.gz .tsv.gz .json.gz .jsonl.gz .ndjson.gz)"
)
LEADS_OUT = (
    "was skipped: a link leads out of the folder to it; name it, or give --follow-links or set "
    "ingest.follow_links to read all that links lead to"
)
NO_ROW = (
    "holds no row behind the line that names its columns; write that line and a row for each document, or "
    "name a text .txt"
)
NONE = "holds no record; fill it in or leave it out"
NO_FILE = "is no ordinary file; name a file or a folder"
DAMAGED = "is damaged gzip data; compress it again"


pytestmark = pytest.mark.usefixtures("clean")


def write(name: str, content: str = "words") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(content)


def told(
    *paths: str, stdin: TextIO | BinaryIO | None = None, here: bool = True, walk: Walk = FOLDERS_ALONE
) -> list[str]:
    """Ids of documents below the test's folder, sentences of errors; read in this process if ``here``."""
    return shown(read_documents(paths, stdin=stdin, limits=None if here else ReadLimits(), walk=walk))


def shown(readings: Iterable[Reading]) -> list[str]:
    items = [reading.item for reading in readings]
    return [relative(item.doc_id) if isinstance(item, Document) else str(item) for item in items]


def documents(*paths: str) -> list[Document]:
    items = [reading.item for reading in read_documents(paths, limits=None)]
    assert not [each for each in items if not isinstance(each, Document)]
    return [each for each in items if isinstance(each, Document)]


def test_a_folder_is_read_sorted_and_without_hidden_files() -> None:
    for name in ("n/b.txt", "n/a/z.md", "n/c.txt", "n/.hidden.txt", "n/.git/x.txt", "n/a/.y.txt"):
        write(name)
    for spelled in ("n", "./n/", str(Path("n").resolve())):
        assert told(spelled) == ["n/a/z.md", "n/b.txt", "n/c.txt"]


def test_links_in_a_circle_and_those_that_lead_out_are_followed_once_where_that_is_asked_for() -> None:
    write("n/a/x.txt")
    write("outside/y.txt")
    write("z.txt")
    for name, target in (("n/a/up", "n"), ("n/b", "n/a"), ("n/c", "outside"), ("n/d.txt", "z.txt")):
        Path(name).symlink_to(Path(target).resolve())
    Path("n/loop.txt").symlink_to("loop.txt")
    Path("n/nowhere.txt").symlink_to("gone.txt")
    assert told("n", walk=Walk(follow_links=True)) == [
        "n/a/x.txt",
        "outside/y.txt",
        "z.txt",
        "n/loop.txt: could not be read (Too many levels of symbolic links); check the disk and try again",
        "n/nowhere.txt: does not exist; check the path",
    ]
    assert told("n/**/*.txt", walk=Walk(follow_links=True))[:3] == ["n/a/x.txt", "outside/y.txt", "z.txt"]


@pytest.fixture
def linked(clean: Path) -> None:
    """A folder with links to a file and a folder outside, to its own file and folder, and to a link."""
    for name in ("n/a.txt", "n/s/b.txt", "outside/c.txt", "outside/d/e.txt"):
        write(name)
    links = "file.txt ../outside/c.txt folder ../outside again folder own.txt s/b.txt o s".split()
    for name, target in zip(links[::2], links[1::2], strict=True):
        Path("n", name).symlink_to(target)
    Path("named.txt").symlink_to("outside/c.txt")
    Path("m").symlink_to("n")


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize(
    ("named", "names"),
    [
        ("n", ["n/a.txt", "n/again!", "n/file.txt!", "n/folder!", "n/s/b.txt", "n/s/b.txt"]),
        ("m", ["n/a.txt", "m/again!", "m/file.txt!", "m/folder!", "n/s/b.txt", "n/s/b.txt"]),
        ("n/**/c.txt", ["n/again!", "n/folder!"]),
        ("n/*.txt", ["n/a.txt", "n/file.txt!", "n/s/b.txt"]),
        ("n/f*", ["n/file.txt!", "n/folder!"]),
        ("n/*/*.txt", ["n/again!", "n/folder!", "n/s/b.txt", "n/s/b.txt"]),
        # What a user names is what was meant, and what lies behind a link that was named is a folder.
        ("n/file.txt", ["outside/c.txt"]),
        ("named.txt", ["outside/c.txt"]),
        ("n/folder", ["outside/c.txt", "outside/d/e.txt"]),
        ("n/folder/*.txt", ["outside/c.txt"]),
    ],
)
@pytest.mark.parametrize("here", [True, False])
def test_links_that_lead_out_are_skipped_and_reported(named: str, names: list[str], here: bool) -> None:
    found = told(named, here=here)
    assert [each.replace(f": {LEADS_OUT}", "!") for each in found] == names


def listed(named: str) -> list[File]:
    return [each for each in sources_of([named]) if isinstance(each, File)]


@pytest.mark.parametrize("named", ["n", "n/**/*.txt", "n/*/*.txt"])
@pytest.mark.parametrize("swapped", ["n/d/a.txt", "n/d"])
@pytest.mark.parametrize("apart", [True, False])
def test_what_becomes_a_link_after_it_was_listed_is_not_read(named: str, swapped: str, apart: bool) -> None:
    for name in ("n/d/a.txt", "secret/a.txt"):
        write(name, "invented words")
    (file,) = listed(named)
    Path(swapped).rename("away")
    Path(swapped).symlink_to(Path("secret/a.txt" if swapped.endswith(".txt") else "secret").resolve())
    if apart:
        with reading_process(ReadLimits(), Fields()) as read:
            found = shown(read(iter([file])))
    else:
        found = shown(file_readings(file, Fields()))
    assert found == [f"n/d/a.txt: {LEADS_OUT}"]


@pytest.mark.parametrize(("swap", "reason"), [("link", LEADS_OUT), ("pipe", NO_FILE)])
def test_what_becomes_a_link_or_a_pipe_while_it_is_opened_is_neither_read_nor_waited_for(
    monkeypatch: pytest.MonkeyPatch, swap: str, reason: str
) -> None:
    write("n/a.txt")
    write("secret.txt")
    (file,) = listed("n")
    opening = os.open

    def swapped(path: Path, flags: int, *rest: int) -> int:
        """Opens what is there for this moment only."""
        Path("n/a.txt").rename("n/kept")
        os.mkfifo("n/a.txt") if swap == "pipe" else Path("n/a.txt").symlink_to("../secret.txt")
        try:
            return opening(path, flags, *rest)
        finally:
            Path("n/kept").replace("n/a.txt")

    monkeypatch.setattr(os, "open", swapped)
    found = shown(file_readings(file, Fields()))
    monkeypatch.undo()
    assert found == [f"n/a.txt: {reason}"]


def test_a_folder_that_becomes_a_link_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    write("n/d/a.txt")
    write("secret/b.txt")
    looking = Path.is_dir

    def swapped(path: Path) -> bool:
        found = looking(path)
        if path == Path("n/d"):
            path.rename("away")
            path.symlink_to(Path("secret").resolve())
        return found

    monkeypatch.setattr(Path, "is_dir", swapped)
    assert told("n") == [f"n/d: {LEADS_OUT}"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("n/*.txt", ["n/a.txt", "n/b.txt"]),
        ("n/[b]*", ["n/b.txt"]),
        ("n/s*", ["n/s/c.txt", "n/s/t/d.md"]),
        ("n/**/*.txt", ["n/a.txt", "n/b.txt", "n/s/c.txt"]),
        ("n/**", ["n/a.txt", "n/b.txt", "n/s/c.txt", "n/s/t/d.md"]),
        ("**/t/*", ["n/s/t/d.md"]),
        ("n/**/t/**", ["n/s/t/d.md"]),
        ("n/.*", ["n/.e.txt"]),
        ("n/.e.txt", ["n/.e.txt"]),
        ("n/*/*.md", ["n/*/*.md: matches no file; check the path"]),
        ("a[1].txt", ["a[1].txt"]),
    ],
)
def test_patterns(pattern: str, names: list[str]) -> None:
    for name in ("n/a.txt", "n/b.txt", "n/s/c.txt", "n/s/t/d.md", "n/.e.txt", "a[1].txt"):
        write(name)
    assert told(pattern) == names


def test_names_that_lead_nowhere_do_not_end_the_batch() -> None:
    Path("empty").mkdir()
    for name in ("a.txt", "x.exe", "notes.txt.gz", "bare"):
        write(name)
    os.mkfifo("pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.txt")
    expected = {
        "gone.txt": "gone.txt: does not exist; check the path",
        "gone": "gone: does not exist; check the path",
        "gone/*.txt": "gone: does not exist; check the path",
        "empty": "empty: holds no file; check the path",
        "x.exe": f"x.exe: {UNREAD}",
        "notes.txt.gz": f"notes.txt.gz: {UNREAD}",
        "bare": "bare: has no extension, and its beginning does not tell what it is; name it .txt or so",
        "pipe.txt": f"pipe.txt: {NO_FILE}",
        "s.txt": f"s.txt: {NO_FILE}",
        "": "an empty path: names nothing; write . for the folder you are in",
        "a\0.txt": "a\\x00.txt: could not be read (ValueError); leave it out or save it again",
        "a.txt": "a.txt",
    }
    assert told(*expected, here=False) == list(expected.values())


def test_a_file_that_vanishes_between_finding_and_reading() -> None:
    for name in ("n/a.txt", "n/b.txt"):
        write(name)
    readings = read_documents(["n"], limits=None)
    next(readings)
    Path("n/b.txt").unlink()
    assert str(next(readings).item) == "n/b.txt: does not exist; check the path"


def test_what_may_not_be_read_and_what_a_disk_or_nobody_foresaw_is_one_sentence_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("n/a.txt", "n/b/c.txt", "n/d.txt", "n/e.txt", "n/f.txt"):
        write(name, "Zyxwv" if name == "n/e.txt" else "words")
    opening = os.open
    failing = {13: ("a.txt", "b"), 5: ("d.txt",)}

    def fails(path: Path, flags: int) -> int:
        for number, names in failing.items():
            if path.name in names:
                raise OSError(number, os.strerror(number), str(path))
        return opening(path, flags)

    def breaks(data: bytes, place: str) -> str:
        if b"Zyxwv" in data:
            raise KeyError(data.decode())
        return decoded(data, place)

    monkeypatch.setattr(os, "open", fails)
    monkeypatch.setattr(ingest.read.sources, "decoded", breaks)
    assert told("n") == [
        "n/a.txt: may not be read; give the user of this program the right to read it",
        "n/b: may not be read; give the user of this program the right to read it",
        "n/d.txt: could not be read (Input/output error); check the disk and try again",
        "n/e.txt: could not be read (KeyError); leave it out or save it again",
        "n/f.txt",
    ]


def test_damaged_gzip() -> None:
    packed = gzip.compress(json.dumps({"text": "Zyxwv " * 5_000}).encode())
    Path("cut.jsonl.gz").write_bytes(packed[:40])
    Path("none.jsonl.gz").write_text("Zyxwv")
    Path("wrong.jsonl.gz").write_bytes(packed[:30] + b"Zyxwv" * 4 + packed[50:])
    write("b.txt")
    damaged = ("cut.jsonl.gz", "none.jsonl.gz", "wrong.jsonl.gz")
    assert told(*damaged, "b.txt", here=False) == [*(f"{name}: {DAMAGED}" for name in damaged), "b.txt"]


def test_names_stay_as_they_are_but_for_what_controls_a_terminal_or_is_no_text() -> None:
    odd = "a\x1b[31m\nb\u202e\u2028\x85.txt"
    safe = "a\\x1b[31m\\nb\\u202e\\u2028\\x85.txt"
    names = ("Zoë 7.txt", "文書.txt", "سند.txt", "a\\b.txt")
    for name in (*names, os.fsdecode(b"caf\xe9.txt"), odd):
        write(name)
    assert sorted(told(".", here=False)) == sorted([*names, "caf\\udce9.txt", safe])
    write(odd, " ")
    assert f"{safe}: holds no text" in [each.partition(",")[0] for each in told(".")]
    assert told("none\n*")[0] == "none\\n*: matches no file; check the path"


HL7 = "MSH|^~\\&|LAB|MILL|||202001011200||ORU^R01|1|P|2.5\rPID|1||77||Quell^Ada\rOBX|1|TX|||All well\r"


@pytest.mark.parametrize("name", ["a.hl7", "a.txt", "a.log"])
@pytest.mark.parametrize("ends", ["\r", "\n", "\r\n"])
def test_hl7_messages_are_documents_with_a_line_a_segment(name: str, ends: str) -> None:
    Path(name).write_bytes((HL7 + HL7.replace("Ada", "Bo")).replace("\r", ends).encode())
    one, two = documents(name)
    assert (relative(one.doc_id), relative(two.doc_id)) == (f"{name}#1", f"{name}#2")
    assert one.text == HL7.replace("\r", "\n")
    assert "Quell^Bo" in two.text


def test_parameters_of_cards_and_calendars_that_are_no_words_are_left_out() -> None:
    lines = {
        "BEGIN:VCARD": "BEGIN:VCARD",
        'FN;CHARSET=Zyxwv;LANGUAGE="Zy;x:w":Ada Quell': "FN:Ada Quell",
        "DTSTART;TZID=Zyxwv;X-A=b:20310304": "DTSTART;X-A=b:20310304",
        "ATTENDEE;CN=Bo Quell;value=Zyxwv:x": "ATTENDEE;CN=Bo Quell:x",
        "NOTE:the key;TZID=on the roof: above": "NOTE:the key;TZID=on the roof: above",
    }
    Path("a.vcf").write_text("\n".join(lines))
    (card,) = documents("a.vcf")
    assert card.text.splitlines() == [*lines.values()]


def test_one_hl7_message_is_called_after_its_file_and_the_head_of_a_batch_goes_with_its_first() -> None:
    Path("a.hl7").write_bytes(f"\x0b{HL7}\x1c\r".encode())
    (only,) = documents("a.hl7")
    assert (relative(only.doc_id), only.text.strip()) == ("a.hl7", HL7.replace("\r", "\n").strip())
    Path("a.hl7").write_bytes(f"FHS|^~\\&|LAB\rBHS|^~\\&|LAB\r{HL7}{HL7}BTS|2\r".encode())
    one, two = documents("a.hl7")
    assert one.text.startswith("FHS|^~\\&|LAB\nBHS|^~\\&|LAB\nMSH|")
    assert two.text.endswith("BTS|2\n")


def test_a_text_that_speaks_of_hl7_is_one_document() -> None:
    write("a.txt", "A message begins so:\nMSH|^~\\&|LAB\nMSH|^~\\&|LAB\n")
    write("b.log", "12:00 started\n12:01 stopped\n")
    assert told("a.txt", "b.log") == ["a.txt", "b.log"]


def test_bytes_read_rises_to_the_total() -> None:
    lines = '{"text": "one"}\n' * 50
    for name, text in {"a.jsonl": lines, "c.txt": "words", "d.exe": "no", "e.csv": "id,text\n1,a\n"}.items():
        write(name, text)
    Path("b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    paths = ["a.jsonl", "b.jsonl.gz", "c.txt", "d.exe", "gone.txt", "e.csv", "-"]
    used = [reading.bytes_read for reading in read_documents(paths[:-1])]
    assert used == sorted(used)
    assert (used[0], used[49]) == (16, 800)
    assert used[-1] == total_bytes(paths) == sum(p.stat().st_size for p in Path().iterdir())


@pytest.mark.parametrize("kind", [io.StringIO, io.BytesIO])
def test_standard_input_of_json_lines(kind: type[io.StringIO] | type[io.BytesIO]) -> None:
    said = '\n{"text": "a"}\nbroken\n{"id": "k", "text": "b"}'
    stdin = io.StringIO(said) if kind is io.StringIO else io.BytesIO(said.encode())
    broken = "standard input, line 3: is broken JSON at column 1; correct it or leave it out"
    assert told("-", stdin=stdin) == ["stdin#2", broken, "k"]


def test_standard_input_of_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n né\r\nb".encode())))
    write("a.txt")
    one, two = read_documents(["-", "a.txt"])
    assert isinstance(one.item, Document) and isinstance(two.item, Document)
    assert (one.item.doc_id, one.item.text, one.bytes_read, two.bytes_read) == ("stdin", "\n né\nb", 8, 13)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "holds no text, or only white space; fill it in or leave it out"),
        (b"Zyxwv\n\xe9", "not UTF-8 at byte 6; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8 (line 2)"),
        (b"Zyxwv\0", "holds binary data, not text; give it the extension that it needs"),
    ],
)
def test_standard_input_that_is_no_text(data: bytes, reason: str) -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as end:
        end.write(data)
    with os.fdopen(read_end, "rb") as stdin:
        assert told("-", stdin=stdin) == [f"standard input: {reason}"]


def test_metadata_says_where_a_document_stands_and_no_repr_shows_its_text() -> None:
    write("a.jsonl", '\n{"text": "Zyxwv"}')
    write("b.txt", "Zyxwv")
    one, two = documents("a.jsonl", "b.txt")
    assert one.metadata == {"source": "a.jsonl", "place": "a.jsonl, line 2"}
    assert two.metadata == {"source": "b.txt"}
    assert "Zyxwv" not in repr(list(read_documents(["."])))


def test_errors_hold_on_to_nothing() -> None:
    broken = {"a.jsonl": b'{"text": "Zyxwv"', "b.json": b'{"text": "Zyxwv"', "c.txt": b"Zyxwv \xe9"}
    mail = {"d.eml": b"From: Zyxwv \xe9\n\nx", "e.mbox": b"From x\nFrom: Zyxwv \xe9\n\nx"}
    for name, data in (broken | mail).items():
        Path(name).write_bytes(data)
    errors = [reading.item for reading in read_documents(["."])]
    assert len(errors) == 5
    for error in errors:
        assert isinstance(error, UnreadableDocument)
        assert (error.__traceback__, error.__context__, error.__cause__) == (None, None, None)


def test_importing_loads_no_heavy_library() -> None:
    heavy = {"pypdf", "lxml", "openpyxl", "PIL", "email", "numpy"}
    code = f"import sys, ingest.read.worker; print({heavy} & {{*sys.modules}})"
    root = Path(ingest.read.sources.__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", "Greta Lindqvist\n", NO_ROW),
        ("a.tsv", "text\tid\n", NO_ROW),
        ("a.json", "[]", NONE),
        ("a.jsonl", "\n \n", NONE),
        ("a.mbox", "\n", NONE),
        ("a.jsonl", "\0Zyxwv\n" * 100, "holds binary data, not text; give it the extension that it needs"),
    ],
)
def test_a_file_without_a_record_is_told_once(name: str, content: str, reason: str) -> None:
    write(name, content)
    assert told(name) == [f"{name}: {reason}"]


def test_errors_in_a_row_are_told_one_by_one_up_to_a_number() -> None:
    write("a.jsonl", "{}\n" * 1_000 + '{"text": "words"}\n' + "{}\n" * 1_003 + '{"text": "words"}\n')
    items = told("a.jsonl", here=False)
    assert len(items) == 2_003
    assert items[1_000:1_002] == [
        "a.jsonl#1001",
        "a.jsonl, line 1,002: has no field 'text'; name that of the text with --text-field, or ... for all",
    ]
    assert items[-3].startswith("a.jsonl, line 2,001: ")
    assert items[-2:] == [
        "a.jsonl: holds 3 more records behind those that cannot be read; correct or leave them out",
        "a.jsonl#2005",
    ]
