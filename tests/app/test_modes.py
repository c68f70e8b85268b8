"""What is made is for its owner alone, whatever the umask is, and keys have to be. All is invented."""

import base64
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.access.database import connected
from app.access.vault import vault_keys
from app.cli.asking import SealedAnswers
from app.cli.sanitize import SanitizedFiles
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.jobs.uploads import Order, Upload, Uploads
from app.settings.load import load_settings
from eval.reports.files import report_folder
from eval.rows import Row, write_rows
from ingest.documents import Document
from ingest.keys import secret_key
from ingest.private_files import open_private
from ingest.read.reading import Reading
from models.errors import ConfigurationError
from tests.commands import PLAIN, command, environment, write_records

NOTES = [
    f"Invented note {number}. Mr Tobias Keller mended the boiler on 3 May {1950 + number}."
    for number in range(12)
]


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """A umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(folder: Path, *but: Path) -> list[str]:
    """What others may read, write or enter below a folder, with its mode."""
    made = [path for path in folder.rglob("*") if path not in but and not path.is_symlink()]
    assert made
    modes = {path: path.stat().st_mode & 0o777 for path in made}
    return [f"{path.relative_to(folder)} {mode:o}" for path, mode in modes.items() if mode & 0o077]


VERBS = [
    "ingest notes.jsonl -c other",
    "sanitize notes.jsonl --output made/clean",
    "explain notes.jsonl --html page.html",
    "synthesize notes.jsonl --epsilon 1000 --output invented.jsonl",
    "protect notes.jsonl --attributes sex --output protected.jsonl",
    "audit -c notes --originals notes.jsonl --output made/audit",
    "attack extraction notes.jsonl -c notes -n 2 --report made/attack",
    "calibrate notes.jsonl --max-leak 0.9 --output strict.toml",
    "keys create reader",
    "vault status",
]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_records(folder / "notes.jsonl", NOTES)
    ran(folder, "ingest notes.jsonl -c notes --policy redact")
    return folder


def ran(folder: Path, verb: str) -> None:
    variables = {**environment(folder / "data"), **PLAIN}
    words = command(*shlex.split(verb))
    done = subprocess.run(
        words, env=variables, cwd=folder, umask=0, capture_output=True, text=True, timeout=280
    )
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_verb_makes_is_for_its_owner_alone(ingested: Path, verb: str) -> None:
    ran(ingested, verb)
    assert open_to_others(ingested, ingested / "notes.jsonl") == []
    words = verb.split()
    for option in ("--output", "--html", "--report"):
        if option in words:
            assert (ingested / words[words.index(option) + 1]).exists()


def settings(folder: Path) -> DataDir:
    given = {"data_dir": folder / "a" / "data", "policy.name": "redact", "detector.learned": False}
    return DataDir(load_settings({**given, "risk.kind": "prior"}))


def made_by_ingest(folder: Path) -> None:
    data = settings(folder)
    ingest(system_of(data.settings), data, "c", [Reading(Document("1", NOTES[0]), 0)])


LIBRARY: dict[str, Callable[[Path], object]] = {
    "ingest": made_by_ingest,
    "key": lambda folder: secret_key(folder / "a" / "keys" / "secret.key"),
    "server": lambda folder: connected(folder / "a" / "data", "CREATE TABLE t (n)").close(),
    "upload": lambda folder: Uploads(folder / "a", b"k" * 32).keep("j", Order(), [Upload("n", b"words")]),
    "report": lambda folder: report_folder(folder / "a" / "b"),
    "rows": lambda folder: write_rows([Row(system="s", task="t", case="c")], folder / "rows.jsonl"),
    "answers": lambda folder: SealedAnswers(folder / "answers", b"k" * 32).__exit__(None, None, None),
    "sanitized": lambda folder: SanitizedFiles(folder / "a" / "b", [], overwrite=False).write("c/d", "words"),
}


@pytest.mark.usefixtures("open_to_all")
@pytest.mark.parametrize("part", LIBRARY)
def test_what_the_library_makes_is_for_its_owner_alone(tmp_path: Path, part: str) -> None:
    LIBRARY[part](tmp_path)
    assert open_to_others(tmp_path) == []


@pytest.mark.usefixtures("open_to_all")
def test_what_an_earlier_version_left_open_is_closed_and_the_folder_of_the_user_stays(tmp_path: Path) -> None:
    data = settings(tmp_path)
    made_by_ingest(tmp_path)
    folder = data.settings.data_dir
    for path in (folder, folder / "collections", folder / "collections" / "c"):
        path.chmod(0o755)
    write_rows([], tmp_path / "rows.jsonl")
    (tmp_path / "rows.jsonl").chmod(0o644)
    made_by_ingest(tmp_path)
    write_rows([], tmp_path / "rows.jsonl")
    assert open_to_others(tmp_path) == ["a/data 755"]


def test_the_mode_of_a_device_stays(tmp_path: Path) -> None:
    before = Path(os.devnull).stat().st_mode
    os.close(open_private(Path(os.devnull), os.O_WRONLY))
    assert Path(os.devnull).stat().st_mode == before


NEW_KEY = base64.b64encode(b"n" * 32).decode()
KEYS: dict[str, Callable[[Path], object]] = {
    "digests": secret_key,
    "vault": lambda path: vault_keys(load_settings({"vault.key_file": path})),
    "old vault": lambda path: vault_keys(
        load_settings({"vault.key": NEW_KEY, "vault.old_key_files": (path,)})
    ),
}


@pytest.mark.parametrize("read", KEYS)
@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440, 0o640, 0o444, 0o604, 0o620, 0o644, 0o666])
def test_a_key_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path, read: str, mode: int) -> None:
    path = tmp_path / "a key"
    path.write_bytes(b"k" * 32 if read == "digests" else base64.b64encode(b"k" * 32))
    path.chmod(mode)
    if mode & 0o077 == 0:
        assert KEYS[read](path)
        return
    with pytest.raises(ConfigurationError) as refused:
        KEYS[read](path)
    assert f"chmod 600 '{path}'" in str(refused.value)
    path.chmod(0o600)
    assert KEYS[read](path)


MOUNTED = [
    # The owner, the group and the mode of the file, whether its file system can be written, and what follows.
    ((0, 10001, 0o440), True, True),
    ((0, 10001, 0o640), True, True),
    ((0, 10001, 0o444), True, False),
    ((0, 10001, 0o460), True, False),
    ((0, 0, 0o440), True, False),
    ((4711, 10001, 0o440), True, False),
    ((0, 0, 0o444), False, True),
    ((0, 0, 0o440), False, True),
    ((10001, 10001, 0o400), True, True),
]


@pytest.mark.parametrize(("status", "written", "taken"), MOUNTED)
def test_a_secret_that_a_container_mounts_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: tuple[int, int, int], written: bool, taken: bool
) -> None:
    owner, group, mode = status
    path = tmp_path / "digest.key"
    path.write_bytes(b"k" * 32)
    looking, mounted = os.fstat, os.fstatvfs

    def changed(handle: int) -> os.stat_result:
        real = looking(handle)
        return os.stat_result((real.st_mode & ~0o777 | mode, *real[1:4], owner, group, *real[6:]))

    def flags(handle: int) -> os.statvfs_result:
        real = mounted(handle)
        return os.statvfs_result((*real[:8], 0 if written else os.ST_RDONLY, real[9]))

    ids = {"geteuid": lambda: 10001, "getegid": lambda: 10001, "getgroups": lambda: [10001]}
    for name, double in {"fstat": changed, "fstatvfs": flags, **ids}.items():
        monkeypatch.setattr(os, name, double)
    if taken:
        assert secret_key(path) == b"k" * 32
    else:
        with pytest.raises(ConfigurationError, match="chmod 600"):
            secret_key(path)
