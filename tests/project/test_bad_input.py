"""Bad input through the command line: errors are reported, other input is read. All of it is invented."""

import json
import os
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from app import compose
from app.cli import console
from app.server.routes.health import _wrong_with
from app.settings.load import Settings
from models.encoders.minilm import MiniLM
from tests.commands import PLAIN, Ran, command, environment, in_process, write_records
from tests.serving import served
from tests.tiny_encoder import make_tiny_encoder

SECRET = "Ottokar Vexling"
"""Stands in every bad file; no message may quote it."""
GOOD = [f"Invented note {number}. The heron of pier {number} was fed." for number in range(3)]


Lethe = Callable[..., Ran]


@pytest.fixture
def lethe(
    clean: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], minilm: MiniLM
) -> Lethe:
    """The command line in this process, its model loaded once for all; checks what holds of every run."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, "1" if name.startswith("HF") else "false")
    monkeypatch.setenv("LETHE_DATA_DIR", str(clean / "data"))
    monkeypatch.setenv("LETHE_INGEST__KEEP_IDS", "true")
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    # A busy machine must not change what a run says.
    monkeypatch.setattr(console, "REPORT_EVERY", float("inf"))
    own = compose._encoder

    def shared(settings: Settings) -> Any:
        return minilm if settings.encoder.source == "embedded" else own(settings)

    monkeypatch.setattr(compose, "_encoder", shared)

    def run(*arguments: str) -> Ran:
        return checked(in_process(capsys, *arguments))

    return run


def checked(ran: Ran) -> Ran:
    """What holds whatever went wrong: no text, no traceback, nothing that nobody expected."""
    for said in (ran.out, ran.err):
        assert SECRET not in said
        assert "Traceback" not in said
        assert "internal error" not in said
    return ran


def refused(ran: Ran, *codes: int) -> str:
    """The one line that a failed run says."""
    assert (ran.code in (codes or (1,)), ran.out) == (True, "")
    (line,) = ran.messages
    return line.removeprefix("lethe: ")


INGEST = ["ingest", "good.jsonl", "-c", "notes", "--policy", "redact"]
SEARCH, ERASE = ["search", "heron", "-c", "notes"], ["erase", "r0000", "-c", "notes"]
VERBS = {"search": SEARCH, "ingest": INGEST, "collections": ["collections"], "erase": ERASE}
VERBS |= {"ask": ["ask", "heron?", "-c", "notes"], "serve": ["serve", "-c", "notes", "--port", "0"]}


def names_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the collection ``notes``, made by a process of its own; copied, never used."""
    folder = tmp_path_factory.mktemp("original")
    path = write_records(folder / "notes.jsonl", GOOD)
    ran = in_a_process(folder / "data", "ingest", str(path), "-c", "notes", "--policy", "redact")
    assert ran.code == 0, ran.err
    return folder / "data"


@pytest.fixture
def notes(original: Path, clean: Path) -> Path:
    """A fresh copy of the collection's folder, in a working folder with something to ingest."""
    shutil.copytree(original, clean / "data")
    write_records(clean / "good.jsonl", GOOD)
    return clean / "data" / "collections" / "notes"


# -- files -----------------------------------------------------------------------------------------------


BAD: dict[str, tuple[bytes, str]] = {
    "b.pdf": (b"%PDF-1.7\n1 0 obj << /Type /Catalog " + SECRET.encode() + b"\x00" * 50, "is a damaged PDF ("),
    "c.txt": (b"", "is empty (0 bytes); fill it in or leave it out"),
    "d.txt": (
        SECRET.encode() + bytes(range(256)) * 8,
        "holds binary data, not text; give it the extension that it needs",
    ),
    "e.txt": (
        f"{SECRET} drank caf\xe9".encode("latin-1"),
        f"not UTF-8 at byte {len(SECRET) + 10}; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8",
    ),
    "f.csv, line 2": (
        f"{SECRET},coughs\n{SECRET},sneezes\n".encode(),
        "has no field 'text' among its 2 fields; name that of the text with --text-field, or ... for all",
    ),
    "g.json, record 1": (
        json.dumps([{"text": 7, "id": SECRET}]).encode(),
        "has a number in field 'text', not text; name a field that holds text",
    ),
    "g_by_patient.json": (
        json.dumps({SECRET: {"cough": SECRET}}).encode(),
        "has no field 'text' among its only field; name that of the text with --text-field, or ... for all",
    ),
    "h.docx": (b"PK\x03\x04" + SECRET.encode(), ""),
    "i.jsonl.gz": (b"\x1f\x8b" + SECRET.encode(), "is damaged"),
    "j.xyz": (SECRET.encode(), ""),
}
"""Files and what is told of them, by their places."""


