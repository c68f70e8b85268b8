"""A collection as LangChain's vector store; every text and name here is invented."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import FakeEmbeddings
from langchain_core.indexing import InMemoryRecordManager, index

from app.compose import system_of
from app.data_dir import DataDir
from app.langchain_store import LetheVectorStore
from app.settings.load import load_settings
from models.errors import ConfigurationError
from retrieval.collection import Collection, locked
from retrieval.errors import CollectionError
from retrieval.search import HYBRID, room_of
from tests.doubles import FailingDetector, PhraseDetector, WordEncoder

MARK = "zyxomarkzyxo"
TEXTS = ["The heron was fed at noon.", "The mill stood still.", "A boat left the heron behind.", "It rained."]


CHOSEN: dict[str, Any] = {"detector": {"learned": False}, "risk": {"kind": "prior"}}
CHOSEN |= {"policy": {"name": "redact"}, "retrieval": {"passage_tokens": 32}, "ingest": {"keep_ids": True}}


def made(folder: Path, keep_metadata: list[str] | None = None, **settings: Any) -> LetheVectorStore:
    """A store that counts words, finds one name, and keeps ids."""
    loaded = load_settings({"data_dir": str(folder / "data"), **CHOSEN, **settings})
    found = PhraseDetector({MARK: "person full name"})
    system = replace(system_of(loaded, encoder=WordEncoder()), detector=found)
    return LetheVectorStore(system, DataDir(loaded), "notes", keep_metadata or [])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LetheVectorStore]:
    with_page = made(tmp_path, keep_metadata=["page"])
    yield with_page
    with_page.close()


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# -- what is stored ------------------------------------------------------------------------------------


def test_only_sanitized_text_is_stored_and_found(store: LetheVectorStore, tmp_path: Path) -> None:
    (name,) = store.add_texts([f"Then {MARK} fed the heron."], [{"author": MARK, "page": 3}])
    (found,) = store.similarity_search("heron")
    assert found == store.get_by_ids([name])[0]
    assert found.page_content.startswith("Then ") and "fed the heron." in found.page_content
    assert found.metadata == {"page": 3}
    assert MARK not in repr(found)
    assert MARK.encode() not in files_of(tmp_path)
    assert MARK not in repr(store) + repr(store.as_retriever(search_kwargs={"filter": MARK}))


def test_ids_are_keyed_digests_unless_they_are_kept(tmp_path: Path) -> None:
    store = made(tmp_path, ingest={"keep_ids": False})
    named, other = store.add_texts(TEXTS[:2], ids=[f"letters of {MARK}", None])
    assert named.startswith("doc-") and other.startswith("doc-")
    assert store.get_by_ids([f"letters of {MARK}"])[0].id == named
    assert store.get_by_ids([named])[0].page_content == TEXTS[0]
    assert MARK.encode() not in files_of(tmp_path)
    assert store.delete([f"letters of {MARK}"])
    assert store.get_by_ids([named]) == []
    store.close()


def test_a_text_is_stored_once_and_goes_with_both_of_its_ids(store: LetheVectorStore) -> None:
    first = store.add_texts(TEXTS)
    assert store.add_texts(TEXTS) == first
    assert len(set(first)) == len(TEXTS) == len(store.similarity_search("the", k=9))
    assert store.delete()
    store.add_texts(TEXTS[:1], [{"page": 1}], ids=["a"])
    store.add_texts(TEXTS[:1], [{"page": 2}], ids=["b"])
    assert [each.metadata for each in store.similarity_search("heron")] == [{"page": 2}]
    assert [each.id for each in store.get_by_ids(["a", "b", "b"])] == ["a", "b"]
    store.add_texts(TEXTS[:1], ids=["a"])
    assert store.get_by_ids(["a"])[0].metadata == {}, "new metadata replaces all of the old"
    assert store.delete(["b"])
    assert store.get_by_ids(["a", "b"]) == []


def test_a_long_text_has_several_passages_and_is_given_back_whole(store: LetheVectorStore) -> None:
    text = " ".join(f"The heron number {number} was fed at noon." for number in range(20))
    (name,) = store.add_texts([text], [{"page": 1}])
    found = store.similarity_search("heron", k=3)
    assert [each.id for each in found] == [name] * 3
    assert all(each.page_content in text and each.metadata == {"page": 1} for each in found)
    assert store.get_by_ids([name]) == [Document(text, id=name, metadata={"page": 1})]


def test_deleting_removes_all_from_the_files(store: LetheVectorStore, tmp_path: Path) -> None:
    assert store.delete(), "there is nothing yet"
    store.add_texts(["The quorvex slept.", TEXTS[0]], [{"page": "zarnith"}, {}], ids=["a", "b"])
    assert [word in files_of(tmp_path) for word in (b"quorvex", b"zarnith")] == [True, True]
    assert store.similarity_search("quorvex", k=1)[0].id == "a"
    assert store.delete(["a", "never there"])
    assert [word in files_of(tmp_path) for word in (b"quorvex", b"zarnith")] == [False, False]
    assert [each.id for each in store.similarity_search("quorvex")] == ["b"]
    assert store.delete(), "none named are all"
    assert store.similarity_search("heron") == []


def test_what_is_stored_is_there_for_the_next_process(store: LetheVectorStore, tmp_path: Path) -> None:
    store.add_texts([f"Then {MARK} left."], ids=["a"])
    store.close()
    with Collection.open(tmp_path / "data" / "collections" / "notes") as collection:
        assert sum(collection.store.entities_by_action().values()) == 1
        assert not collection.store.interrupted()
        assert collection.store.broken_audit_entry() is None
    assert made(tmp_path).similarity_search("left")[0].id == "a"


# -- searching -----------------------------------------------------------------------------------------


def test_scores_fall_and_relevance_is_between_0_and_1(store: LetheVectorStore) -> None:
    store.add_texts(TEXTS)
    most = 1 + HYBRID.words * room_of(store._system.encoder)
    found = store.similarity_search_with_score(TEXTS[0], k=4)
    scores = [score for _, score in found]
    assert found[0][0].page_content == TEXTS[0] and scores[0] == pytest.approx(most, abs=1e-3)
    assert scores == sorted(scores, reverse=True)
    relevant = store.similarity_search_with_relevance_scores(TEXTS[0], k=4)
    assert [document for document, _ in relevant] == [document for document, _ in found]
    assert relevant[0][1] == pytest.approx(1, abs=1e-3)
    assert all(0 <= score <= 1 for _, score in relevant)
    sure = store.similarity_search_with_relevance_scores(TEXTS[0], score_threshold=0.9)
    assert [document.page_content for document, _ in sure] == TEXTS[:1]


def test_diverse_passages_are_far_from_each_other(store: LetheVectorStore) -> None:
    first, like, other = "The heron was fed.", "The heron was fed well.", "The mill near the heron stood."
    store.add_texts([first, like, other])
    for weight, found in ((1.0, [first, like]), (0.0, [first, other])):
        diverse = store.max_marginal_relevance_search(first, k=2, lambda_mult=weight)
        assert [each.page_content for each in diverse] == found
    retriever = store.as_retriever(search_type="mmr", search_kwargs={"k": 2, "lambda_mult": 0.0})
    assert [each.page_content for each in retriever.invoke(first)] == [first, other]


def test_an_empty_store_finds_nothing_and_makes_nothing(store: LetheVectorStore, tmp_path: Path) -> None:
    assert store.max_marginal_relevance_search("heron") == store.get_by_ids(["a"]) == []
    assert store.add_texts([]) == []
    assert not (tmp_path / "data" / "collections").exists()


def test_threads_share_a_store(store: LetheVectorStore) -> None:
    def used(number: int) -> None:
        store.add_texts([f"The heron number {number} was fed."], ids=[f"n{number}"])
        assert store.similarity_search(f"heron number {number}", k=1)
        if number % 2:
            store.delete([f"n{number}"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(used, range(6)))
    assert sorted(str(each.id) for each in store.similarity_search("heron", k=9)) == ["n0", "n2", "n4"]


def test_langchains_indexing_adds_and_cleans_up(store: LetheVectorStore) -> None:
    records = InMemoryRecordManager("invented")
    records.create_schema()

    def indexed(texts: list[str]) -> Any:
        documents = [Document(text, metadata={"page": 1}) for text in texts]
        return index(documents, records, store, cleanup="full", key_encoder="sha256")

    assert indexed(TEXTS[:2])["num_added"] == 2
    again = indexed(TEXTS[1:3])
    assert (again["num_added"], again["num_skipped"], again["num_deleted"]) == (1, 1, 1)
    assert {each.page_content for each in store.similarity_search("the", k=9)} == set(TEXTS[1:3])


# -- errors --------------------------------------------------------------------------------------------


def test_a_text_that_fails_is_named_by_its_id_and_the_others_are_stored(tmp_path: Path) -> None:
    whole = made(tmp_path)
    store = LetheVectorStore(replace(whole._system, detector=FailingDetector(MARK)), whole._data, "notes")
    said = r"^collection notes: 1 of 2 texts were not stored.*: b: "
    with pytest.raises(CollectionError, match=said) as told:
        store.add_texts([TEXTS[0], f"Of {MARK}."], ids=["a", "b"])
    assert MARK not in repr(told.getrepr(chain=True))
    assert [each.id for each in store.get_by_ids(["a", "b"])] == ["a"]
    store.close()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ids": ["a"]}, "2 texts and 1 ids; give each text one"),
        ({"metadatas": [{}]}, "2 texts and 1 metadatas; give each text one, or none"),
        ({"metadatas": [{"page": {MARK}}, {}]}, "keep_metadata: a value is not JSON"),
        ({"metadatas": [{"page": float("nan")}, {}]}, "keep_metadata: a value is not JSON"),
        ({"namespace": MARK}, "does not know namespace; leave it out"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is(
    store: LetheVectorStore, tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words) as told:
        store.add_texts(TEXTS[:2], **given)
    assert MARK not in str(told.value)
    assert not (tmp_path / "data" / "collections").exists()


def test_what_cannot_be_asked_is_refused(store: LetheVectorStore) -> None:
    store.add_texts(TEXTS)
    with pytest.raises(ConfigurationError, match="does not know filter; leave it out"):
        store.similarity_search("heron", filter={"author": MARK})
    for search in (store.similarity_search, store.max_marginal_relevance_search):
        with pytest.raises(ConfigurationError, match="k is 0; ask for 1 passage or more"):
            search("heron", k=0)
    with pytest.raises(ConfigurationError, match="Give None as the embedding"):
        LetheVectorStore.from_texts(TEXTS, FakeEmbeddings(size=3))


def test_other_policies_and_another_writer_are_refused(store: LetheVectorStore, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="raw text is never indexed"):
        made(tmp_path, policy={"name": "origin"}).add_texts(TEXTS)
    store.add_texts(TEXTS)
    with pytest.raises(CollectionError, match="policy"):
        made(tmp_path, policy={"name": "suppress"}).add_texts(["The weir was mended."])
    with locked(tmp_path / "data" / "collections" / "notes"):
        with pytest.raises(CollectionError, match="another process is writing"):
            store.delete(["a"])
        with pytest.raises(CollectionError, match="another process is writing"):
            store.add_texts(["The weir was mended."])


# -- the real parts ------------------------------------------------------------------------------------


def test_notes_go_in_with_names_and_come_out_without(tmp_path: Path) -> None:
    settings = load_settings({"data_dir": str(tmp_path / "data"), "threads": 1})
    notes = [
        "Invented note. Mr Tobias Keller keeps the lighthouse. Write to t.keller@example.org.",
        "Invented note. The boiler of the mill is broken. Ms Hanna Brandt was told.",
    ]
    store = LetheVectorStore(system_of(settings), DataDir(settings), "notes", keep_metadata=["page"])
    documents = [
        Document(note, id=f"{place}/keller", metadata={"author": "Hanna Brandt", "page": place})
        for place, note in enumerate(notes)
    ]
    ids = store.add_documents(documents)
    found = store.similarity_search("What is broken at the mill?", k=1)
    assert [(each.id, each.metadata) for each in found] == [(ids[1], {"page": 1})]
    diverse = store.max_marginal_relevance_search("the lighthouse", k=2)
    retrieved = store.as_retriever(search_kwargs={"k": 2}).invoke("Where does Tobias Keller live?")
    everything = (*found, *diverse, *retrieved, *store.get_by_ids(ids))
    shown = json.dumps([each.model_dump() for each in everything]).encode()
    assert b"boiler" in shown and len(diverse) == len(retrieved) == 2
    lower = (shown + files_of(tmp_path)).lower()
    assert not [name for name in (b"keller", b"tobias", b"hanna", b"brandt") if name in lower]
    assert store.delete(ids[1:])
    assert b"boiler" not in files_of(tmp_path)
    assert [each.id for each in store.similarity_search("What is broken at the mill?")] == ids[:1]
    store.close()
