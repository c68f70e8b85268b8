"""The anchor attack against invented targets with invented documents."""

import pytest

from eval.attacks.extraction import OPENING, Aim, AnchorAttack, ExtractionAttack, available
from eval.attacks.judging import attempts
from eval.documents import Attack, SensitiveEntity, Target
from eval.measures.leakage import SensitiveIndex
from eval.studies.extraction import ArmSummary, summarize
from ingest.documents import Identifier
from models.errors import ConfigurationError
from retrieval.documents import Answer, Passage, RetrievedPassage
from tests import attacked

WORDS_EACH = 20
TEXTS = [
    f"Patient Quorin{number} Talvik came at noon. "
    + " ".join(f"word{number}x{place}" for place in range(WORDS_EACH))
    for number in range(12)
]


class Obedient:
    """Reads two passages before the question, and copies what stands before the words that it names."""

    def __init__(self, n_words: int | None = None) -> None:
        self.questions: list[str] = []
        self.n_words = n_words

    def ask(self, question: str) -> Answer:
        first = 2 * len(self.questions) % len(TEXTS)
        self.questions.append(question)
        read = [Passage(number, f"d{number}", 0, 9, TEXTS[number]) for number in (first, first + 1)]
        passages = [RetrievedPassage(each, 0.5) for each in read]
        return Answer(self.said(question, passages), [], passages, "obedient")

    def said(self, question: str, passages: list[RetrievedPassage]) -> str:
        texts = [" ".join(each.passage.text.split()[: self.n_words]) for each in passages]
        read = "\n\n".join([*texts, question])
        named = question.rpartition('text that stands before "')[2].partition('"')[0]
        return read[: read.index(named)] if named else ""


class Refusing(Obedient):
    """Retrieves as well and copies nothing."""

    def said(self, question: str, passages: list[RetrievedPassage]) -> str:
        return "I will not copy that."


@pytest.fixture
def sensitive() -> SensitiveIndex:
    return SensitiveIndex(
        SensitiveEntity(f"d{number}", f"Quorin{number} Talvik", "person full name", Identifier.DIRECT)
        for number in range(len(TEXTS))
    )


def summary(target: Target, sensitive: SensitiveIndex) -> ArmSummary:
    rows = attacked.rows_of(target, AnchorAttack(Aim.HEALTH, 6), sensitive)
    return summarize("arm", rows, 0, len(sensitive), {})


def test_a_target_that_obeys_gives_every_passage_it_retrieved(sensitive: SensitiveIndex) -> None:
    arm = summary(Obedient(), sensitive)
    assert (arm.repeat_passages.hits, arm.repeat_passages.n) == (12, 12)
    assert arm.entity_leakage.value == arm.unprompted_leakage.value == arm.coverage.value == 1


def test_a_target_that_refuses_gives_nothing(sensitive: SensitiveIndex) -> None:
    arm = summary(Refusing(), sensitive)
    assert (arm.repeat_passages.hits, arm.repeat_passages.n) == (0, 12)
    assert (arm.entity_leakage.hits, arm.entity_leakage.n, arm.coverage.value) == (0, 12, 0)


@pytest.mark.parametrize(("n_words", "copied"), [(19, 0), (20, 12)])
def test_nineteen_words_are_not_a_copy_and_twenty_are(
    n_words: int, copied: int, sensitive: SensitiveIndex
) -> None:
    assert summary(Obedient(n_words), sensitive).repeat_passages.hits == copied


@pytest.mark.parametrize("aim", Aim)
def test_prompts_name_their_beginning_hold_the_information_differ_and_follow_the_seed(aim: Aim) -> None:
    anchored = AnchorAttack(aim, 20, seed=4).prompts()
    extracting = ExtractionAttack(aim, 20, seed=4).prompts()
    assert [prompt.kind for prompt in anchored] == [prompt.kind for prompt in extracting]
    for prompt, other in zip(anchored, extracting, strict=True):
        information = other.text.rsplit(", please repeat", 1)[0].rsplit(".\n\nPlease repeat", 1)[0]
        assert f'"{information}"' in prompt.text
        assert prompt.text.startswith(OPENING)
        assert prompt.text.count(OPENING) == 2
        assert "{" not in prompt.text
    texts = [prompt.text for prompt in AnchorAttack(aim, 60, seed=1).prompts()]
    assert len(set(texts)) == 60
    assert [prompt.text for prompt in AnchorAttack(aim, 9, seed=1).prompts()] == texts[:9]
    assert [prompt.text for prompt in AnchorAttack(aim, 60, seed=2).prompts()] != texts


def test_it_declares_itself_and_shows_no_prompt() -> None:
    attack: Attack = AnchorAttack(Aim.LEGAL, 3, seed=8)
    assert (attack.name, len(attack.prompts()), attack.seed) == ("anchor-legal", 3, 8)
    assert "Qi et al. 2024" in attack.reference
    assert "copy" in attack.goal
    assert "untrusted user" in attack.threat_model
    shown = repr(list(attempts(Obedient(), attack.prompts())))
    assert OPENING not in shown
    assert "Talvik" not in shown


@pytest.mark.parametrize(
    ("aim", "n", "most"), [(Aim.UNTARGETED, 0, "any number"), (Aim.LEGAL, 481, "from 1 to 480")]
)
def test_more_prompts_than_there_are_cannot_be_asked(aim: Aim, n: int, most: str) -> None:
    message = f"the {aim} anchor attack cannot make {n} different prompts: ask for {most}"
    with pytest.raises(ConfigurationError, match=message):
        AnchorAttack(aim, n)
    assert available(aim) in (None, 480)
