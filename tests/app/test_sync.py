"""One document for one file however it is spelled, and folders that are kept in step. All is invented."""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest, walk_of
from app.settings.load import load_settings
from ingest.pipeline import Tally
from ingest.read.sources import read_documents
from tests.commands import PLAIN, in_process

OLD = "The heron of the old mill was fed by the miller every single morning."
NEW = "The boiler of the new mill was mended before the rain came in again."
OTHER = "Nobody has seen the ferry since the storm took away the landing stage."

CHOSEN = {"policy.name": "redact", "detector.learned": False, "risk.kind": "prior"}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.chdir(tmp_path)
    return DataDir(load_settings({"data_dir": tmp_path / "data", **CHOSEN}))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "old").mkdir(parents=True)
    (folder / "a.txt").write_text(OLD, encoding="utf-8")
    (folder / "old" / "b.txt").write_text(OTHER, encoding="utf-8")
    return folder


def records(path: Path, **texts: str) -> None:
    """A file with a record of each id."""
    rows = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(rows), encoding="utf-8")


def run(data: DataDir, *paths: str | Path, sync: bool = False) -> Tally:
    named = [str(path) for path in paths]
    readings = read_documents(named, walk=walk_of(data.settings))
    return ingest(system_of(data.settings), data, "c", readings, sync=named if sync else ())


def texts(data: DataDir) -> list[str]:
    with data.open("c") as collection:
        rows = collection.store._read("SELECT text FROM passages ORDER BY text")
        assert len(collection.load_index()) == len(rows)
    return [text for (text,) in rows]


def test_a_file_spelled_in_two_ways_is_one_document(data: DataDir, notes: Path) -> None:
    run(data, "notes/a.txt")
    (notes / "a.txt").write_text(NEW, encoding="utf-8")
    (notes.parent / "link").symlink_to(notes)
    for spelling in (str(notes / "a.txt"), "notes/../notes/./a.txt", "link/a.txt"):
        run(data, spelling)
        assert texts(data) == [NEW]


def test_records_and_messages_without_ids_are_known_by_their_file(data: DataDir, notes: Path) -> None:
    (notes / "r.jsonl").write_text(json.dumps({"text": OLD}), encoding="utf-8")
    (notes / "m.eml").write_text(f"Subject: Mill\n\n{OTHER}", encoding="utf-8")
    for folder in ("notes", str(notes)):
        readings = read_documents([f"{folder}/r.jsonl", f"{folder}/m.eml"])
        items: list[Any] = [reading.item for reading in readings]
        assert [each.doc_id for each in items] == [f"{notes}/r.jsonl#1", f"{notes}/m.eml"]


def test_what_is_gone_from_a_folder_is_erased_without_a_trace(data: DataDir, notes: Path) -> None:
    (notes.parent / "elsewhere.txt").write_text(NEW, encoding="utf-8")
    run(data, notes, "elsewhere.txt")
    (notes / "a.txt").unlink()
    assert run(data, notes).erased == 0
    assert run(data, "notes", sync=True).erased == 1
    assert texts(data) == sorted([NEW, OTHER])
    (notes / "old" / "b.txt").rename(notes / "b.txt")
    tally = run(data, notes, sync=True)
    assert (tally.kept, tally.duplicates, tally.erased) == (0, 1, 0)
    assert texts(data) == sorted([NEW, OTHER])
    with data.open("c") as collection:
        kept = {row[0] for row in collection.store._read("SELECT source_key FROM sources")}
        used = {row[0] for row in collection.store._read("SELECT source_key FROM origins")}
        above = {row[0] for row in collection.store._read("SELECT folder_key FROM sources")} - {None}
    assert kept == used | above


