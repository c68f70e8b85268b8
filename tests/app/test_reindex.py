"""A collection of another encoder is refused until its vectors are made anew. All texts are invented."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from models.encoders.minilm import MiniLM
from retrieval.collection import UNFINISHED, Collection
from retrieval.errors import CollectionError
from tests.commands import in_process, write_records

OLDER = {"LETHE_ENCODER": json.dumps({"source": "embedded", "name": "multilingual-e5-small"})}
TEXTS = ["The boiler of the laundry was replaced in spring. " * 20, "Lunch is at one.", "It rained all day."]


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A collection of the encoder before, in the data folder of the settings."""
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path))
    for name, value in OLDER.items():
        monkeypatch.setenv(name, value)
    records = write_records(tmp_path / "records.jsonl", TEXTS)
    assert in_process(capsys, "ingest", str(records), "-c", "clinic").code == 0
    for name in OLDER:
        monkeypatch.delenv(name)
    return next(tmp_path.rglob("collection.db")).parent


def test_it_is_refused_reindexed_and_found(older: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = in_process(capsys, "search", "boiler", "-c", "clinic")
    assert refused.code == 1
    assert "lethe collections reindex clinic" in refused.err
    assert in_process(capsys, "collections", "reindex", "clinic").code == 0
    found = in_process(capsys, "search", "When do people eat?", "-c", "clinic")
    assert json.loads(found.out.splitlines()[0])["text"] == "Lunch is at one."


def test_vectors_are_those_of_a_new_ingest(
    older: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_process(capsys, "collections", "reindex", "clinic").code == 0
    assert in_process(capsys, "ingest", str(tmp_path / "records.jsonl"), "-c", "new").code == 0
    with Collection.open(older) as one, Collection.open(older.parent / "new") as other:
        texts = {each.text for each in one.store.passages(one.store.passage_ids()).values()}
        assert texts >= {"Lunch is at one.", "It rained all day."}
        rows = [
            {passage.text: row for passage, row in zip(store.passages(ids).values(), vectors, strict=True)}
            for store in (one.store, other.store)
            for ids, vectors in (store.vectors_of(store.passage_ids()),)
        ]
    for text in ("Lunch is at one.", "It rained all day."):
        assert np.allclose(rows[0][text], rows[1][text], atol=2e-3)


def test_what_was_cut_short_is_refused_and_done_again(
    older: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Collection, "publish", _killed)
    with Collection.open(older) as collection, pytest.raises(KeyboardInterrupt):
        collection.reindex(MiniLM())
    monkeypatch.undo()
    assert Collection.manifest_in(older).encoder == UNFINISHED
    monkeypatch.setenv("LETHE_DATA_DIR", str(older.parents[1]))
    with Collection.open(older) as collection:
        collection.reindex(MiniLM())
        assert len(collection.load_index()) == collection.store.count_passages()
    assert Collection.manifest_in(older).encoder == MiniLM.name


def _killed(collection: Collection) -> None:
    raise KeyboardInterrupt


def test_another_writer_is_waited_for(older: Path) -> None:
    with Collection.open(older) as collection, sqlite3.connect(older / "collection.db") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CollectionError, match="another process"):
            collection.reindex(MiniLM())