def test_every_bad_file_is_told_and_the_others_are_kept(lethe: Lethe, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_records(folder / "a_good.jsonl", GOOD[:1])
    (folder / "z_good.jsonl").write_text(json.dumps({"id": "last", "text": GOOD[1]}), encoding="utf-8")
    for place, (content, _) in BAD.items():
        (folder / place.split(",")[0]).write_bytes(content)
    ran = lethe("ingest", str(folder), "-c", "x", "--policy", "redact")
    assert ran.code == 1
    assert (ran.summary["documents_kept"], ran.summary["documents_failed"]) == (2, 10)
    reasons = {each["place"].removeprefix(f"{folder}/"): each["reason"] for each in ran.summary["failures"]}
    assert reasons.keys() == BAD.keys()
    for place, (_, told) in BAD.items():
        assert reasons[place].startswith(told)
    assert reasons["b.pdf"].endswith("); repair it, e.g. qpdf in.pdf out.pdf")
    # Each is reported on standard error as well, as one line.
    assert sorted(ran.messages) == sorted(f"lethe: {folder}/{place}: {why}" for place, why in reasons.items())
    assert lethe("ingest", str(folder / "a_good.jsonl"), "-c", "x", "--policy", "redact").code == 0
    ran = lethe(
        "sanitize", str(folder / "e.txt"), str(folder / "a_good.jsonl"), "none.txt", "--policy", "redact"
    )
    assert ran.code == 1
    assert [json.loads(line)["doc_id"] for line in ran.out.splitlines()] == ["r0000"]
    absent = "lethe: none.txt: does not exist; check the path"
    assert ran.messages == [f"lethe: {folder}/e.txt: {BAD['e.txt'][1]}", absent]


@pytest.mark.slow
def test_broken_json_on_line_7001_costs_one_line(lethe: Lethe, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(1, 7003):
            # Few texts, many times over: the others are duplicates, and are skipped as such.
            text = "Invented. The last line." if number == 7002 else f"Invented lamp {number % 20}."
            row = json.dumps({"id": f"k{number}", "text": text})
            file.write(f'{{"id": "{SECRET}", "text": "{SECRET}\n' if number == 7001 else f"{row}\n")
    ran = lethe("ingest", str(path), "-c", "long", "--policy", "redact")
    assert ran.code == 1
    assert (ran.summary["documents_read"], ran.summary["documents_failed"]) == (7001, 1)
    assert (ran.summary["documents_kept"], ran.summary["duplicates_skipped"]) == (21, 6980)
    column = len(f'{{"id": "{SECRET}", "text": ') + 1
    told = f"{path}, line 7,001: is broken JSON at column {column}; correct it or leave it out"
    assert ran.messages == [f"lethe: {told}"]
    assert "last line" in lethe("search", "the last line", "-c", "long", "-k", "1").out


def test_a_folder_that_may_not_be_read(lethe: Lethe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, closed = write_records(tmp_path / "good.jsonl", GOOD), tmp_path / "closed"
    closed.mkdir()
    (closed / "in.txt").write_text(SECRET)
    opening = os.open

    def refusing(path: Any, *rest: Any, **named: Any) -> int:
        # As the system does, but for root as well.
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)
    ran = lethe("ingest", str(closed), str(good), "-c", "x", "--policy", "redact")
    assert ran.code == 1
    reason = "may not be read; give the user of this program the right to read it"
    assert ran.messages == [f"lethe: {closed}: {reason}"]
    assert ran.summary["documents_kept"] == len(GOOD)


@pytest.mark.parametrize("path", ["none.jsonl", ".", "bad.jsonl"])
def test_marks_that_cannot_be_read_end_an_attack_with_a_sentence(
    lethe: Lethe, tmp_path: Path, path: str
) -> None:
    (tmp_path / "bad.jsonl").write_text(f'{{"id": "a", "text": "{SECRET}", "marks": "{SECRET}"}}\n')
    ran = lethe("attack", "extraction", path, "--gold-field", "marks", "-n", "2")
    assert (ran.code, ran.out) == (1, "")
    assert ran.messages[0].startswith(f"lethe: {path}")


def test_a_report_folder_that_cannot_be_made_is_refused_with_a_sentence(lethe: Lethe, tmp_path: Path) -> None:
    good = write_records(tmp_path / "good.jsonl", GOOD)
    (tmp_path / "taken").write_text("Invented. A file stands where the folder should.")
    arguments = ["-n", "2", "--policy", "redact", "--aim", "health", "--report", "taken/report"]
    ran = lethe("attack", "extraction", str(good), *arguments)
    assert ran.code == 1
    assert "lethe: taken/report: the report could not be written (Not a directory). " in ran.err


# -- the disk --------------------------------------------------------------------------------------------


def mounted(*arguments: str) -> None:
    """Mount a file system, or skip the test."""
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip("this user may not mount a file system")


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of 8 MB on which ``kilobytes`` are left; deleting the yielded file frees it."""
    folder.mkdir()
    mounted("-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder))
    try:
        ballast = folder / "ballast"
        ballast.write_bytes(bytes((8192 - kilobytes) * 1024))
        yield ballast
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def in_a_process(data_dir: Path, *arguments: str, limit: int | None = None) -> Ran:
    """The command in a process of its own, whose files may grow to ``limit`` bytes."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    done = subprocess.run(
        command(*arguments),
        env={**environment(data_dir), **PLAIN, "LETHE_INGEST__BATCH_DOCUMENTS": "8"},
        cwd=data_dir.parent.parent,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=limited,
    )
    return checked(Ran(done.returncode, done.stdout, done.stderr))


MANY = [f"Invented note {number}. The lamp at pier {number} is out again." for number in range(64)]


@pytest.mark.parametrize("kilobytes", [0, 4, 60, 120, 360])
def test_a_full_disk_is_told_and_the_same_command_goes_on(
    lethe: Lethe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int
) -> None:
    path, disk = write_records(tmp_path / "many.jsonl", MANY), tmp_path / "disk"
    with small_disk(disk, kilobytes) as ballast:
        monkeypatch.setenv("LETHE_DATA_DIR", str(disk / "data"))
        arguments = ["ingest", str(path), "-c", "many", "--policy", "redact"]
        assert_disk_is_told(in_a_process(disk / "data", *arguments), disk, disk / "data")
        ballast.unlink()
        assert_all_is_there(lethe, arguments, disk / "data")


def test_a_server_whose_disk_is_full_is_not_ready_until_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 6000) as ballast:
        (disk / "data").mkdir()
        with served(disk / "data", "--port", "0", **PLAIN) as server, server.client() as client:
            assert client.get("/readyz").status_code == 200
            (disk / "more").write_bytes(bytes(4000 * 1024))
            full = client.get("/readyz")
            assert (full.status_code, full.json()["code"]) == (503, "not_ready")
            assert full.json()["detail"].startswith("Not ready: the disk of the data folder is full (")
            assert full.json()["detail"].endswith(" KB are free, 4096 are needed); free some space.")
            assert str(tmp_path) not in full.text
            assert client.get("/livez").status_code == 200
            damaged = disk / "data" / "collections" / "one"
            damaged.mkdir(parents=True)
            (damaged / "manifest.json").touch()
            assert client.get("/readyz").json()["detail"].startswith("Not ready: the disk of the data folder")
            shutil.rmtree(damaged)
            ballast.unlink()
            assert client.get("/readyz").status_code == 200


