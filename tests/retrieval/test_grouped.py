"""Large collections, whose vectors are grouped into lists. All texts are invented."""

from pathlib import Path

import faiss
import numpy as np
import pytest

from models.vectors import Vectors
from retrieval.collection import Collection, locked, noted
from retrieval.index.faiss import RECALL, FaissIndex, grouped
from tests.commands import in_process
from tests.retrieval.test_store import MANIFEST, best, keep

THINGS = ("boiler", "heron", "lighthouse", "mill", "parcel", "bicycle", "chapel", "cellar")
DIM = 24


def add(collection: Collection, numbers: range) -> None:
    notes = [(f"n{i}", f"Note {i} of the {THINGS[i % 8]} and thing {i * 7919 % 1000}.") for i in numbers]
    writer = keep(collection.store, *((name, name, text) for name, text in notes))
    collection.store.finish_job(writer.job_id, {"ingested": len(notes)})


def crowd(count: int, seed: int = 0) -> Vectors:
    """Vectors around some centers, as those of texts are; in half precision, as an index keeps them."""
    generator = np.random.default_rng(seed)
    around = generator.normal(size=(40, DIM))[generator.integers(0, 40, count)]
    rows = around + 0.4 * generator.normal(size=(count, DIM))
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
    return unit.astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection that is large by the measure of this test, as it is not before its last note."""
    monkeypatch.setattr("retrieval.collection.EXACT_UP_TO", 300)
    place = tmp_path / "data" / "collections" / "c"
    with locked(place), Collection.create(place, MANIFEST) as collection:
        add(collection, range(3))
        collection.publish()
        index = collection.load_index()
        assert isinstance(index, FaissIndex) and index.exact
        assert noted(collection.store)["lists"] is None
        add(collection, range(3, 400))
        collection.publish()
    return place


def test_a_large_collection_is_grouped_and_tells_its_recall(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Collection.open(folder) as collection:
        index, lists = collection.load_index(), noted(collection.store)["lists"]
        assert isinstance(index, FaissIndex) and not index.exact
        assert lists["vectors"] == len(index) == collection.store.count_passages() >= 400
        assert 1 < lists["probed"] <= lists["lists"]
        assert RECALL <= lists["recall"] <= 1
        assert best(collection, "Note 77 of the bicycle") == "n77"
    (row,) = in_process(capsys, "collections", "--data-dir", str(folder.parents[1])).rows
    assert row["recall_at_10"] == lists["recall"]


def test_it_is_grouped_again_when_it_has_doubled(folder: Path) -> None:
    with Collection.open(folder) as collection:
        add(collection, range(400, 700))
        collection.publish()
        first = noted(collection.store)["lists"]["vectors"]
        assert len(collection.load_index()) == collection.store.count_passages() > first
        add(collection, range(700, 1000))
        collection.publish()
        assert noted(collection.store)["lists"]["vectors"] == collection.store.count_passages()


def test_an_erased_document_leaves_the_lists_and_their_file(folder: Path) -> None:
    with Collection.open(folder) as collection:
        passages = collection.store.passages(collection.store.passage_ids())
        gone = [number for number, passage in passages.items() if passage.doc_id == "n77"]
        vector = collection.store.vectors_of(gone[:1])[1].astype(np.float16)
        assert vector.tobytes() in (folder / "vectors.faiss").read_bytes()
        assert collection.erase_all(["n77"])[0].traces_found == 0
        assert vector.tobytes() not in (folder / "vectors.faiss").read_bytes()
        assert not np.isin(gone, collection.load_index().ids()).any()


def test_grouping_finds_nearly_all_and_reads_fewer() -> None:
    rows = crowd(20_000)
    index, grouping = grouped(faiss, np.arange(20_000, dtype=np.int64), rows)
    assert grouping.recall >= RECALL
    assert grouping.probed < grouping.lists
    assert grouping == grouped(faiss, np.arange(20_000, dtype=np.int64), rows)[1]
    assert len(index.search(rows[:1], 1000)[1][0]) == 1000
    assert (index.search(rows[:1], 1000)[1] >= 0).all()


def test_no_list_has_a_center_made_of_one_vector() -> None:
    rows = crowd(4000)
    alone = -rows[:40].mean(axis=0)
    rows[17] = alone / np.linalg.norm(alone)
    index, _ = grouped(faiss, np.arange(4000, dtype=np.int64), rows)
    centers = index.quantizer.reconstruct_n(0, index.nlist)
    assert (centers @ rows[17]).max() < 0.95
