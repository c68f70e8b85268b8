from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Document
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder
from ingest.sanitize import annotate
from ingest.scoring import engine
from ingest.scoring.engine import Engine, named_by
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import (
    EMBEDDED_SCALE,
    MIN_SAMPLE,
    Distances,
    Scale,
    Weights,
    fit_scale,
    marginal_risk,
    scores_of,
)
from models.encoders.minilm import MiniLM
from tests.doubles import PhraseDetector, WordEncoder, entity
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

SCALE = Scale(0.0, 1.0, 0.0, 1.0, "test")


def agree(one: Distances, other: Distances) -> bool:
    pairs = ((one.divergence, other.divergence), (one.distance, other.distance))
    return all(a == pytest.approx(b, abs=2e-6) for a, b in pairs)


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=2, max_size=8), st.tuples(*[st.floats(0, 2)] * 3))
def test_relevance_taken_away_ranks_as_distance_added(
    measured: list[tuple[float, float, float]], by: tuple[float, float, float]
) -> None:
    """TRIP-RAG's text subtracts relevance and its formula adds the distance: a constant apart."""
    (alpha, beta, gamma), weights = by, Weights(*by)
    for risk, divergence, distance in measured:
        found = scores_of(risk, Distances(divergence, distance), SCALE, weights)
        assert found.knowledge_divergence is not None and found.topical_relevance is not None
        assert (found.marginal_privacy_risk, found.knowledge_divergence) == (risk, divergence)
        assert found.topical_relevance == pytest.approx(1 - distance)
        subtracted = alpha * risk - beta * found.knowledge_divergence - gamma * found.topical_relevance
        assert found.priority == pytest.approx(subtracted + gamma, abs=1e-9)
        assert found.priority is not None and found.priority <= alpha + gamma + 1e-9


def by_definition(encoder: Encoder, unit_tokens: int, text: AnnotatedText) -> dict[int, Distances]:
    """The measurements of a text, one entity and one unit at a time."""

    def apart(one: str, other: str) -> float:
        left, right = encoder.encode([one])[0], encoder.encode([other])[0]
        return 1 - float(left @ right)

    units = retrieval_units(text.text, encoder.token_spans(text.text), unit_tokens)
    found = {}
    for link, mentions in text.mentions().items():
        named = named_by(mentions)
        name = text.text[named.start : named.end]
        divergences, distances = [], []
        for unit in units:
            if any(entity.span.overlaps(unit) for entity in mentions):
                whole = text.text[unit.start : unit.end]
                gone = {at for entity in mentions for at in range(entity.span.start, entity.span.end)}
                rest = "".join(character for at, character in enumerate(whole, unit.start) if at not in gone)
                divergences.append(apart(whole, rest))
                distances.append(apart(name, whole))
        found[link] = Distances(max(divergences), min(distances))
    return found


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(sentences_about_people(), annotated_texts(), overlapping_words()), max_size=3),
    st.sampled_from([1, 2, 2048]),
)
def test_the_engine_measures_what_the_definition_says(texts: list[AnnotatedText], batch: int) -> None:
    encoder = WordEncoder()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "_BATCH_PROBES", batch)
        measured = Engine(encoder, 8).measure(texts)
    for text, found in zip(texts, measured, strict=True):
        expected = by_definition(encoder, 8, text)
        assert found.keys() == expected.keys() == text.mentions().keys()
        assert all(agree(found[link], expected[link]) for link in expected)


def test_the_real_encoder_gives_what_the_definition_says() -> None:
    text = "Anna Keller, 61, kept the lighthouse of Varde.\n\nShe had a cough. Keller took lisinopril. " * 12
    phrases = {"Anna Keller": "person full name", "Keller": "person full name", "61": "person age"}
    phrases |= {"Varde": "city name", "cough": "symptom", "lisinopril": "medication"}
    texts = annotate(PhraseDetector(phrases), [Document("a", text), Document("b", text[:200])])
    encoder = MiniLM()
    for each, found in zip(texts, Engine(encoder, 60).measure(texts), strict=True):
        expected = by_definition(encoder, 60, each)
        assert all(agree(found[link], expected[link]) for link in expected)


def test_a_mention_over_an_edge_of_units_counts_in_both() -> None:
    def divergence(start: int, end: int) -> float:
        (found,) = Engine(WordEncoder(), 8).measure([AnnotatedText(text, [entity(start, end, "disease", 0)])])
        return found[0].divergence

    text = " ".join(f"w{number}" for number in range(16))
    start, end = text.index("w7"), text.index("w8") + 2
    assert divergence(start, end) == max(divergence(start, start + 2), divergence(end - 2, end)) > 0


def test_a_name_that_occurs_twice_keeps_its_marginal_risk_and_hazards_do_not_saturate() -> None:
    detector = PhraseDetector({"Keller": "person full name"})
    (text,) = annotate(detector, [Document("a", "Keller called. Keller left.")])
    (hazards,) = RiskPrior().hazards([text])
    assert marginal_risk(hazards.total, hazards.marginals[0], "hazard") == pytest.approx(0.85)
    assert marginal_risk(total=8.0, marginal=4.0, form="hazard") > 0.98
    assert marginal_risk(total=8.0, marginal=4.0, form="difference") < 0.02


def test_scores_stay_between_zero_and_one() -> None:
    for raw in (-1.0, 0.0, 0.05, 0.5, 2.0):
        for scale in (SCALE, EMBEDDED_SCALE):
            assert 0 <= scale.divergence(raw) <= 1 and 0 <= scale.distance(raw) <= 1
    # A scale without spread judges everything alike.
    assert Scale(0.2, 0.2, 0.2, 0.2, "test").divergence(0.9) == 0.5


def sample(values: Iterable[float]) -> list[dict[int, Distances]]:
    """Texts with one linked entity each."""
    return [{0: Distances(value, 1 - value)} for value in values]


def test_a_scale_is_fitted_to_percentiles() -> None:
    scale = fit_scale(sample(n / 100 for n in range(101)), "test")
    assert scale == Scale(0.05, 0.95, 0.05, 0.95, "the first 101 linked entities, test")
    assert scale.divergence(0.05) == scale.distance(0.05) == pytest.approx(0)
    assert scale.divergence(0.95) == scale.distance(0.95) == pytest.approx(1)
    assert scale.divergence(0.5) == pytest.approx(0.5)


def test_a_scale_needs_a_sample() -> None:
    values = [n / 100 for n in range(MIN_SAMPLE)]
    assert fit_scale(sample(values[1:]), "test") is EMBEDDED_SCALE
    assert fit_scale(sample(values), "test").source == f"the first {MIN_SAMPLE} linked entities, test"


def test_a_scale_has_no_more_than_two_decimals() -> None:
    scale = fit_scale(sample(n / 6091 + 0.0001234 for n in range(61)), "test")
    assert [*scale.percentiles] == [round(value, 2) for value in scale.percentiles]