def test_a_folder_that_cannot_be_written_is_not_ready(tmp_path: Path) -> None:
    assert _wrong_with(tmp_path) is None
    told = "the data folder cannot be written (No such file or directory); free some space there, or let it"
    assert (_wrong_with(tmp_path / "gone") or "").startswith(told)


@pytest.mark.parametrize("limit", [100, 20_000, 200_000])
def test_files_that_may_not_grow_are_told_and_the_same_command_goes_on(
    lethe: Lethe, tmp_path: Path, limit: int
) -> None:
    path, data = write_records(tmp_path / "many.jsonl", MANY), tmp_path / "data"
    arguments = ["ingest", str(path), "-c", "many", "--policy", "redact"]
    assert_disk_is_told(in_a_process(data, *arguments, limit=limit), data, data)
    assert_all_is_there(lethe, arguments, data)


def assert_disk_is_told(ran: Ran, place: Path, data: Path) -> None:
    """And neither a temporary file nor an empty collection is left."""
    message = refused(ran, 1, 2)
    assert message.startswith(str(place))
    remedies = ("Free some space", "Lethe needs a data folder to write in", "free some space")
    assert any(remedy in message for remedy in remedies)
    assert not [name for name in names_below(place) if ".tmp" in name]
    for folder in data.glob("collections/*"):
        assert asked(folder, "SELECT count(*) FROM passages") > 0


