from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Document
from ingest.sanitize import annotate
from ingest.scoring.exact import ExactEngine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.raw import Distances, Measurements, Wanted, always, marginal_risk, scores_of
from ingest.scoring.reference import ReferenceEngine
from ingest.scoring.remembered import Remembered
from ingest.scoring.scale import EMBEDDED_SCALE, MIN_SAMPLE, Scale, Weights, fit_scale
from models.encoders.minilm import MiniLM
from models.remembering import remembering
from tests.doubles import PhraseDetector, WordEncoder
from tests.strategies import sentences_about_people

SCALE = Scale(0.0, 1.0, 0.0, 1.0, "test")


def agree(one: Distances, other: Distances) -> bool:
    pairs = ((one.divergence, other.divergence), (one.distance, other.distance))
    return all(a == pytest.approx(b, abs=2e-6) for a, b in pairs)


@given(
    st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=2, max_size=8),
    st.floats(0, 2), st.floats(0, 2), st.floats(0, 2),
)  # fmt: skip
def test_relevance_taken_away_ranks_as_distance_added(
    measured: list[tuple[float, float, float]], alpha: float, beta: float, gamma: float
) -> None:
    """TRIP-RAG's text subtracts relevance and its formula adds the distance: a constant apart."""
    weights = Weights(alpha, beta, gamma)
    for risk, divergence, distance in measured:
        found = scores_of(risk, Distances(divergence, distance), SCALE, weights)
        assert found.knowledge_divergence is not None and found.topical_relevance is not None
        subtracted = alpha * risk - beta * found.knowledge_divergence - gamma * found.topical_relevance
        assert found.priority == pytest.approx(subtracted + gamma, abs=1e-9)
        assert found.priority is not None and found.priority <= alpha + gamma + 1e-9


@settings(max_examples=150, deadline=None)
@given(sentences_about_people())
def test_the_exact_engine_agrees_with_the_reference(text: AnnotatedText) -> None:
    encoder = WordEncoder()
    (slow,) = ReferenceEngine(encoder, 8).measure([text])
    (fast,) = ExactEngine(encoder, 8).measure([text])
    assert slow.keys() == fast.keys() == text.mentions().keys()
    assert all(agree(slow[number], fast[number]) for number in slow)


def test_a_growing_memory_measures_again_only_what_was_not_wanted_before() -> None:
    class Counting:
        name, units = "counting", staticmethod(ExactEngine(WordEncoder(), 60).units)

        def __init__(self) -> None:
            self.asked = list[int]()

        def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
            self.asked.append(len(texts))
            return ExactEngine(WordEncoder(), 60).measure(texts, wanted)

    detector = PhraseDetector({"Keller": "person full name", "cough": "symptom"})
    texts = annotate(detector, [Document(str(n), f"Keller has a cough {n}.") for n in range(3)])
    counting = Counting()
    engine = Remembered(counting, grows=True)
    near = engine.measure(texts, lambda number, link, distance: False)
    assert all(each.divergence is None for of_text in near for each in of_text.values())
    assert engine.measure(texts, lambda number, link, distance: False) == near
    some = engine.measure(texts, lambda number, link, distance: number == 1)
    assert [all(each.divergence is not None for each in of_text.values()) for of_text in some] == [
        False, True, False,
    ]  # fmt: skip
    whole = ExactEngine(WordEncoder(), 60).measure(texts)
    assert engine.measure(texts) == whole == engine.measure(texts)
    # The second time nothing, then one text, then the other two, then nothing.
    assert counting.asked == [3, 0, 1, 2, 0]


def test_the_engines_agree_on_the_real_encoder() -> None:
    text = (
        "Anna Keller, 61, kept the lighthouse of Varde.\n\nShe was seen for a cough. Keller took lisinopril. "
        * 12
    )
    detector = PhraseDetector(
        {
            "Anna Keller": "person full name",
            "Keller took"[:6]: "person full name",
            "61": "person age",
            "Varde": "city name",
            "cough": "symptom",
            "lisinopril": "medication",
        }
    )
    texts = annotate(detector, [Document("a", text), Document("b", text[:200])])
    encoder = MiniLM()
    slow = ReferenceEngine(encoder, 60).measure(texts)
    fast = ExactEngine(encoder, 60).measure(texts)
    for one, other in zip(slow, fast, strict=True):
        assert all(agree(one[number], other[number]) for number in one)


