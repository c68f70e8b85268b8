"""Collections whose vectors lie in a vector database. All texts are invented."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.data_dir import keeping_of
from app.settings.load import load_settings
from models.errors import ConfigurationError, ModelUnavailable
from retrieval.collection import Collection, Keeping, delete, locked
from retrieval.errors import CollectionError
from retrieval.index.vector_store import Table
from retrieval.manifest import IndexKind, Manifest, new_table, read_manifest
from retrieval.retriever import HybridRetriever
from retrieval.search import DENSE
from tests.commands import lethe, write_records
from tests.databases import TABLES, table_at
from tests.retrieval.test_store import ENCODER, MANIFEST, keep

NOTES = {"a": "Keller fed the heron. " * 8, "b": "The boiler of the mill is broken."}


def keeping_at(kind: str, address: str) -> Keeping:
    return keeping_of(load_settings({"retrieval.index": kind, "retrieval.index_address": address}))


@dataclass(frozen=True)
class Place:
    """A database, and a folder for collections that keep their vectors in it."""

    kind: IndexKind
    address: str
    folder: Path

    @property
    def keeping(self) -> Keeping:
        return keeping_at(self.kind, self.address)

    def unreachable(self) -> Keeping:
        """The settings of somebody whose database is down."""
        scheme = {"milvus": "http", "pgvector": "postgresql"}[self.kind]
        return keeping_at(self.kind, f"{scheme}://lethe:s3cret@127.0.0.1:1/x")

    def manifest(self) -> Manifest:
        return replace(MANIFEST, index=self.kind, table=new_table())

    def make(self, name: str, notes: dict[str, str]) -> Path:
        """A collection with these notes."""
        folder, keeping = self.folder / name, self.keeping
        with locked(folder, keeping), Collection.create(folder, self.manifest(), keeping) as collection:
            add(collection, notes)
            collection.publish()
        return folder

    def open(self, folder: Path) -> Collection:
        return Collection.open(folder, self.keeping)

    def table(self, folder: Path) -> Table:
        """The rows of a collection, by another connection."""
        return table_at(self.kind, self.address, read_manifest(folder / "manifest.json").table)


def add(collection: Collection, notes: dict[str, str]) -> None:
    keep(collection.store, *((name, name, text) for name, text in notes.items()))


def found(collection: Collection, question: str) -> set[str]:
    """The documents that are found by their vectors alone."""
    retriever = HybridRetriever(ENCODER, collection.load_index(), collection.store, DENSE)
    return {each.passage.doc_id for each in retriever.retrieve([question], 50)[0]}


@pytest.fixture(params=list(TABLES))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, request.getfixturevalue(request.param), tmp_path)


@pytest.fixture
def folder(place: Place) -> Iterator[Path]:
    """A collection with all notes."""
    made = place.make("c", NOTES)
    yield made
    if Collection.exists(made):
        delete(made, place.keeping)


def test_any_langchain_client_reads_the_sanitized_passages(place: Place, folder: Path) -> None:
    with place.open(folder) as collection:
        passages = collection.store.passages(collection.store.passage_ids())
    query = ENCODER.encode(["boiler"])[0].tolist()
    hits = place.table(folder).opened().similarity_search_with_score_by_vector(query, k=50)
    seen = {int(document.id or document.metadata["pk"]): document for document, _ in hits}
    assert seen.keys() == passages.keys()
    for number, passage in passages.items():
        assert seen[number].page_content == passage.text
        told = {"doc_id": passage.doc_id, "start": passage.start, "end": passage.end, "collection": "c"}
        assert {name: seen[number].metadata[name] for name in told} == told
    assert "Keller" not in str(seen)
    assert "Somebody fed" in str(seen)


def test_what_is_written_twice_is_there_once(place: Place, folder: Path) -> None:
    with place.open(folder) as collection:
        index, rows = collection.load_index(), collection.store.count_passages()
        before = index.search(ENCODER.encode(["boiler"]), 50)
        for ids, vectors in collection.store.vectors(0):
            index.add(ids, vectors)
        assert len(index) == rows == len(index.ids())
        assert index.search(ENCODER.encode(["boiler"]), 50) == before


def test_collections_in_one_database_do_not_see_each_other(place: Place, folder: Path) -> None:
    other = place.make("d", {"b": "The lighthouse lost its lamp.", "z": "Somebody painted a door."})
    with place.open(folder) as ours, place.open(other) as theirs:
        assert found(ours, "lamp") == {"a", "b"}
        assert found(theirs, "boiler") == {"b", "z"}
        theirs.erase_all(["b"])
        assert found(theirs, "lamp") == {"z"}
        assert found(ours, "lamp") == {"a", "b"}
    delete(other, place.keeping)
    assert not other.exists()
    with place.open(folder) as ours:
        assert found(ours, "boiler") == {"a", "b"}


def test_an_erased_document_leaves_the_database(place: Place, folder: Path) -> None:
    with place.open(folder) as collection:
        passages = collection.store.passages(collection.store.passage_ids())
        gone = [number for number, passage in passages.items() if passage.doc_id == "a"]
        table = place.table(folder)
        assert table.held(gone) == len(gone) > 1
        erasure = collection.erase_all(["a"])[0]
        assert (erasure.passages, erasure.traces_found) == (len(gone), 0)
        assert table.held(gone) == 0
        assert sorted(table.ids().tolist()) == sorted(collection.store.passage_ids())
        assert found(collection, "heron") == {"b"}


def test_an_erasure_waits_for_a_database_that_is_down(place: Place, folder: Path) -> None:
    with Collection.open(folder, place.unreachable()) as collection:
        with pytest.raises(CollectionError) as refused:
            collection.erase_all(["a"])
    told = str(refused.value)
    assert told.startswith(f"collection c: the vector database ({place.kind}) did not do what was asked (")
    assert "retrieval.index_address" in told and "s3cret" not in told
    assert refused.value.__cause__ is None and refused.value.__suppress_context__
    with place.open(folder) as collection:
        (pending,) = collection.store.pending_erasures()
        assert place.table(folder).held(pending.passage_ids) == len(pending.passage_ids)
        # What is erased already is not shown, although its rows are still there.
        assert found(collection, "heron") == {"b"}
    with locked(folder, place.keeping), place.open(folder) as collection:
        assert collection.store.pending_erasures() == []
        assert place.table(folder).held(pending.passage_ids) == 0


def test_what_came_before_a_kill_is_added_and_what_went_is_removed(place: Place, folder: Path) -> None:
    with place.open(folder) as collection:
        # As if the process had been killed before it published.
        add(collection, {"c": "The lighthouse lost its lamp."})
        assert found(collection, "lamp") == {"a", "b"}
        collection.publish()
        assert found(collection, "lamp") == {"a", "b", "c"}
        # As if it had been killed after writing rows and before noting them.
        collection.store.set_meta("index", json.dumps({"last": 0}))
        add(collection, {"b": "The mill was sold."})
        collection.publish()
        rows = place.table(folder)
        assert sorted(rows.ids().tolist()) == sorted(collection.store.passage_ids())
        assert rows.count() == collection.store.count_passages()


def test_a_lost_table_is_told_and_made_again(place: Place, folder: Path) -> None:
    place.table(folder).drop()
    with place.open(folder) as collection:
        with pytest.raises(CollectionError, match="its table is not in the vector database"):
            collection.load_index()
        collection.publish()
        assert found(collection, "boiler") == {"a", "b"}


def test_a_deleted_collection_leaves_no_table(place: Place, folder: Path) -> None:
    name = read_manifest(folder / "manifest.json").table
    with pytest.raises(CollectionError, match="did not do what was asked"):
        delete(folder, place.unreachable())
    assert Collection.exists(folder)
    delete(folder, place.keeping)
    assert not folder.exists()
    assert table_at(place.kind, place.address, name).opened() is None


def test_the_settings_have_to_name_the_database_of_a_collection(place: Place, folder: Path) -> None:
    told = f'collection c has its vectors in {place.kind}. Set retrieval.index = "{place.kind}"'
    with Collection.open(folder, keeping_of(load_settings({}))) as collection:
        # What needs no index works all the same.
        assert collection.store.count_documents() == 2
        for act in (collection.load_index, collection.publish):
            with pytest.raises(ConfigurationError, match=told):
                act()


def test_a_library_that_is_not_there_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("langchain_milvus", "langchain_postgres", "psycopg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelUnavailable, match=rf"pip install 'lethe\[{place.kind}\]'"):
        table_at(place.kind, place.address, new_table()).count()


@pytest.mark.parametrize(
    ("kind", "address", "told"),
    [
        ("milvus", None, "milvus needs retrieval.index_address"),
        ("pgvector", "http://lethe:s3cret@host", "should be postgresql://user:password@host:5432/database"),
    ],
)
def test_settings_that_cannot_work_are_refused(kind: str, address: str | None, told: str) -> None:
    asked = {"retrieval.index": kind} | ({"retrieval.index_address": address} if address else {})
    with pytest.raises(ConfigurationError, match=told) as refused:
        load_settings(asked)
    assert "s3cret" not in str(refused.value)


def test_the_address_is_never_shown() -> None:
    address = "postgresql://lethe:s3cret@host/base"
    settings = load_settings({"retrieval.index": "pgvector", "retrieval.index_address": address})
    manifest = replace(MANIFEST, index="pgvector", table=new_table())
    assert "s3cret" not in repr(settings) + str(settings) + repr(keeping_of(settings)(Path("c"), manifest))


# -- the command -------------------------------------------------------------------------------------------


def test_the_command_with_a_vector_database(place: Place) -> None:
    data = place.folder / "data"
    data.mkdir()
    # A file of its own: an embedded Milvus serves one process at a time.
    address = str(place.folder / "own.db") if place.kind == "milvus" else place.address
    plain = "[detector]\nlearned = false\n[risk]\nkind = 'prior'\n"
    settings = f'{plain}[retrieval]\nindex = "{place.kind}"\nindex_address = "{address}"\n'
    (data / "settings.toml").write_text(settings)
    notes = ["Invented note. The boiler of the mill is broken.", "Invented note. The heron was fed."]
    records = write_records(place.folder / "notes.jsonl", notes)
    assert lethe(data, "ingest", str(records), "-c", "notes").summary["documents_kept"] == 2
    assert [row["doc_id"] for row in lethe(data, "search", "heron", "-c", "notes").rows] == ["r0001", "r0000"]
    (shown,) = lethe(data, "collections").rows
    assert shown["index"] == place.kind
    assert shown["table"].startswith("lethe_")
    (erased,) = lethe(data, "erase", "r0001", "-c", "notes").rows
    assert (erased["passages"], erased["traces_found"]) == (1, 0)
    assert [row["doc_id"] for row in lethe(data, "search", "heron", "-c", "notes").rows] == ["r0000"]
    (data / "settings.toml").write_text(plain)
    refused = lethe(data, "search", "heron", "-c", "notes")
    assert (refused.code, refused.out) == (2, "")
    assert "has its vectors in" in refused.messages[0]
    other = lethe(data, "ingest", str(records), "-c", "notes")
    assert f"uses index {place.kind}, you asked for faiss. Use" in other.messages[0]
    (data / "settings.toml").write_text(settings)
    assert lethe(data, "collections", "delete", "notes", "--yes").rows == [
        {"deleted": "notes", "documents": 1, "passages": 1}
    ]
    assert table_at(place.kind, address, shown["table"]).opened() is None