def test_a_record_that_is_gone_is_erased_unless_it_cannot_be_read(data: DataDir, notes: Path) -> None:
    records(notes / "r.jsonl", r0=NEW, r1="Nobody mended the bridge.")
    (notes / "old" / "b.txt").unlink()
    run(data, notes)
    records(notes / "r.jsonl", r0=NEW)
    assert run(data, notes, sync=True).erased == 1
    assert texts(data) == sorted([OLD, NEW])
    (notes / "r.jsonl").write_text("broken", encoding="utf-8")
    tally = run(data, notes, sync=True)
    assert (tally.erased, tally.unsure, tally.summary()["documents_not_checked"]) == (0, 1, 1)
    assert texts(data) == sorted([OLD, NEW])


def test_what_cannot_be_read_or_is_not_there_is_not_gone(data: DataDir, notes: Path) -> None:
    run(data, notes)
    (notes / "a.txt").write_bytes(b"\xfa broken")
    (notes / "old").rename(notes.parent / "away")
    (notes / "old").symlink_to(notes.parent / "nowhere")
    tally = run(data, notes, sync=True)
    assert (tally.failed, tally.erased) == (2, 0)
    notes.rename(notes.parent / "unmounted")
    assert run(data, notes, sync=True).erased == 0
    notes.mkdir()
    assert run(data, notes, sync=True).erased == 0
    assert texts(data) == sorted([OLD, OTHER])


