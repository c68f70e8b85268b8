"""What every attack that reads an index must do. All data is invented.

Such an attack needs no server: it is given what a sanitizer wrote, and guesses what stood there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import pytest

from eval.attacks.guessing import (
    guess_shares,
    guess_slots,
    reconstruct,
)
from eval.documents import SensitiveEntity
from eval.measures.leakage import SensitiveIndex
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.documents import Document, Entity, Identifier, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

Counts = tuple[float, float]
"""How often the attack was right, and of how many."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, and the phrases in them that are sensitive, with their labels."""

    documents: list[Document]
    phrases: dict[str, str]

    def sensitive(self) -> SensitiveIndex:
        return SensitiveIndex(
            SensitiveEntity(document.doc_id, phrase, label, Identifier.QUASI)
            for document in self.documents
            for phrase, label in self.phrases.items()
            if phrase in document.text
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """``rows`` by document; ``found`` counts what still stands there, ``guessed`` what was replaced alone."""

    rows: dict[str, list[object]]
    found: Counts
    guessed: Counts


Run = Callable[[Corpus, Sequence[SanitizedDocument], int, int], Outcome]
"""An attack on what was written, with a size of pools and a seed."""


def infer(corpus: Corpus, written: Sequence[SanitizedDocument], pool: int, seed: int) -> Outcome:
    guesses = guess_slots(corpus.documents, written, HashingEncoder(), pool=pool, seed=seed)
    every, replaced = guess_shares(guesses), guess_shares([each for each in guesses if not each.kept])
    rows: dict[str, list[object]] = {}
    for each in guesses:
        rows.setdefault(each.doc_id, []).append(each)
    return Outcome(rows, (every.first.hits, every.first.n), (replaced.first.hits, replaced.first.n))


def rebuild(corpus: Corpus, written: Sequence[SanitizedDocument], pool: int, seed: int) -> Outcome:
    guesses = guess_slots(corpus.documents, written, HashingEncoder(), pool=pool, seed=seed)
    rebuilt = reconstruct(corpus.documents, written, guesses, corpus.sensitive())
    left, recovered = sum(each.left for each in rebuilt), sum(each.recovered for each in rebuilt)
    of = sum(each.sensitive for each in rebuilt)
    return Outcome({each.doc_id: [each] for each in rebuilt}, (recovered, of), (recovered - left, of - left))


@pytest.fixture(params=[infer, rebuild])  # to add one, add a function
def run(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


@pytest.fixture(params=[REDACT, SUPPRESS], ids=["generalized", "suppressed"])
def method(request: pytest.FixtureRequest) -> Method:
    chosen: Method = request.param
    return chosen


def corpus_of(texts: Sequence[str], phrases: Mapping[str, str]) -> Corpus:
    return Corpus([Document(f"d{number}", text) for number, text in enumerate(texts)], dict(phrases))


NAMES = [f"Quorin{number} Talvik{number}" for number in range(40)]
ILLNESSES = ("dune", "marsh", "gorse", "birch", "cliff", "tarn", "heath", "moss", "brook", "fjord")
MOST_SAID = 3
"""How many documents speak of the first of the illnesses; of each other one does."""


def silent() -> Corpus:
    """Documents that are alike but for the name that is taken from them."""
    texts = [f"The letter was signed by {name} on Monday." for name in NAMES]
    return corpus_of(texts, dict.fromkeys(NAMES, "person full name"))


def telling() -> Corpus:
    """Documents whose other words say which illness it is, as signs say it."""
    said = [*ILLNESSES, *[ILLNESSES[0]] * (MOST_SAID - 1)]
    texts = [f"The skipper had a {name} rash, {name} spots and {name} fever." for name in said]
    return corpus_of(texts, {f"{name} fever": "disease" for name in ILLNESSES})


class FailsOn(PhraseDetector):
    """Fails on every document that holds a word."""

    def __init__(self, phrases: dict[str, str], word: str) -> None:
        super().__init__(phrases)
        self._word = word

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        if self._word and any(self._word in document.text for document in documents):
            raise RuntimeError("a test double fails")
        return super().detect(documents)


def written(corpus: Corpus, method: Method, fails_on: str = "") -> list[SanitizedDocument]:
    """What a sanitizer wrote of all documents but the one that holds a word, on which it fails."""
    sanitizer = DecidingSanitizer(FailsOn(corpus.phrases, fails_on), method, RiskPrior())
    outcomes = sanitizer.sanitize(corpus.documents)
    failed = [each.doc_id for each in outcomes if isinstance(each, SanitizationError)]
    assert failed == [each.doc_id for each in corpus.documents if fails_on and fails_on in each.text]
    return [each for each in outcomes if isinstance(each, SanitizedDocument)]


def test_gives_the_same_for_the_same_seed_and_other_things_for_another_and_shows_no_text(
    run: Run, method: Method
) -> None:
    corpus = silent()
    done = written(corpus, method)
    first, again, other = (run(corpus, done, 10, seed) for seed in (0, 0, 1))
    assert first == again
    assert first.rows != other.rows
    shown = repr(first.rows)
    assert "d39" in shown and "Quorin" not in shown and "Monday" not in shown


@pytest.mark.parametrize("corpus", [silent(), telling()], ids=["silent", "telling"])
def test_finds_everything_in_an_unsanitized_index_and_counts_no_guess(run: Run, corpus: Corpus) -> None:
    outcome = run(corpus, written(corpus, ORIGIN), 50, 0)
    assert outcome.found == (len(corpus.documents), len(corpus.documents))
    assert outcome.guessed == (0, 0)


def test_guesses_what_the_context_gives_away(run: Run, method: Method) -> None:
    corpus = telling()
    done = written(corpus, method)
    right, of = run(corpus, done, 50, 0).guessed
    by_chance, by_prior = 1 / len(ILLNESSES), MOST_SAID / len(corpus.documents)
    assert of == len(corpus.documents)
    assert right / of > 2 * max(by_chance, by_prior)
    # The prior that guesses are compared with is what is said most often.
    shares = guess_shares(guess_slots(corpus.documents, done, HashingEncoder()))
    assert (shares.prior_first.hits, shares.prior_first.n) == (MOST_SAID, len(corpus.documents))
    assert shares.chance_first == pytest.approx(by_chance)


def test_is_no_better_than_chance_where_the_text_says_nothing(run: Run, method: Method) -> None:
    corpus, pool = silent(), 20
    done = written(corpus, method)
    counts = [run(corpus, done, pool, seed).guessed for seed in range(10)]
    right, of = (sum(each) for each in zip(*counts, strict=True))
    assert of == 10 * len(NAMES)
    # Four standard deviations: beyond them come one in fifteen thousand.
    assert abs(right - of / pool) <= 4 * sqrt(of / pool * (1 - 1 / pool))


def test_counts_nothing_where_there_is_nothing_to_find(run: Run, method: Method) -> None:
    corpus = corpus_of(["The ferry was late.", "The boiler is repaired."], {})
    outcome = run(corpus, written(corpus, method), 50, 0)
    assert (outcome.found, outcome.guessed) == ((0, 0), (0, 0))


def test_the_order_of_documents_does_not_matter(run: Run, method: Method) -> None:
    spelled = [name for each in NAMES[:12] for name in (each, each.upper())]
    texts = [f"The letter was signed by {name} on Monday." for name in spelled]
    forward = corpus_of(texts, dict.fromkeys(spelled, "person full name"))
    backward = Corpus(forward.documents[::-1], forward.phrases)
    one, other = (run(each, written(each, method), 5, 0) for each in (forward, backward))
    assert one == other
    assert list(one.rows) == list(other.rows)[::-1]


def test_a_document_that_failed_is_not_measured(run: Run, method: Method) -> None:
    corpus = silent()
    outcome = run(corpus, written(corpus, method, NAMES[3]), 50, 0)
    assert "d3" not in outcome.rows
    assert outcome.guessed[1] == outcome.found[1] == len(NAMES) - 1
    without = Corpus([each for each in corpus.documents if each.doc_id != "d3"], corpus.phrases)
    assert outcome == run(without, written(without, method), 50, 0)