def asked(folder: Path, query: str) -> Any:
    """The first value that a collection's database answers."""
    with closing(sqlite3.connect(folder / "collection.db")) as database:
        return database.execute(query).fetchone()[0]


def assert_all_is_there(lethe: Lethe, arguments: list[str], data: Path) -> None:
    """The same command completes: nothing is lost and nothing is there twice."""
    ran = lethe(*arguments)
    assert ran.code == 0, ran.err
    assert ran.summary["documents_kept"] + ran.summary["duplicates_skipped"] == len(MANY)
    row = lethe("collections").summary
    assert (row["documents"], row["passages"]) == (len(MANY), len(MANY))
    assert (row["interrupted"], row["audit_log"]) == (False, "whole")
    assert asked(data / "collections" / "many", "SELECT count(DISTINCT text) FROM passages") == len(MANY)
    assert "pier 63 " in lethe("search", "the lamp at pier 63", "-c", "many", "-k", "1").out


def test_a_data_folder_that_cannot_be_written(
    lethe: Lethe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, data = write_records(tmp_path / "good.jsonl", GOOD), tmp_path / "taken" / "data"
    (tmp_path / "taken").write_text("Invented. A file stands where the data folder should.")
    monkeypatch.setenv("LETHE_DATA_DIR", str(data))
    told = refused(lethe("ingest", str(good), "-c", "x", "--policy", "redact"), 1, 2)
    assert told.startswith(f"{data}/collections/x: Not a directory.")
    assert refused(lethe("erase", "r0", "-c", "x"), 1, 2).startswith("There is no collection x")
    assert names_below(tmp_path) == ["good.jsonl", "taken"]


def test_a_file_system_that_is_read_only(lethe: Lethe, notes: Path) -> None:
    data = notes.parents[1]
    mounted("--bind", str(data), str(data))
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(data)], check=True)
        for arguments in (INGEST, ["other" if each == "notes" else each for each in INGEST], ERASE):
            assert refused(lethe(*arguments), 1, 2).startswith(str(data))
    finally:
        # Lazily: whatever went wrong in here, nothing may stay mounted.
        subprocess.run(["umount", "--lazy", str(data)], check=True)


# -- settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f'[policy]\ntua = 0.3\n[generator]\nmodel = "{SECRET}"\n',
            "policy.tua ({}): no such setting, the nearest is policy.tau",
        ),
        (f"[policy]\ntau = {SECRET}\n", "{}: is not TOML at line 2, column 7; correct it there"),
    ],
)
def test_a_settings_file_that_is_wrong_is_refused_by_place(
    lethe: Lethe, notes: Path, text: str, told: str
) -> None:
    path = notes.parents[1] / "settings.toml"
    path.write_text(text, encoding="utf-8")
    ran = lethe(*SEARCH)
    assert (ran.code, ran.out) == (2, "")
    assert told.format(path) in ran.messages[0]


