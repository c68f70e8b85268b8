"""What a retriever and a server find after others wrote to their collection. All notes are invented."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import Arrival, Risk, SanitizedDocument
from retrieval.errors import CollectionError
from retrieval.index.faiss import FaissIndex
from retrieval.protocols import VectorIndex
from retrieval.retriever import HybridRetriever
from retrieval.store.connection import create_database
from retrieval.store.database import Store
from tests.commands import PLAIN, lethe
from tests.doubles import CuttingWriter, WordEncoder
from tests.flat_index import FlatIndex
from tests.serving import ask, ingested, served

TEXTS = ["the boiler of the mill", "the boiler of the house", "a heron by the pond", "herring for a heron"]
CHANGES = st.tuples(st.sampled_from(["ours", "theirs"]), st.integers(0, len(TEXTS) - 1), st.booleans())
"""Whose store writes, which text comes or goes, and whether it is searched for then."""
INDEXES: list[Callable[[int], VectorIndex]] = [FlatIndex, FaissIndex]


def write(store: Store, texts: Sequence[str]) -> None:
    """Keep texts, each under itself as id."""
    sanitized = [SanitizedDocument(text, text, (), (), Risk(0.0, 0.0, "x"), "x", 0) for text in texts]
    arrivals = [Arrival(text, text.encode()) for text in texts]
    CuttingWriter(store, WordEncoder(), 32).keep(list(zip(arrivals, sanitized, strict=True)))


def erase(store: Store, text: str) -> None:
    (pending,) = store.erase_all([text])
    store.strike_out(pending)


def found(retriever: HybridRetriever, text: str, k: int) -> list[str]:
    return [each.passage.text for each in retriever.retrieve([text], k)[0]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database that is there."""
    create_database(tmp_path / "collection.db")
    return tmp_path / "collection.db"


@pytest.fixture
def ours(path: Path) -> Iterator[Store]:
    with closing(Store(path)) as store:
        yield store


@pytest.fixture
def theirs(path: Path) -> Iterator[Store]:
    """As another process has it open."""
    with closing(Store(path)) as store:
        yield store


@pytest.mark.parametrize("make", INDEXES)
def test_a_retriever_finds_what_another_has_written(
    ours: Store, theirs: Store, make: Callable[[int], VectorIndex]
) -> None:
    write(theirs, TEXTS[:2])
    retriever = HybridRetriever(WordEncoder(), make(WordEncoder.dim), ours)
    assert found(retriever, TEXTS[0], 1) == [TEXTS[0]]
    assert sorted(found(retriever, TEXTS[2], 9)) == sorted(TEXTS[:2])
    write(theirs, TEXTS[2:])
    assert found(retriever, TEXTS[2], 1) == [TEXTS[2]]
    erase(theirs, TEXTS[0])
    assert found(retriever, TEXTS[0], 1) == [TEXTS[1]]
    assert len(found(retriever, TEXTS[0], 9)) == 3


def test_a_retriever_finds_what_its_own_store_has_written(
    ours: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(ours, TEXTS[:2])
    retriever = HybridRetriever(WordEncoder(), FaissIndex(WordEncoder.dim), ours)
    assert found(retriever, TEXTS[0], 1) == [TEXTS[0]]
    erase(ours, TEXTS[0])
    assert found(retriever, TEXTS[0], 1) == [TEXTS[1]]
    with ours.apart():
        pass
    write(ours, TEXTS[2:])
    assert found(retriever, TEXTS[3], 1) == [TEXTS[3]]
    # Nothing is read anew while nothing is written.
    monkeypatch.setattr(Store, "vectors", None)
    monkeypatch.setattr(Store, "count_passages", None)
    assert found(retriever, TEXTS[3], 1) == [TEXTS[3]]


@settings(max_examples=40, deadline=None)
@given(st.lists(CHANGES, max_size=14))
def test_the_index_holds_what_the_store_holds_whoever_wrote_it(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, bool]]
) -> None:
    place = tmp_path_factory.mktemp("followed") / "collection.db"
    create_database(place)
    stores = {"ours": Store(place), "theirs": Store(place)}
    index = FaissIndex(WordEncoder.dim)
    retriever = HybridRetriever(WordEncoder(), index, stores["ours"])
    there: set[str] = set()
    for who, number, searched in changes:
        text = TEXTS[number]
        if text in there:
            erase(stores[who], text)
        else:
            write(stores[who], [text])
        there ^= {text}
        if searched:
            assert set(found(retriever, text, 9)) == there
            assert sorted(index.ids().tolist()) == sorted(stores["ours"].passage_ids())
    assert set(found(retriever, TEXTS[0], 9)) == there
    for store in stores.values():
        store.close()


