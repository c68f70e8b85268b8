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
from contextlib import contextmanager
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
IS_ROOT = os.geteuid() == 0


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


def only_message(ran: Ran) -> str:
    """The one line that a failed run says."""
    (line,) = ran.messages
    assert line.endswith(".")
    return line.removeprefix("lethe: ")


def names_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the collection ``notes``, made by a process of its own; copied, never used."""
    folder = tmp_path_factory.mktemp("original")
    path = write_records(folder / "notes.jsonl", GOOD)
    arguments = command("ingest", str(path), "-c", "notes", "--policy", "redact")
    done = subprocess.run(
        arguments,
        env=environment(folder / "data") | PLAIN,
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return folder / "data"


@pytest.fixture
def notes(original: Path, tmp_path: Path) -> Path:
    """A fresh copy of the collection's folder."""
    shutil.copytree(original, tmp_path / "data")
    return tmp_path / "data" / "collections" / "notes"


# -- files -----------------------------------------------------------------------------------------------


def test_every_bad_file_is_told_and_the_others_are_kept(lethe: Lethe, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_records(folder / "a_good.jsonl", GOOD[:1])
    (folder / "b.pdf").write_bytes(b"%PDF-1.7\n1 0 obj << /Type /Catalog " + SECRET.encode() + b"\x00" * 50)
    (folder / "c.txt").write_bytes(b"")
    (folder / "d.txt").write_bytes(SECRET.encode() + bytes(range(256)) * 8)
    (folder / "e.txt").write_bytes(f"{SECRET} drank caf\xe9".encode("latin-1"))
    (folder / "f.csv").write_text(f"{SECRET},coughs\n{SECRET},sneezes\n", encoding="utf-8")
    (folder / "g.json").write_text(json.dumps([{"text": 7, "id": SECRET}]), encoding="utf-8")
    (folder / "g_by_patient.json").write_text(json.dumps({SECRET: {"cough": SECRET}}), encoding="utf-8")
    (folder / "h.docx").write_bytes(b"PK\x03\x04" + SECRET.encode())
    (folder / "i.jsonl.gz").write_bytes(b"\x1f\x8b" + SECRET.encode())
    (folder / "j.xyz").write_text(SECRET, encoding="utf-8")
    write_records(folder / "z_good.jsonl", [])
    (folder / "z_good.jsonl").write_text(json.dumps({"id": "last", "text": GOOD[1]}), encoding="utf-8")
    ran = lethe("ingest", str(folder), "-c", "x", "--policy", "redact")
    assert ran.code == 1
    assert (ran.summary["documents_kept"], ran.summary["documents_failed"]) == (2, 10)
    reasons = {each["place"].removeprefix(f"{folder}/"): each["reason"] for each in ran.summary["failures"]}
    assert set(reasons) == {
        "b.pdf", "c.txt", "d.txt", "e.txt", "f.csv, line 2", "g.json, record 1", "g_by_patient.json",
        "h.docx", "i.jsonl.gz", "j.xyz",
    }  # fmt: skip
    assert reasons["b.pdf"].startswith("is a damaged PDF (")
    assert reasons["b.pdf"].endswith("); repair it, e.g. qpdf in.pdf out.pdf")
    assert reasons["c.txt"] == "is empty (0 bytes); fill it in or leave it out"
    assert reasons["d.txt"] == "holds binary data, not text; give it the extension that it needs"
    byte = len(SECRET) + len(" drank caf")
    assert reasons["e.txt"] == f"not UTF-8 at byte {byte}; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"
    assert reasons["f.csv, line 2"] == (
        "has no field 'text' among its 2 fields; name that of the text with --text-field, or ... for all"
    )
    assert reasons["g_by_patient.json"] == (
        "has no field 'text' among its only field; name that of the text with --text-field, or ... for all"
    )
    assert reasons["g.json, record 1"] == (
        "has a number in field 'text', not text; name a field that holds text"
    )
    assert "damaged" in reasons["i.jsonl.gz"]
    # Each is reported on standard error as well, as one line.
    assert sorted(ran.messages) == sorted(f"lethe: {folder}/{place}: {why}" for place, why in reasons.items())
    assert lethe("ingest", str(folder / "a_good.jsonl"), "-c", "x", "--policy", "redact").code == 0


def test_sanitize_tells_the_same(lethe: Lethe, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.txt", write_records(tmp_path / "good.jsonl", GOOD[:2])
    bad.write_bytes(f"{SECRET} caf\xe9".encode("latin-1"))
    ran = lethe("sanitize", str(bad), str(good), str(tmp_path / "none.txt"), "--policy", "redact")
    assert ran.code == 1
    assert [json.loads(line)["doc_id"] for line in ran.out.splitlines()] == ["r0000", "r0001"]
    assert ran.messages == [
        f"lethe: {bad}: not UTF-8 at byte {len(SECRET) + 4}; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8",
        f"lethe: {tmp_path / 'none.txt'}: does not exist; check the path",
    ]


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
    (line,) = ran.messages
    column = len(f'{{"id": "{SECRET}", "text": ') + 1
    assert line == (
        f"lethe: {path}, line 7,001: is broken JSON at column {column}; correct it or leave it out"
    )
    assert "last line" in lethe("search", "the last line", "-c", "long", "-k", "1").out


@pytest.mark.skipif(IS_ROOT, reason="root may read every folder; the test below simulates it")
def test_a_folder_without_permission(lethe: Lethe, tmp_path: Path) -> None:
    good, closed = write_records(tmp_path / "good.jsonl", GOOD), tmp_path / "closed"
    closed.mkdir(mode=0o000)
    try:
        ran = lethe("ingest", str(closed), str(good), "-c", "x", "--policy", "redact")
    finally:
        closed.chmod(0o700)
    assert_closed_is_told(ran, closed)


def test_a_folder_that_the_system_refuses(
    lethe: Lethe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, closed = write_records(tmp_path / "good.jsonl", GOOD), tmp_path / "closed"
    closed.mkdir()
    (closed / "in.txt").write_text(SECRET)
    opening = os.open

    def refusing(path: Any, *rest: Any, **named: Any) -> int:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)
    assert_closed_is_told(lethe("ingest", str(closed), str(good), "-c", "x", "--policy", "redact"), closed)


def assert_closed_is_told(ran: Ran, closed: Path) -> None:
    reason = "may not be read; give the user of this program the right to read it"
    assert ran.code == 1
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
        check=False,
        timeout=120,
        preexec_fn=limited,
    )
    return checked(Ran(done.returncode, done.stdout, done.stderr))


MANY = [f"Invented note {number}. The lamp at pier {number} is out again." for number in range(64)]


@pytest.mark.parametrize("kilobytes", [0, 4, 60, 120, 360])
def test_a_full_disk_is_told_and_the_same_command_goes_on(
    lethe: Lethe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kilobytes: int
) -> None:
    path = write_records(tmp_path / "many.jsonl", MANY)
    disk = tmp_path / "disk"
    with small_disk(disk, kilobytes) as ballast:
        monkeypatch.setenv("LETHE_DATA_DIR", str(disk / "data"))
        arguments = ["ingest", str(path), "-c", "many", "--policy", "redact"]
        ran = in_a_process(disk / "data", *arguments)
        assert (ran.code in (1, 2), ran.out) == (True, "")
        assert_disk_is_told(only_message(ran), disk)
        assert not [name for name in names_below(disk) if ".tmp" in name], "a temporary file was left"
        assert_no_empty_collection_is_left(disk / "data")
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
    assert _wrong_with(tmp_path / "gone") == (
        "the data folder cannot be written (No such file or directory); free some space there, or let it be "
        "written to"
    )


@pytest.mark.parametrize("limit", [100, 20_000, 200_000])
def test_files_that_may_not_grow_are_told_and_the_same_command_goes_on(
    lethe: Lethe, tmp_path: Path, limit: int
) -> None:
    path, data = write_records(tmp_path / "many.jsonl", MANY), tmp_path / "data"
    arguments = ["ingest", str(path), "-c", "many", "--policy", "redact"]
    ran = in_a_process(data, *arguments, limit=limit)
    assert (ran.code in (1, 2), ran.out) == (True, "")
    assert_disk_is_told(only_message(ran), data)
    assert not [name for name in names_below(data) if ".tmp" in name], "a temporary file was left"
    assert_no_empty_collection_is_left(data)
    assert_all_is_there(lethe, arguments, data)


def assert_disk_is_told(message: str, place: Path) -> None:
    assert message.startswith(str(place))
    remedies = ("Free some space", "Lethe needs a data folder to write in", "free some space")
    assert any(remedy in message for remedy in remedies)


def assert_no_empty_collection_is_left(data: Path) -> None:
    for folder in data.glob("collections/*"):
        with sqlite3.connect(folder / "collection.db") as database:
            assert database.execute("SELECT count(*) FROM passages").fetchone() > (0,)
        database.close()


def assert_all_is_there(lethe: Lethe, arguments: list[str], data: Path) -> None:
    """The same command completes: nothing is lost and nothing is there twice."""
    ran = lethe(*arguments)
    assert ran.code == 0, ran.err
    assert ran.summary["documents_kept"] + ran.summary["duplicates_skipped"] == len(MANY)
    row = lethe("collections").summary
    assert (row["documents"], row["passages"]) == (len(MANY), len(MANY))
    assert (row["interrupted"], row["audit_log"]) == (False, "whole")
    with sqlite3.connect(data / "collections" / "many" / "collection.db") as database:
        assert database.execute("SELECT count(DISTINCT text) FROM passages").fetchone() == (len(MANY),)
    database.close()
    assert "pier 63 " in lethe("search", "the lamp at pier 63", "-c", "many", "-k", "1").out


@pytest.mark.parametrize("verb", ["ingest", "erase"])
def test_a_data_folder_that_cannot_be_written(
    lethe: Lethe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    good = write_records(tmp_path / "good.jsonl", GOOD)
    (tmp_path / "taken").write_text("Invented. A file stands where the data folder should.")
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "taken" / "data"))
    arguments = {
        "ingest": ["ingest", str(good), "-c", "x", "--policy", "redact"],
        "erase": ["erase", "r0", "-c", "x"],
    }
    ran = lethe(*arguments[verb])
    assert ran.code in (1, 2)
    assert ran.out == ""
    place = tmp_path / "taken" / "data"
    reason = f"{place}/collections/x: Not a directory." if verb == "ingest" else "There is no collection x"
    assert only_message(ran).startswith(reason)
    assert names_below(tmp_path) == ["good.jsonl", "taken"]


