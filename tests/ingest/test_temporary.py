"""What killed processes leave on the disk goes at the next start; what living ones hold stays."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ingest.keys import secret_key
from ingest.private_files import write_new
from ingest.temporary import sweep, temporary_folder

Started = Callable[[str], subprocess.Popen[str]]

HOLDS = {
    "folder": "with temporary_folder(Path.cwd()) as made: (made / 'part').write_text('x'); wait()",
    "file": "with temporary_file(Path.cwd(), '.lethe-', b'x'): wait()",
    "key": "with temporary_file(Path.cwd(), '.secret.key-', b'x'): wait()",
    "upload": "uploads = Uploads(Path.cwd() / 'data', b'k' * 32)\n"
    "uploads.keep('j', Order(), [Upload('a.txt', b'words')])\n"
    "with uploads.readings('j', ReadLimits()) as read: next(read); wait()",
    "workers": "with Workers(int, 1, 60, ['json']): wait()",
}


HOLDING = (
    "import sys\nfrom pathlib import Path\n"
    "from app.jobs.uploads import Order, Upload, Uploads\n"
    "from ingest.read.reading import ReadLimits\n"
    "from ingest.temporary import temporary_file, temporary_folder\n"
    "from ingest.workers import Workers\n"
    "def wait(): print('held', flush=True); sys.stdin.read()\n"
)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    """Starts a process that holds what is temporary, with the test's folder for temporary files."""
    monkeypatch.chdir(tmp_path)
    running: list[subprocess.Popen[str]] = []

    def start(holds: str) -> subprocess.Popen[str]:
        command, pipe = [sys.executable, "-c", HOLDING + HOLDS[holds]], subprocess.PIPE
        process = subprocess.Popen(command, env=environment(tmp_path), stdin=pipe, stdout=pipe, text=True)
        running.append(process)
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder with a short name: that of a socket has to fit behind it."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


def temporary(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "data")


@pytest.mark.parametrize("holds", HOLDS)
def test_what_is_held_stays_until_its_process_is_gone(started: Started, tmp_path: Path, holds: str) -> None:
    process, other = started(holds), started(holds)
    (one, two) = temporary(tmp_path)
    assert all((tmp_path / name).stat().st_mode & 0o077 == 0 for name in (one, two))
    for _ in range(2):
        next_start(tmp_path)
        assert temporary(tmp_path) == [one, two]
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert temporary(tmp_path) == [one, two]
    next_start(tmp_path)
    assert len(temporary(tmp_path)) == 1
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
    locking, swept = __import__("fcntl").flock, list[int]()

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
