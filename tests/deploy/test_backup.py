"""Copies of a data folder that is in use, and the page that tells how. The notes are invented."""

import json
import os
import re
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from retrieval.collection import Collection
from tests.commands import PLAIN, ROOT, Ran, lethe, write_records
from tests.serving import ask, ingested, served

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
BACKUP = ROOT / "deploy" / "backup.py"
SETTINGS = 'threads = 1\n[detector]\nlearned = false\n[risk]\nkind = "prior"\n'
NOTES = ["Invented note. The boiler of the mill is broken.", "Invented note. The heron was fed at noon."]
LATE = "Invented note. The weir was mended in spring."


def backup(data: Path, target: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", str(BACKUP), str(data), str(target)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested(tmp_path_factory.mktemp("kept"), SETTINGS, NOTES)


def answer_of(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return ran.summary["answer"]


def test_a_copy_of_a_served_folder_answers_as_it_does(data: Path, tmp_path: Path) -> None:
    question = "What is broken at the mill?"
    late = write_records(tmp_path / "late.jsonl", [LATE, LATE + " Twice."])
    with served(data, "-c", "notes") as server, server.client() as client:
        # What stands in the write-ahead log alone: this connection keeps it from being folded in.
        with closing(sqlite3.connect(data / "collections" / "notes" / "collection.db")) as reader:
            reader.execute("BEGIN").execute("SELECT count(*) FROM documents").fetchone()
            answer_of_ingest = lethe(data, "ingest", str(late), "-c", "notes")
            assert answer_of_ingest.summary["documents_read"] == 2, answer_of_ingest.err
            assert (data / "collections" / "notes" / "collection.db-wal").stat().st_size > 0
            done = backup(data, tmp_path / "copy")
        there = ask(client, question).json()["choices"][0]["message"]["content"]
    assert done.returncode == 0, done.stderr
    assert "secret.key is a key and is not in the copy" in done.stderr
    shutil.copy(data / "secret.key", tmp_path / "copy" / "secret.key")
    assert answer_of(lethe(tmp_path / "copy", "ask", question, "-c", "notes")) == there
    with Collection.open(tmp_path / "copy" / "collections" / "notes") as collection:
        assert collection.store.says("weir")
    # The same key knows the same documents again.
    again = lethe(tmp_path / "copy", "ingest", str(late), "-c", "notes")
    assert again.summary["duplicates_skipped"] == 2, again.err


def test_a_plain_copy_of_the_file_alone_would_miss_what_is_in_the_log(data: Path, tmp_path: Path) -> None:
    """Why the copy is made by SQLite."""
    path = tmp_path / "data" / "a.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (x)")
        writer.execute("INSERT INTO t VALUES (1)")
        shutil.copy(path, tmp_path / "plain.db")
        assert backup(path.parent, tmp_path / "copy").returncode == 0
    with closing(sqlite3.connect(tmp_path / "plain.db")) as plain, pytest.raises(sqlite3.OperationalError):
        plain.execute("SELECT x FROM t")
    with closing(sqlite3.connect(tmp_path / "copy" / "a.db")) as copy:
        assert copy.execute("SELECT x FROM t").fetchall() == [(1,)]


def test_what_is_made_again_or_secret_stays_out_and_nobody_else_reads_the_rest(
    data: Path, tmp_path: Path
) -> None:
    (data / "collections" / "notes" / ".manifest-x.tmp").write_text("half")
    assert backup(data, tmp_path / "copy").returncode == 0
    names = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*")}
    assert {"collections/notes/collection.db", "collections/notes/manifest.json", "settings.toml"} <= names
    assert not [each for each in names if re.search(r"\.key$|\.faiss$|lock$|\.tmp$|-wal$|-shm$", each)]
    for path in (tmp_path / "copy", *(tmp_path / "copy").rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_a_damaged_database_is_told_and_leaves_no_copy_that_looks_whole(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "server.db")) as connection, connection:
        connection.execute("CREATE TABLE t (x PRIMARY KEY)")
        connection.executemany("INSERT INTO t VALUES (?)", [(f"{number:06d}" * 20,) for number in range(500)])
    content = bytearray((folder / "server.db").read_bytes())
    content[8192:40960] = os.urandom(32768)
    (folder / "server.db").write_bytes(content)
    done = backup(folder, tmp_path / "copy")
    assert done.returncode == 1
    assert "server.db is damaged; keep the copies you have" in done.stderr
    assert not (tmp_path / "copy").exists()


def test_a_copy_is_not_written_over_another(data: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    done = backup(data, tmp_path / "copy")
    assert done.returncode == 2
    assert "the target exists" in done.stderr


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_the_commands_of_the_page_run_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number, note in enumerate(NOTES):
        (tmp_path / "notes" / f"{number}.txt").write_text(note, encoding="utf-8")
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = "\n".join(blocks("sh")).replace("8000", str(port))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LETHE_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    # A job of the shell: whatever fails, the server that it began ends with it.
    done = subprocess.run(
        ["bash", "-euc", f"set -m; trap 'kill %1 2>/dev/null || true' EXIT\n{script}"],
        cwd=tmp_path,
        env={**kept, **PLAIN, "LETHE_THREADS": "1", "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = [
        json.loads((tmp_path / "answer.json").read_text())["choices"][0]["message"]["content"],
        json.loads((tmp_path / "restored.json").read_text())["answer"],
    ]
    assert "boiler" in answers[0] and answers[0] == answers[1]
    receipt = json.loads((tmp_path / "elsewhere" / "receipts.jsonl").read_text().splitlines()[0])
    assert receipt["traces_found"] == 0
    status = [json.loads(line) for line in done.stdout.splitlines() if '"to_rotate"' in line]
    assert {each["collection"]: each["to_rotate"] for each in status} == {"clinic": 0, "kept": 0, "wards": 0}
    assert {each["collection"]: each["originals"] for each in status} == {"clinic": 0, "kept": 2, "wards": 0}


def test_every_other_command_of_the_page_needs_a_program_that_tests_do_not_have() -> None:
    allowed = (
        "docker",
        "kubectl",
        "cd deploy;",
        "chown",
        "useradd",
        "python3.11",
        "install",
        "cp",
        "system",
        "curl",
    )
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert len(lines) > 10
    for line in lines:
        assert line[:2] in ("$ ", "# ") and line[2:].startswith(allowed), line


def test_every_path_that_the_page_names_in_the_repository_is_there() -> None:
    for name in re.findall(r"`(deploy/[\w./-]+)`|\]\(([\w./-]+)\)", PAGE):
        path = ROOT / name[0] if name[0] else ROOT / "docs" / name[1]
        assert path.exists(), name
