"""Vectors of units that are kept with their passages. All texts are invented; nobody in them exists."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Arrival, Risk, SanitizedDocument
from ingest.protocols import Encoder
from models.encoders.minilm import MiniLM
from models.vectors import Vectors
from retrieval.collection import Collection, locked
from retrieval.documents import Passage, RetrievedPassage
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.passages import cut
from retrieval.quoting.kept import digest_of, packed, unpacked
from retrieval.quoting.turns import sentences_of, units_in, units_of
from retrieval.store.database import Store
from retrieval.writing import whole
from tests.doubles import CuttingWriter, WordEncoder
from tests.retrieval.test_store import MANIFEST

TEXTS = {
    "mill": "The boiler of the old mill is broken. The smith had promised to mend the pipe in summer. "
    "Nobody came to the mill before the cold winter.",
    "visit": "Doctor: Any pain in the chest?\nPatient: None at all, only when I climb the stairs.\n"
    "Doctor: Since when?\nPatient: Since the spring, I think, or a little before that.",
    "ferry": "The ferry leaves at noon.\n\nWho pays for the ferry?\n\nThe district pays for it, as agreed.",
    "list": "- rent of the mill in spring\n- rent of the mill in autumn\n- wood for the winter",
}
QUESTIONS = [
    "What is broken at the mill?",
    "Is there pain in the chest?",
    "Who pays for the ferry?",
    "What is the rent of the mill?",
    "Which bridge was painted?",
]


class Counted(WordEncoder):
    """Notes what it encodes."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return super().encode(texts)


def document(doc_id: str, text: str) -> SanitizedDocument:
    return SanitizedDocument(doc_id, text, (), (), Risk(0.0, 0.0, "none"), "none", 0)


def filled(store: Store, encoder: Encoder, tokens: int) -> Store:
    writer = CuttingWriter(store, encoder, tokens)
    writer.keep([(Arrival(name, name.encode()), document(name, text)) for name, text in TEXTS.items()])
    return store


@pytest.fixture
def store() -> Iterator[Store]:
    with closing(Store(None)) as made:
        yield made


def all_of(store: Store) -> list[RetrievedPassage]:
    numbers = store.passage_ids()
    return [RetrievedPassage(each, 0.5) for each in store.passages(numbers).values()]


# -- the format --------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=8), unique=True, max_size=6), st.integers(1, 9), st.integers(0, 99))
def test_what_is_packed_comes_out_in_half_precision(texts: list[str], dim: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(len(texts), dim)).astype(np.float32)
    found = unpacked(packed(zip(texts, rows, strict=True)), dim)
    assert [*found] == [digest_of(text) for text in texts]
    for text, row in zip(texts, rows, strict=True):
        assert found[digest_of(text)].dtype == np.float32
        assert (found[digest_of(text)] == row.astype(np.float16)).all()


def test_no_text_stands_in_it() -> None:
    assert b"boiler" not in packed([("The boiler is broken.", np.zeros(4, np.float32))])


@pytest.mark.parametrize("text", TEXTS.values())
def test_units_of_a_text_alone_are_those_that_the_generator_reads(text: str) -> None:
    alone = {1: RetrievedPassage(Passage(7, "a", 0, len(text), text), 0.5)}
    assert units_in(text) == units_of(sentences_of(alone, 64))


# -- what is kept ------------------------------------------------------------------------------------------


def test_cutting_encodes_every_text_once_and_all_in_one_batch() -> None:
    encoder = Counted()
    one, twice = "The old mill stands beside the weir.", "The old mill stands beside the weir. " * 2
    made = cut([document("a", one), document("b", twice)], encoder, 128)
    assert sorted(encoder.seen) == sorted([one, " ".join(twice.split())])
    for each in made:
        (row,) = unpacked(each.units[0], encoder.dim).values()
        assert (row == encoder.encode([one])[0].astype(np.float16)).all()


def test_the_store_gives_the_vectors_of_every_unit_of_a_passage(store: Store) -> None:
    encoder = WordEncoder()
    for each in all_of(filled(store, encoder, 16)):
        texts = [unit.text for unit in units_in(each.passage.text)]
        found = store.units_of([each.passage.passage_id])
        assert found.keys() == {digest_of(text) for text in texts}
        for text in texts:
            assert (found[digest_of(text)] == encoder.encode([text])[0].astype(np.float16)).all()
    assert store.units_of([]) == store.units_of([10_000]) == {}


def test_a_document_without_them_is_stored(store: Store) -> None:
    (made,) = cut([document("a", TEXTS["mill"])], WordEncoder(), 128)
    without = type(made)(made.document, made.passages, made.vectors)
    store.write(store.start_job(), [(Arrival("a", b"1"), without)])
    assert store.count_passages() == 1
    assert store.units_of(store.passage_ids()) == {}


