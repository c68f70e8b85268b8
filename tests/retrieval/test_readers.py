"""Documents for some readers only: a reader's search is that of a collection without the others' documents.

All texts are invented.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval.retriever
import retrieval.store.words
from ingest.documents import Arrival, Risk, SanitizedDocument
from retrieval.collection import add_vectors
from retrieval.documents import Groups, RetrievedPassage
from retrieval.retriever import HybridRetriever, ReadBy
from retrieval.store.database import Store
from tests.doubles import CuttingWriter, WordEncoder
from tests.flat_index import FlatIndex

ENCODER = WordEncoder()
EVERYBODY, NORTH, NONE = frozenset[str](), frozenset(["north"]), Risk(0.0, 0.0, "test")
Texts = Mapping[str, tuple[str, frozenset[str]]]
"""Texts with their readers, by id."""


def keep(store: Store, texts: Texts) -> None:
    arrivals = [Arrival(each, each.encode(), readers=readers) for each, (_, readers) in texts.items()]
    made = [SanitizedDocument(each, text, (), (), NONE, "test", 0) for each, (text, _) in texts.items()]
    CuttingWriter(store, ENCODER, 64).keep(list(zip(arrivals, made, strict=True)))


@contextmanager
def searched(texts: Texts) -> Iterator[tuple[Store, HybridRetriever]]:
    with closing(Store(None)) as store:
        keep(store, texts)
        index = FlatIndex(ENCODER.dim)
        add_vectors(store, index, 0)
        yield store, HybridRetriever(ENCODER, index, store)


def may_read(readers: frozenset[str], groups: Groups) -> bool:
    return groups is None or not readers or bool(readers & groups)


def names(found: Sequence[RetrievedPassage]) -> list[str]:
    return sorted(each.passage.doc_id for each in found)


words = st.lists(st.sampled_from(["mill", "weir", "boiler", "ward", "rain"]), min_size=1, max_size=6)
readers = st.frozensets(st.sampled_from(["north", "south"]))
collections = st.dictionaries(
    st.sampled_from("abcdefgh"), st.tuples(words.map(" ".join), readers), min_size=1, max_size=8
)


@pytest.mark.parametrize("compared", [1, 20_000], ids=["proposed by the index", "compared one by one"])
@given(
    texts=collections,
    groups=readers | st.none(),
    question=words.map(" ".join),
    k=st.integers(1, 9),
    rows=st.sampled_from([2, 5, 10_000]),
    proposed=st.sampled_from([2, 16_000]),
)
def test_a_reader_finds_what_a_collection_without_the_others_documents_finds(
    compared: int, texts: Texts, groups: Groups, question: str, k: int, rows: int, proposed: int
) -> None:
    own = {n: each for n, each in texts.items() if may_read(each[1], groups)}
    with pytest.MonkeyPatch.context() as patch, searched(texts) as (_, all_of), searched(own) as (_, alone):
        patch.setattr(retrieval.retriever, "COMPARED", compared)
        patch.setattr(retrieval.retriever, "PROPOSED", proposed)
        patch.setattr(retrieval.store.words, "MOST_ROWS", rows)
        patch.setattr(retrieval.retriever, "NEAREST", 1)
        found, expected = all_of.retrieve([question], k, groups)[0], alone.retrieve([question], k)[0]
    assert {each.passage.text for each in found} <= {text for text, _ in own.values()}
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one.similarity, one.score) == pytest.approx((other.similarity, other.score), abs=1e-6)


@given(collections, readers | st.none())
def test_the_store_shows_a_reader_no_others_documents(texts: Texts, groups: Groups) -> None:
    own = sorted(n for n, (_, each) in texts.items() if may_read(each, groups))
    with searched(texts) as (store, _):
        assert [each.doc_id for each in store.documents(groups=groups)] == own
        assert store.count_documents(groups) == len(own)
        assert store.documents_called(list(texts), groups) == own
        passages = store.passages(store.passage_ids(), groups).values()
        assert sorted({each.doc_id for each in passages}) == own
        if (readable := store.readable(groups)) is None:
            assert len(own) == len(texts)
        else:
            assert readable.tolist() == sorted(each.passage_id for each in passages)
        with closing(store.copied(own)) as copy:
            told = {n: sorted(readers) for n, (_, readers) in texts.items() if n in own}
            assert {each.doc_id: sorted(each.readers) for each in copy.documents()} == told


def test_what_others_read_does_not_choose_the_words_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval.store.words, "MOST_ROWS", 6)
    scores = []
    for hidden in ("The sluice.", "The quay.", None):
        texts = {n: ("The mill and the weir.", EVERYBODY) for n in "abc"}
        if hidden:
            texts["z"] = (hidden, NORTH)
        with searched(texts) as (_, retriever):
            found = retriever.retrieve(["mill weir sluice"], 3, EVERYBODY)[0]
        scores.append([(each.similarity, each.score) for each in found])
    assert scores[0] == scores[1] == scores[2]


def test_what_is_written_during_a_search_is_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with searched({"a": ("The mill.", EVERYBODY)}) as (store, retriever):
        assert names(retriever.retrieve(["mill"], 5, EVERYBODY)[0]) == ["a"]
        holders = store.holders

        def late(question: str, readable: np.ndarray | None = None) -> list[np.ndarray]:
            # After what is readable was looked up.
            if store.count_documents() == 1:
                keep(store, {"b": ("The old mill.", NORTH)})
            return holders(question, readable)

        monkeypatch.setattr(store, "holders", late)
        assert names(retriever.retrieve(["old mill"], 5, EVERYBODY)[0]) == ["a"]
        assert store.count_documents() == 2
        assert names(retriever.retrieve(["old mill"], 5, NORTH)[0]) == ["a", "b"]


def test_the_readers_of_a_document_go_with_it_and_follow_its_name() -> None:
    with searched({"a": ("The mill.", NORTH)}) as (store, retriever):
        assert retriever.retrieve(["mill", "weir"], 3, EVERYBODY) == [[], []]
        # The same text under another name, then another text under the first.
        store.standing(store.start_job(), [Arrival("b", b"a", readers=NORTH)])
        other = SanitizedDocument("a", "The weir.", (), (), NONE, "test", 0)
        CuttingWriter(store, ENCODER, 64).keep([(Arrival("a", b"another"), other)])
        assert {each.doc_id: list(each.readers) for each in store.documents()} == {"a": [], "b": ["north"]}
        store.erase_all(["b"])
        with store._lock:
            assert store._connection.execute("SELECT count(*) FROM readers").fetchone() == (0,)
            with pytest.raises(sqlite3.IntegrityError):
                store._connection.execute("INSERT INTO readers VALUES ('nobody', 'north')")


def test_many_readers_are_looked_up_anew_and_not_remembered_for_ever() -> None:
    with searched({f"d{n}": (f"mill {n}", frozenset([f"g{n}"])) for n in range(100)}) as (_, retriever):
        for n in range(100):
            found = ReadBy(retriever, frozenset([f"g{n}"])).retrieve(["mill"], 5)[0]
            assert names(found) == [f"d{n}"]
        assert len(retriever._readable) <= 64
