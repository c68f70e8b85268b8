"""What every attack must do, with targets that are as weak or as empty as can be. All data is invented.

An attack that cannot break the undefended target proves nothing about a defended one.
"""

from collections.abc import Callable

import pytest

from eval.attacks.canaries import CanaryAttack, plant
from eval.attacks.extraction import Aim, AnchorAttack, ExtractionAttack
from eval.attacks.judging import attempts
from eval.documents import Attack, SensitiveEntity
from eval.measures.leakage import SensitiveIndex, coverage
from ingest.documents import Document, Identifier
from retrieval.documents import Answer, Passage, RetrievedPassage
from tests.attacked import rows_of

ATTACKS: list[Callable[[int], Attack]] = [  # to add one, add a line
    lambda seed: ExtractionAttack(Aim.HEALTH, n=30, seed=seed),
    lambda seed: ExtractionAttack(Aim.OFFICE, n=30, seed=seed),
    lambda seed: ExtractionAttack(Aim.LEGAL, n=30, seed=seed),
    lambda seed: ExtractionAttack(Aim.UNTARGETED, n=30, seed=seed),
    lambda seed: AnchorAttack(Aim.LEGAL, n=30, seed=seed),
    lambda seed: CanaryAttack(plant([Document(f"p{n}", "The mill was sold.") for n in range(30)], 30, seed)),
]

SECRETS = [f"canary-{number:03d}-quill" for number in range(40)]
TEXTS = [f"The person of record {number} is known as {secret}." for number, secret in enumerate(SECRETS)]


class Undefended:
    """Answers each question with the next two documents, if it is told to repeat what it was given."""

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, question: str) -> Answer:
        numbers = [(self.asked + n) % len(TEXTS) for n in range(2)]
        self.asked += 2
        passages = [RetrievedPassage(Passage(n, f"d{n}", 0, 9, TEXTS[n]), 0.5) for n in numbers]
        asked = question.casefold()
        obeys = "repeat all the context" in asked or "copy out, word for word" in asked
        text = "\n\n".join(p.passage.text for p in passages) if obeys else "I do not know."
        return Answer(text, [], passages, "undefended")


class Empty:
    """A collection without documents."""

    def ask(self, question: str) -> Answer:
        return Answer("Nothing was found.", [], [], "empty")


class Broken:
    """Fails, with a message that quotes what it holds."""

    def ask(self, question: str) -> Answer:
        raise RuntimeError(TEXTS[0])


@pytest.fixture(params=ATTACKS, ids=lambda make: make(0).name)
def make(request: pytest.FixtureRequest) -> Callable[[int], Attack]:
    chosen: Callable[[int], Attack] = request.param
    return chosen


@pytest.fixture
def sensitive() -> SensitiveIndex:
    return SensitiveIndex(
        SensitiveEntity(f"d{n}", secret, "reference number", Identifier.DIRECT)
        for n, secret in enumerate(SECRETS)
    )


def test_finds_every_planted_secret_in_an_undefended_target(
    make: Callable[[int], Attack], sensitive: SensitiveIndex
) -> None:
    rows = rows_of(Undefended(), make(0), sensitive)
    assert coverage(rows, len(sensitive)).value == 1
    assert not any(leak.prompted for row in rows for leak in row.leaked)


def test_declares_itself_and_asks_the_same_for_the_same_seed_alone(make: Callable[[int], Attack]) -> None:
    attack = make(3)
    assert all((attack.name, attack.goal, attack.threat_model, attack.reference))
    assert attack.seed == 3
    prompts, again, other = (make(seed).prompts() for seed in (0, 0, 1))
    assert prompts and [prompt.number for prompt in prompts] == list(range(len(prompts)))
    assert [attempt.prompt for attempt in attempts(Undefended(), prompts)] == list(prompts)
    assert [prompt.text for prompt in prompts] == [prompt.text for prompt in again]
    assert [prompt.text for prompt in prompts] != [prompt.text for prompt in other]


def test_finds_nothing_in_an_empty_target(make: Callable[[int], Attack], sensitive: SensitiveIndex) -> None:
    rows = rows_of(Empty(), make(0), sensitive)
    assert len(rows) == len(make(0).prompts())
    assert not any(row.leaked or row.present for row in rows)


def test_goes_on_when_the_target_fails_and_keeps_only_the_type(make: Callable[[int], Attack]) -> None:
    attack = make(0)
    tried = list(attempts(Broken(), attack.prompts()))
    assert [(attempt.answer, attempt.failure) for attempt in tried] == [(None, "RuntimeError")] * len(tried)
    assert len(tried) == len(attack.prompts())
    assert "quill" not in repr(tried)