# -- answers -----------------------------------------------------------------------------------------------


def test_a_chat_encodes_its_question_alone(store: Store) -> None:
    passages = all_of(filled(store, WordEncoder(), 128))
    encoder = Counted()
    generator = ExtractiveGenerator(encoder, floor=0.0, known=store.units_of)
    for question in QUESTIONS:
        whole(generator.write(question, passages))
    assert encoder.seen == QUESTIONS


def test_a_unit_that_joins_two_passages_is_encoded_with_the_question(store: Store) -> None:
    text = "Doctor: Any pain in the chest or in the arm?\nPatient: None at all, only when I climb the stairs."
    CuttingWriter(store, WordEncoder(), 12).keep([(Arrival("a", b"1"), document("a", text))])
    passages = all_of(store)
    joined = [unit.text for unit in units_of(sentences_of(dict(enumerate(passages, 1)), 64))]
    known = store.units_of([each.passage.passage_id for each in passages])
    new = [unit for unit in joined if digest_of(unit) not in known]
    assert len(passages) > 1 and "Any pain" in new[0] and "None at all" in new[0]
    encoder = Counted()
    found = whole(ExtractiveGenerator(encoder, 0.0, store.units_of).write(QUESTIONS[1], passages))
    assert encoder.seen == [QUESTIONS[1], *new]
    assert found == whole(ExtractiveGenerator(WordEncoder(), 0.0).write(QUESTIONS[1], passages))


@pytest.mark.parametrize("tokens", [16, 128])
def test_answers_are_the_same_with_them_and_without(store: Store, minilm: MiniLM, tokens: int) -> None:
    passages = all_of(filled(store, minilm, tokens))
    quick = ExtractiveGenerator(minilm, known=store.units_of)
    answers = {question: whole(quick.write(question, passages)) for question in QUESTIONS}
    assert answers == {q: whole(ExtractiveGenerator(minilm).write(q, passages)) for q in QUESTIONS}
    assert len({each.text for each in answers.values()}) == len(QUESTIONS)


# -- erasing -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with locked(tmp_path / "c"), Collection.create(tmp_path / "c", MANIFEST) as collection:
        filled(collection.store, WordEncoder(), 128)
        collection.publish()
    return tmp_path / "c"


def kept_of(folder: Path, doc_id: str) -> bytes:
    with closing(sqlite3.connect(folder / "collection.db")) as connection:
        (kept,) = connection.execute("SELECT units FROM passages WHERE doc_id = ?", (doc_id,)).fetchone()
        return bytes(kept)


def test_an_erasure_leaves_no_vector_of_a_unit_in_any_file(folder: Path) -> None:
    kept = kept_of(folder, "mill")
    step = 16 + 2 * MANIFEST.dim
    pieces = [kept[start : start + 64] for start in range(0, len(kept), step)]
    assert len(pieces) == 3
    assert any(pieces[0] in path.read_bytes() for path in folder.iterdir())
    with Collection.open(folder) as collection:
        assert collection.erase("mill").traces_found == 0
    for path in folder.iterdir():
        assert not any(piece in path.read_bytes() for piece in pieces), path.name


def test_a_vector_of_a_unit_that_is_left_in_a_file_is_a_trace(folder: Path) -> None:
    (folder / "copy").write_bytes(b"." * 9 + kept_of(folder, "mill"))
    with Collection.open(folder) as collection:
        assert collection.erase("mill").traces_found == 1
        assert len(collection.store.pending_erasures()) == 1
        (folder / "copy").unlink()
        assert collection.finish_erasures()[0].traces_found == 0


def test_the_same_unit_of_another_document_is_no_trace(folder: Path) -> None:
    first = TEXTS["mill"].partition(". ")[0] + "."
    with Collection.open(folder) as collection:
        CuttingWriter(collection.store, WordEncoder(), 128).keep(
            [(Arrival("other", b"9"), document("other", f"Quince jam is sold at the gate. {first}"))]
        )
        collection.publish()
        assert collection.erase("mill").traces_found == 0
        assert digest_of(first) in collection.store.units_of(collection.store.passage_ids())


def test_a_replaced_document_takes_them_along(folder: Path) -> None:
    before = kept_of(folder, "mill")
    with Collection.open(folder) as collection:
        CuttingWriter(collection.store, WordEncoder(), 128).keep(
            [(Arrival("mill", b"9"), document("mill", "Quince jam is sold at the gate."))]
        )
        collection.publish()
    assert kept_of(folder, "mill") != before
    assert not any(before[:64] in path.read_bytes() for path in folder.iterdir())
