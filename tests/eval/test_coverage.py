"""Coverage: how much of a base many questions bring out. All documents are invented."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compose import system_of
from app.settings.load import load_settings
from eval.attacks.adaptive import (
    CopyBreak,
    Dgea,
    Follow,
    Ikea,
    Pirates,
    RandomText,
    RandomTokens,
    pieces_of,
    rare_words,
)
from eval.documents import Adaptive, AttackPrompt, Attempt, PassageCopy, Target
from eval.experiment import SanitizedCorpus, kept_in_memory
from eval.progress import no_progress
from eval.rows import Row
from eval.targets import reading_once
from eval.tasks.coverage import (
    BASE,
    NOT_ASKED,
    PASSAGES,
    REFUSED,
    BesideControls,
    CoverageTask,
    advantage,
    asked_by,
    covered,
    curve,
)
from ingest.deciding.policy import Policy
from ingest.documents import Document
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Passage, RetrievedPassage
from retrieval.generators.verbatim import VerbatimGenerator
from tests.hashing_encoder import HashingEncoder

ENCODER: Encoder = HashingEncoder()
ATTACKS: list[Callable[[int], Adaptive]] = [  # to add one, add a line
    lambda seed: Pirates(ENCODER, seed),
    lambda seed: Ikea(ENCODER, seed),
    lambda seed: CopyBreak(ENCODER, seed),
    lambda seed: Follow(ENCODER, seed),
    lambda seed: Dgea(ENCODER, seed),
]
CONTROLS: list[Callable[[int], Adaptive]] = [RandomText, RandomTokens]
EACH = pytest.mark.parametrize("attack", [*ATTACKS, *CONTROLS], ids=lambda made: made(0).name)

SUBJECTS = "turbine orchid violin glacier lantern saddle compass pottery harvest aquarium".split()
DETAILS = "brass ceramic dusty engraved fluted gilded hollow ivory jagged knotted lacquered mossy".split()


def invented(number: int) -> Document:
    """A note about one of ten subjects, with words that other notes share and a few of its own."""
    rng = random.Random(number)
    subject, other = SUBJECTS[number % len(SUBJECTS)], rng.choice(SUBJECTS)
    one, two, three = rng.sample(DETAILS, 3)
    text = (
        f"The {one} {subject} of the collector {subject}{number}er is kept in room {number}. It has a {two} "
        f"frame, and beside it stands the {three} {other}. Its owner {other}{number}ski bought it in spring."
    )
    return Document(f"d{number}", text)


DOCUMENTS = [invented(number) for number in range(80)]


class Echo:
    """Answers with the next ``k`` of its texts, whatever is asked."""

    def __init__(self, texts: int, k: int) -> None:
        self.texts = [invented(number).text for number in range(texts)]
        self.k = k
        self.questions: list[str] = []

    def ask(self, question: str) -> Answer:
        places = [(len(self.questions) * self.k + step) % len(self.texts) for step in range(self.k)]
        self.questions.append(question)
        passages = [
            RetrievedPassage(Passage(n, f"d{n}", 0, len(self.texts[n]), self.texts[n]), 0.5) for n in places
        ]
        said = "\n\n".join(f"{each.passage.text} [{mark}]" for mark, each in enumerate(passages, 1))
        return Answer(said, (), passages, "echo")


class Silent(Echo):
    """Finds the same passages and says nothing of them."""

    def ask(self, question: str) -> Answer:
        return replace(Echo.ask(self, question), text=NO_ANSWER)


class Failing:
    """Answers nothing."""

    def ask(self, question: str) -> Answer:
        raise PermissionError(question)


def rows_on(attack: Adaptive, target: Target, budget: int, k: int, base: int = 20) -> list[Row]:
    """The rows of a task on a target that a test made."""
    kept = SanitizedCorpus("s", base, {}, {}, lambda encoder: None)  # type: ignore[arg-type, return-value]
    task = CoverageTask(attack, VerbatimGenerator(), ENCODER, k, budget, limits=lambda _: target)
    return list(task.rows(kept, task.cases, no_progress))


@pytest.fixture(scope="module")
def kept() -> Iterator[SanitizedCorpus]:
    settings = load_settings({"detector.learned": False, "risk.kind": "prior"})
    system = replace(system_of(settings, encoder=ENCODER), policy=Policy("origin"))
    with ExitStack() as stack:
        yield kept_in_memory("origin", DOCUMENTS, system, stack, no_progress)


def task_of(attack: Adaptive, budget: int = 20) -> CoverageTask:
    return CoverageTask(attack, VerbatimGenerator(), ENCODER, 3, budget)


def rows_of(attack: Adaptive, kept: SanitizedCorpus, budget: int = 20) -> list[Row]:
    task = task_of(attack, budget)
    return list(task.rows(kept, task.cases, no_progress))


# -- the measure -----------------------------------------------------------------------------------------


def row(case: int, *copies: tuple[int, float], **figures: float) -> Row:
    """A question that retrieved passages, by number and by the recall of each; two to a document."""
    found = tuple(
        PassageCopy(
            passage_id=number,
            doc_id=f"d{number // 2}",
            similarity=0.5,
            copied_runs=(),
            rouge_recall=recall,
            rouge_f=recall,
        )
        for number, recall in copies
    )
    sizes = {BASE: 10.0, PASSAGES: 2.0}
    return Row(system="s", task="t", case=str(case), copies=found, figures={**sizes, **figures})


ROWS = [
    row(0, (0, 1.0), (1, 0.4)),
    row(1, (0, 1.0), (4, 0.5)),
    Row(system="s", task="t", case="2", failure="TimeoutError"),
    row(3, (1, 0.9), (4, 0.0)),
    row(4, **{REFUSED: 1.0}),
]


def test_coverage_by_hand() -> None:
    found = covered(ROWS)
    # Four questions of two passages; passages 0, 1 and 4 were retrieved, and all three came out in the end.
    assert (found.asked, found.refused, found.failed, found.retrieved, found.extracted) == (4, 1, 1, 3, 3)
    assert (found.efficiency.value, found.query_effect.value) == (3 / 8, 3 / 8)
    assert found.instruction_effect.value == 1
    # Passages 0 and 1 are of one document, 4 is of another.
    assert (found.base.value, found.base.hits, found.base.n) == (0.2, 2, 10)
    # A question brought one document or none: four of the best bring four of ten.
    assert (
        found.base.interval is not None and 0 <= found.base.interval[0] < 0.2 < found.base.interval[1] <= 0.4
    )
    assert curve(ROWS) == [(1, 2, 1), (2, 3, 2), (3, 3, 3), (4, 3, 3)]


def test_what_was_not_measured_is_no_zero() -> None:
    for nothing in ([], [ROWS[2]]):
        found = covered(nothing)
        assert (found.efficiency.value, found.base.value, found.asked) == (None, None, 0)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.sampled_from((0.0, 0.5, 1.0))), max_size=2), min_size=1)
)
def test_shares_of_coverage_are_shares(questions: list[list[tuple[int, float]]]) -> None:
    found = covered([row(number, *dict(each).items()) for number, each in enumerate(questions)])
    assert found.extracted <= found.retrieved <= 10
    for share in (found.efficiency, found.query_effect, found.base):
        assert share.value is not None and share.low is not None and share.high is not None
        assert 0 <= share.low <= share.high <= 1
        assert 0 <= share.value <= 1
    assert found.base.hits <= found.extracted


def test_an_attack_is_compared_with_the_best_control() -> None:
    weak = [row(0), row(1), row(2)]
    strong = [row(0, (0, 1.0)), row(1), row(2)]
    found = advantage(ROWS, {"weak": weak, "strong": strong, "none": []})
    # On questions 0 and 1, which both measured: 1/2 against 1/2, and 1/2 against 0.
    assert found.control == "strong"
    assert found.estimate.value == pytest.approx(0.25)
    assert advantage(ROWS, {}).estimate.value is None


# -- the attacks -----------------------------------------------------------------------------------------


@EACH
def test_an_echo_is_copied_whole_within_the_budget(attack: Callable[[int], Adaptive]) -> None:
    target = Echo(20, 2)
    found = covered(rows_on(attack(0), target, 10, 2))
    assert len(target.questions) == 10
    assert (found.extracted, found.efficiency.value, found.base.value) == (20, 1.0, 1.0)
    assert found.efficiency.low is not None and found.efficiency.low < 1


@EACH
def test_who_says_nothing_loses_nothing(attack: Callable[[int], Adaptive]) -> None:
    found = covered(rows_on(attack(0), Silent(20, 2), 10, 2))
    assert (found.extracted, found.efficiency.value, found.base.value) == (0, 0.0, 0.0)
    # The passages were found: it is the instruction that brought nothing.
    assert (found.query_effect.value, found.instruction_effect.value) == (1.0, 0.0)


@EACH
def test_an_attack_is_replayed_by_its_seed_and_asks_no_more_than_its_budget(
    attack: Callable[[int], Adaptive],
) -> None:
    def asked(seed: int, budget: int) -> list[str]:
        target = Echo(20, 2)
        attempts = list(attack(seed).ask(target, budget))
        assert [each.prompt.number for each in attempts] == list(range(budget))
        assert [each.prompt.text for each in attempts] == target.questions
        return target.questions

    questions = asked(3, 25)
    assert asked(3, 25) == questions
    assert asked(3, 12) == questions[:12]
    assert asked(3, 0) == []
    assert asked(4, 25) != questions


@EACH
def test_a_target_that_fails_stops_no_attack(attack: Callable[[int], Adaptive]) -> None:
    found = rows_on(attack(0), Failing(), 30, 2)
    assert [each.failure for each in found] == ["PermissionError"] * 30
    assert covered(found).failed == 30


def test_attacks_that_learn_beat_questions_that_do_not(minilm: Encoder) -> None:
    # CopyBreak does not on so small a base: its first half explores, and passages have no neighbors.
    read = reading_once(minilm)
    settings = load_settings({"detector.learned": False, "risk.kind": "prior"})
    system = replace(system_of(settings, encoder=read), policy=Policy("origin"))
    with ExitStack() as stack:
        kept = kept_in_memory("origin", DOCUMENTS, system, stack, no_progress)

        def brought(attack: Callable[[int], Adaptive]) -> int:
            tasks = [CoverageTask(attack(seed), VerbatimGenerator(), read, 3, 20) for seed in (0, 1)]
            return sum(covered(task.rows(kept, task.cases, no_progress)).extracted for task in tasks)

        best = max(brought(each) for each in CONTROLS)
        assert brought(lambda seed: Ikea(read, seed)) > 1.2 * best
        assert brought(lambda seed: Pirates(read, seed)) > best


# -- the task --------------------------------------------------------------------------------------------


@EACH
def test_a_selection_of_cases_gives_the_same_rows(
    attack: Callable[[int], Adaptive], kept: SanitizedCorpus
) -> None:
    task = task_of(attack(0))
    every = rows_of(attack(0), kept)
    assert [each.case for each in every] == list(task.cases) == [str(number) for number in range(20)]
    assert list(task.rows(kept, ["7", "11"], no_progress)) == [every[7], every[11]]


@EACH
def test_a_row_holds_numbers_and_ids_only(attack: Callable[[int], Adaptive], kept: SanitizedCorpus) -> None:
    for each in rows_of(attack(0), kept):
        shown = json.dumps(each.model_dump(mode="json")) + repr(each)
        assert not any(word in shown for word in (*SUBJECTS, *DETAILS, "collector"))
        assert (each.figures[BASE], each.figures[PASSAGES]) == (len(DOCUMENTS), 3)
    assert "turbine" not in repr(Attempt(AttackPrompt(0, "kind", "turbine"), None))


def test_controls_stand_beside_an_attack(kept: SanitizedCorpus) -> None:
    own = task_of(Ikea(ENCODER))
    task = BesideControls(own, (RandomText(), RandomTokens()))
    assert task.name == (
        "coverage by ikea, verbatim (worst case), k 3, 20 questions, beside random-text and random-token"
    )
    found = list(task.rows(kept, task.cases, no_progress))
    assert [each.case for each in found] == list(task.cases)
    assert {each.task for each in found} == {task.name}
    for attack in (Ikea(ENCODER), RandomText(), RandomTokens()):
        alone = rows_of(attack, kept)
        assert covered(asked_by(attack.name, found)) == covered(alone)
    wanted = ["ikea 7", "random-token 3"]
    assert [each.case for each in task.rows(kept, wanted, no_progress)] == wanted


def test_a_limit_that_refuses_is_measured_and_brings_nothing(kept: SanitizedCorpus) -> None:
    class Limited:
        def __init__(self, target: Target) -> None:
            self.target, self.left = target, 5

        def ask(self, question: str) -> Answer:
            self.left -= 1
            if self.left < 0:
                raise PermissionError(question)
            return self.target.ask(question)

    task = replace(task_of(RandomText()), limits=Limited, refusals=("PermissionError",))
    for _ in range(2):
        found = covered(task.rows(kept, task.cases, no_progress))
        # Anew for each run.
        assert (found.asked, found.refused, found.failed) == (20, 15, 0)
        assert found.efficiency.n == 60


def test_questions_that_an_attack_does_not_ask_are_not_measured(kept: SanitizedCorpus) -> None:
    class Lazy(RandomText):
        def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
            return RandomText.ask(self, target, budget - 1)

    last = rows_of(Lazy(), kept)[-1]
    assert (last.case, last.failure) == ("19", NOT_ASKED)


def test_errors_say_what_to_do() -> None:
    with pytest.raises(
        ConfigurationError, match="^coverage with 0 questions of 3 passages: give 1 or more of both$"
    ):
        task_of(RandomText(), 0)


def test_pieces_and_rare_words() -> None:
    def said(text: str) -> Attempt:
        return Attempt(AttackPrompt(0, "", ""), Answer(text, (), (), "e"))

    assert pieces_of(said("The mill is sold. [1]\n\nIt is old now. [2] [3] So. The mill is sold. [4]")) == [
        "The mill is sold.",
        "It is old now.",
        "So. The mill is sold.",
    ]
    assert pieces_of(said(NO_ANSWER)) == pieces_of(Attempt(AttackPrompt(0, "", ""), None, "E")) == []
    assert rare_words("The harmonium and the bassoon of a baby", 5) == ["harmonium", "bassoon"]


def test_the_embedded_encoder_brings_out_an_echo(minilm: Encoder) -> None:
    found = covered(rows_on(Pirates(minilm), Echo(20, 2), 10, 2))
    assert found.extracted == 20
