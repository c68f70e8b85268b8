"""Coverage: how much of a base many questions bring out, and what a budget leaves of it. All is invented."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.quotas.budgets import Budgets
from app.settings.load import ServerSettings
from eval.attacks import adaptive
from eval.attacks.adaptive import CopyBreak, Dgea, Follow, Ikea, Pirates, RandomText, RandomTokens
from eval.attacks.extraction import WORDS
from eval.documents import Adaptive, AttackPrompt, Attempt, PassageCopy, Target
from eval.experiment import SanitizedCorpus
from eval.measures.uncertainty import Estimate, mean_of
from eval.progress import no_progress
from eval.rows import Row
from eval.targets import reading_once
from eval.tasks import coverage
from eval.tasks.coverage import BesideControls, CoverageTask, asked_by, covered
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Passage, RetrievedPassage
from retrieval.generators.verbatim import VerbatimGenerator
from tests.hashing_encoder import HashingEncoder


class ManyWords(HashingEncoder):
    """So many directions that different words hardly ever share one."""

    dim = 4096


ENCODER: Encoder = ManyWords()
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
NOTES = (
    "Invented note. Somebody asked again about the {}; the answer was put off.",
    "Invented note. What they wrote of the {} was read out and filed.",
    "Invented note. There was a long talk about the {} at noon.",
)
DETAILS = "brass ceramic dusty engraved fluted gilded hollow ivory jagged knotted lacquered mossy".split()


def invented(number: int) -> str:
    """A note about one of ten subjects, with words that other notes share and a few of its own."""
    rng = random.Random(number)
    subject, other = SUBJECTS[number % len(SUBJECTS)], rng.choice(SUBJECTS)
    one, two, three = rng.sample(DETAILS, 3)
    return (
        f"The {one} {subject} of the collector {subject}{number}er is kept in room {number}. It has a {two} "
        f"frame, and beside it stands the {three} {other}. Its owner {other}{number}ski bought it in spring."
    )


class Base:
    """Passages by the nearness of their vectors."""

    def __init__(self, texts: Sequence[str], encoder: Encoder = ENCODER, of_one: int = 1) -> None:
        self.encoder = encoder
        self.passages = [Passage(n, f"d{n // of_one}", n, n + 1, text) for n, text in enumerate(texts)]
        self._vectors = encoder.encode(texts)
        self.kept = SanitizedCorpus("s", len(texts) // of_one, {}, {}, lambda encoder: self)

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        scores = self.encoder.encode(questions) @ self._vectors.T
        best = [(-row).argsort()[:k].tolist() for row in scores]
        return [
            [RetrievedPassage(self.passages[place], float(row[place])) for place in places]
            for row, places in zip(scores, best, strict=True)
        ]

    def task(self, attack: Adaptive, budget: int = 20, k: int = 3) -> CoverageTask:
        return CoverageTask(attack, VerbatimGenerator(), self.encoder, k, budget)

    def rows(self, task: CoverageTask | BesideControls) -> list[Row]:
        return list(task.rows(self.kept, task.cases, no_progress))

    def gained(self, attack: Adaptive, budget: int, k: int = 3) -> Estimate:
        """The advantage over the better control, paired by question."""
        own, *controls = (
            gains(self.rows(self.task(each, budget, k))) for each in (attack, *(made(0) for made in CONTROLS))
        )
        best = max(controls, key=lambda found: sum(found.values()))
        return mean_of([gain - best[case] for case, gain in own.items()])


def gains(rows: Sequence[Row]) -> dict[str, float]:
    """By question, the share of what it could bring that it was the first to bring."""
    out, found = set[int](), dict[str, float]()
    for each in rows:
        if each.measured:
            new = {copy.passage_id for copy in each.copies if copy.rouge_recall >= coverage.EXTRACTED} - out
            out |= new
            found[each.case] = len(new) / each.figures[coverage.PASSAGES]
    return found


def chains(encoder: Encoder) -> Base:
    """Overlapping passages in the made-up words of one domain, with a common word here and there."""
    rng = random.Random(5)
    domain = [f"{start}{end}" for start in ("velm", "quor", "strim", "ban") for end in WORDS[:100]]
    texts: list[str] = []
    for _ in range(60):
        words = rng.choices(domain, k=70)
        words[5::15] = rng.choices(WORDS, k=len(words[5::15]))
        texts += [" ".join(words[turn : turn + 20]) for turn in range(0, 60, 10)]
    return Base(texts, encoder, of_one=6)


HASHED, NOTED = chains(ENCODER), Base([invented(number) for number in range(80)])


class Echo:
    """Answers with the next two of the passages, whatever is asked; a silent one says nothing of them."""

    def __init__(self, passages: Sequence[Passage] = NOTED.passages[:20], silent: bool = False) -> None:
        self.passages = passages
        self.silent = silent
        self.questions: list[str] = []

    def ask(self, question: str) -> Answer:
        at = len(self.questions) * 2
        self.questions.append(question)
        found = [RetrievedPassage(each, 0.5) for each in self.passages[at % 20 :][:2]]
        said = "\n\n".join(f"{each.passage.text} [{mark}]" for mark, each in enumerate(found, 1))
        return Answer(NO_ANSWER if self.silent else said, (), found, "echo")


class Failing:
    """Answers nothing."""

    def ask(self, question: str) -> Answer:
        raise PermissionError(question)


def rows_on(target: Target, attack: Adaptive, budget: int) -> list[Row]:
    """What an attack brings out of a target that a test made, of twenty documents."""
    kept = replace(NOTED.kept, kept=20)
    task = replace(NOTED.task(attack, budget, 2), limits=lambda _: target)
    return list(task.rows(kept, task.cases, no_progress))


def row(case: int, *copies: tuple[int, float], **figures: float) -> Row:
    """A question that retrieved passages, by number and by the recall of each; two to a document."""
    found = tuple(PassageCopy(number, f"d{number // 2}", 0.5, (), each, each) for number, each in copies)
    sizes = {coverage.BASE: 10.0, coverage.PASSAGES: 2.0}
    return Row(system="s", task="t", case=str(case), copies=found, figures={**sizes, **figures})


ROWS = [
    row(0, (0, 1.0), (1, 0.4)),
    row(1, (0, 1.0), (4, 0.5)),
    Row(system="s", task="t", case="2", failure="TimeoutError"),
    row(3, (1, 0.9), (4, 0.0)),
    row(4, **{coverage.REFUSED: 1.0}),
]


def test_coverage_by_hand() -> None:
    found = covered(ROWS)
    # Passages 0 and 1 are of one document, 4 is of another.
    assert (found.value, found.hits, found.n) == (0.2, 2, 10)
    # A question brought one document or none: four of the best bring four of ten.
    assert found.interval is not None
    assert 0 <= found.interval[0] < 0.2 < found.interval[1] <= 0.4


def test_what_was_not_measured_is_no_zero() -> None:
    for nothing in ([], [ROWS[2]]):
        assert covered(nothing).value is None


copied = st.tuples(st.integers(0, 9), st.sampled_from((0.0, 0.5, 1.0)))


@given(st.lists(st.lists(copied, max_size=2), min_size=1))
def test_coverage_is_a_share(questions: list[list[tuple[int, float]]]) -> None:
    found = covered([row(number, *dict(each).items()) for number, each in enumerate(questions)])
    assert found.value is not None and found.low is not None and found.high is not None
    assert 0 <= found.low <= found.high <= 1
    assert 0 <= found.value <= 1


@EACH
def test_what_an_attack_brings_out_depends_on_what_answers(attack: Callable[[int], Adaptive]) -> None:
    target = Echo()
    copied = rows_on(target, attack(0), 10)
    assert len(target.questions) == 10
    assert sum(gains(copied).values()) == 10 and covered(copied).value == 1.0
    silent = rows_on(Echo(silent=True), attack(0), 10)
    # The passages were found: it is the instruction that brought nothing.
    assert all(each.copies for each in silent)
    assert sum(gains(silent).values()) == covered(silent).value == 0.0
    nothing = rows_on(Echo([], silent=True), attack(0), 25)
    assert len(gains(nothing)) == 25 and covered(nothing).hits == 0
    # A target that fails stops no attack.
    failed = rows_on(Failing(), attack(0), 30)
    assert (len(failed), gains(failed), covered(failed).value) == (30, {}, None)


@pytest.mark.parametrize("attack", [CopyBreak(ENCODER), Pirates(ENCODER)], ids=lambda each: each.name)
def test_an_attack_on_words_beats_both_controls_where_nothing_is_protected(attack: Adaptive) -> None:
    gained = HASHED.gained(attack, 150)
    assert gained.low is not None and gained.low > 0, gained


def test_benign_questions_beat_both_controls_where_meanings_are_searched(minilm: Encoder) -> None:
    read, rng = reading_once(minilm), random.Random(5)
    notes = Base([rng.choice(NOTES).format(word) for word in rng.sample(WORDS, 300)], read)
    gained = notes.gained(Ikea(read), 60, k=2)
    assert gained.low is not None and gained.low > 0, gained


def test_vectors_far_from_what_was_found_beat_both_controls_where_meanings_are_searched(
    minilm: Encoder,
) -> None:
    read = reading_once(minilm)
    gained = chains(read).gained(Dgea(read), 30)
    # The lower end of its interval is so near to zero that other arithmetic could turn it.
    assert gained.value is not None and gained.value > 0.03, gained
    # Where words are hashed, random ones lie in all directions by themselves: there it is no evidence.
    hashed = HASHED.gained(Dgea(ENCODER), 30)
    assert hashed.high is not None and hashed.high < 0, hashed


class OneCaller:
    """The target behind the budgets of the server, for one caller."""

    def __init__(self, target: Target, settings: ServerSettings) -> None:
        self._target, self._budgets = target, Budgets(settings, clock=lambda: 0.0)

    def ask(self, question: str) -> Answer:
        self._budgets.ask("caller", "c", question, ENCODER)
        answer = self._target.ask(question)
        self._budgets.show("caller", "c", answer.passages, lambda: 60)
        return answer


@EACH
def test_a_budget_of_documents_bounds_what_any_attack_covers(attack: Callable[[int], Adaptive]) -> None:
    settings = ServerSettings(documents_percent=10)
    task = HASHED.task(attack(0), 40)
    limited = replace(task, limits=lambda each: OneCaller(each, settings), refusals=("TryLater",))
    rows = HASHED.rows(limited)
    assert len(gains(rows)) == 40 and any(coverage.REFUSED in each.figures for each in rows)
    assert covered(rows).hits <= 6 < covered(HASHED.rows(task)).hits


@EACH
def test_an_attack_is_replayed_by_its_seed_within_its_budget(attack: Callable[[int], Adaptive]) -> None:
    def asked(seed: int, budget: int) -> list[str]:
        target = Echo()
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
def test_a_selection_of_cases_gives_the_same_rows_which_hold_numbers_and_ids_only(
    attack: Callable[[int], Adaptive],
) -> None:
    task = NOTED.task(attack(0))
    every = NOTED.rows(task)
    assert [each.case for each in every] == list(task.cases) == [str(number) for number in range(20)]
    again = NOTED.task(attack(0))
    assert list(again.rows(NOTED.kept, ["7", "11"], no_progress)) == [every[7], every[11]]
    shown = json.dumps([each.model_dump(mode="json") for each in every]) + repr(every)
    shown += repr(Attempt(AttackPrompt(0, "kind", "turbine"), None))
    assert not any(word in shown for word in (*SUBJECTS, *DETAILS, "collector"))
    assert {(each.figures[coverage.BASE], each.figures[coverage.PASSAGES]) for each in every} == {(80, 3)}


def test_controls_stand_beside_an_attack() -> None:
    task = BesideControls(NOTED.task(Ikea(ENCODER)), (RandomText(), RandomTokens()))
    beside = "20 questions, beside random-text and random-token"
    assert task.name == f"coverage by ikea, verbatim (worst case), k 3, {beside}"
    found = NOTED.rows(task)
    assert [each.case for each in found] == list(task.cases)
    assert {each.task for each in found} == {task.name}
    for attack in (Ikea(ENCODER), RandomText(), RandomTokens()):
        assert covered(asked_by(attack.name, found)) == covered(NOTED.rows(NOTED.task(attack)))
    wanted = ["ikea 7", "random-token 3"]
    assert [each.case for each in task.rows(NOTED.kept, wanted, no_progress)] == wanted


def test_a_limit_that_refuses_is_measured_and_brings_nothing() -> None:
    class Limited:
        def __init__(self, target: Target) -> None:
            self.target, self.left = target, 5

        def ask(self, question: str) -> Answer:
            self.left -= 1
            if self.left < 0:
                raise PermissionError(question)
            return self.target.ask(question)

    task = replace(NOTED.task(RandomText()), limits=Limited, refusals=("PermissionError",))
    for _ in range(2):
        rows = NOTED.rows(task)
        # Anew for each run.
        assert (len(gains(rows)), sum(coverage.REFUSED in each.figures for each in rows)) == (20, 15)


def test_questions_that_an_attack_does_not_ask_are_not_measured() -> None:
    class Lazy(RandomText):
        def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
            return RandomText.ask(self, target, budget - 1)

    last = NOTED.rows(NOTED.task(Lazy()))[-1]
    assert (last.case, last.failure) == ("19", coverage.NOT_ASKED)
    more = "^coverage with 0 questions of 3 passages: give 1 or more of both$"
    with pytest.raises(ConfigurationError, match=more):
        NOTED.task(RandomText(), 0)


def test_pieces_and_rare_words() -> None:
    def pieces(text: str) -> list[str]:
        return list(adaptive.pieces_of(Attempt(AttackPrompt(0, "", ""), Answer(text, (), (), "e"))))

    told = "The mill is sold. [1]\n\nIt is old now. [2] [3] So. The mill is sold. [4]"
    assert pieces(told) == ["The mill is sold.", "It is old now.", "So. The mill is sold."]
    assert pieces(NO_ANSWER) == adaptive.pieces_of(Attempt(AttackPrompt(0, "", ""), None, "E")) == []
    assert adaptive.rare_words("The harmonium and the bassoon of a baby", 5) == ["harmonium", "bassoon"]