def test_a_file_system_that_is_read_only(lethe: Lethe, notes: Path, tmp_path: Path) -> None:
    data = notes.parents[1]
    mounted("--bind", str(data), str(data))
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(data)], check=True)
        good = write_records(tmp_path / "good.jsonl", GOOD)
        for arguments in (
            ["ingest", str(good), "-c", "notes", "--policy", "redact"],
            ["ingest", str(good), "-c", "other", "--policy", "redact"],
            ["erase", "r0000", "-c", "notes"],
        ):
            ran = lethe(*arguments)
            assert (ran.code in (1, 2), ran.out) == (True, "")
            assert only_message(ran).startswith(str(data))
    finally:
        # Lazily: whatever went wrong in here, nothing may stay mounted.
        subprocess.run(["umount", "--lazy", str(data)], check=True)


# -- settings --------------------------------------------------------------------------------------------


def test_an_unknown_setting_in_the_file_is_refused(lethe: Lethe, notes: Path) -> None:
    path = notes.parents[1] / "settings.toml"
    path.write_text(f'[policy]\ntua = 0.3\n[generator]\nmodel = "{SECRET}"\n', encoding="utf-8")
    ran = lethe("search", "heron", "-c", "notes")
    assert (ran.code, ran.out) == (2, "")
    assert f"policy.tua ({path}): no such setting, the nearest is policy.tau" in ran.messages[0]


