"""What stored vectors say beyond their text. All people and texts are invented."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compose import system_of
from app.settings.load import load_settings
from eval.experiment import SanitizedCorpus, kept_in_memory
from eval.measures.uncertainty import clustered_share
from eval.progress import no_progress
from eval.rows import Row
from eval.tasks import vectors as measured
from eval.tasks.vectors import CUT_OTHERWISE, TOLERANCE, VectorsTask, compared
from ingest.deciding.policy import Policy, PolicyName
from ingest.documents import Document
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.passages import cut
from retrieval.search import HYBRID, PLAIN, Search
from retrieval.store.database import Store
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

ENCODER = HashingEncoder()
NAMES = [f"{given} Quenlow{end}" for given in ("Alvi", "Ersu", "Marun", "Petlo") for end in ("a", "by", "er")]
DOCUMENTS = [
    Document(
        f"d{number:02}",
        f"The letter of {name} came on a cold day, and {name} had sealed it with green wax. "
        f"It asked for {number + 2} crates of pears. Nobody in the harbour office knew {name} or the pears. "
        f"The clerk wrote back that {name} should call on the warden with the papers of the barge.",
    )
    for number, name in enumerate(NAMES)
]
TOKENS = 24


SETTINGS = load_settings({"detector.learned": False, "risk.kind": "prior"})
Kept = Callable[..., SanitizedCorpus]


@pytest.fixture
def kept() -> Iterator[Kept]:
    """Documents in a store of their own."""
    detector = PhraseDetector(dict.fromkeys(NAMES, "person full name"))
    system = replace(system_of(SETTINGS, encoder=ENCODER), detector=detector, passage_tokens=TOKENS)
    with ExitStack() as stack:

        def made(
            documents: Sequence[Document] = DOCUMENTS, policy: PolicyName = "redact", search: Search = HYBRID
        ) -> SanitizedCorpus:
            chosen = replace(system, policy=Policy(policy), search=search)
            return kept_in_memory("s", documents, chosen, stack, no_progress)

        yield made


def rows(corpus: SanitizedCorpus, encoder: Encoder = ENCODER) -> list[Row]:
    task = VectorsTask(DOCUMENTS, encoder)
    return list(task.rows(corpus, task.cases, no_progress))


def vector_figures(found: Iterable[Row]) -> SimpleNamespace:
    """Shares of passages, and the lowest cosine with the vector of the text."""
    figures = [row.figures for row in found if row.measured]
    names = {"flagged": measured.FLAGGED, "nearer": measured.NEARER, "inverted": measured.INVERTED}
    passages = [int(each[measured.PASSAGES]) for each in figures]
    shares = {
        name: clustered_share([int(each.get(of, 0)) for each in figures], passages)
        for name, of in {**names, "by_text": measured.BY_TEXT}.items()
    }
    lowest = [each[measured.LOWEST] for each in figures if measured.LOWEST in each]
    return SimpleNamespace(**shares, lowest=min(lowest, default=None))


def store_of(corpus: SanitizedCorpus, encoder: Encoder = ENCODER) -> Store:
    assert corpus.shelf is not None
    return corpus.shelf(encoder).store


def put(store: Store, doc_id: str, value: object, column: str = "vector", passage: int = 0) -> None:
    stored = value.astype(np.float16).tobytes() if isinstance(value, np.ndarray) else value
    place = store.passages_of(doc_id)[passage].passage_id
    store._connection.execute(f"UPDATE passages SET {column} = ? WHERE passage_id = ?", (stored, place))


def plant_original(corpus: SanitizedCorpus, number: int, encoder: Encoder = ENCODER) -> None:
    """The vector that the second passage of an original gives, in place of that of the sanitized text."""
    bare = replace(corpus.documents[number], text=DOCUMENTS[number].text, decisions=(), places=())
    (made,) = cut([bare], encoder, TOKENS, HYBRID)
    put(store_of(corpus, encoder), DOCUMENTS[number].doc_id, made.vectors[1], passage=1)


@pytest.mark.parametrize("search", [HYBRID, PLAIN, Search(left_out=False)])
@pytest.mark.parametrize("policy", ["redact", "origin"])
def test_a_clean_index_is_not_flagged(kept: Kept, policy: str, search: Search) -> None:
    figures = vector_figures(rows(kept(policy=policy, search=search)))
    assert (figures.flagged.hits, figures.nearer.hits) == (0, 0)
    assert figures.flagged.n >= 2 * len(DOCUMENTS)
    assert figures.lowest == pytest.approx(1, abs=1e-6)


def test_the_vector_of_an_original_is_flagged_and_nothing_else_is(kept: Kept) -> None:
    corpus = kept()
    plant_original(corpus, 4)
    found = {row.case: row.figures for row in rows(corpus)}
    assert {case for case, each in found.items() if each[measured.FLAGGED]} == {"d04"}
    assert (found["d04"][measured.FLAGGED], found["d04"][measured.NEARER]) == (1, 1)
    assert found["d04"][measured.LOWEST] < 1 - TOLERANCE


def test_a_vector_of_the_original_finds_it_where_the_text_does_not(kept: Kept) -> None:
    alike = [Document(f"d{number}", f"The letter of {name} came late.") for number, name in enumerate(NAMES)]
    task = VectorsTask(alike, ENCODER)

    def found(corpus: SanitizedCorpus) -> SimpleNamespace:
        return vector_figures(task.rows(corpus, task.cases, no_progress))

    corpus, raw = kept(alike), found(kept(alike, "origin"))
    clean = found(corpus)
    put(store_of(corpus), "d4", ENCODER.encode([alike[4].text])[0])
    planted = found(corpus)
    assert (raw.inverted.value, raw.by_text.value) == (1, 1)
    # Without the name all texts are the same.
    assert clean.inverted == clean.by_text
    assert clean.inverted.hits == 1
    assert (planted.inverted.hits, planted.by_text.hits) == (2, 1)


def test_nearest_neighbours_by_hand() -> None:
    pool = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    vectors = np.array([[2, 1], [1, 2], [0, 3]], np.float32)
    assert measured.found_among(vectors, pool, np.array([False, True, False])) == 2
    assert measured.found_among(vectors, pool, np.array([True, False, False])) == 1
    assert measured.found_among(vectors[:0], pool, np.array([True, True, True])) == 0


def test_a_resumed_run_searches_the_same_originals(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "AMONG", 4)
    task, corpus = VectorsTask(DOCUMENTS, ENCODER), kept()
    whole = list(task.rows(corpus, task.cases, no_progress))
    assert list(task.rows(corpus, task.cases[3:], no_progress)) == whole[3:]


def test_a_real_encoder_is_not_flagged_and_a_planted_vector_is(kept: Kept, minilm: Encoder) -> None:
    corpus = kept()
    clean = vector_figures(rows(corpus, minilm))
    plant_original(corpus, 2, minilm)
    found = vector_figures(rows(corpus, minilm))
    assert (clean.flagged.hits, clean.nearer.hits) == (0, 0)
    # A hundredth of what is tolerated: half precision and the batch do not come near it.
    assert clean.lowest is not None and clean.lowest > 1 - TOLERANCE / 100
    assert (found.flagged.hits, found.nearer.hits) == (1, 1)
    # One other word is more than numbers explain.
    words = " ".join(f"{document.text}" for document in DOCUMENTS[:2])
    own, other = minilm.encode([words, words.replace("green", "yellow")])
    assert compared(own[None], other[None], own[None]).flagged == 1


def test_a_vector_of_something_else_is_flagged_and_is_not_nearer(kept: Kept) -> None:
    corpus = kept()
    put(store_of(corpus), "d03", ENCODER.encode(["sixteen unheard trombones"])[0])
    put(store_of(corpus), "d05", np.full(ENCODER.dim, np.nan))
    figures = vector_figures(rows(corpus))
    assert (figures.flagged.hits, figures.nearer.hits) == (2, 0)


def test_cosines_by_hand() -> None:
    stored = np.array([[2, 0], [0, 1], [0.6, 0.8], [0, 0]], np.float32)
    own = np.array([[1, 0], [1, 0], [0, 1], [1, 0]], np.float32)
    originals = np.array([[0, 3], [-1, 0]], np.float32)
    found = compared(stored, own, originals)
    assert found.own == pytest.approx([1, 0, 0.8, 0])
    assert found.original == pytest.approx([0, 1, 0.8, 0])
    # The third is as near to the original as to its own text, and the last points nowhere.
    assert (found.flagged, found.nearer) == (3, 1)
    assert compared(stored, own, originals[:0]).nearer == 0


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), max_size=20))
def test_what_is_nearer_is_flagged(cosines: list[tuple[float, float]]) -> None:
    own, original = np.array([one for one, _ in cosines]), np.array([other for _, other in cosines])
    found = measured.Compared(own, original)
    assert 0 <= found.nearer <= found.flagged <= len(cosines)


def test_descriptors_are_those_of_the_ledger(kept: Kept) -> None:
    corpus = kept()
    document = corpus.documents[0]
    known = measured.described(document, store_of(corpus).treated("d00"))
    assert known.places == document.places
    assert [each.action for each in known.decisions] == [each.action for each in document.decisions]
    unknown = [replace(each, decisions=(), places=()) for each in corpus.documents]
    assert vector_figures(rows(replace(corpus, documents=unknown))).flagged.hits == 0


def test_what_cannot_be_compared_is_a_failure(kept: Kept) -> None:
    corpus = kept([*DOCUMENTS[:2], Document("d02", "")])
    put(store_of(corpus), "d01", "Something else.", column="text")
    found = {row.case: row for row in rows(replace(corpus, failed={"d09": "TooLong"}))}
    assert (found["d01"].failure, found["d01"].figures) == (CUT_OTHERWISE, {})
    assert (found["d09"].failure, found["d10"].failure) == ("TooLong", "not sanitized")
    assert found["d00"].measured
    # An empty document has no passages.
    assert found["d02"].failure or found["d02"].figures == {measured.PASSAGES: 0}


def test_some_cases_have_the_same_rows_which_hold_numbers_only(kept: Kept) -> None:
    corpus, task = kept(), VectorsTask(DOCUMENTS, ENCODER)
    every = {row.case: row for row in task.rows(corpus, task.cases, no_progress)}
    assert list(task.rows(corpus, ["d03", "d07"], no_progress)) == [every["d03"], every["d07"]]
    shown = repr([task, corpus, corpus.shelf and corpus.shelf(ENCODER), every])
    shown += "".join(row.model_dump_json() for row in every.values())
    assert "Quenlow" not in shown and "pears" not in shown


def test_what_has_no_vectors_is_refused() -> None:
    bare = SanitizedCorpus("s", 0, {}, {}, lambda encoder: pytest.fail("not asked"), ())
    with pytest.raises(ConfigurationError, match=r"^s has no stored vectors: measure a collection\.$"):
        rows(bare)
    with pytest.raises(ConfigurationError, match=r"^Two documents have the same id: give each its own\.$"):
        VectorsTask([DOCUMENTS[0], DOCUMENTS[0]], ENCODER)