def test_an_unknown_variable_is_refused(lethe: Lethe, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__TUA", SECRET)
    wrong = "LETHE_POLICY__TUA: no such setting, the nearest is LETHE_POLICY__TAU"
    assert refused(lethe(*SEARCH), 2) == f"settings: {wrong}"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of 16 dimensions."""
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize("verb", ["ask", "ingest", "serve"])
def test_an_encoder_of_another_dimension_is_refused(
    lethe: Lethe, notes: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    for name, value in {"ENCODER__SOURCE": "path", "ENCODER__NAME": str(tiny)}.items():
        monkeypatch.setenv(f"LETHE_{name}", value)
    monkeypatch.setenv("LETHE_RETRIEVAL__PASSAGE_TOKENS", "16")
    before = (notes / "collection.db").read_bytes()
    ran = lethe(*VERBS[verb])
    assert (ran.code, ran.out) == (1, "")
    message, adds = ran.messages[-1], verb == "ingest"
    assert message.startswith("lethe: collection notes uses encoder" if adds else f"lethe: {notes}: ")
    assert "384" in message and "16" in message
    remedy = "or ingest into a new collection." if adds else "lethe collections reindex notes"
    assert message.endswith(remedy)
    assert (notes / "collection.db").read_bytes() == before


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_of_the_wrong_length_is_refused(lethe: Lethe, notes: Path, length: int) -> None:
    key = notes.parents[1] / "secret.key"
    key.write_bytes(b"k" * length)
    told = f"{key} is damaged ({length} bytes instead of 32). Restore it from a backup; without it documents"
    assert refused(lethe(*INGEST), 2).startswith(told)


# -- collections -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 4}', b'{"format": 4, "x": 2}']
)
def test_a_damaged_manifest_is_told(lethe: Lethe, notes: Path, content: bytes) -> None:
    place = notes / "manifest.json"
    place.write_bytes(content)
    for verb in ("search", "ingest", "collections"):
        told = refused(lethe(*VERBS[verb]))
        assert told == f"{place}: the manifest is damaged. Restore it from a backup."
        assert place.read_bytes() == content


@pytest.mark.parametrize("torn", [True, False])
def test_a_damaged_database_is_told(lethe: Lethe, notes: Path, torn: bool) -> None:
    database = notes / "collection.db"
    # With the log taken into it, damaging that file damages everything.
    assert asked(notes, "PRAGMA journal_mode=DELETE") == "delete"
    whole = database.read_bytes()
    damaged = whole[:4096] + b"\xa5" * (len(whole) - 4096) if torn else (SECRET * 1000).encode()
    for verb in ("search", "ingest", "collections", "erase"):
        database.write_bytes(damaged)
        told = f"{notes}: the database is damaged. Restore it from a backup, or delete the collection and"
        assert refused(lethe(*VERBS[verb])).startswith(told)


def test_a_damaged_index_is_made_again(lethe: Lethe, notes: Path) -> None:
    expected = lethe("search", "the heron of pier 2", "-c", "notes").out
    assert "pier 2" in expected
    for content in (b"", SECRET.encode(), (notes / "vectors.faiss").read_bytes()[:-7]):
        (notes / "vectors.faiss").write_bytes(content)
        ran = lethe("search", "the heron of pier 2", "-c", "notes")
        assert (ran.code, ran.out) == (0, expected)


HOLDING = """
import fcntl, sys
with open(sys.argv[1], "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_collection_in_use_by_another_process_is_told(lethe: Lethe, notes: Path) -> None:
    holding = [sys.executable, "-c", HOLDING, str(notes / "lock")]
    with subprocess.Popen(holding, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        for arguments in (INGEST, ERASE):
            told = f"{notes}: another process is writing to this collection. Wait for it to end, then run the"
            assert refused(lethe(*arguments)).startswith(told)
        assert lethe(*SEARCH).code == 0, "who only reads is let in"
        holder.communicate(b"")
    assert lethe(*INGEST).code == 0


def test_a_database_that_another_program_writes_to_is_told(
    lethe: Lethe, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def impatient(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **{**named, "timeout": 0.1})
        return connection

    monkeypatch.setattr(sqlite3, "connect", impatient)
    with closing(connect(notes / "collection.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        told = f"{notes}: another process is writing to this collection. Wait for it to end, then try again."
        assert refused(lethe(*INGEST)) == told


# -- language models -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read (FileNotFoundError); give the path of a GGUF file that this user may read"),
        (SECRET.encode(), "is not a GGUF file; give the path of a model in llama.cpp's GGUF format"),
        (b"GGUF" + SECRET.encode(), "llama.cpp cannot load"),
    ],
)
def test_a_file_that_is_no_gguf_is_refused(
    lethe: Lethe, notes: Path, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    line = refused(lethe("ask", "heron?", "-c", "notes", "--gguf", str(path)))
    assert sentence in line and str(path) in line


def test_a_server_that_cannot_be_reached_is_told(
    lethe: Lethe, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        named = {"KIND": "openai_compatible", "BASE_URL": f"http://{host}/v1", "MODEL": "m"}
        for name, value in named.items():
            monkeypatch.setenv(f"LETHE_GENERATOR__{name}", value)
        told = refused(lethe("ask", f"Does {SECRET} feed the heron?", "-c", "notes"))
    assert told == f"the language model at {host} cannot be reached; start it, or correct its base URL"


@pytest.mark.parametrize("verb", ["ask", "search"])
def test_a_question_that_is_none_is_no_surprise(lethe: Lethe, notes: Path, verb: str) -> None:
    for question in ("", "  ", "\x00"):
        assert lethe(verb, question, "-c", "notes").code == 0
    for end in ("\udcff", "\ud800"):
        ran = lethe(verb, f"{SECRET} {end}", "-c", "notes")
        assert (ran.code, ran.out) == (2, "")
        assert "argument question: is not UTF-8; set the terminal to UTF-8" in ran.err
