"""What every privacy-risk model must do. To add one, add a line to MODELS. All texts are invented."""

import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Document
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


def test_a_name_is_a_hazard_and_what_holds_no_entity_has_none(model: RiskModel) -> None:
    assert model.name.strip()
    assert model.hazards([]) == []
    named, *without = model.hazards(TEXTS[:3])
    assert named.total > 0
    assert all(gain > 0 for gain in named.marginals.values())
    assert [(each.total, dict(each.marginals)) for each in without] == [(0, {}), (0, {})]
    assert MARKER not in repr(model) + repr(model.hazards(TEXTS))


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


class Scripted:
    """Every mention has the hazard that its words and its label have, wherever it stands."""

    name = "scripted"

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        found = [list(zip(text.places, text.labels, strict=True)) for text in texts]
        return [
            [hazard_of(text.text[start:end], label) for (start, end), label in places]
            for text, places in zip(texts, found, strict=True)
        ]


def hazard_of(words: str, label: str) -> float:
    return 0.1 * (len(words) % 7) + 0.01 * len(label)


@settings(max_examples=150, deadline=None)
@given(sentences_about_people())
def test_of_the_learned_model_the_risk_is_the_sum_of_each_links_riskiest_mention(text: AnnotatedText) -> None:
    risk = LearnedRisk(Scripted())
    (hazards,) = risk.hazards([text])
    riskiest = {
        number: max(hazard_of(text.text[e.span.start : e.span.end], e.label) for e in mentions)
        for number, mentions in text.mentions().items()
    }
    assert hazards.marginals == riskiest
    assert hazards.total == pytest.approx(sum(riskiest.values()))
    # A marginal is what taking the link away would show.
    for number, gain in hazards.marginals.items():
        (rest,) = risk.hazards([text.without({number}, descriptor_of)])
        assert gain == pytest.approx(hazards.total - rest.total, abs=1e-9)


def test_of_the_learned_model_a_thing_counts_once_however_often_it_is_mentioned() -> None:
    def mentioned(times: int) -> AnnotatedText:
        found = [entity(7 * n, 7 * n + 6, "person full name", link=3) for n in range(times)]
        return AnnotatedText("Keldra " * 5, found)

    once, often = LearnedRisk(Scripted()).hazards([mentioned(1), mentioned(5)])
    assert once.total == often.total > 0
