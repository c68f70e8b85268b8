"""What every vector index must do. To add one, add a line to INDEXES."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.vectors import Vectors
from retrieval.documents import Passage
from retrieval.index.faiss import FaissIndex
from retrieval.index.vector_store import VectorStoreIndex
from retrieval.manifest import new_table
from retrieval.protocols import VectorIndex
from tests.databases import TABLES, table_at
from tests.flat_index import FlatIndex

DIM = 16


def on_gpu(dim: int) -> VectorIndex:
    """FAISS on the GPU, skipped where there is none."""
    import faiss

    if not hasattr(faiss, "StandardGpuResources") or not faiss.get_num_gpus():
        pytest.skip("needs faiss-gpu and a GPU")
    return FaissIndex(dim, on_gpu=True)


class Grouped(FaissIndex):
    """FAISS in lists from the first hundred vectors on; so few are all read by a search."""

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        super().add(ids, vectors)
        if self.exact and len(self) >= 100:
            self.group()


INDEXES: list[Callable[[int], VectorIndex]] = [FlatIndex, FaissIndex, Grouped, on_gpu]


def invented(ids: Sequence[int]) -> dict[int, Passage]:
    """A passage for each id."""
    return {number: Passage(number, f"d{number}", 0, 6, "A word") for number in ids}


@pytest.fixture(params=[*INDEXES, *TABLES], ids=lambda each: each if isinstance(each, str) else each.__name__)
def index(request: pytest.FixtureRequest) -> Iterator[VectorIndex]:
    """Each index; a database in which other tables lie as well."""
    if callable(request.param):
        yield request.param(DIM)
        return
    table = table_at(request.param, request.getfixturevalue(request.param), new_table())
    yield VectorStoreIndex(table, invented, "contracts")
    table.drop()


def unit_rows(n: int, seed: int = 0) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(n, DIM))
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_finds_itself_first(index: VectorIndex) -> None:
    rows = unit_rows(50)
    index.add(range(100, 150), rows)
    for number, row in zip(range(100, 150), index.search(rows, 1), strict=True):
        assert row[0][0] == number
        assert row[0][1] == pytest.approx(1, abs=1e-3)


def test_agrees_with_the_flat_index(index: VectorIndex) -> None:
    flat, rows, queries = FlatIndex(DIM), unit_rows(300), unit_rows(20, seed=1)
    for each in (index, flat):
        each.add(range(300), rows)
        each.remove(range(0, 300, 7))
    for one, other in zip(index.search(queries, 10), flat.search(queries, 10), strict=True):
        assert [number for number, _ in one] == [number for number, _ in other]
        assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=1e-3)


def test_removed_is_never_returned_and_ids_do_not_move(index: VectorIndex) -> None:
    rows = unit_rows(10)
    index.add(range(10), rows)
    index.remove([0, 3, 99])
    assert len(index) == 8
    found = {number for row in index.search(rows, 10) for number, _ in row}
    assert found == {1, 2, 4, 5, 6, 7, 8, 9}
    assert index.search(rows[9:], 1)[0][0][0] == 9


def test_k_larger_than_the_index(index: VectorIndex) -> None:
    index.add([7], unit_rows(1))
    assert [len(row) for row in index.search(unit_rows(2), 5)] == [1, 1]


def test_empty_index(index: VectorIndex) -> None:
    assert len(index) == 0
    assert index.search(unit_rows(2), 5) == [[], []]
    assert index.search(unit_rows(2)[:0], 5) == []
    index.remove([1])
    index.add([], unit_rows(1)[:0])


def test_can_be_added_to_after_a_search(index: VectorIndex) -> None:
    rows = unit_rows(2)
    index.add([1], rows[:1])
    index.search(rows, 1)
    index.add([2], rows[1:])
    assert index.search(rows[1:], 1)[0][0][0] == 2


def test_says_which_ids_it_holds(index: VectorIndex) -> None:
    assert index.ids().tolist() == []
    index.add([7, 900, 2**40], unit_rows(3))
    index.remove([900])
    assert sorted(index.ids().tolist()) == [7, 2**40]


def test_can_be_changed_while_others_search(index: VectorIndex) -> None:
    rows, stop = unit_rows(400), Event()
    index.add(range(200), rows[:200])

    def search() -> None:
        while not stop.is_set():
            for number, (best, *_) in enumerate(index.search(rows[:20], 3)):
                assert best[0] == number
                assert best[1] == pytest.approx(1, abs=1e-3)

    with ThreadPoolExecutor(3) as pool:
        searching = [pool.submit(search) for _ in range(3)]
        try:
            for number in range(200, 400):
                index.add([number], rows[number : number + 1])
                index.remove([number - 100])
        finally:
            stop.set()
        for each in searching:
            each.result()
    assert sorted(index.ids().tolist()) == [*range(100), *range(300, 400)]


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(1, 10_000), min_size=1, max_size=30))
def test_saving_and_loading_is_the_identity(tmp_path_factory: pytest.TempPathFactory, ids: set[int]) -> None:
    path: Path = tmp_path_factory.mktemp("index") / "vectors.faiss"
    index, rows = FaissIndex(DIM), unit_rows(len(ids))
    index.add(sorted(ids), rows)
    index.save(path)
    assert FaissIndex.deserialize(path.read_bytes()).search(rows, 5) == index.search(rows, 5)
    assert [each.name for each in path.parent.iterdir()] == ["vectors.faiss"]
