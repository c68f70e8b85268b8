"""How much clues tell, and that they are never taken for more than that. All texts are invented."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from eval.attacks.guessing import Guess, guess_shares, guess_slots
from eval.attacks.posterior import BELIEVED, CLUES, FACTS, Clue, Floats, Known, weights_by_group, weights_of
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import REDACT, SUPPRESS
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.protocols import Encoder, Hazards, Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.wording.rungs import below
from ingest.wording.words import worded
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

MONTHS = ("January", "March", "May", "June", "August", "October")
DATES = [f"{3 + 4 * place} {month} {year}" for year in (1971, 1972) for place, month in enumerate(MONTHS)]
NAMES = [f"Quorin{number} Talvik{number}" for number in range(30)]


def guesses_in(
    texts: Sequence[str], phrases: Mapping[str, str], method: Method, encoder: Encoder, **options: int
) -> list[Guess]:
    documents = [Document(f"d{number:03}", text) for number, text in enumerate(texts)]
    outcomes = DecidingSanitizer(PhraseDetector(dict(phrases)), method, RiskPrior()).sanitize(documents)
    done = [each for each in outcomes if isinstance(each, SanitizedDocument)]
    return guess_slots(documents, done, encoder, **options)


class Says:
    """Puts given words in the place of each phrase."""

    name = "says (test double)"

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        return [[self._decision(text, place) for place in range(len(text.entities))] for text in texts]

    def _decision(self, text: AnnotatedText, place: int) -> Decision:
        entity = text.entities[place]
        words = self._words[text.text[entity.span.start : entity.span.end]]
        return Decision(entity, None, Action.GENERALIZE, "test", words)


def skewed(seed: int) -> list[str]:
    """Names of which a few are said often, in contexts that have nothing to do with them."""
    random = Random(seed)
    words = [f"word{number}" for number in range(40)]
    said = random.choices(NAMES, [1 / (1 + place) for place in range(len(NAMES))], k=90)
    return [
        f"{' '.join(random.sample(words, 6))} {name} {' '.join(random.sample(words, 6))}." for name in said
    ]


def at(name: Clue) -> Floats:
    """One for the clue, zero for all others."""
    one: Floats = np.eye(len(CLUES))[CLUES.index(name)]
    return one


def known_of(rows: Sequence[Sequence[float]], name: Clue, logs: Sequence[float] | None = None) -> Known:
    """Slots with one clue, given for each candidate, the truth first."""
    told = [np.outer(row, at(name)) for row in rows]
    return Known.of([np.array(logs or [0.0] * len(row)) for row in rows], told)


def test_the_surprise_is_minus_the_log_of_the_share() -> None:
    known = known_of([[1.0, 0.0, 0.0]], "words", [log(2), log(1), log(3)])
    assert known.surprise(0 * at("words"))[0] == pytest.approx([log(3)])
    assert known.surprise(log(4) * at("words"))[0] == pytest.approx([log(12 / 8)])
    # Pools of any size stand side by side.
    known = known_of([[1.0], [0.0, 1.0, 0.0]], "words")
    assert known.surprise(0 * at("words"))[0] == pytest.approx([0, log(3)])


scores = st.lists(st.floats(-2, 2).map(lambda score: round(score, 3)), min_size=2, max_size=5)


@examples(max_examples=30, deadline=None)
@given(st.lists(scores, min_size=1, max_size=8))
def test_weights_are_the_best_within_their_bounds(rows: list[list[float]]) -> None:
    known = known_of(rows, "words")

    def loss(weight: float) -> float:
        return float(known.surprise(weight * at("words"))[0].sum()) + weight * weight / 2

    weights = weights_of(known, list[Clue](["words"]))
    found = float(weights @ at("words"))
    assert found >= 0
    assert weights.sum() == pytest.approx(found)
    assert loss(found) <= min(loss(weight) for weight in np.linspace(0, 4, 81)) + 1e-4


def test_without_slots_weights_are_what_was_believed() -> None:
    assert {name: w for name, w in zip(CLUES, weights_of(Known.of([], [])), strict=True) if w} == BELIEVED
    assert BELIEVED.keys() == FACTS
    weights = weights_of(known_of([[0.0, 1.0, 1.0]] * 50, "rung"))
    assert weights @ at("rung") < BELIEVED["rung"] / 4


def learned(rows: Sequence[Sequence[float]], name: Clue) -> list[float]:
    """The weight of a clue in each of five groups of documents, learned from the others."""
    documents = [f"d{number}" for number in range(len(rows))]
    found = weights_by_group(known_of(rows, name), documents, np.arange(len(rows)) % 5)
    return [float(found[group] @ at(name)) for group in sorted(found)]


def test_clues_that_help_elsewhere_are_used() -> None:
    found = learned([[1.0, 0.0, 0.0]] * 20, "around")
    assert len(found) == 5 and min(found) > 1
    # A misleading one leaves the frequency.
    assert max(learned([[0.0, 1.0, 1.0]] * 20, "rung")) < 0.1
    # One that helps one document alone is not used for it.
    random = np.random.default_rng(3)
    assert learned([[3.0, 0.0, 0.0], *random.normal(size=(39, 3)).tolist()], "around")[0] == 0
    # One document is judged by what was believed.
    assert learned([[1.0, 0.0]], "rung") == [BELIEVED["rung"]]


@pytest.mark.parametrize("method", [REDACT, SUPPRESS], ids=["generalized", "suppressed"])
@pytest.mark.parametrize("seed", range(4))
def test_contexts_that_mean_nothing_leave_the_prior(method: Method, seed: int) -> None:
    rows = guesses_in(skewed(seed), dict.fromkeys(NAMES, "person full name"), method, HashingEncoder())
    shares = guess_shares(rows)
    assert shares.prior_first.hits > 1.5 * 90 * (shares.chance_first or 0)
    assert [row.rank for row in rows] == [row.prior_rank for row in rows]


def test_contexts_that_mislead_leave_the_prior() -> None:
    signs = [f"sign{number}" for number in range(6)]
    illnesses = {f"{sign} fever": "disease" for sign in signs}
    # Each context speaks of another illness than the one that was had.
    texts = [f"{signs[place - 1]} {signs[place - 1]} and {signs[place]} fever" for place in range(6)] * 5
    texts += [f"{signs[1]} {signs[1]} and {signs[0]} fever"] * 20
    shares = guess_shares(guesses_in(texts, illnesses, REDACT, HashingEncoder()))
    assert shares.first.hits >= shares.prior_first.hits > 0


def dates_guessed(texts: Sequence[str], left: Callable[[list[str]], list[str]]) -> list[Guess]:
    """What is guessed where of each date only these parts stand."""
    said = {date: " ".join(left(date.split())) for date in DATES}
    return guesses_in(texts, dict.fromkeys(DATES, "date"), Says(said), HashingEncoder())


FERRIES = [f"The ferry was late on {said} again." for said in DATES]


def test_dates_that_are_left_in_part_are_guessed() -> None:
    rows = dates_guessed(FERRIES, lambda parts: parts[1:])
    assert [row.best for row in rows] == DATES
    assert {row.pool_size for row in rows} == {12}
    # In a lone document too.
    assert [row.rank for row in dates_guessed([" ".join(FERRIES)], lambda parts: parts[1:])] == [1] * 12
    # Of which the year is left, one of that year.
    rows = dates_guessed(FERRIES, lambda parts: parts[2:])
    assert max(row.rank for row in rows) <= 6
    assert [row.best.split()[-1] for row in rows] == [said.split()[-1] for said in DATES]


def test_words_of_the_default_policy_are_rungs_that_are_found(minilm: Encoder) -> None:
    documents = [Document(f"d{number}", text) for number, text in enumerate(FERRIES)]
    detector = PhraseDetector(dict.fromkeys(DATES, "date"))
    wording = partial(worded, take=below(0.3))
    made = DecidingSanitizer(detector, REDACT, RiskPrior(), wording=wording).sanitize(documents)
    done = [each for each in made if isinstance(each, SanitizedDocument)]
    assert not any(said in each.text for said, each in zip(DATES, done, strict=True))
    shares = guess_shares(guess_slots(documents, done, minilm))
    assert shares.first.hits >= 6 > 3 * 12 * (shares.chance_first or 0)
    assert shares.first_five.hits == 12
