"""One document for one file however it is spelled, and folders that are kept in step. All is invented."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest, walk_of
from app.settings.load import load_settings
from ingest.pipeline import Tally
from ingest.read.sources import read_documents
from models.errors import LetheError

OLD = "The heron of the old mill was fed by the miller every single morning."
NEW = "The boiler of the new mill was mended before the rain came in again."
OTHER = "Nobody has seen the ferry since the storm took away the landing stage."

Ingest = Callable[..., Tally]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.chdir(tmp_path)
    chosen = {"data_dir": tmp_path / "data", "policy.name": "redact"}
    return DataDir(load_settings({**chosen, "detector.learned": False, "risk.kind": "prior"}))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "old").mkdir(parents=True)
    (folder / "a.txt").write_text(OLD, encoding="utf-8")
    (folder / "old" / "b.txt").write_text(OTHER, encoding="utf-8")
    return folder


def run(data: DataDir, *paths: str | Path, sync: bool = False) -> Tally:
    named = [str(path) for path in paths]
    readings = read_documents(named, walk=walk_of(data.settings))
    return ingest(system_of(data.settings), data, "c", readings, sync=named if sync else ())


def texts(data: DataDir) -> list[str]:
    with data.open("c") as collection:
        rows = collection.store._read("SELECT text FROM passages ORDER BY text")
        indexed = len(collection.load_index())
    assert indexed == len(rows)
    return [text for (text,) in rows]


def test_a_file_spelled_in_two_ways_is_one_document(data: DataDir, notes: Path) -> None:
    run(data, "notes/a.txt")
    (notes / "a.txt").write_text(NEW, encoding="utf-8")
    (notes.parent / "link").symlink_to(notes)
    for spelling in (str(notes / "a.txt"), "notes/../notes/./a.txt", "link/a.txt"):
        run(data, spelling)
        assert texts(data) == [NEW]


def test_records_and_messages_without_ids_are_known_by_their_file(data: DataDir, notes: Path) -> None:
    row = json.dumps({"text": OLD})
    (notes / "r.jsonl").write_text(f"{row}\n", encoding="utf-8")
    (notes / "m.eml").write_text(f"Subject: Mill\n\n{OTHER}", encoding="utf-8")
    paths = ("notes/r.jsonl", "notes/m.eml")
    first = [reading.item for reading in read_documents(paths)]
    again = [reading.item for reading in read_documents([str(notes.parent / path) for path in paths])]
    assert [_id(item) for item in first] == [_id(item) for item in again]
    assert [_id(item) for item in first] == [f"{notes}/r.jsonl#1", f"{notes}/m.eml"]


def _id(item: Any) -> str:
    return str(item.doc_id)


def test_what_is_gone_from_a_folder_is_erased(data: DataDir, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.txt").write_text(NEW, encoding="utf-8")
    run(data, notes, "elsewhere.txt")
    (notes / "a.txt").unlink()
    assert run(data, notes).erased == 0
    assert run(data, "notes", sync=True).erased == 1
    assert texts(data) == sorted([NEW, OTHER])
    (notes / "old" / "b.txt").rename(notes / "b.txt")
    tally = run(data, notes, sync=True)
    assert (tally.kept, tally.duplicates, tally.erased) == (0, 1, 0)
    assert texts(data) == sorted([NEW, OTHER])


def test_a_record_that_is_gone_from_its_file_is_erased(data: DataDir, notes: Path) -> None:
    rows = [json.dumps({"id": f"r{number}", "text": text}) for number, text in enumerate((NEW, OTHER))]
    (notes / "r.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (notes / "old" / "b.txt").unlink()
    run(data, notes)
    assert texts(data) == sorted([OLD, NEW, OTHER])
    (notes / "r.jsonl").write_text(rows[1], encoding="utf-8")
    assert run(data, notes, sync=True).erased == 1
    assert texts(data) == sorted([OLD, OTHER])


def test_what_cannot_be_read_is_not_gone(data: DataDir, notes: Path) -> None:
    run(data, notes)
    (notes / "a.txt").write_bytes(b"\xfa broken")
    (notes / "old").rename(notes.parent / "away")
    (notes / "old").symlink_to(notes.parent / "nowhere")
    tally = run(data, notes, sync=True)
    assert (tally.failed, tally.erased) == (2, 0)
    assert texts(data) == sorted([OLD, OTHER])


def test_a_folder_that_is_not_there_takes_nothing_with_it(data: DataDir, notes: Path) -> None:
    run(data, notes)
    notes.rename(notes.parent / "unmounted")
    assert run(data, notes, sync=True).erased == 0
    notes.mkdir()
    assert run(data, notes, sync=True).erased == 0
    assert texts(data) == sorted([OLD, OTHER])


def test_a_file_or_folder_is_erased_with_all_that_came_from_it(
    data: DataDir, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.dumps({"id": f"r{number}", "text": text}) for number, text in enumerate((NEW, OTHER))]
    (notes / "r.jsonl").write_text("\n".join(rows), encoding="utf-8")
    run(data, notes)
    erase = ["-c", "c", "--data-dir", str(notes.parent / "data")]
    assert main(["erase", "notes/r.jsonl", *erase]) == 0
    assert texts(data) == [OLD]
    assert main(["erase", "notes", *erase]) == 1
    assert "1 documents came from below notes. Give --recursive to erase them all." in capsys.readouterr().err
    assert texts(data) == [OLD]
    assert main(["erase", "notes", "--recursive", *erase]) == 0
    assert texts(data) == []
    assert main(["erase", "notes", *erase]) == 1
    assert "there is no document notes. Name it by its path" in capsys.readouterr().err


def test_an_empty_name_erases_nothing(data: DataDir, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(data, notes)
    for name in ("", " "):
        assert main(["erase", name, "-r", "-c", "c", "--data-dir", str(notes.parent / "data")]) == 2
        assert "The name of a document is empty" in capsys.readouterr().err
    assert texts(data) == sorted([OLD, OTHER])


def test_a_record_that_moved_to_another_file_is_not_erased(data: DataDir, tmp_path: Path) -> None:
    texts_of = {"7": OLD, "8": NEW, "9": OTHER}
    rows = {name: json.dumps({"id": name, "text": text}) for name, text in texts_of.items()}
    for folder, names in (("x", "78"), ("y", "9")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").write_text("\n".join(rows[name] for name in names), encoding="utf-8")
    run(data, "x", "y", sync=True)
    (tmp_path / "x" / "a.jsonl").write_text(rows["8"], encoding="utf-8")
    (tmp_path / "y" / "a.jsonl").write_text("\n".join([rows["7"], rows["9"]]), encoding="utf-8")
    assert run(data, "y", sync=True).erased == 0
    assert run(data, "x", sync=True).erased == 0
    assert texts(data) == sorted([OLD, NEW, OTHER])
    (tmp_path / "y" / "a.jsonl").write_text(rows["9"], encoding="utf-8")
    assert run(data, "y", sync=True).erased == 1
    assert texts(data) == sorted([NEW, OTHER])


def test_ids_that_two_files_share_are_reported(data: DataDir, tmp_path: Path) -> None:
    for name, text in (("a", OLD), ("b", NEW)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "1", "text": text}), encoding="utf-8")
    assert run(data, "a.jsonl").taken == 0
    tally = run(data, "b.jsonl")
    assert (tally.replaced, tally.taken) == (1, 1)
    assert tally.summary()["documents_replaced_of_other_files"] == 1
    (tmp_path / "b.jsonl").write_text(json.dumps({"id": "1", "text": OTHER}), encoding="utf-8")
    assert run(data, "b.jsonl").taken == 0


def test_what_a_link_led_to_goes_with_the_folder(
    data: DataDir, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_INGEST__FOLLOW_LINKS", "true")
    chosen = {"data_dir": tmp_path / "data", "policy.name": "redact"}
    data = DataDir(load_settings({**chosen, "detector.learned": False, "risk.kind": "prior"}))
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
    monkeypatch.setenv("LETHE_POLICY__NAME", "redact")
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "false")
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")
    return notes


@pytest.mark.parametrize(
    "verb",
    [
        "ingest {notes} -c c",
        "ingest {notes}/** -c c",
        "ingest {notes} -c c --sync",
        "ingest {notes} -c c --dry-run",
        "sanitize {notes}",
        "explain {notes}",
    ],
)
def test_every_verb_reports_a_link_that_leads_out(
    linked: Path, verb: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = [*verb.format(notes=linked).split(), "--data-dir", str(tmp_path / "data")]
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert f"{linked}/link.txt: {SKIPPED}" in " ".join(err.split())
    assert "boiler" not in out
    assert main([*words, "--follow-links"]) == 0
    assert SKIPPED not in capsys.readouterr().err


def test_a_link_that_was_skipped_is_read_when_it_is_retried_and_followed(
    data: DataDir, linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ingest", str(linked), "-c", "c", "--data-dir", str(data.settings.data_dir)]
    assert main(words) == 1
    failure = {
        "place": f"{linked}/link.txt",
        "reason": f"{SKIPPED}ingest.follow_links to read all that links lead to",
    }
    assert json.loads(capsys.readouterr().out)["failures"] == [failure]
    assert main([*words, "--retry-failed"]) == 1
    assert texts(data) == sorted([OLD, OTHER])
    assert json.loads(capsys.readouterr().out)["duplicates_skipped"] == 0
    assert main([*words, "--retry-failed", "--follow-links"]) == 0
    assert texts(data) == sorted([OLD, NEW, OTHER])


def test_what_is_retried_is_not_read_through_a_link_that_came_in_between(
    data: DataDir, linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (linked / "link.txt").unlink()
    (linked / "a.txt").write_bytes(b"\xfa broken")
    words = ["ingest", str(linked), "-c", "c", "--data-dir", str(data.settings.data_dir)]
    assert main(words) == 1
    (linked / "a.txt").unlink()
    (linked / "a.txt").symlink_to(linked.parent / "elsewhere.txt")
    assert main([*words, "--retry-failed"]) == 1
    assert SKIPPED in capsys.readouterr().out
    assert texts(data) == [OTHER]


def test_what_a_link_led_to_is_not_checked_where_it_is_not_followed(
    data: DataDir, linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ingest", str(linked), "-c", "c", "--data-dir", str(data.settings.data_dir), "--sync"]
    assert main([*words, "--follow-links"]) == 0
    assert main(words) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["documents_not_checked"] == 1
    (linked / "link.txt").unlink()
    assert main(words) == 0
    assert texts(data) == sorted([OLD, OTHER])


def test_what_was_not_checked_is_counted(data: DataDir, notes: Path) -> None:
    rows = [json.dumps({"id": f"r{number}", "text": text}) for number, text in enumerate((NEW, OTHER))]
    (notes / "r.jsonl").write_text("\n".join(rows), encoding="utf-8")
    run(data, notes)
    (notes / "r.jsonl").write_text(f"{rows[0]}\nbroken", encoding="utf-8")
    tally = run(data, notes, sync=True)
    assert (tally.erased, tally.unsure) == (0, 1)
    assert tally.summary()["documents_not_checked"] == 1


def test_erased_sources_leave_no_digest(data: DataDir, notes: Path) -> None:
    run(data, notes)
    (notes / "old" / "b.txt").unlink()
    run(data, notes, sync=True)
    with data.open("c") as collection:
        kept = {row[0] for row in collection.store._read("SELECT source_key FROM sources")}
        used = {row[0] for row in collection.store._read("SELECT source_key FROM origins")}
        above = {row[0] for row in collection.store._read("SELECT folder_key FROM sources")} - {None}
    assert kept == used | above


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
    there = str(notes.parent / "data")
    assert main(["ingest", str(notes / "a.txt"), "-c", "c", "--sync", "--data-dir", there]) == 2
    assert "--sync works on whole folders" in capsys.readouterr().err


def test_a_missing_collection_has_no_documents_to_list(data: DataDir) -> None:
    with pytest.raises(LetheError, match="There is no collection c"):
        data.open("c")