def test_batches_do_not_change_scores() -> None:
    detector = PhraseDetector({"Keller": "person full name", "cough": "symptom"})
    texts = annotate(detector, [Document(str(n), f"Keller has a cough {n} " * (n + 1)) for n in range(5)])
    engine = ExactEngine(WordEncoder(), 8)
    together = engine.measure(texts)
    assert [engine.measure([text])[0] for text in texts] == together


def test_a_name_that_occurs_twice_keeps_its_marginal_risk() -> None:
    detector = PhraseDetector({"Keller": "person full name"})
    (text,) = annotate(detector, [Document("a", "Keller called. Keller left.")])
    (hazards,) = RiskPrior().hazards([text])
    assert marginal_risk(hazards.total, hazards.marginals[0], "hazard") == pytest.approx(0.85)


def test_the_difference_saturates_where_the_hazard_does_not() -> None:
    assert marginal_risk(total=8.0, marginal=4.0, form="hazard") > 0.98
    assert marginal_risk(total=8.0, marginal=4.0, form="difference") < 0.02


def test_priority_is_the_weighted_sum() -> None:
    scores = scores_of(0.7, Distances(divergence=0.4, distance=0.25), SCALE, Weights(1.0, 0.5, 0.4))
    assert scores.marginal_privacy_risk == 0.7
    assert scores.topical_relevance == pytest.approx(0.75)
    assert scores.priority == pytest.approx(0.7 - 0.5 * 0.4 + 0.4 * 0.25)


@pytest.mark.parametrize("raw", [-1.0, 0.0, 0.05, 0.5, 2.0])
def test_scores_stay_between_zero_and_one(raw: float) -> None:
    for scale in (SCALE, EMBEDDED_SCALE):
        assert 0 <= scale.divergence(raw) <= 1
        assert 0 <= scale.distance(raw) <= 1


def test_a_scale_without_spread_judges_everything_alike() -> None:
    assert Scale(0.2, 0.2, 0.2, 0.2, "test").divergence(0.9) == 0.5


def test_a_scale_is_fitted_to_percentiles() -> None:
    values = [n / 100 for n in range(101)]
    scale = fit_scale(values, values, "test")
    assert scale.divergence(0.05) == pytest.approx(0)
    assert scale.divergence(0.95) == pytest.approx(1)
    assert scale.divergence(0.5) == pytest.approx(0.5)


def test_a_scale_needs_a_sample() -> None:
    with pytest.raises(ValueError, match=f"needs {MIN_SAMPLE} linked entities, here are 1"):
        fit_scale([0.1], [0.1], "test")


def test_remembered_measurements_are_those_of_the_engine() -> None:
    detector = PhraseDetector({"Keller": "person full name", "cough": "symptom"})
    texts = annotate(detector, [Document(str(n), f"Keller has a cough {n}") for n in range(4)])
    engine = ExactEngine(WordEncoder(), 8)
    known = list(zip(texts[1:3], engine.measure(texts[1:3]), strict=True))
    other_entities = AnnotatedText(texts[2].text, texts[2].entities[:1])
    asked = [*texts, other_entities]
    remembered = remembering(engine, "measure", key=AnnotatedText.digest, known=known, grows=False)
    assert remembered.measure(asked) == engine.measure(asked)
    assert remembered.name == engine.name


def test_a_scale_has_no_more_than_two_decimals() -> None:
    values = [n / 6091 + 0.0001234 for n in range(61)]
    scale = fit_scale(values, values, "test")
    for value in (scale.divergence_low, scale.divergence_high, scale.distance_low, scale.distance_high):
        assert value == round(value, 2)
