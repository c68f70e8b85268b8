"""A collection of another encoder is refused until its vectors are made anew. All texts are invented."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from models.encoders.minilm import MiniLM
from retrieval.collection import UNFINISHED, Collection
from retrieval.errors import CollectionError
from tests.commands import in_process, write_records

TEXTS = ["The boiler of the laundry was replaced in spring. " * 20, "Lunch is at one.", "It rained all day."]


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A collection of the encoder before, in the data folder of the settings."""
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path))
    records = write_records(tmp_path / "records.jsonl", TEXTS)
    with monkeypatch.context() as before:
        before.setenv("LETHE_ENCODER", '{"source": "embedded", "name": "multilingual-e5-small"}')
        assert in_process(capsys, "ingest", str(records), "-c", "clinic").code == 0
    return next(tmp_path.rglob("collection.db")).parent


def test_it_is_refused_reindexed_and_found_by_the_vectors_of_a_new_ingest(
    older: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = in_process(capsys, "search", "boiler", "-c", "clinic")
    assert (refused.code, "lethe collections reindex clinic" in refused.err) == (1, True)
    assert in_process(capsys, "collections", "reindex", "clinic").code == 0
    found = in_process(capsys, "search", "When do people eat?", "-c", "clinic")
    assert found.rows[0]["text"] == "Lunch is at one."
    assert in_process(capsys, "ingest", str(tmp_path / "records.jsonl"), "-c", "new").code == 0
    with Collection.open(older) as one, Collection.open(older.parent / "new") as other:
        rows = [
            {passage.text: row for passage, row in zip(store.passages(ids).values(), vectors, strict=True)}
            for store in (one.store, other.store)
            for ids, vectors in (store.vectors_of(store.passage_ids()),)
        ]
    for text in ("Lunch is at one.", "It rained all day."):
        assert np.allclose(rows[0][text], rows[1][text], atol=2e-3)


def test_what_was_cut_short_is_refused_and_done_again_but_not_beside_another_writer(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(collection: Collection) -> None:
        raise KeyboardInterrupt

    with Collection.open(older) as collection, sqlite3.connect(older / "collection.db") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CollectionError, match="another process"):
            collection.reindex(MiniLM())
        other.rollback()
    with monkeypatch.context() as patch, Collection.open(older) as collection:
        patch.setattr(Collection, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            collection.reindex(MiniLM())
    assert Collection.manifest_in(older).encoder == UNFINISHED
    with Collection.open(older) as collection:
        collection.reindex(MiniLM())
        assert len(collection.load_index()) == collection.store.count_passages()
    assert Collection.manifest_in(older).encoder == MiniLM.name
