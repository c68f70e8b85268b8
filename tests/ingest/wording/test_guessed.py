"""INTACT: words that a guesser does not see through. All texts are invented."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Action, Decision
from ingest.wording.guessed import Case, Guessed, Guesser, matches
from ingest.wording.pool import PoolGuesser, prior_of
from ingest.wording.replace import apply
from ingest.wording.rungs import GUESSES
from ingest.wording.words import rungs_of
from models.encoders.minilm import MiniLM
from models.vectors import Vectors
from tests.doubles import WordEncoder
from tests.ingest.wording.test_wording import annotated


@dataclass
class Knowing:
    """Guesses the value wherever certain words stand for it, and keeps what it was shown."""

    value: str
    seen_through: Sequence[str]
    shown: list[Case] = field(default_factory=list)
    name = "knowing (test double)"

    def guesses(self, cases: Sequence[Case]) -> list[Sequence[str]]:
        self.shown += cases
        return [[self.value] if case.words in self.seen_through else [] for case in cases]


class Everything:
    """Guesses right whatever stands there."""

    name = "everything (test double)"

    def guesses(self, cases: Sequence[Case]) -> list[Sequence[str]]:
        return [["1984", "3 May 1984"] for _ in cases]


def written(marked: str, guesser: Guesser, limit: float = 1.0) -> str:
    text = annotated(marked)
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in text.entities]
    return apply(text, Guessed(guesser, limit)(text, decisions)).residual.text


def test_the_first_rung_that_is_not_guessed_or_the_kind() -> None:
    marked = "He lived in [[Leeds|p]] then."
    assert written(marked, Knowing("Leeds", ())) == "He lived in England then."
    assert written(marked, Knowing("Leeds", ["England"])) == "He lived in the United Kingdom then."
    assert written(marked, Knowing("York", ["England"])) == "He lived in England then."
    # Guesses that all repeat the words are no test.
    assert written(marked, Knowing("England", ["England"])) == "He lived in the United Kingdom then."
    rungs = [rung.words for rung in rungs_of("Leeds", "place")]
    assert written(marked, Knowing("Leeds", rungs)) == "He lived in [place] then."


def test_no_mention_keeps_a_rung_that_another_of_its_link_has_run_out_of() -> None:
    marked = "Then in [[3 May 1984|d|1]] and later in [[1984|d|1]] too."
    found = written(marked, Everything())
    assert "19" not in found and "century" not in found


def test_a_rung_above_the_limit_counts_as_guessed() -> None:
    marked = "She is [[42 years old|a]]."
    assert written(marked, Knowing("", ()), 1.0) == "She is between 40 and 44 years old."
    assert written(marked, Knowing("", ()), 0.5) == "She is between 40 and 49 years old."


def test_a_guesser_sees_sanitized_text_only() -> None:
    guesser = Knowing("", ())
    written("[[Ada Lind|n|0]] met [[Leeds|p]] on [[3 May 2019|d]] in [[Leeds|p]].", guesser)
    seen = " ".join(f"{case.before}{case.words}{case.after}" for case in guesser.shown)
    assert guesser.shown
    assert not any(secret in seen for secret in ("Ada", "Lind", "Leeds", "3 May"))
    assert "Ada" not in repr(guesser.shown)


def test_mentions_of_a_link_share_their_rung() -> None:
    marked = "From [[Leeds|p|1]] to the sea and back to [[Leeds|p|1]]."
    text = written(marked, Knowing("Leeds", ["England"]))
    assert text == "From the United Kingdom to the sea and back to the United Kingdom."


@pytest.mark.parametrize(
    ("said", "guess", "label", "expected"),
    [
        ("Leeds", "leeds", "place", True), ("the city of Leeds", "Leeds", "place", True),
        ("Turkish", "Turkey", "nationality", True), ("3 May 2019", "May 3, 2019", "date", True),
        ("3 May 2019", "4 May 2019", "date", False), ("British Quarry Union", "BQU", "organization", True),
        ("welder", "the welders", "job title", True), ("welder", "weldings", "job title", False),
        ("the and of", "and the", "place", False), ("$61,500", "$61500", "monetary amount", True),
        ("$61,500", "$61,000", "monetary amount", False),
    ],
)  # fmt: skip
def test_matches(said: str, guess: str, label: str, expected: bool) -> None:
    assert matches(said, guess, label) is expected


@given(st.text(max_size=30), st.text(max_size=30))
def test_matches_is_the_same_both_ways(one: str, other: str) -> None:
    assert matches(one, other, "place") == matches(other, one, "place")


def test_public_values_of_words() -> None:
    england, north = prior_of("England"), prior_of("a country in Northern Europe")
    assert england["London"] > england["Leeds"] > 100_000
    assert "Sweden" in north and "London" not in north
    assert "plumber" in prior_of("a building worker")
    assert prior_of("building workers") == prior_of("a building worker")
    assert prior_of("Bank A") == prior_of("May 2019") == prior_of("") == {}


class Alike(WordEncoder):
    """Finds all texts alike, so that the prior decides."""

    def _vector(self, text: str) -> Vectors:
        return super()._vector("")


def test_the_pool_guesser_ranks_by_size_and_by_fit() -> None:
    case = Case("place", "England", "Brighton is by the sea: Brighton, ", " Brighton")
    (by_size,) = PoolGuesser(Alike()).guesses([case])
    (by_fit,) = PoolGuesser(WordEncoder()).guesses([case])
    assert by_size[:2] == ["London", "Birmingham"]
    assert by_fit[0] == "Brighton"
    assert len(by_size) == len(by_fit) == GUESSES
    assert PoolGuesser(Alike()).guesses([]) == []


def test_with_the_real_encoder() -> None:
    guesser = PoolGuesser(MiniLM())
    assert "MiniLM" in guesser.name
    (guesses,) = guesser.guesses([Case("place", "France", "The tower that Eiffel built stands in ", ".")])
    assert "Paris" in guesses
    text = written("He sold cars in [[Leeds|p]] and [[Hull|p]], as a [[plumber|j]].", guesser, 0.5)
    assert not any(said in text for said in ("Leeds", "Hull", "plumber"))