def test_many_threads_search_while_another_writes(ours: Store, theirs: Store) -> None:
    write(theirs, TEXTS[:1])
    retriever = HybridRetriever(WordEncoder(), FaissIndex(WordEncoder.dim), ours)
    with ThreadPoolExecutor(6) as pool:
        searching = [pool.submit(found, retriever, TEXTS[0], 1) for _ in range(120)]
        for number in range(30):
            write(theirs, [f"note {number} of another thing"])
            erase(theirs, f"note {number} of another thing")
        assert all(each.result() == [TEXTS[0]] for each in searching)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_collection_that_was_deleted_or_replaced_is_not_searched(
    ours: Store, path: Path, replaced: bool
) -> None:
    write(ours, TEXTS)
    retriever = HybridRetriever(WordEncoder(), FaissIndex(WordEncoder.dim), ours)
    found(retriever, TEXTS[0], 1)
    for file in path.parent.iterdir():
        file.unlink()
    if replaced:
        create_database(path)
    with pytest.raises(CollectionError) as refused:
        found(retriever, TEXTS[0], 1)
    told = f"collection {path.parent.name} was deleted or replaced while it was open. Restart the server, or "
    assert str(refused.value).startswith(told)


# -- a server and others, each a process of its own ------------------------------------------------------

NOTES = [
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. The boiler of the chapel is sound, and the mill has another.",
    "Invented note. The heron by the pond was fed with herring this morning.",
]
NEW = "Invented note. The lighthouse lost its lamp in the storm."


def best(client: httpx.Client, question: str) -> list[str]:
    """The id of the best passage."""
    passages = client.post("/v1/search", json={"question": question, "k": 1}).json()["passages"]
    return [each["doc_id"] for each in passages]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return ingested(tmp_path, "threads = 1\n[detector]\nlearned = false\n[risk]\nkind = 'prior'\n", NOTES)


def test_a_running_server_follows_erasures_and_ingests(data: Path) -> None:
    broken, lamp = "Is the boiler of the mill broken?", "What did the lighthouse lose in the storm?"
    with served(data, **PLAIN) as server, server.client() as client:
        assert best(client, broken) == ["r0000"]
        assert lethe(data, "erase", "r0000", "-c", "notes").code == 0
        assert best(client, broken) == ["r0001"]
        assert "r0000" not in json.dumps(ask(client, broken).json())
        new = data.parent / "new.jsonl"
        new.write_text(json.dumps({"id": "r0009", "text": NEW}) + "\n")
        assert lethe(data, "ingest", str(new), "-c", "notes").code == 0
        assert best(client, lamp) == ["r0009"]
        assert "lamp" in ask(client, lamp).json()["choices"][0]["message"]["content"]


def test_a_server_whose_collection_is_gone_says_so_and_answers_from_the_next(data: Path) -> None:
    folder = data / "collections" / "notes"
    with served(data, **PLAIN) as server, server.client() as client:
        assert best(client, NOTES[0]) == ["r0000"]
        shutil.rmtree(folder)
        search = client.post("/v1/search", json={"question": "The boiler?"})
        for refused, code in ((search, "collection_not_found"), (ask(client, "Who?"), "model_not_found")):
            told = refused.json()
            assert (refused.status_code, told.get("error", told)["code"]) == (404, code)
            assert str(folder) not in refused.text and "Invented" not in refused.text
        assert lethe(data, "ingest", str(data.parent / "notes.jsonl"), "-c", "notes").code == 0
        assert best(client, NOTES[0]) == ["r0000"]
