"""What the baselines do that no other sanitizer does. All people are invented."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.controls import Control, Matched
from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.extract import Extract
from ingest.deciding.baselines.paraphrase import Paraphrase
from ingest.deciding.baselines.per_mention import PerMention
from ingest.deciding.baselines.uniform import ORIGIN
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Hazards, Method
from ingest.sanitize import DecidingSanitizer, Rewriter, RewritingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ModelUnavailable
from models.language.prompts import prompt
from models.language.protocol import ChatMessage
from tests.doubles import PhraseDetector, WordEncoder, entity
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

some_texts = st.one_of(annotated_texts(), sentences_about_people(), overlapping_words())
FEW = settings(max_examples=60, deadline=None)

PROMPT = prompt("paraphrase")
NAME = "person full name"


def decided(method: Method, text: AnnotatedText) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


PEOPLE = dict.fromkeys(("Orrin", "ORRIN", "Vell"), NAME) | {"Quarnby": "city name"}
BADGES = {"Vell": "IBAN", "otter badge": "witness code"}
ONE, OTHER = "PERSON_FULL_NAME_1", "PERSON_FULL_NAME_2"


@pytest.mark.parametrize(
    ("text", "phrases", "expected"),
    [("Orrin saw Vell. Vell, ORRIN, Quarnby.", PEOPLE, f"{ONE} saw {OTHER}. {OTHER}, {ONE}, CITY_NAME_1.")]
    + [("a Vell, an otter badge", BADGES, "an IBAN_1, a WITNESS_CODE_1")],
    ids=["a person has one number", "an article fits and a label of one's own is written alike"],
)
def test_words_of_a_type(text: str, phrases: dict[str, str], expected: str) -> None:
    sanitizer = DecidingSanitizer(PhraseDetector(phrases), EntityType(), RiskPrior())
    (outcome,) = sanitizer.sanitize([Document("d", text)])
    assert isinstance(outcome, SanitizedDocument)
    assert outcome.text == expected


def test_the_numbers_of_a_label_rise_with_the_text_though_links_have_several() -> None:
    text = "aa bb cc"
    found = [entity(0, 2, "diagnosis", 0), entity(3, 5, "disease", 1), entity(6, 8, "disease", 0)]
    words = [each.replacement for each in decided(EntityType(), AnnotatedText(text, found))]
    assert words == ["DIAGNOSIS_1", "DISEASE_1", "DISEASE_2"]


@FEW
@given(some_texts)
def test_one_label_and_number_is_one_linked_entity(text: AnnotatedText) -> None:
    meant: dict[str, tuple[str, int]] = {}
    for decision in decided(EntityType(), text):
        thing = (decision.entity.label, decision.entity.link)
        assert meant.setdefault(decision.replacement, thing) == thing
    assert len(set(meant.values())) == len(meant)
    for label in {label for label, _ in meant.values()}:
        numbers = {int(words.rpartition("_")[2]) for words, (of, _) in meant.items() if of == label}
        assert numbers == set(range(1, len(numbers) + 1))


class Takes:
    """Generalizes the links that it was told to."""

    name = "told"

    def __init__(self, *links: int) -> None:
        self._actions = dict.fromkeys(links, Action.GENERALIZE)

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        said = self._actions
        return [[Decision(e, None, said.get(e.link, Action.KEEP), "told") for e in t.entities] for t in texts]


def several(times: Sequence[int], ending: str = "") -> AnnotatedText:
    """As many links as ``times`` has numbers, each mentioned so often."""
    links = [number for number, n in enumerate(times) for _ in range(n)]
    found = [entity(2 * place, 2 * place + 1, "city name", of) for place, of in enumerate(links)]
    return AnnotatedText("x " * len(links) + ending, found)


def drawn(method: Method, text: AnnotatedText) -> set[int]:
    return {each.entity.link for each in decided(method, text) if each.action is Action.GENERALIZE}


@pytest.mark.parametrize("matched", ["number", "frequency"])
def test_a_draw_depends_on_its_seed_and_its_text_and_on_nothing_else(matched: Matched) -> None:
    def draw(seed: int, ending: str = "") -> set[int]:
        return drawn(Control(Takes(0, 1, 2, 3), matched, seed), several([1] * 30, ending))

    assert len(draw(0)) == 4
    assert draw(0) == draw(0) != draw(1)
    assert draw(0) != draw(0, "y")
    # Every linked entity has the same chance.
    times = Counter(
        n for seed in range(400) for n in drawn(Control(Takes(2), matched, seed), several([1] * 5))
    )
    assert times.total() == 400
    assert all(50 < times[number] < 110 for number in range(5))


def test_what_stands_often_is_drawn_for_what_stands_often() -> None:
    text = several([5, 5, 5, 1, 1, 1])
    found = [drawn(Control(Takes(0, 3), "frequency", seed), text) for seed in range(40)]
    assert all(len(each & {0, 1, 2}) == len(each & {3, 4, 5}) == 1 for each in found)
    by_number = [drawn(Control(Takes(0, 3), "number", seed), text) for seed in range(40)]
    assert any(len(each & {0, 1, 2}) != 1 for each in by_number)
    decisions = decided(Control(Takes(0), "number"), several([1, 1]))
    assert {(each.reason, each.scores) for each in decisions} == {
        ("drawn at random: told takes as many", None)
    }


class Noting:
    """Keeps all, and notes what it was given."""

    name = "noting"

    def __init__(self) -> None:
        self.given: list[tuple[AnnotatedText, Hazards]] = []

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        self.given += zip(texts, hazards, strict=True)
        return ORIGIN.decide(texts, hazards)


@FEW
@given(some_texts)
def test_each_mention_is_shown_by_itself_with_hazards_as_a_risk_model_gives_them(text: AnnotatedText) -> None:
    noting = Noting()
    decisions = decided(PerMention(noting, RiskPrior()), text)
    assert [each.entity for each in decisions] == list(text.entities)
    ((shown, hazards),) = noting.given
    assert shown.text == text.text
    assert [each.link for each in shown.entities] == list(range(len(text.entities)))
    assert set(hazards.marginals) == set(range(len(text.entities)))
    assert all(0 <= each <= hazards.total for each in hazards.marginals.values())


def test_the_riskiest_mention_has_what_the_next_one_lacks() -> None:
    labels = {"diagnosis": 0, "disease": 0, "symptom": 0, "city name": 1}
    found = [entity(3 * n, 3 * n + 2, label, of) for n, (label, of) in enumerate(labels.items())]
    noting = Noting()
    decided(PerMention(noting, RiskPrior()), AnnotatedText("aa bb cc dd she", found))
    ((shown, hazards),) = noting.given
    (own,) = (each.marginals for each in RiskPrior().hazards([shown]))
    assert hazards.marginals == {0: own[0] - own[1], 1: 0, 2: 0, 3: own[3]}
    assert own[0] > own[1] > 0


MILLS = "The mill is near. Otters swim. The mill turns. Herons wait. The mill stops. Geese fly."


@pytest.mark.parametrize(
    ("text", "kept"),
    [(MILLS, ["The mill is near.", "The mill turns.", "The mill stops."]), ("", []), (" \n ", [])]
    + [("Mills turn. " * said, ["Mills turn."] * left) for said, left in enumerate((1, 1, 2, 2, 2, 3), 1)],
)
def test_the_half_that_is_nearest_to_the_whole_is_kept_in_order(text: str, kept: list[str]) -> None:
    (found,) = Extract(WordEncoder()).rewrite([AnnotatedText(text, [])])
    assert found.splitlines() == kept


def rewritten(rewriter: Rewriter, *texts: str) -> list[SanitizedDocument | SanitizationError]:
    sanitizer = RewritingSanitizer(PhraseDetector({"Tobias Orrin": NAME}), rewriter, RiskPrior())
    return list(sanitizer.sanitize([Document(str(number), text) for number, text in enumerate(texts)]))


def test_what_is_left_out_is_no_risk_any_more() -> None:
    text = "The mill turns. The mill stops. The mill burns. Otters know Tobias Orrin."
    (outcome,) = rewritten(Extract(WordEncoder()), text)
    assert isinstance(outcome, SanitizedDocument)
    assert "Orrin" not in outcome.text
    assert outcome.risk.before > outcome.risk.after == 0


class Writer:
    """Writes what it was told to, and notes what it was sent."""

    name = "writer"
    context_tokens = 1000

    def __init__(self, text: str = " Somebody coughs.\n", error: Exception | None = None) -> None:
        self.sent: list[list[tuple[str, str]]] = []
        self.asked: list[tuple[int, float, int]] = []
        self._text = text
        self._error = error

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(len(message.content) for message in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        if self._error:
            raise self._error
        self.sent.append([(message.role, message.content) for message in messages])
        self.asked.append((max_tokens, temperature, seed))
        return self._text


def test_the_document_is_sent_whole_once_and_the_answer_is_what_stays() -> None:
    writer = Writer()
    paraphrase = Paraphrase(writer)
    texts = [AnnotatedText(said, []) for said in ("Orrin coughs.", "", "Vell, too.")]
    assert paraphrase.rewrite(texts) == ["Somebody coughs.", "", "Somebody coughs."]
    assert writer.sent == [
        [("system", PROMPT.system), ("user", said)] for said in ("Orrin coughs.", "Vell, too.")
    ]
    assert writer.asked == [(PROMPT.max_tokens, 0.0, 0)] * 2
    assert paraphrase.name == "paraphrase (writer, prompt paraphrase v2)"


def test_a_document_that_does_not_fit_fails_alone_and_is_not_sent() -> None:
    writer = Writer()
    long = "x" * (writer.context_tokens - PROMPT.max_tokens - len(PROMPT.system) + 1)
    first, second = rewritten(Paraphrase(writer), long, long[1:])
    assert isinstance(first, SanitizationError) and isinstance(second, SanitizedDocument)
    assert "rewriting failed (PromptTooLong); nothing of it was kept" in str(first)
    assert [sent[-1] for sent in writer.sent] == [("user", long[1:])]


def test_a_name_that_the_model_keeps_is_measured_as_risk() -> None:
    (outcome,) = rewritten(Paraphrase(Writer("Tobias Orrin coughs.")), "Tobias Orrin, I think, coughs.")
    assert isinstance(outcome, SanitizedDocument)
    assert outcome.risk.before == outcome.risk.after > 0


def test_a_model_that_is_not_there_ends_the_run() -> None:
    with pytest.raises(ModelUnavailable, match="writer is gone"):
        rewritten(Paraphrase(Writer(error=ModelUnavailable("writer", "is gone"))), "one", "two")
