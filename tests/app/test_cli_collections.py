"""``lethe collections delete`` and ``lethe erase``: what goes, what stays, what is told. All is invented."""

import fcntl
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.encoders.minilm import MiniLM
from retrieval.collection import Collection
from tests.commands import PLAIN, in_process, write_lines, write_records

NOTES = ["Invented. The lamp at pier 1 is out.", "Invented. The heron of pier 2 was fed."]

Ran = tuple[int, list[dict[str, Any]], str]
Lethe = Callable[..., Ran]


@pytest.fixture
def lethe(
    clean: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], minilm: MiniLM
) -> Lethe:
    """The command in a folder with two collections, ``clinic`` and ``harbour``."""
    for name, value in (PLAIN | {"LETHE_POLICY__NAME": "redact"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("app.compose._encoder", lambda settings: minilm)
    write_records(clean / "notes.jsonl", NOTES)
    (clean / "letter.txt").write_text(NOTES[0])

    def run(*arguments: str) -> Ran:
        ran = in_process(capsys, *arguments)
        return ran.code, ran.rows, ran.err

    assert run("ingest", "notes.jsonl", "-c", "clinic", "--keep-ids")[0] == 0
    assert run("ingest", "letter.txt", "-c", "harbour")[0] == 0
    return run


def folder_of(name: str) -> Path:
    return Path("lethe-data", "collections", name)


def named(lethe: Lethe) -> list[str]:
    return [row["collection"] for row in lethe("collections")[1]]


# -- list and delete ---------------------------------------------------------------------------------------


def test_a_collection_is_deleted_and_nothing_else(lethe: Lethe) -> None:
    key = Path("lethe-data", "secret.key").read_bytes()
    deleted = {"deleted": "clinic", "documents": 2, "passages": 2}
    assert lethe("collections", "delete", "clinic", "--yes") == (0, [deleted], "")
    assert not folder_of("clinic").exists()
    assert Path("lethe-data", "secret.key").read_bytes() == key
    assert len(Path("notes.jsonl").read_text().splitlines()) == 2
    assert named(lethe) == [row["collection"] for row in lethe("collections", "list")[1]] == ["harbour"]
    said = "lethe: There is no collection clinic in lethe-data/collections. Collections: harbour.\n"
    assert lethe("collections", "delete", "clinic", "--yes") == (1, [], said)
    assert lethe("ingest", "notes.jsonl", "-c", "clinic")[0] == 0, "the name is free"


ASKED = "Delete collection clinic, 2 documents, 2 passages? [y/N] "
NOBODY = "lethe: nothing was deleted: no terminal to ask on; give --yes to go ahead.\n"


@pytest.mark.parametrize(
    ("terminal", "answer", "left", "said"),
    [
        (True, "n\n", ["clinic", "harbour"], ASKED),
        (True, "y\n", ["harbour"], ASKED),
        (False, "y\n", ["clinic", "harbour"], NOBODY),
    ],
)
def test_a_person_is_asked_and_without_one_nothing_is_deleted(
    lethe: Lethe, monkeypatch: pytest.MonkeyPatch, terminal: bool, answer: str, left: list[str], said: str
) -> None:
    typed = io.StringIO(answer)
    monkeypatch.setattr(typed, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(sys, "stdin", typed)
    code, rows, err = lethe("collections", "delete", "clinic")
    assert (code, len(rows), err) == (len(left) - 1, 2 - len(left), said)
    assert named(lethe) == left


def test_a_collection_that_is_written_to_stays(lethe: Lethe) -> None:
    with (folder_of("clinic") / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = lethe("collections", "delete", "clinic", "--yes")
    said = "another process is writing to this collection. Wait for it to end, then run the same command"
    assert ran == (1, [], f"lethe: {folder_of('clinic')}: {said} again.\n")
    assert named(lethe) == ["clinic", "harbour"]


@pytest.mark.parametrize("damage", ["manifest.json", "collection.db", ""])
def test_a_damaged_collection_and_what_a_killed_run_left_can_be_deleted(lethe: Lethe, damage: str) -> None:
    if damage:
        (folder_of("clinic") / damage).write_bytes(b"no more")
    else:
        (folder_of("clinic") / "manifest.json").unlink()
    code, rows, err = lethe("collections", "delete", "clinic", "--yes")
    assert (code, rows) == (0, [{"deleted": "clinic", "documents": None, "passages": None}])
    assert not damage or "damaged" in err
    assert not folder_of("clinic").exists()


def test_a_stopped_deletion_leaves_no_collection(lethe: Lethe, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as stopped:
        stopped.setattr("retrieval.collection.shutil.rmtree", refusing)
        code, rows, err = lethe("collections", "delete", "clinic", "--yes")
    assert (code, rows) == (1, [])
    assert err.startswith(f"lethe: {folder_of('clinic')}: Permission denied.")
    assert named(lethe) == ["harbour"]
    assert lethe("collections", "delete", "clinic", "--yes")[0] == 0


# -- erase -------------------------------------------------------------------------------------------------


def test_an_id_and_a_path_are_found_as_they_were_shown_and_given(lethe: Lethe) -> None:
    shown = lethe("search", "heron", "-c", "clinic", "-k", "1")[1][0]["doc_id"]
    assert shown == "r0001"
    for name, collection in ((shown, "clinic"), ("letter.txt", "harbour")):
        code, rows, _ = lethe("erase", name, "-c", collection)
        assert (code, rows[0]["passages"], rows[0]["traces_found"]) == (0, 1, 0)
        (left_open,) = rows[0]["not_proved"]
        assert (left_open["cause"], left_open["checks"]) == ("not_tried", ["search", "membership"])
        assert "Erase over HTTP" in left_open["reason"]


def test_a_cut_erasure_says_what_it_does_not_prove(lethe: Lethe, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Collection, "publish", killed)
        assert lethe("erase", "r0001", "-c", "clinic")[:2] == (1, [])
    code, rows, _ = lethe("erase", "r0001", "-c", "clinic")
    assert (code, rows[0]["resumed"], rows[0]["bytes_searched"]) == (0, True, 0)
    (left_open,) = rows[0]["not_proved"]
    assert (left_open["cause"], left_open["checks"]) == ("resumed", ["search", "membership", "files"])


def test_an_id_that_would_be_digested_by_now_is_found_as_it_is_shown(
    lethe: Lethe, clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(clean / "old.jsonl", [{"id": "ashdown_m", "text": NOTES[1]}])
    with monkeypatch.context() as before:
        before.setattr("ingest.read.doc_ids.kept_id", lambda source_id, *given: source_id)
        assert lethe("ingest", "old.jsonl", "-c", "old", "--keep-ids")[0] == 0
    assert [row["doc_id"] for row in lethe("documents", "-c", "old")[1]] == ["ashdown_m"]
    code, rows, _ = lethe("erase", "ashdown_m", "-c", "old")
    assert (code, rows[0]["doc_id"]) == (0, "ashdown_m")


def test_what_is_not_there_is_reported_as_it_was_typed(lethe: Lethe) -> None:
    said = (
        "lethe: collection harbour: there is no document other/letter.txt. Name it by its path, by "
        "the id of its record, or by an id as `lethe documents` shows it.\n"
    )
    assert lethe("erase", "other/letter.txt", "-c", "harbour") == (1, [], said)


def test_a_key_that_is_missing_is_not_made_new_where_there_are_collections(lethe: Lethe) -> None:
    key = Path("lethe-data", "secret.key")
    kept = key.rename("kept.key")
    for command in (("erase", "letter.txt", "-c", "harbour"), ("ingest", "letter.txt", "-c", "harbour")):
        code, rows, err = lethe(*command)
        assert (code, rows) == (2, [])
        assert f"{key} is missing, and 2 collections were made with it. Restore it from a backup." in err
    assert not key.exists()
    kept.rename(key)
    assert lethe("erase", "letter.txt", "-c", "harbour")[0] == 0