def test_a_settings_file_that_is_no_toml_is_refused_by_place(lethe: Lethe, notes: Path) -> None:
    path = notes.parents[1] / "settings.toml"
    path.write_text(f"[policy]\ntau = {SECRET}\n", encoding="utf-8")
    ran = lethe("search", "heron", "-c", "notes")
    assert (ran.code, ran.out) == (2, "")
    assert ran.messages == [f"lethe: {path}: is not TOML at line 2, column 7; correct it there"]


def test_an_unknown_variable_is_refused(lethe: Lethe, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETHE_POLICY__TUA", SECRET)
    ran = lethe("search", "heron", "-c", "notes")
    assert (ran.code, ran.out) == (2, "")
    wrong = "LETHE_POLICY__TUA: no such setting, the nearest is LETHE_POLICY__TAU"
    assert ran.messages == [f"lethe: settings: {wrong}"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of 16 dimensions."""
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize("verb", ["ask", "ingest", "serve"])
def test_an_encoder_of_another_dimension_is_refused(
    lethe: Lethe, notes: Path, tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("LETHE_ENCODER__SOURCE", "path")
    monkeypatch.setenv("LETHE_ENCODER__NAME", str(tiny))
    monkeypatch.setenv("LETHE_RETRIEVAL__PASSAGE_TOKENS", "16")
    before = (notes / "collection.db").read_bytes()
    good = write_records(tmp_path / "good.jsonl", GOOD)
    arguments = {
        "ask": ["ask", "heron?", "-c", "notes"],
        "ingest": ["ingest", str(good), "-c", "notes", "--policy", "redact"],
        "serve": ["serve", "-c", "notes", "--port", "0"],
    }
    ran = lethe(*arguments[verb])
    assert (ran.code, ran.out) == (1, "")
    message = ran.messages[-1]
    assert message.startswith(
        "lethe: collection notes uses encoder" if verb == "ingest" else f"lethe: {notes}: "
    )
    assert "384" in message and "16" in message
    remedy = "or ingest into a new collection." if verb == "ingest" else "lethe collections reindex notes"
    assert message.endswith(remedy)
    assert (notes / "collection.db").read_bytes() == before


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_of_the_wrong_length_is_refused(lethe: Lethe, notes: Path, tmp_path: Path, length: int) -> None:
    key = notes.parents[1] / "secret.key"
    key.write_bytes(b"k" * length)
    good = write_records(tmp_path / "good.jsonl", GOOD)
    ran = lethe("ingest", str(good), "-c", "notes", "--policy", "redact")
    assert (ran.code, ran.out) == (2, "")
    assert only_message(ran) == (
        f"{key} is damaged ({length} bytes instead of 32). Restore it from a backup; without it documents "
        "that are already kept cannot be recognized."
    )


# -- collections -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 4}', b'{"format": 4, "x": 2}']
)
@pytest.mark.parametrize("verb", ["search", "ingest", "collections"])
def test_a_damaged_manifest_is_told(
    lethe: Lethe, notes: Path, tmp_path: Path, content: bytes, verb: str
) -> None:
    (notes / "manifest.json").write_bytes(content)
    good = write_records(tmp_path / "good.jsonl", GOOD)
    arguments = {
        "search": ["search", "heron", "-c", "notes"],
        "ingest": ["ingest", str(good), "-c", "notes", "--policy", "redact"],
        "collections": ["collections"],
    }
    ran = lethe(*arguments[verb])
    assert (ran.code, ran.out) == (1, "")
    place = notes / "manifest.json"
    assert only_message(ran) == f"{place}: the manifest is damaged. Restore it from a backup."
    assert place.read_bytes() == content


def test_a_manifest_of_another_format_is_told(lethe: Lethe, notes: Path) -> None:
    manifest = json.loads((notes / "manifest.json").read_text())
    (notes / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    ran = lethe("search", "heron", "-c", "notes")
    assert (ran.code, ran.out) == (1, "")
    assert "format 99 was written by another version of Lethe" in only_message(ran)


def whole(database: Path) -> None:
    """Take the log into the database file, so that damaging that file damages everything."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()


def no_database(content: bytes) -> bytes:
    return (SECRET * 1000).encode()


def torn_pages(content: bytes) -> bytes:
    return content[:4096] + b"\xa5" * (len(content) - 4096)


@pytest.mark.parametrize("damage", [no_database, torn_pages])
@pytest.mark.parametrize("verb", ["search", "ingest", "collections", "erase"])
def test_a_damaged_database_is_told(
    lethe: Lethe, notes: Path, tmp_path: Path, damage: Callable[[bytes], bytes], verb: str
) -> None:
    database = notes / "collection.db"
    whole(database)
    damaged = damage(database.read_bytes())
    database.write_bytes(damaged)
    good = write_records(tmp_path / "good.jsonl", GOOD)
    arguments = {
        "search": ["search", "heron", "-c", "notes"],
        "ingest": ["ingest", str(good), "-c", "notes", "--policy", "redact"],
        "collections": ["collections"],
        "erase": ["erase", "r0000", "-c", "notes"],
    }
    ran = lethe(*arguments[verb])
    assert (ran.code, ran.out) == (1, "")
    assert only_message(ran) == (
        f"{notes}: the database is damaged. Restore it from a backup, or delete the collection and ingest "
        "again."
    )


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


def test_a_collection_in_use_by_another_process_is_told(lethe: Lethe, notes: Path, tmp_path: Path) -> None:
    good = write_records(tmp_path / "good.jsonl", GOOD)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(notes / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        for arguments in (
            ["ingest", str(good), "-c", "notes", "--policy", "redact"],
            ["erase", "r0000", "-c", "notes"],
        ):
            ran = lethe(*arguments)
            assert (ran.code, ran.out) == (1, "")
            assert only_message(ran) == (
                f"{notes}: another process is writing to this collection. Wait for it to end, then run the "
                "same command again."
            )
        assert lethe("search", "heron", "-c", "notes").code == 0, "who only reads is let in"
        holder.communicate(b"")
    assert lethe("ingest", str(good), "-c", "notes", "--policy", "redact").code == 0


def test_a_database_that_another_program_writes_to_is_told(
    lethe: Lethe, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write_records(tmp_path / "good.jsonl", GOOD)
    connect = sqlite3.connect

    def impatient(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **{**named, "timeout": 0.1})
        return connection

    monkeypatch.setattr(sqlite3, "connect", impatient)
    other = connect(notes / "collection.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ran = lethe("ingest", str(good), "-c", "notes", "--policy", "redact")
    other.close()
    assert (ran.code, ran.out) == (1, "")
    assert only_message(ran) == (
        f"{notes}: another process is writing to this collection. Wait for it to end, then try again."
    )


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
    ran = lethe("ask", "heron?", "-c", "notes", "--gguf", str(path))
    assert (ran.code, ran.out) == (1, "")
    (line,) = ran.messages
    assert sentence in line
    assert str(path) in line


def test_a_server_that_cannot_be_reached_is_told(
    lethe: Lethe, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for name, value in (
            ("KIND", "openai_compatible"),
            ("BASE_URL", f"http://127.0.0.1:{port}/v1"),
            ("MODEL", "m"),
        ):
            monkeypatch.setenv(f"LETHE_GENERATOR__{name}", value)
        ran = lethe("ask", f"Does {SECRET} feed the heron?", "-c", "notes")
    assert (ran.code, ran.out) == (1, "")
    assert ran.messages == [
        f"lethe: the language model at 127.0.0.1:{port} cannot be reached; start it, or correct its base URL"
    ]


@pytest.mark.parametrize("verb", ["ask", "search"])
@pytest.mark.parametrize(
    ("question", "code"), [("", 0), ("  ", 0), ("\x00", 0), (f"{SECRET} \udcff", 2), (f"{SECRET} \ud800", 2)]
)
def test_a_question_that_is_none_is_no_surprise(
    lethe: Lethe, notes: Path, verb: str, question: str, code: int
) -> None:
    ran = lethe(verb, question, "-c", "notes")
    assert ran.code == code
    if code:
        assert ran.out == ""
        assert "argument question: is not UTF-8; set the terminal to UTF-8" in ran.err
