"""The estimating engine: what it keeps of the exact one, and when that is asked."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from app.compose import system_of
from app.settings.load import load_settings
from ingest.annotated import AnnotatedText
from ingest.deciding.policy import DIRECT, Policy
from ingest.deciding.trip import Trip
from ingest.documents import Action, Document, Span
from ingest.protocols import Decided, StatesEncoder
from ingest.rendering.replace import apply
from ingest.sanitize import annotate
from ingest.scoring.exact import ExactEngine
from ingest.scoring.fast import CONTEXT_FACTOR, FastEngine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.raw import Distances, Measurements, Wanted, always
from ingest.scoring.scale import EMBEDDED_SCALE, Scale, Weights
from models.encoders.minilm import MiniLM
from models.errors import ConfigurationError
from tests.doubles import BlindEncoder, PhraseDetector, WordEncoder, entity
from tests.strategies import sentences_about_people

UNIT = 8
SCALE = Scale(0.0, 1.0, 0.0, 1.0, "test")


class Counting:
    """An exact engine that counts the links that it is asked about."""

    name = "counting"

    def __init__(self, encoder: StatesEncoder, unit: int = UNIT) -> None:
        self._engine = ExactEngine(encoder, unit)
        self.asked: list[set[int]] = []

    def units(self, text: str) -> list[Span]:
        return self._engine.units(text)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        self.asked += [set(text.mentions()) for text in texts]
        return self._engine.measure(texts, wanted)


class Fixed:
    """Exact distances, and one divergence for all."""

    name = "fixed"

    def __init__(self, encoder: StatesEncoder, divergence: float) -> None:
        self._engine = ExactEngine(encoder, UNIT)
        self._divergence = divergence

    def units(self, text: str) -> list[Span]:
        return self._engine.units(text)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        return [
            {number: replace(each, divergence=self._divergence) for number, each in measured.items()}
            for measured in self._engine.measure(texts)
        ]


def divergence_of(measured: Distances) -> float:
    assert measured.divergence is not None
    return measured.divergence


def expected(exact: Distances) -> Distances:
    """What the estimate is where tokens know nothing of each other."""
    return replace(exact, divergence=min(2.0, CONTEXT_FACTOR * divergence_of(exact)))


def near(one: Distances, other: Distances) -> bool:
    pairs = ((one.divergence, other.divergence), (one.distance, other.distance))
    return all(a == pytest.approx(b, abs=2e-5) for a, b in pairs)


def annotated(text: str, *places: tuple[int, int, str]) -> AnnotatedText:
    """A text with mentions, each linked with itself alone."""
    found = [entity(start, end, label, number) for number, (start, end, label) in enumerate(places)]
    return AnnotatedText(text, found)


@settings(max_examples=100, deadline=None)
@given(sentences_about_people())
def test_without_context_the_estimate_is_the_exact_measurement_times_the_factor(text: AnnotatedText) -> None:
    encoder = BlindEncoder()
    (exact,) = ExactEngine(encoder, 500).measure([text])
    (fast,) = FastEngine(encoder, 500).measure([text])
    assert exact.keys() == fast.keys() == text.mentions().keys()
    for number in exact:
        # where nothing is left of the one unit, the estimate is exact
        assert near(fast[number], expected(exact[number])) or near(fast[number], exact[number])


@settings(max_examples=100, deadline=None)
@given(sentences_about_people())
def test_distances_are_exact_in_any_unit(text: AnnotatedText) -> None:
    encoder = BlindEncoder()
    (exact,) = ExactEngine(encoder, UNIT).measure([text])
    (fast,) = FastEngine(encoder, UNIT).measure([text])
    assert exact.keys() == fast.keys()
    assert all(exact[n].distance == pytest.approx(fast[n].distance, abs=2e-6) for n in exact)
    assert all(0 <= divergence_of(fast[n]) + 1e-6 <= 2 + 2e-6 for n in fast)


@pytest.mark.parametrize("text", ["Anna Keller", "Anna Keller. "])
def test_a_mention_that_is_the_whole_unit_is_measured_exactly(text: str) -> None:
    encoder = MiniLM()
    whole = annotated(text, (0, len(text), "person full name"))
    (exact,) = ExactEngine(encoder, 60).measure([whole])
    (fast,) = FastEngine(encoder, 60).measure([whole])
    assert near(fast[0], exact[0])
    assert divergence_of(exact[0]) > 0.1


def test_a_mention_over_an_edge_of_units_counts_in_both() -> None:
    encoder = BlindEncoder()
    words = [f"w{number}" for number in range(2 * UNIT)]
    text = " ".join(words)
    start, end = text.index(f"w{UNIT - 1}"), text.index(f"w{UNIT}") + len(f"w{UNIT}")
    over = annotated(text, (start, end, "disease"))
    (exact,) = ExactEngine(encoder, UNIT).measure([over])
    (fast,) = FastEngine(encoder, UNIT).measure([over])
    assert near(fast[0], expected(exact[0]))
    left, right = (
        FastEngine(encoder, UNIT).measure([annotated(text, place)])[0][0]
        for place in ((start, start + 2, "disease"), (end - 2, end, "disease"))
    )
    assert fast[0].divergence == pytest.approx(max(divergence_of(left), divergence_of(right)))


def test_overlapping_mentions_of_a_link_are_taken_out_once() -> None:
    encoder = BlindEncoder()
    text = "nurse Anna Keller of Bremen saw the heron at noon"
    once = AnnotatedText(text, [entity(6, 17, "person full name", 0)])
    twice = AnnotatedText(text, [*once.entities, entity(11, 17, "person full name", 0)])
    engine = FastEngine(encoder, UNIT * 2)
    assert engine.measure([twice]) == engine.measure([once])


def test_marks_at_the_ends_are_outside_of_every_mention() -> None:
    encoder = MiniLM()
    ((places, states),) = encoder.states(["Anna Keller kept the lighthouse."])
    assert places[0] == places[-1] == (0, 0)
    assert states.shape == (len(places), encoder.dim)
    mean = states.mean(axis=0)
    (vector,) = encoder.encode(["Anna Keller kept the lighthouse."])
    assert mean / np.linalg.norm(mean) == pytest.approx(vector, abs=1e-6)


def test_states_do_not_depend_on_the_batch() -> None:
    texts = ["short", "An invented sentence about a lighthouse. " * 9, "", "😀 café"]
    encoder = MiniLM()
    together = encoder.states(texts)
    for text, (places, states) in zip(texts, together, strict=True):
        ((alone_places, alone),) = encoder.states([text])
        assert places == alone_places
        assert states == pytest.approx(alone, abs=1e-5)


def test_batches_do_not_change_measurements() -> None:
    detector = PhraseDetector({"Keller": "person full name", "cough": "symptom"})
    texts = annotate(detector, [Document(str(n), f"Keller has a cough {n} " * (n + 1)) for n in range(5)])
    engine = FastEngine(BlindEncoder(), UNIT)
    assert [engine.measure([text])[0] for text in texts] == engine.measure(texts)


def test_units_beyond_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = PhraseDetector({"Keller": "person full name", "cough": "symptom"})
    texts = annotate(detector, [Document(str(n), f"Keller has a cough {n} " * 9) for n in range(5)])
    engine = FastEngine(BlindEncoder(), UNIT)
    at_once = engine.measure(texts)
    monkeypatch.setattr("ingest.scoring.fast._BATCH_UNITS", 2)
    assert engine.measure(texts) == at_once


def test_an_encoder_without_states_is_refused() -> None:
    with pytest.raises(ConfigurationError) as refused:
        FastEngine(WordEncoder(), UNIT)
    assert str(refused.value) == (
        "The encoder word-sum (test double) does not show the states of its tokens, which policy.engine = "
        '"fast" reads. Set policy.engine to "exact".'
    )


def test_the_settings_choose_the_engine() -> None:
    fast = system_of(load_settings({"policy": {"engine": "fast"}}))
    assert fast.engine.name == "fast"
    assert fast.exact is not None
    assert fast.exact.name == "exact"
    assert system_of(load_settings({})).exact is None


# -- decisions -------------------------------------------------------------------------------------------

STORIES = [
    "Anna Keller, 61, kept the lighthouse of Varde for thirty years. She was seen in May for a cough and "
    "asthma, and took lisinopril. The heron of Varde was fed by the keeper, a retired nurse.",
    "Minutes: the boiler of the mill in Norrholm is broken. Bo Lindqvist, an engineer, asks 4,200 euros for "
    "it. The mill pays in June. He has diabetes and cannot climb to the tank.",
    "The tribunal heard Carla Menke, aged 44, of Varde. She worked as a welder for Halvorsen Lifts until "
    "March and claims 9,000 euros. Her back pain began in the winter.",
]
PHRASES = {
    "Anna Keller": "person full name", "Bo Lindqvist": "person full name", "Carla Menke": "person full name",
    "61": "person age", "44": "person age", "Varde": "city name", "Norrholm": "city name",
    "cough": "symptom", "asthma": "disease", "diabetes": "disease", "back pain": "symptom",
    "lisinopril": "medication", "nurse": "occupation", "engineer": "occupation", "welder": "occupation",
    "May": "date", "June": "date", "March": "date", "Halvorsen Lifts": "organization",
    "4,200 euros": "money amount", "9,000 euros": "money amount",
}  # fmt: skip


@pytest.fixture(scope="module")
def stories() -> list[AnnotatedText]:
    return annotate(PhraseDetector(PHRASES), [Document(str(n), text) for n, text in enumerate(STORIES)])


def test_the_embedded_encoder_ranks_divergences_nearly_as_cutting_out_does(
    stories: list[AnnotatedText],
) -> None:
    encoder = MiniLM()
    exact, fast = (
        [each for found in engine.measure(stories) for each in found.values()]
        for engine in (ExactEngine(encoder, 128), FastEngine(encoder, 128))
    )
    assert len(exact) > 18
    assert rank_correlation(list(map(divergence_of, exact)), list(map(divergence_of, fast))) > 0.8
    assert all(e.distance == pytest.approx(f.distance, abs=1e-5) for e, f in zip(exact, fast, strict=True))


def rank_correlation(one: list[float], other: list[float]) -> float:
    first, second = (np.argsort(np.argsort(values)).astype(np.float64) for values in (one, other))
    return float(np.corrcoef(first, second)[0, 1])


@pytest.mark.parametrize("tau", [-0.3, 0.2, 0.5, 0.6, 0.7, 0.9])
def test_the_threshold_decides_as_with_the_exact_engine(stories: list[AnnotatedText], tau: float) -> None:
    encoder, risk = MiniLM(), RiskPrior()
    policy = Policy(tau=tau, residual_limit=1.0, direct_limit=1.0, quasi_limit=1.0)
    hazards = risk.hazards(stories)
    exact = ExactEngine(encoder, 128)
    slow = Trip(exact, risk, EMBEDDED_SCALE, policy).decide(stories, hazards, apply)
    fast = Trip(FastEngine(encoder, 128), risk, EMBEDDED_SCALE, policy, exact).decide(stories, hazards, apply)
    assert [outcome(each) for each in fast] == [outcome(each) for each in slow]


def test_the_assembled_system_measures_again(stories: list[AnnotatedText]) -> None:
    encoder, outcomes = BlindEncoder(), []
    for engine in ("exact", "fast"):
        chosen = {"engine": engine, "tau": 0.3, "beta": 2.0, "residual_limit": 1.0}
        settings = load_settings({"policy": chosen, "risk": {"kind": "prior"}})
        system = replace(system_of(settings, encoder=encoder), scale=SCALE)
        decided = system.method().decide(stories, system.risk.hazards(stories), apply)
        outcomes.append([outcome(each) for each in decided])
    assert outcomes[0] == outcomes[1]


@settings(max_examples=60, deadline=None)
@given(sentences_about_people())
def test_whatever_the_estimates_the_threshold_decides_as_with_the_exact_engine(text: AnnotatedText) -> None:
    """The estimates of this encoder are wrong by the whole factor."""
    encoder, risk = BlindEncoder(), RiskPrior()
    policy = Policy(residual_limit=1.0, direct_limit=1.0, quasi_limit=1.0, weights=Weights(beta=0.9))
    hazards = risk.hazards([text])
    exact = ExactEngine(encoder, UNIT)
    (slow,) = Trip(exact, risk, SCALE, policy).decide([text], hazards, apply)
    (fast,) = Trip(FastEngine(encoder, UNIT), risk, SCALE, policy, exact).decide([text], hazards, apply)
    assert outcome(fast) == outcome(slow)


def test_only_what_the_divergence_can_decide_is_measured_again(stories: list[AnnotatedText]) -> None:
    encoder, risk = BlindEncoder(), RiskPrior()
    hazards = risk.hazards(stories)

    def asked(policy: Policy) -> list[set[int]]:
        counting = Counting(encoder)
        Trip(FastEngine(encoder, UNIT), risk, SCALE, policy, counting).decide(stories, hazards, apply)
        return counting.asked

    def kept_at(divergence: float, policy: Policy) -> list[set[int]]:
        decided = Trip(Fixed(encoder, divergence), risk, SCALE, policy).decide(stories, hazards, apply)
        return [{d.entity.link for d in each.decisions if d.action is Action.KEEP} for each in decided]

    for tau in (5.0, -5.0):
        assert asked(Policy(tau=tau, residual_limit=1.0, quasi_limit=1.0)) == [set(), set(), set()]
    policy = Policy(tau=0.5, residual_limit=1.0, quasi_limit=1.0)
    least, most = kept_at(0.0, policy), kept_at(2.0, policy)
    assert asked(policy) == [more - less for less, more in zip(least, most, strict=True)]
    assert 0 < sum(len(links) for links in asked(policy)) < sum(len(text.mentions()) for text in stories)


def test_names_that_go_anyway_are_not_measured_again(stories: list[AnnotatedText]) -> None:
    encoder, risk = BlindEncoder(), RiskPrior()
    hazards, counting = risk.hazards(stories), Counting(encoder)
    policy = Policy(tau=0.9, residual_limit=1.0, quasi_limit=1.0)
    decided = Trip(FastEngine(encoder, UNIT), risk, SCALE, policy, counting).decide(stories, hazards, apply)
    direct = [{d.entity.link for d in each.decisions if d.reason == DIRECT} for each in decided]
    assert all(direct)
    assert not any(names & links for names, links in zip(direct, counting.asked, strict=True))


def outcome(decided: Decided) -> list[tuple[Action, str]]:
    return [(decision.action, decision.reason) for decision in decided.decisions]
