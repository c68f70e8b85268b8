"""Coverage attacks, their task and their figures. All documents and passages are invented."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.quotas.budgets import Budgets
from app.settings.load import ServerSettings
from eval.attacks.adaptive import CopyBreak, Dgea, Ikea, Pirates, RandomText, RandomTokens, pieces_of
from eval.attacks.extraction import WORDS
from eval.documents import Adaptive, AttackPrompt, Attempt, PassageCopy, Target
from eval.experiment import SanitizedCorpus
from eval.progress import no_progress
from eval.rows import Row
from eval.targets import reading_once
from eval.tasks.coverage import BASE, PASSAGES, CoverageTask, advantage, covered, curve
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Passage, RetrievedPassage
from retrieval.generators.verbatim import VerbatimGenerator
from tests.hashing_encoder import HashingEncoder

if TYPE_CHECKING:
    from models.encoders.minilm import MiniLM


class ManyWords(HashingEncoder):
    """So many directions that different words hardly ever share one."""

    dim = 4096


ENCODER: Encoder = ManyWords()


class Invented:
    """Passages in the made-up words of one domain, with a common word here and there.

    Passages of a document overlap. As in a search by words, a passage without a word of the question is not
    found.
    """

    def __init__(self, encoder: Encoder, documents: int = 60, length: int = 6) -> None:
        rng = random.Random(5)
        self._encoder = encoder
        domain = [f"{start}{end}" for start in ("velm", "quor", "strim", "ban") for end in WORDS[:100]]
        self.passages: list[Passage] = []
        for number in range(documents):
            words = rng.choices(domain, k=length * 10 + 10)
            words[5::15] = rng.choices(WORDS, k=len(words[5::15]))
            for turn in range(length):
                text = " ".join(words[turn * 10 : turn * 10 + 20])
                self.passages.append(Passage(len(self.passages), f"d{number}", turn, turn + 1, text))
        self._vectors = encoder.encode([each.text for each in self.passages])

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        scores = self._encoder.encode(questions) @ self._vectors.T
        return [
            [
                RetrievedPassage(self.passages[place], float(row[place]))
                for place in (-row).argsort()[:k].tolist()
            ]
            for row in scores
        ]

    def corpus(self) -> SanitizedCorpus:
        documents = len({each.doc_id for each in self.passages})
        return SanitizedCorpus("s", documents, {}, {}, lambda encoder: self)


BASE_OF_CHAINS = Invented(ENCODER)
CONTROLS: list[Adaptive] = [RandomText(), RandomTokens()]
ATTACKS: list[Adaptive] = [CopyBreak(ENCODER), Pirates(ENCODER), Ikea(ENCODER), Dgea(ENCODER), *CONTROLS]


def rows_of(attack: Adaptive, budget: int, cases: Sequence[str] | None = None, **more: object) -> list[Row]:
    task = CoverageTask(attack, VerbatimGenerator(), ENCODER, 3, budget, **more)  # type: ignore[arg-type]
    wanted = task.cases if cases is None else cases
    return list(task.rows(BASE_OF_CHAINS.corpus(), wanted, no_progress))


@pytest.mark.parametrize("attack", ATTACKS[:2], ids=lambda each: each.name)
def test_an_attack_on_words_beats_both_controls_where_nothing_is_protected(attack: Adaptive) -> None:
    controls = {each.name: rows_of(each, 150) for each in CONTROLS}
    found = advantage(rows_of(attack, 150), controls)
    assert found.control in controls
    assert found.estimate.low is not None and found.estimate.low > 0, found


NOTES = (
    "Invented note. Somebody asked again about the {}; the answer was put off.",
    "Invented note. What they wrote of the {} was read out and filed.",
    "Invented note. There was a long talk about the {} at noon.",
)


class Notes(Invented):
    """Notes about everyday things, each about one."""

    def __init__(self, encoder: Encoder) -> None:
        rng, self._encoder = random.Random(5), encoder
        texts = [rng.choice(NOTES).format(word) for word in rng.sample(WORDS, 300)]
        self.passages = [Passage(number, f"d{number}", 0, 1, text) for number, text in enumerate(texts)]
        self._vectors = encoder.encode(texts)


def test_benign_questions_beat_both_controls_where_meanings_are_searched(minilm: "MiniLM") -> None:
    encoder = reading_once(minilm)
    notes = Notes(encoder)

    def asked_by(attack: Adaptive) -> list[Row]:
        task = CoverageTask(attack, VerbatimGenerator(), encoder, 2, 60)
        return list(task.rows(notes.corpus(), task.cases, no_progress))

    found = advantage(asked_by(Ikea(encoder)), {each.name: asked_by(each) for each in CONTROLS})
    assert found.control == "random-text"
    assert found.estimate.low is not None and found.estimate.low > 0, found


def test_vectors_far_from_what_was_found_beat_both_controls_where_meanings_are_searched(
    minilm: "MiniLM",
) -> None:
    encoder = reading_once(minilm)
    base = Invented(encoder)

    def asked_by(attack: Adaptive) -> list[Row]:
        task = CoverageTask(attack, VerbatimGenerator(), encoder, 3, 30)
        return list(task.rows(base.corpus(), task.cases, no_progress))

    found = advantage(asked_by(Dgea(encoder)), {each.name: asked_by(each) for each in CONTROLS})
    assert found.control == "random-text"
    # The lower end of its interval is so near to zero that other arithmetic could turn it.
    assert found.estimate.value is not None and found.estimate.value > 0.03, found
    # Where words are hashed, random ones lie in all directions by themselves: there it is no evidence.
    hashed = advantage(rows_of(Dgea(ENCODER), 30), {each.name: rows_of(each, 30) for each in CONTROLS})
    assert hashed.estimate.high is not None and hashed.estimate.high < 0, hashed


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.name)
def test_a_run_is_replayed_by_its_seed_and_a_smaller_budget_is_its_beginning(attack: Adaptive) -> None:
    whole = rows_of(attack, 24)
    assert [row.case for row in whole] == [str(number) for number in range(24)]
    some = rows_of(attack, 24, ["20", "7"])
    assert [row.copies for row in some] == [whole[7].copies, whole[20].copies]
    assert [row.copies for row in rows_of(attack, 9)] == [row.copies for row in whole[:9]]


class Empty:
    """A base of nothing."""

    def ask(self, question: str) -> Answer:
        return Answer(NO_ANSWER, (), (), "nothing (test double)")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.name)
def test_nothing_is_found_where_nothing_is(attack: Adaptive) -> None:
    rows = rows_of(attack, 25, limits=lambda target: Empty())
    found = covered(rows)
    assert (found.asked, found.retrieved, found.extracted, found.base.hits) == (25, 0, 0, 0)
    assert found.efficiency.value == 0 and found.instruction_effect.value is None


class OneCaller:
    """The target behind the budgets of the server, for one caller."""

    def __init__(self, target: Target, settings: ServerSettings) -> None:
        self._target, self._budgets = target, Budgets(settings, clock=lambda: 0.0)

    def ask(self, question: str) -> Answer:
        self._budgets.ask("caller", "c", question, ENCODER)
        answer = self._target.ask(question)
        self._budgets.show("caller", "c", answer.passages, lambda: 60)
        return answer


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.name)
def test_a_budget_of_documents_bounds_what_any_attack_covers(attack: Adaptive) -> None:
    settings = ServerSettings(documents_percent=10)
    rows = rows_of(attack, 40, limits=lambda target: OneCaller(target, settings), refusals=("TryLater",))
    found = covered(rows)
    assert found.asked == 40 and found.refused > 0 and found.failed == 0
    assert found.base.hits <= 6 < covered(rows_of(attack, 40)).base.hits


def test_an_error_that_is_no_refusal_is_not_measured() -> None:
    class Broken:
        def ask(self, question: str) -> Answer:
            raise OSError("secret")

    rows = rows_of(RandomText(), 5, limits=lambda target: Broken())
    assert {row.failure for row in rows} == {"OSError"}
    found = covered(rows)
    assert (found.asked, found.failed, found.efficiency.value) == (0, 5, None)


def test_marks_end_the_pieces_of_an_answer() -> None:
    answer = Answer("One two three. [1]\n\nFour five six [2][3] a b [4] One two three. [5]", (), (), "e")
    attempt = Attempt(AttackPrompt(0, "k", "q"), answer)
    assert pieces_of(attempt) == ["One two three.", "Four five six"]
    assert pieces_of(Attempt(AttackPrompt(0, "k", "q"), None, "Broken")) == []


def row_of(case: int, *found: tuple[int, float]) -> Row:
    copies = tuple(
        PassageCopy(passage, f"d{passage // 2}", 0.5, (), recall, 0.1) for passage, recall in found
    )
    return Row(system="s", task="t", case=str(case), copies=copies, figures={BASE: 4.0, PASSAGES: 2.0})


def test_figures_worked_by_hand() -> None:
    # Three questions of two passages: 0, 1, 2, 3 are retrieved, of which 0 and 2 come out, of two documents.
    rows = [row_of(0, (0, 1.0), (1, 0.2)), row_of(1, (0, 1.0), (2, 0.5)), row_of(2, (3, 0.49), (1, 0.0))]
    found = covered(rows)
    assert (found.asked, found.retrieved, found.extracted) == (3, 4, 2)
    assert found.efficiency.value == pytest.approx(2 / 6)
    assert found.query_effect.value == pytest.approx(4 / 6)
    assert found.instruction_effect.value == pytest.approx(2 / 4)
    assert (found.base.hits, found.base.n, found.base.value) == (2, 4, 0.5)
    assert curve(rows) == [(1, 2, 1), (2, 3, 2), (3, 4, 2)]
    better = advantage(rows, {"a": [row_of(n) for n in range(3)], "b": [row_of(0, (0, 1.0)), row_of(1)]})
    # Against b, on questions 0 and 1: (1/2 - 1/2 + 1/2 - 0) / 2.
    assert better.control == "b" and better.estimate.value == pytest.approx(0.25)
    assert advantage(rows, {}).estimate.value is None


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=3), min_size=1, max_size=9))
def test_efficiency_is_the_product_of_both_effects(questions: list[list[tuple[int, float]]]) -> None:
    rows = [row_of(n, *found) for n, found in enumerate(questions)]
    found = covered(rows)
    query, instruction = found.query_effect.value, found.instruction_effect.value
    assert found.extracted <= found.retrieved
    assert found.efficiency.value == pytest.approx((query or 0) * (instruction or 0))
    points = curve(rows)
    assert points[-1] == (len(rows), found.retrieved, found.extracted)
    assert all(a[1] <= b[1] and a[2] <= b[2] for a, b in zip(points, points[1:], strict=False))


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="coverage with 0 questions of 3 passages: give 1 or more"):
        CoverageTask(RandomText(), VerbatimGenerator(), ENCODER, 3, 0)


def test_the_embedded_encoder_serves_every_attack(minilm: "MiniLM") -> None:
    base = Invented(minilm, documents=4, length=2)
    for attack in (CopyBreak(minilm), Pirates(minilm)):
        task = CoverageTask(attack, VerbatimGenerator(), minilm, 2, 8)
        found = covered(task.rows(base.corpus(), task.cases, no_progress))
        assert found.retrieved == found.extracted > 2