def test_a_folder_is_erased_with_all_that_came_from_it(
    data: DataDir, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records(notes / "r.jsonl", r0=NEW, r1=OTHER)
    run(data, notes)
    for arguments, code, told, left in (
        (["", "-r"], 2, "The name of a document is empty", sorted([OLD, NEW, OTHER])),
        ([" ", "-r"], 2, "The name of a document is empty", sorted([OLD, NEW, OTHER])),
        (["notes/r.jsonl"], 0, "", [OLD]),
        (["notes"], 1, "1 documents came from below notes. Give --recursive to erase them all.", [OLD]),
        (["notes", "--recursive"], 0, "", []),
        (["notes"], 1, "there is no document notes. Name it by its path", []),
    ):
        ran = in_process(capsys, "erase", *arguments, "-c", "c", "--data-dir", "data")
        assert (ran.code, told in ran.err, texts(data)) == (code, True, left)


def test_a_record_that_moved_to_another_file_is_not_erased(data: DataDir, tmp_path: Path) -> None:
    x, y = tmp_path / "x" / "a.jsonl", tmp_path / "y" / "a.jsonl"
    records(x, r7=OLD, r8=NEW)
    records(y, r9=OTHER)
    run(data, "x", "y", sync=True)
    records(x, r8=NEW)
    records(y, r7=OLD, r9=OTHER)
    assert run(data, "y", sync=True).erased == run(data, "x", sync=True).erased == 0
    assert texts(data) == sorted([OLD, NEW, OTHER])
    records(y, r9=OTHER)
    assert run(data, "y", sync=True).erased == 1
    assert texts(data) == sorted([NEW, OTHER])


def test_ids_that_two_files_share_are_reported(data: DataDir, tmp_path: Path) -> None:
    for name, text, taken in (("a", OLD, 0), ("b", NEW, 1), ("b", OTHER, 0)):
        records(tmp_path / f"{name}.jsonl", r1=text)
        tally = run(data, f"{name}.jsonl")
        assert (tally.taken, tally.summary()["documents_replaced_of_other_files"]) == (taken, taken)
        assert tally.replaced == (text != OLD)


def test_what_a_link_led_to_goes_with_the_folder(
    data: DataDir, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_INGEST__FOLLOW_LINKS", "true")
    data = DataDir(load_settings({"data_dir": tmp_path / "data", **CHOSEN}))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.txt").write_text(NEW, encoding="utf-8")
    (notes / "link.txt").symlink_to(tmp_path / "out" / "x.txt")
    (notes / "folder").symlink_to(tmp_path / "out")
    run(data, notes)
    assert texts(data) == sorted([OLD, NEW, OTHER])
    (notes / "link.txt").unlink()
    assert run(data, notes, sync=True).erased == 0
    (notes / "folder").unlink()
    assert run(data, notes, sync=True).erased == 1
    (notes / "current.txt").symlink_to(tmp_path / "out" / "x.txt")
    run(data, notes, sync=True)
    (tmp_path / "out" / "y.txt").write_text("Nobody mended the bridge.", encoding="utf-8")
    (notes / "current.txt").unlink()
    (notes / "current.txt").symlink_to(tmp_path / "out" / "y.txt")
    assert run(data, notes, sync=True).erased == 1
    assert NEW not in texts(data)


SKIPPED = "was skipped: a link leads out of the folder to it; name it, or give --follow-links or set "


@pytest.fixture
def linked(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notes, with a link to a file elsewhere; detection by rules alone."""
    (tmp_path / "elsewhere.txt").write_text(NEW, encoding="utf-8")
    (notes / "link.txt").symlink_to(tmp_path / "elsewhere.txt")
    for name, value in (
        PLAIN | {"LETHE_POLICY__NAME": "redact", "LETHE_DATA_DIR": str(tmp_path / "data")}
    ).items():
        monkeypatch.setenv(name, value)
    return notes


def test_every_verb_reports_a_link_that_leads_out(linked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ingest = ("ingest", str(linked), "-c", "c")
    for words in (
        (*ingest, "--dry-run"), ingest, (*ingest, "--sync"), ("ingest", f"{linked}/**", "-c", "c"),
        ("sanitize", str(linked)), ("explain", str(linked)),
    ):  # fmt: skip
        ran, followed = (in_process(capsys, *words, *more) for more in ((), ("--follow-links",)))
        assert (ran.code, "boiler" in ran.out, followed.code, SKIPPED in followed.err) == (1, False, 0, False)
        assert f"{linked}/link.txt: {SKIPPED}" in " ".join(ran.err.split())


def test_a_link_is_read_when_it_is_followed_and_not_checked_otherwise(
    data: DataDir, linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lethe = partial(in_process, capsys, "ingest", str(linked), "-c", "c")
    reason = f"{SKIPPED}ingest.follow_links to read all that links lead to"
    first = lethe()
    assert (first.code, first.summary["failures"]) == (
        1,
        [{"place": f"{linked}/link.txt", "reason": reason}],
    )
    again = lethe("--retry-failed")
    assert (again.code, again.summary["duplicates_skipped"]) == (1, 0)
    assert texts(data) == sorted([OLD, OTHER])
    assert lethe("--retry-failed", "--follow-links").code == 0
    assert texts(data) == sorted([OLD, NEW, OTHER])
    unsure = lethe("--sync")
    assert (unsure.code, unsure.summary["documents_not_checked"]) == (1, 1)
    (linked / "link.txt").unlink()
    assert lethe("--sync").code == 0
    assert texts(data) == sorted([OLD, OTHER])
    # What is retried is not read through a link that came in between.
    (linked / "a.txt").write_bytes(b"\xfa broken")
    assert lethe().code == 1
    (linked / "a.txt").unlink()
    (linked / "a.txt").symlink_to(linked.parent / "elsewhere.txt")
    between = lethe("--retry-failed")
    assert (between.code, SKIPPED in between.out) == (1, True)
    assert texts(data) == sorted([OLD, OTHER])


def test_kept_files_and_the_lock_are_for_their_owner_only(data: DataDir, notes: Path) -> None:
    before = os.umask(0o022)
    try:
        run(data, notes)
    finally:
        os.umask(before)
    with data.open("c") as collection:
        modes = {path.name: path.stat().st_mode & 0o777 for path in collection.folder.iterdir()}
    assert {"collection.db", "lock", "vectors.faiss", "manifest.json"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_sync_takes_folders_only(data: DataDir, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = in_process(capsys, "ingest", str(notes / "a.txt"), "-c", "c", "--sync", "--data-dir", "data")
    assert (ran.code, "--sync works on whole folders" in ran.err) == (2, True)
