"""What every privacy-risk model must do. To add one, add a line to MODELS. All texts are invented."""

import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Document, Entity
from ingest.linking.link import link
from ingest.protocols import Hazards, RiskModel
from ingest.scoring.learned_risk import LearnedRisk
from ingest.scoring.prior import RiskPrior, descriptor_of
from models.risk import LabeledText
from tests.batches import assert_batches_do_not_show, assert_near
from tests.doubles import PhraseDetector, entity
from tests.small_models import shipped_reader
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

MARKER = "zqxmarker"
FEW = settings(max_examples=25, deadline=None)


def learned() -> RiskModel:
    return LearnedRisk(shipped_reader())


MODELS: list[Callable[[], RiskModel]] = [RiskPrior, learned]


@pytest.fixture(scope="module", params=MODELS, ids=lambda make: make.__name__)
def model(request: pytest.FixtureRequest) -> RiskModel:
    made: RiskModel = request.param()
    return made


def annotated(text: str, **phrases: str) -> AnnotatedText:
    detector = PhraseDetector({phrase.replace("_", " "): label for phrase, label in phrases.items()})
    document = Document("d", text)
    return AnnotatedText(text, link(document, detector.detect([document])[0]))


TEXTS = [
    annotated(
        "Mrs Keldra of Varde has asthma.", Keldra="person full name", Varde="city name", asthma="disease"
    ),
    annotated(""),
    annotated("nothing is known to stand here"),
    annotated("Keldra saw Keldra. " * 80 + "She is 61.", Keldra="person full name", **{"61": "person age"}),
    annotated(f"{MARKER} 😀 שלום", **{MARKER: "zorblax", "😀": "mood"}),
]

some_texts = st.one_of(annotated_texts(), sentences_about_people(), overlapping_words())


def assert_alike(one: Hazards, other: Hazards) -> None:
    assert_near(dict(one.marginals), dict(other.marginals))
    assert_near(one.total, other.total)


def test_it_has_a_name(model: RiskModel) -> None:
    assert model.name.strip()


def test_nothing_is_asked_of_nothing(model: RiskModel) -> None:
    assert model.hazards([]) == []


def test_what_holds_no_entity_has_no_hazard(model: RiskModel) -> None:
    assert [(each.total, dict(each.marginals)) for each in model.hazards(TEXTS[1:3])] == [(0, {}), (0, {})]


def test_a_name_is_a_hazard(model: RiskModel) -> None:
    (hazards,) = model.hazards(TEXTS[:1])
    assert hazards.total > 0
    assert all(gain > 0 for gain in hazards.marginals.values())


@FEW
@given(texts=st.lists(some_texts, min_size=1, max_size=3))
def test_hazards_are_numbers_from_zero_on_with_a_marginal_for_each_link(
    model: RiskModel, texts: list[AnnotatedText]
) -> None:
    found = model.hazards(texts)
    assert len(found) == len(texts)
    for text, hazards in zip(texts, found, strict=True):
        total, gains = hazards.total, hazards.marginals
        assert set(gains) == {entity.link for entity in text.entities}
        assert total >= 0
        assert all(math.isfinite(number) for number in (total, *gains.values()))
        # Taking something away never makes a text more dangerous.
        assert all(gain >= -1e-9 for gain in gains.values())
        assert all(gain <= total + 1e-4 for gain in gains.values())


def test_the_answer_is_the_same_alone_in_a_batch_in_any_order_and_twice(model: RiskModel) -> None:
    together = assert_batches_do_not_show(model.hazards, TEXTS, assert_alike)
    assert model.hazards(TEXTS) == together


@FEW
@given(text=some_texts, chance=st.randoms(use_true_random=False))
def test_the_order_of_the_entities_does_not_matter(
    model: RiskModel, text: AnnotatedText, chance: random.Random
) -> None:
    mixed = list(text.entities)
    chance.shuffle(mixed)
    other = AnnotatedText(text.text, mixed, text.stand_ins)
    assert_alike(model.hazards([other])[0], model.hazards([text])[0])


def test_no_text_is_in_a_repr(model: RiskModel) -> None:
    hazards = model.hazards(TEXTS)
    assert MARKER not in repr(model) + repr(hazards)


class Scripted:
    """Every mention has the hazard that its words and its label have, wherever it stands."""

    def __init__(self) -> None:
        self.name = "scripted"

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        return [
            [
                hazard_of(text.text[start:end], label)
                for (start, end), label in zip(text.places, text.labels, strict=True)
            ]
            for text in texts
        ]


def hazard_of(words: str, label: str) -> float:
    return 0.1 * (len(words) % 7) + 0.01 * len(label)


def crossed(text: AnnotatedText) -> bool:
    ordered = sorted(text.entities, key=lambda e: e.span)
    return any(one.span.overlaps(other.span) for one, other in zip(ordered, ordered[1:], strict=False))


@settings(max_examples=150, deadline=None)
@given(sentences_about_people())
def test_of_the_learned_model_the_risk_is_the_sum_of_each_links_riskiest_mention(text: AnnotatedText) -> None:
    (hazards,) = LearnedRisk(Scripted()).hazards([text])
    riskiest = {
        number: max(hazard_of(text.text[e.span.start : e.span.end], e.label) for e in mentions)
        for number, mentions in text.mentions().items()
    }
    assert hazards.marginals == riskiest
    assert hazards.total == pytest.approx(sum(riskiest.values()))


@settings(max_examples=150, deadline=None)
@given(sentences_about_people())
def test_of_the_learned_model_a_marginal_is_what_taking_away_would_show(text: AnnotatedText) -> None:
    risk = LearnedRisk(Scripted())
    assert not crossed(text)
    (whole,) = risk.hazards([text])
    for number, gain in whole.marginals.items():
        (rest,) = risk.hazards([text.without({number}, descriptor_of)])
        assert gain == pytest.approx(whole.total - rest.total, abs=1e-9)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_of_the_learned_model_the_riskiest_mention_counts_wherever_it_stands(order: Sequence[int]) -> None:
    mentions = [
        entity(0, 11, "person full name", 3),
        entity(12, 17, "person full name", 3),
        entity(18, 21, "x", 4),
    ]
    text = AnnotatedText("Anna Keldra Keldr her", [mentions[number] for number in order])
    assert hazard_of("Keldr", "person full name") > hazard_of("Anna Keldra", "person full name")
    (hazards,) = LearnedRisk(Scripted()).hazards([text])
    assert hazards.marginals == {3: hazard_of("Keldr", "person full name"), 4: hazard_of("her", "x")}


def test_of_the_learned_model_a_thing_counts_once_however_often_it_is_mentioned() -> None:
    def mentioned(times: int) -> AnnotatedText:
        found: list[Entity] = [entity(7 * n, 7 * n + 6, "person full name", link=3) for n in range(times)]
        return AnnotatedText("Keldra " * 5, found)

    once, often = LearnedRisk(Scripted()).hazards([mentioned(1), mentioned(5)])
    assert once.total == often.total > 0
