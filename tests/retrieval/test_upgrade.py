"""A collection that an older Lethe wrote: that of tests/golden was. Its notes are invented."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from retrieval.collection import Collection
from retrieval.errors import CollectionError
from retrieval.store import connection as database
from tests.commands import ROOT, lethe

WRITTEN = ROOT / "tests" / "golden" / "collection_v4"
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    place = shutil.copytree(WRITTEN, tmp_path / "data" / "collections" / "notes")
    (tmp_path / "data" / "secret.key").touch(0o600)
    (tmp_path / "data" / "secret.key").write_bytes(b"k" * 32)
    return Path(place)


def version_of(folder: Path) -> int:
    return int(asked(folder, "PRAGMA user_version")[0])


def asked(folder: Path, query: str) -> list[str]:
    with closing(sqlite3.connect(folder / "collection.db")) as connection:
        return [row[0] for row in connection.execute(query)]


def test_it_is_made_over_when_it_is_opened_and_says_what_it_said(old: Path, tmp_path: Path) -> None:
    assert version_of(old) == 4 < database.SCHEMA_VERSION
    before = asked(old, "SELECT text FROM passages ORDER BY passage_id")
    with Collection.open(old) as collection:
        assert collection.store.count_documents() == len(before) == 2
    assert version_of(old) == database.SCHEMA_VERSION
    assert asked(old, "SELECT text FROM passages ORDER BY passage_id") == before
    database.create_database(tmp_path / "collection.db")
    assert asked(old, TABLES) == asked(tmp_path, TABLES)
    ran = lethe(tmp_path / "data", "ask", "What is broken at the mill?", "-c", "notes")
    assert ran.code == 0, ran.err
    assert "boiler" in ran.summary["answer"]


def test_documents_can_be_erased_and_none_added_by_another_detector(old: Path, tmp_path: Path) -> None:
    (tmp_path / "data" / "settings.toml").write_text(
        '[detector]\nlearned = false\n[risk]\nkind = "prior"\n', encoding="utf-8"
    )
    note = tmp_path / "note.txt"
    note.write_text("Invented note. The weir was mended in spring.", encoding="utf-8")
    added = lethe(tmp_path / "data", "ingest", str(note), "-c", "notes")
    assert added.code == 1
    assert "detector patterns+rules, you asked for patterns" in added.err
    erased = lethe(tmp_path / "data", "erase", "r0001", "-c", "notes")
    assert erased.code == 0, erased.err
    with Collection.open(old) as collection:
        assert collection.store.count_documents() == 1
        assert not collection.store.says("boiler")


def test_a_step_that_fails_leaves_the_old_version(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = asked(old, TABLES)
    last = database.SCHEMA_VERSION
    monkeypatch.setattr(database, "_STEPS", {**database._STEPS, last: ("INSERT INTO nowhere VALUES (1)",)})
    with pytest.raises(CollectionError):
        Collection.open(old)
    assert version_of(old) == 4
    assert asked(old, TABLES) == before


def test_a_collection_that_is_too_old_or_too_new_is_refused_and_left_alone(old: Path) -> None:
    for version, words in [
        (3, r"older Lethe \(database version 3, this one reads 4 to"),
        (database.SCHEMA_VERSION + 1, r"newer Lethe .* Use that version, or ingest into a new collection"),
    ]:
        with closing(sqlite3.connect(old / "collection.db")) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(CollectionError, match=words):
            Collection.open(old)
        assert version_of(old) == version


def test_several_that_open_it_at_once_make_it_over_once(old: Path) -> None:
    def opened(_: int) -> int:
        with Collection.open(old) as collection:
            return collection.store.count_documents()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(opened, range(8))) == [2] * 8
    assert version_of(old) == database.SCHEMA_VERSION
