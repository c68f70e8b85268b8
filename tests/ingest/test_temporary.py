"""What killed processes leave on the disk goes at the next start; what living ones hold stays."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ingest.keys import secret_key
from ingest.private_files import write_new
from ingest.temporary import sweep, temporary_folder

HOLDS = """
import sys
from contextlib import ExitStack
from pathlib import Path
from app.jobs.uploads import Order, Upload, Uploads
from ingest.read.reading import ReadLimits
from ingest.temporary import temporary_file, temporary_folder
from ingest.workers import Workers
with ExitStack() as held:
    (held.enter_context(temporary_folder(Path.cwd())) / "part").write_text("x")
    held.enter_context(temporary_file(Path.cwd(), ".lethe-", b"x"))
    held.enter_context(temporary_file(Path.cwd(), ".secret.key-", b"x"))
    uploads = Uploads(Path.cwd() / "data", b"k" * 32)
    uploads.keep("j", Order(), [Upload("a.txt", b"words")])
    next(held.enter_context(uploads.readings("j", ReadLimits())))
    held.enter_context(Workers(int, 1, 60, ["json"]))
    print("held", flush=True)
    sys.stdin.read()
"""
HELD = 5


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


def holding(folder: Path) -> subprocess.Popen[str]:
    """A process that holds all that is temporary, with the test's folder for temporary files."""
    command, pipe = [sys.executable, "-c", HOLDS], subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=folder, env=environment(folder), stdin=pipe, stdout=pipe, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder with a short name: that of a socket has to fit behind it."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


def temporary(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "data")


def test_what_is_held_stays_until_its_process_is_gone(tmp_path: Path) -> None:
    with holding(tmp_path) as process, holding(tmp_path) as other:
        held = temporary(tmp_path)
        assert len(held) == 2 * HELD
        assert all((tmp_path / name).stat().st_mode & 0o077 == 0 for name in held)
        for _ in range(2):
            next_start(tmp_path)
            assert temporary(tmp_path) == held
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert temporary(tmp_path) == held
        next_start(tmp_path)
        assert len(temporary(tmp_path)) == HELD
        other.communicate()
        assert temporary(tmp_path) == []


def next_start(folder: Path) -> None:
    """Any verb; and what writes a key into the same folder."""
    verb = [sys.executable, "-m", "app.cli", "collections", "--data-dir", str(folder / "data")]
    subprocess.run(verb, env=environment(folder), check=True, capture_output=True)
    secret_key(folder / "secret.key")
    (folder / "secret.key").unlink()


def test_nothing_else_is_swept(tmp_path: Path) -> None:
    others = ".lethe-notes.tmp|.lethe-data|lethe-abcdefgh.tmp|.lethe-abcdefgh.tmp.txt|kept".split("|")
    others.append(".other-abcdefgh.tmp")
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / "kept" / "a.txt").write_text("words")
    (tmp_path / ".lethe-abcdefgh.tmp").symlink_to(tmp_path / "kept")
    sweep(tmp_path)
    assert {*others, ".lethe-abcdefgh.tmp"} == {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "kept" / "a.txt").read_text() == "words"
    sweep(tmp_path / "gone")


def test_a_file_that_was_left_beside_an_output_goes_with_the_next_one(tmp_path: Path) -> None:
    (tmp_path / ".lethe-abcdefgh.tmp").write_text("half")
    write_new(tmp_path / "a.txt", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_what_is_swept_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locking, swept = fcntl.flock, list[int]()

    def late(handle: int, how: int) -> None:
        """Another process sweeps before this one has its lock."""
        if not swept:
            swept.append(handle)
            sweep(tmp_path)
        locking(handle, how)

    monkeypatch.setattr("ingest.temporary.fcntl.flock", late)
    with temporary_folder(tmp_path) as folder:
        assert folder.is_dir()
    assert swept
