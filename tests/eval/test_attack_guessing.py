"""Guessing what was taken, in invented documents."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples

from eval.attacks.guessing import Guess, guess_shares, guess_slots
from eval.attacks.posterior import WINDOW, Candidates, OriginalsMissing, overlooked_text, slots_of
from eval.measures.leakage import normalized, stands_in
from eval.measures.uncertainty import Estimate, wilson
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.documents import Action, Decision, Document, Identifier, SanitizedDocument
from ingest.protocols import Hazards, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder
from tests.strategies import sentences_about_people

ILLNESS = {
    f"{name} fever": f"{name} rash and {name} spots"
    for name in ("dune", "marsh", "gorse", "birch", "cliff", "tarn", "heath", "moss", "brook", "fjord")
}
"""Invented illnesses, and signs that share a word with their names."""
NAMES = [f"Quorin{number} Talvik{number}" for number in range(40)]
ENCODER = HashingEncoder()


class KeepsSome:
    """Keeps what stands in documents that begin with "Shown", and generalizes the rest."""

    name = "keeps some (test double)"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        return [
            [
                Decision(each, None, (Action.GENERALIZE, Action.KEEP)[text.text.startswith("Shown")], "test")
                for each in text.entities
            ]
            for text in texts
        ]


def documents_of(texts: Sequence[str]) -> list[Document]:
    return [Document(f"d{number}", text) for number, text in enumerate(texts)]


def sanitized(
    documents: Sequence[Document], phrases: Mapping[str, str], method: Method = REDACT
) -> list[SanitizedDocument]:
    done = DecidingSanitizer(PhraseDetector(dict(phrases)), method, RiskPrior()).sanitize(documents)
    return [each for each in done if isinstance(each, SanitizedDocument)]


def guesses(
    texts: Sequence[str], phrases: Mapping[str, str], method: Method = REDACT, pool: int = 50, seed: int = 0
) -> list[Guess]:
    documents = documents_of(texts)
    return guess_slots(documents, sanitized(documents, phrases, method), ENCODER, pool=pool, seed=seed)


TELLING = [f"The skipper showed {signs} and had {illness}." for illness, signs in ILLNESS.items()]
ILL = dict.fromkeys(ILLNESS, "disease")
SILENT = [f"The letter was signed by {name} on Monday." for name in NAMES]
NAMED = dict.fromkeys(NAMES, "person full name")


@pytest.mark.parametrize("method", [REDACT, SUPPRESS], ids=["generalized", "suppressed"])
def test_what_the_surroundings_say_is_guessed(method: Method) -> None:
    rows = guesses(TELLING, ILL, method)
    assert [row.rank for row in rows] == [1] * 10
    assert [row.best for row in rows] == list(ILLNESS)
    assert {row.pool_size for row in rows} == {10}
    shares = guess_shares(rows)
    assert (shares.first.value, shares.first_five.value) == (1, 1)
    assert shares.chance_first == pytest.approx(0.1)
    assert shares.chance_first_five == pytest.approx(0.5)


def test_where_nothing_is_said_guessing_is_chance() -> None:
    rows = [row for seed in range(10) for row in guesses(SILENT, NAMED, pool=20, seed=seed)]
    shares = guess_shares(rows)
    assert shares.chance_first == pytest.approx(1 / 20)
    # Of 400 draws with 1/20, and with 5/20, counts beyond these come once in ten thousand times.
    assert 5 <= shares.first.hits <= 40
    assert 68 <= shares.first_five.hits <= 134
    assert 5 <= shares.prior_first.hits <= 40


def test_an_unsanitized_document_is_read() -> None:
    rows = guesses(SILENT, NAMED, ORIGIN)
    shares = guess_shares(rows)
    assert (shares.first.hits, shares.first.n) == (40, 40)
    assert (shares.prior_first.value, shares.chance_first) == (1, 1)
    assert all(row.kept and row.rank == row.prior_rank == 1 for row in rows)
    assert [row.best for row in rows] == NAMES


def test_an_overlooked_copy_is_believed_before_all_else() -> None:
    texts = [*SILENT]
    texts[7] += " The ship sailed on." * 20 + " We called quorin7  talvik7 again."
    by_seed = [guesses(texts, NAMED, seed=seed) for seed in range(5)]
    assert {(rows[7].rank, rows[7].best) for rows in by_seed} == {(1, NAMES[7])}
    assert {rows[6].rank for rows in by_seed} != {1}


def test_what_was_knowingly_kept_is_no_overlooked_copy() -> None:
    document = Document("d", "Quorin1 Talvik1 wrote to Quorin2 Talvik2.")
    phrases = dict.fromkeys(NAMES[:3], "person full name")
    (redacted,) = sanitized([document], phrases)
    (kept,) = sanitized([document], phrases, ORIGIN)
    missed = replace(redacted, text=redacted.text + " Bye, Quorin2 Talvik2!")
    assert not any(stands_in(normalized(name), overlooked_text(kept)) for name in NAMES)
    assert overlooked_text(redacted) == "| wrote to | ."
    assert stands_in("quorin2 talvik2", overlooked_text(missed))
    assert "somebody" not in overlooked_text(redacted)


def test_a_document_that_shows_a_candidate_in_the_same_surroundings_gives_it_away() -> None:
    where = [f"At the quay{n} the pilot{n} of barge{n} met" for n in range(12)]
    texts = [f"{place} {name}." for place, name in zip(where, NAMES, strict=False)]
    shown = [f"Shown: {text}" for text in texts]
    phrases = dict.fromkeys(NAMES[:12], "person full name")
    alone = [row.rank for row in guesses(texts, phrases)]
    beside = [row.rank for row in guesses([*texts, *shown], phrases, KeepsSome())[:12]]
    assert beside == [1] * 12
    assert alone != beside


def test_that_a_candidate_is_shown_nowhere_does_not_speak_against_it() -> None:
    shown = ["Shown: The skipper showed rash and spots and had birch fever."] * 2
    rows = guesses([*TELLING, *shown], ILL, KeepsSome())
    assert [row.rank for row in rows if not row.kept] == [1] * 10


def test_the_prior_guesses_what_was_said_most_often() -> None:
    rows = guesses([*SILENT, *[SILENT[3]] * 9], NAMED, pool=40)
    assert [row.prior_rank for row in rows if row.best == NAMES[3]].count(1) >= 10
    assert rows[3].prior_rank == 1
    assert rows[4].prior_rank > 1


def test_the_pool_is_of_the_label_and_the_truth_is_in_it() -> None:
    towns = {f"Varde{number}": "city name" for number in range(3)}
    documents = documents_of([*SILENT, *(f"They moved to {town}." for town in towns)])
    by_document = slots_of(documents, sanitized(documents, {**NAMED, **towns}))
    slots = [slot for those in by_document for slot in those]
    known = Candidates(slots)
    for slot in slots:
        pool = known.pool(slot, 5, random.Random(1))
        assert slot.normal in pool
        assert len(set(pool)) == len(pool) == (3 if slot.label == "city name" else 5)
        assert set(pool) <= set(known.spelled(slot.label))


def test_spellings_that_normalize_alike_are_one_candidate() -> None:
    phrases = {"Varde  Town": "city name", "VARDE TOWN": "city name", "Ostby": "city name"}
    rows = guesses(["In Varde  Town.", "In VARDE TOWN.", "In Ostby."], phrases)
    assert [row.pool_size for row in rows] == [2, 2, 2]


def test_a_guess_follows_from_the_seed_and_not_from_the_order_and_shows_no_text() -> None:
    documents = documents_of(SILENT)
    done = sanitized(documents, NAMED)
    forward = guess_slots(documents, done, ENCODER, pool=10)
    assert forward == guess_slots(documents[::-1], done[::-1], ENCODER, pool=10)[::-1]
    other = guess_slots(documents, done, ENCODER, pool=10, seed=1)
    assert [row.rank for row in forward] != [row.rank for row in other]
    shown = repr([slots_of(documents, done), forward])
    assert "Quorin" not in shown and "Monday" not in shown and "d39" in shown


def test_surroundings_hold_both_sides_and_not_what_was_put_in() -> None:
    document = Document("d", f"{'left ' * 50}Quorin1 Talvik1 {'right ' * 50}")
    (slots,) = slots_of([document], sanitized([document], {NAMES[1]: "person full name"}))
    assert [slot.original for slot in slots] == [NAMES[1]]
    left, right = "left " * 30, (" " + "right " * 25)[:WINDOW]
    assert slots[0].surroundings == f"{left} {right}"
    assert len(left) == WINDOW
    assert "somebody" not in slots[0].surroundings


@examples(max_examples=40)
@given(text=sentences_about_people())
def test_every_decision_of_any_text_has_a_guess(text: AnnotatedText) -> None:
    document = Document("d", text.text)
    phrases = {text.text[e.span.start : e.span.end]: e.label for e in text.entities}
    for method in (ORIGIN, REDACT, SUPPRESS):
        (done,) = sanitized([document], phrases, method)
        rows = guess_slots([document], [done], ENCODER, pool=3)
        assert [row.number for row in rows] == list(range(len(done.decisions)))
        for row in rows:
            assert 1 <= row.rank <= row.pool_size <= 3
            assert 1 <= row.prior_rank <= row.pool_size


def row(doc_id: str, rank: int, *, kept: bool = False, pool: int = 10, prior: int = 7) -> Guess:
    return Guess(doc_id, 0, f"label {doc_id}", Identifier.QUASI, kept, pool, rank, prior, "Varde")


def test_shares_count_slots_and_redraw_documents() -> None:
    rows = [row("a", 1), row("a", 5), row("b", 6, pool=4), row("b", 1, kept=True, prior=1)]
    shares = guess_shares(rows)
    assert (shares.first.hits, shares.first_five.hits, shares.first.n) == (2, 3, 4)
    assert (shares.prior_first.hits, shares.prior_first_five.hits) == (1, 1)
    assert shares.chance_first == pytest.approx((0.1 + 0.1 + 0.25 + 1) / 4)
    assert shares.chance_first_five == pytest.approx((0.5 + 0.5 + 1 + 1) / 4)
    assert shares.first == Estimate(0.5, *wilson(2, 4), 2, 4)


def test_without_slots_nothing_was_measured() -> None:
    shares = guess_shares(guesses(["Nothing is taken here."], {}))
    assert (shares.first.value, shares.chance_first, shares.chance_first_five) == (None, None, None)


def test_a_pool_of_one_leaves_nothing_to_guess() -> None:
    with pytest.raises(ConfigurationError, match="a pool of 1 leaves nothing to guess: ask for at least 2"):
        guesses(SILENT, NAMED, pool=1)


def test_originals_are_needed() -> None:
    documents = documents_of(SILENT)
    done = sanitized(documents, NAMED)
    message = "2 of 40 sanitized documents have no original, the first is d38: give the documents that"
    with pytest.raises(OriginalsMissing, match=message):
        guess_slots(documents[:38], done, ENCODER)
