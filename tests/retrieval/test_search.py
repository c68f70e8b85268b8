"""Passages by vectors and words. All texts are invented."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import accumulate, pairwise
from math import log
from sqlite3 import Connection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Action, Arrival, Decision, Entity, Identifier, Risk, SanitizedDocument, Span
from models.vectors import Vectors
from retrieval.documents import RetrievedPassage
from retrieval.passages import cut, kept_in, treated_in
from retrieval.retriever import HybridRetriever
from retrieval.search import DENSE, HYBRID, Search, coverage
from retrieval.store import words
from retrieval.store.database import Store
from tests.doubles import CuttingWriter, WordEncoder
from tests.flat_index import FlatIndex

ENCODER = WordEncoder()


def document(
    doc_id: str, text: str, *places: tuple[int, int], action: Action = Action.GENERALIZE
) -> SanitizedDocument:
    """A document whose given places are replacements."""
    entity = Entity(Span(0, 1), "date", Identifier.QUASI, 1.0, "test")
    decisions = [Decision(entity, None, action, "test") for _ in places]
    return SanitizedDocument(doc_id, text, decisions, places, Risk(0.0, 0.0, "test"), "test", 0)


def place_of(text: str, words: str) -> tuple[int, int]:
    start = text.index(words)
    return start, start + len(words)


# -- the words of a store ----------------------------------------------------------------------------------


@contextmanager
def store_of(*texts: str) -> Iterator[Store]:
    with closing(Store(None)) as store:
        add(store, *texts)
        yield store


def add(store: Store, *texts: str) -> None:
    first = store.count_documents()
    writer = CuttingWriter(store, ENCODER, 64)
    made = [document(f"d{first + n}", text) for n, text in enumerate(texts)]
    writer.keep([(Arrival(each.doc_id, each.doc_id.encode()), each) for each in made])


def held(store: Store, question: str) -> list[list[int]]:
    return [ids.tolist() for ids in store.holders(question)]


QUESTIONS = st.text("ab cde", max_size=20)


@given(st.lists(QUESTIONS.filter(bool), min_size=1, max_size=8), QUESTIONS)
def test_holders_are_those_of_a_search_by_hand(texts: list[str], question: str) -> None:
    cut = words.tokenizer()
    terms = {n: set(words.terms_of(cut, text)) for n, text in enumerate(texts, start=1)}
    asked = words.terms_of(cut, question)
    with store_of(*(f"{text}." for text in texts)) as store:
        assert sorted(held(store, question)) == sorted(
            [n for n in terms if term in terms[n]] for term in asked
        )


@given(st.text(max_size=60))
def test_every_question_can_be_asked(question: str) -> None:
    with store_of("The boiler of the mill is broken.") as store:
        assert all(len(ids) <= 1 for ids in held(store, question.encode("utf-8", "replace").decode()))


def test_forms_of_a_word_are_one_word_and_the_rarest_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with store_of("The boilers broke.", "A broken mill.", "Café by the mill.") as store:
        assert held(store, "boiler cafe mill zebra") == [[], [1], [3], [2, 3]]
        # A question without end is cut.
        monkeypatch.setattr(words, "MOST_TERMS", 2)
        assert len(held(store, "boiler ferry mill zebra")) == 2


def test_common_words_are_left_out_where_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_ROWS", 3)
    with store_of("mill", "the mill", "the mill", "boiler mill") as store:
        assert held(store, "the boiler of a mill") == [[], [], [4], [2, 3]]
        assert held(store, "mill") == [[1, 2, 3, 4]]


def test_counts_of_common_words_are_remembered_until_something_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[str] = []
    count = words._count

    def counting(connection: Connection, term: str) -> int:
        counted.append(term)
        return count(connection, term)

    monkeypatch.setattr(words, "COMMON", 2)
    monkeypatch.setattr(words, "_count", counting)
    with store_of("mill", "the mill", "boiler") as store:
        assert held(store, "boiler mill") == held(store, "boiler mill") == [[3], [1, 2]]
        assert counted == ["boiler", "mill", "boiler"]
        add(store, "the mill")
        assert held(store, "mill") == [[1, 2, 4]]
        assert counted == ["boiler", "mill", "boiler", "mill"]


# -- coverage ----------------------------------------------------------------------------------------------

HOLDERS = st.lists(st.sets(st.integers(1, 9)), max_size=5)


@given(HOLDERS, st.integers(9, 50))
def test_coverage_is_the_share_of_the_weights_of_the_words_held(held: list[set[int]], passages: int) -> None:
    ids, shares = coverage([np.array(sorted(each), dtype=np.int64) for each in held], passages)
    weights = [log(1 + (passages - len(each) + 0.5) / (len(each) + 0.5)) for each in held]
    expected = {
        number: sum(weight for each, weight in zip(held, weights, strict=True) if number in each)
        / sum(weights)
        for number in sorted(set().union(*held))
    }
    assert dict(zip(ids.tolist(), shares.tolist(), strict=True)) == pytest.approx(expected)
    assert all(0 < share <= 1 + 1e-9 for share in shares)


# -- what is indexed ---------------------------------------------------------------------------------------


def test_descriptors_are_left_out_and_aliases_stay() -> None:
    text = "Person K came on [date] to [place]."
    replaced = document("a", text, place_of(text, "[date]"), place_of(text, "[place]"))
    parts = [Span(0, len(text)), Span(0, 20), Span(20, len(text))]
    assert kept_in(text, treated_in(replaced), parts) == ["Person K came on to .", "Person K came on", "to ."]
    alias = document("a", text, place_of(text, "Person K"), action=Action.SURROGATE)
    assert kept_in(text, treated_in(alias), [Span(0, len(text))]) == [text]


PIECES = st.lists(st.text("ab. ", max_size=12).flatmap(lambda said: st.sampled_from([said, f"[{said}]"])))


@given(PIECES)
def test_what_is_kept_is_what_is_outside_the_places(pieces: list[str]) -> None:
    ends = list(accumulate(map(len, pieces), initial=0))
    places = [span for piece, span in zip(pieces, pairwise(ends), strict=True) if piece.startswith("[")]
    left = [" " if piece.startswith("[") else piece for piece in pieces]
    text = "".join(pieces) + "."
    (kept,) = kept_in(text, treated_in(document("a", text, *places)), [Span(0, len(text))])
    assert "".join(kept.split()) == "".join("".join([*left, "."]).split())


MORE = ["May 2019", "the 1990s", "A date of my own"]
KINDS = ["[date]", "a specific date", "A specific date", "Person A", "Mr. B", "Bank AC"]


@pytest.mark.parametrize(("words", "stay"), [(each, each in MORE) for each in MORE + KINDS])
def test_words_of_a_kind_are_left_out_and_those_that_say_more_stay(words: str, stay: bool) -> None:
    text = f"Seen in {words}, here."
    kept = kept_in(text, treated_in(document("a", text, place_of(text, words))), [Span(0, len(text))])
    assert kept == [text if stay else "Seen in , here."]


def rows_of(of: SanitizedDocument, search: Search, tokens: int = 16) -> tuple[Vectors, list[str]]:
    (made,) = cut([of], ENCODER, tokens, search)
    return made.vectors, [each.kept for each in made.passages]


def test_a_vector_is_the_mean_of_passage_and_document() -> None:
    text = "The heron was fed. " * 8 + "The boiler is broken."
    vectors, kept = rows_of(document("a", text), Search(document=0.5))
    assert len(kept) > 1
    whole = ENCODER.encode([" ".join(text.split())])[0]
    np.testing.assert_allclose(vectors, (ENCODER.encode(kept) + 0.5 * whole) / 1.5, atol=1e-6)
    alone, _ = rows_of(document("a", text), Search(document=0.0))
    np.testing.assert_allclose(alone, ENCODER.encode(kept), atol=1e-6)


def test_a_document_of_one_passage_has_the_vector_of_the_passage() -> None:
    text = "Seen on [date] by the mill."
    of = document("a", text, place_of(text, "[date]"))
    np.testing.assert_allclose(rows_of(of, HYBRID)[0], ENCODER.encode(["Seen on by the mill."]), atol=1e-6)
    full = rows_of(of, Search(left_out=False))[0]
    np.testing.assert_allclose(full, ENCODER.encode([text]), atol=1e-6)
    bare = document("a", "[date]", (0, 6))
    np.testing.assert_allclose(rows_of(bare, HYBRID)[0], ENCODER.encode(["[date]"]), atol=1e-6)


# -- retrieving --------------------------------------------------------------------------------------------

TEXTS = (
    "The boiler of the mill is broken and cold.",
    "The heron of the mill was fed at noon.",
    "Quince jam is sold at the gate.",
    "The ferry is late, and the gate is shut.",
)


@pytest.fixture
def store() -> Iterator[Store]:
    with store_of(*TEXTS) as made:
        yield made


def found(store: Store, question: str, search: Search = HYBRID, k: int = 4) -> list[RetrievedPassage]:
    return HybridRetriever(ENCODER, FlatIndex(ENCODER.dim), store, search).retrieve([question], k)[0]


def ranked(store: Store, question: str, search: Search = HYBRID, k: int = 4) -> list[str]:
    return [each.passage.doc_id for each in found(store, question, search, k)]


@pytest.mark.parametrize("question", ["quince at the mill", "Is the gate shut?", "zebra", "", "mill \ud800"])
@pytest.mark.parametrize("search", [HYBRID, DENSE, Search(words=9.0)])
def test_the_ranking_is_that_of_a_slow_search_over_all_passages(
    store: Store, question: str, search: Search
) -> None:
    results = found(store, question, search)
    # A lone surrogate is asked as a question mark.
    question = question.replace("\ud800", "?")
    (numbers, rows), *_ = store.vectors(0)
    similarity = rows @ ENCODER.encode([question])[0]
    ids, shares = coverage(store.holders(question), len(numbers))
    covered = dict(zip(ids.tolist(), shares.tolist(), strict=True))
    pairs = zip(numbers, similarity, strict=True)
    score = {n: float(s) + search.words * covered.get(n, 0.0) for n, s in pairs}
    order = sorted(numbers, key=lambda n: (-round(score[n], 6), n))
    assert [each.passage.doc_id for each in results] == [f"d{n - 1}" for n in order]
    scores = [each.score for each in results]
    assert scores == sorted(scores, reverse=True)
    if search is HYBRID:
        assert all(each.similarity <= each.score <= each.similarity + 0.75 for each in results)


def test_a_word_finds_what_vectors_do_not_propose(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.retriever.NEAREST", 1)
    monkeypatch.setattr("retrieval.retriever.CANDIDATES", 1)
    question = "the mill, the mill, the mill: quince"
    assert "d2" not in ranked(store, question, DENSE, k=1)
    assert ranked(store, question, Search(words=5.0), k=1) == ["d2"]


def test_no_passage_repeats_the_words_of_a_better_one() -> None:
    with store_of("The mill is broken.", "The mill is broken.", "A heron was fed.") as store:
        assert ranked(store, "broken mill", k=2) == ["d0", "d2"]
