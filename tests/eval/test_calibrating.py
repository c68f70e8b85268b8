"""Thresholds fitted to documents: what they disclose, what is marked in them, and that an ingest obeys.

Every document, name and mark here is invented.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import app.ingesting
import eval.prepared
from app.cli.calibrate import _report_attack
from app.cli.main import main
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import Settings, load_policy_file, load_settings
from eval.corpora.corpus import Corpus
from eval.corpora.sensitive import sensitive_in
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.uncertainty import Estimate
from eval.prepared import Prepared, prepared
from eval.studies.audit.measures import Measure
from eval.studies.calibrate import (
    COUNTED,
    PROMPT,
    LeakCurve,
    ModelMarks,
    Promise,
    attack_curves,
    documents_needed,
    leak_curve,
    links_of,
    marked_by_model,
    marked_by_people,
    names_of,
    promised,
    threshold_from_marks,
    thresholds,
    upper_bound,
)
from eval.tasks.index import KEPT, IndexReader
from ingest.annotated import AnnotatedText
from ingest.deciding.policy import Policy, PolicyName, Treatment
from ingest.documents import Decision, Document, SanitizedDocument, Span
from ingest.errors import SanitizationError
from ingest.protocols import Hazards, Method, RiskModel
from ingest.read.reading import Reading
from ingest.read.sources import read_documents
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE, Scale, Weights
from models.errors import LetheError
from models.language.protocol import ChatMessage, PromptTooLong
from models.remembering import remembering
from retrieval.errors import CollectionError
from retrieval.manifest import read_manifest
from retrieval.system import System
from tests.commands import PLAIN, write_records
from tests.doubles import PhraseDetector, WordEncoder, entity

PHRASES = {
    "Tobias Orrin": "person full name",
    "Ada Venn": "person full name",
    "Bremen": "city name",
    "61": "person age",
    "lighthouse keeper": "occupation",
    "cough": "symptom",
    "knee": "symptom",
}
TEXTS = [
    "Tobias Orrin of Bremen, a lighthouse keeper, has a cough. Tobias Orrin is 61.",
    "Ada Venn was told to rest her knee. Ada Venn lives in Bremen.",
    "The boiler of the mill is broken.",
    "A cough is going round in Bremen.",
]
BARE = Policy("trip", direct_limit=1.0)
"""The threshold alone: no rule beside it."""
BITS = Policy("lethe", direct_limit=1.0)
"""The same by bits."""
BOTH = pytest.mark.parametrize("policy", [BARE, BITS], ids=lambda policy: policy.name)

SECRETS = ("Orrin", "Venn", "Bremen", "lighthouse")


def settings_in(folder: Path, **settings: object) -> Settings:
    plain: Mapping[str, object] = {
        "data_dir": str(folder / "data"), "risk.kind": "prior",
    }  # fmt: skip
    return load_settings({**plain, **settings})


def system_in(folder: Path, **settings: object) -> System:
    made = system_of(settings_in(folder, **settings), encoder=WordEncoder())
    return replace(made, detector=PhraseDetector(PHRASES))


@pytest.fixture
def system(tmp_path: Path) -> System:
    return system_in(tmp_path)


def corpus_of(texts: Sequence[str] = TEXTS, gold: Any = None) -> Corpus:
    return Corpus("invented", [Document(f"d{number}", text) for number, text in enumerate(texts)], gold=gold)


def ready_of(system: System, texts: Sequence[str] = TEXTS, gold: Any = None) -> Prepared:
    return prepared(system, corpus_of(texts, gold))


# -- thresholds ---------------------------------------------------------------------------------------------


def test_the_thresholds_of_the_usual_weights() -> None:
    taus = thresholds(Policy("trip"))
    assert (taus[0], taus[-1], len(taus)) == (-1.0, 2.05, 62)
    assert 0.6 in taus


weight = st.floats(0, 3).map(lambda each: round(each, 5))


@given(weight, weight, weight)
def test_thresholds_hold_every_priority_that_can_be(alpha: float, beta: float, gamma: float) -> None:
    taus = thresholds(Policy("trip", weights=Weights(alpha, beta, gamma)))
    assert taus[0] <= -beta
    assert taus[-1] > alpha + gamma
    assert np.diff(taus) == pytest.approx(0.05)
    assert len(taus) <= (alpha + beta + gamma) / 0.05 + 3


def test_thresholds_in_bits_go_from_what_keeps_nothing_to_one_in_a_billion() -> None:
    bits = thresholds(Policy("lethe"))
    assert bits[0] < 0 == bits[1], "a fact of no bits stays at any threshold above 0"
    assert np.diff(bits[1:]) == pytest.approx(0.5)
    assert 2 ** -bits[-1] < 1e-9
    assert thresholds(Policy("lethe", k=2, people=7, weights=Weights(beta=2.0))) == bits


# -- leakage by threshold -----------------------------------------------------------------------------------


def test_from_all_that_is_found_to_the_original(system: System) -> None:
    ready = ready_of(system)
    curve = leak_curve(ready, BARE, COUNTED["all"])
    assert curve.losses.shape == (3, len(curve.taus)), "a document without entities has nothing to leak"
    assert curve.losses.min() >= 0
    assert curve.losses.max() <= 1
    assert curve.losses[:, 0].tolist() == [0, 0, 0]
    assert curve.losses[:, -1].tolist() == [1, 1, 1]
    assert (curve.kept[0], curve.kept[-1]) == (0.0, 1.0)
    assert list(curve.kept) == sorted(curve.kept)
    assert len(set(curve.kept)) > 2, "one threshold decides for all of these: they show nothing"


def sanitized(ready: Prepared, policy: Policy) -> list[str]:
    outcomes = ready.by(policy).sanitizer().sanitize(ready.corpus.documents)
    assert all(isinstance(each, SanitizedDocument) for each in outcomes)
    return [each.text for each in outcomes if isinstance(each, SanitizedDocument)]


def test_the_strictest_threshold_is_redaction_and_the_loosest_none(system: System) -> None:
    ready = ready_of(system)
    strictest, *_, loosest = thresholds(BARE)
    assert sanitized(ready, BARE.at(strictest)) == sanitized(ready, Policy("redact"))
    assert sanitized(ready, BARE.at(loosest)) == TEXTS


def test_by_bits_the_strictest_threshold_keeps_nothing_and_the_loosest_all_but_rare_words(
    system: System,
) -> None:
    ready = ready_of(system)
    curve = leak_curve(ready, BITS, COUNTED["all"])
    assert curve.losses[:, 0].tolist() == [0, 0, 0]
    assert (curve.kept[0], list(curve.kept)) == (0.0, sorted(curve.kept))
    assert len(set(curve.kept)) > 2
    names = leak_curve(ready, BITS, lambda each: each.label == "person full name")
    strict = [place for place, bits in enumerate(names.taus) if bits <= 8]
    assert not names.losses[:, strict].any(), "a name says more than one in 256"
    commoner = leak_curve(ready, BITS, lambda each: each.label in ("city name", "symptom"))
    assert commoner.losses[:, -1].tolist() == [1, 1, 1]
    assert sanitized(ready, BITS.at(math.inf)) == TEXTS


@BOTH
def test_losses_are_what_stands_in_the_sanitized_texts(system: System, policy: Policy) -> None:
    ready = ready_of(system)
    curve = leak_curve(ready, policy, COUNTED["all"])
    sensitive = sensitive_in(ready.corpus, system.detector)
    # city, name, occupation, symptom, age: "61" has two characters and is not measurable
    assert [len(sensitive.behind([f"d{number}"])) for number in range(4)] == [4, 3, 0, 2]
    for place in (8, 20, 30):
        losses = iter(curve.losses[:, place])
        for original, text in zip(TEXTS, sanitized(ready, policy.at(curve.taus[place])), strict=True):
            there = {phrase for phrase in PHRASES if phrase in original} - {"61"}
            # A document that has nothing to leak has no row: it would make any threshold look safe.
            if there:
                assert next(losses) == pytest.approx(sum(phrase in text for phrase in there) / len(there))
        assert next(losses, None) is None


def test_only_what_is_counted_counts(system: System) -> None:
    losses = leak_curve(ready_of(system), BARE, COUNTED["identifiers"]).losses
    assert losses[:, -1].tolist() == [1, 1, 1]
    names = leak_curve(ready_of(system), BARE, lambda each: each.label == "person full name").losses
    assert names[:, -1].tolist() == [1, 1]


def test_documents_without_what_is_counted_cannot_dilute_a_promise(system: System) -> None:
    """A hundred documents without a name do not make the two that leak one any safer."""
    texts = [*TEXTS[:2], *["Invented. Nothing was said of anybody at all."] * 100]
    curve = leak_curve(ready_of(system, texts), BARE, lambda each: each.label == "person full name")
    assert curve.losses.shape[0] == 2
    with pytest.raises(LetheError, match="and here are 2"):
        promised(curve, 0.05, 0.95)
    nothing = leak_curve(ready_of(system, texts), BARE, lambda each: each.label == "passport number")
    with pytest.raises(LetheError, match="^No document has anything of what is counted, so there is "):
        promised(nothing, 0.05, 0.95)


def test_the_losses_of_any_attack_make_a_curve(system: System) -> None:
    ready = ready_of(system)
    reader = IndexReader([each.doc_id for each in ready.corpus.documents], NOTHING_SENSITIVE)
    lost = {"d0": 0.25, "d1": None, "d2": 1.0, "d3": 0.0}
    (curve, kept) = attack_curves(
        ready, BARE, reader, [lambda row: lost[row.case], lambda row: row.figures[KEPT] / 100]
    )
    assert curve.losses.tolist() == [[value] * len(curve.taus) for value in (0.25, 1.0, 0.0)]
    assert (np.diff(kept.losses, axis=1) >= 0).all()
    assert (kept.losses[:, 0] <= kept.losses[:, -1]).all()
    assert curve.kept == kept.kept


@BOTH
def test_hard_rules_hold_at_every_threshold(system: System, policy: Policy) -> None:
    ruled = replace(policy, direct_limit=0.0)
    curve = leak_curve(ready_of(system), ruled, lambda each: each.label == "person full name")
    assert not curve.losses.any()
    assert curve.kept[-1] < 1


def test_what_the_detector_missed_leaks_at_every_threshold(system: System) -> None:
    gold = {"d0": [{"text": "boiler", "label": "occupation"}]}
    curve = leak_curve(ready_of(system, TEXTS[2:3], gold), BARE, COUNTED["all"])
    assert (curve.losses == 1).all()


class Failing:
    """Decides like another method, and fails on every text with a word."""

    def __init__(self, method: Method) -> None:
        self.method, self.name = method, method.name

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        if any("knee" in text.text for text in texts):
            raise RuntimeError(f"cannot decide about {texts[0].text}")
        return self.method.decide(texts, hazards)


def test_a_document_that_cannot_be_sanitized_ends_it_by_its_id(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = System.method
    monkeypatch.setattr(System, "method", lambda self: Failing(own(self)))
    with pytest.raises(SanitizationError) as raised:
        leak_curve(ready_of(system), BARE, COUNTED["all"])
    assert str(raised.value).startswith("document d1 was not indexed: scoring failed (RuntimeError)")


def test_nothing_sensitive_is_refused(system: System) -> None:
    with pytest.raises(LetheError, match="^There is nothing sensitive to look for in 1 documents"):
        leak_curve(ready_of(system, TEXTS[2:3]), BARE, COUNTED["all"])


def test_each_phase_is_reported_to_its_end(system: System) -> None:
    steps: dict[str, list[tuple[int, int | None]]] = {}

    def phases(phase: str, done: int, total: int | None) -> None:
        steps.setdefault(phase, []).append((done, total))

    ready = prepared(system, corpus_of(), phases)
    curve = leak_curve(ready, BARE, COUNTED["all"], phases)
    n = len(curve.taus)
    assert steps["scoring"] == [(0, 4), (4, 4)]
    assert steps["thresholds"] == [(number, n) for number in range(n + 1)]


# -- promises -----------------------------------------------------------------------------------------------


def curve_of(means: Sequence[float], n: int) -> LeakCurve:
    losses = np.array([[float(row < round(mean * n)) for mean in means] for row in range(n)])
    taus = [number / 10 for number in range(len(means))]
    return LeakCurve(taus, losses, [number / 20 for number in range(len(means))])


def test_the_largest_threshold_that_was_shown_to_be_safe_is_promised() -> None:
    promise = promised(curve_of([0, 0.01, 0.02, 0.3, 0.0], 100), 0.1, 0.95)
    assert (promise.tau, promise.kept, promise.documents) == (0.2, 0.1, 100)
    assert (promise.max_leak, promise.confidence) == (0.1, 0.95)
    assert promise.measured == pytest.approx(0.02)
    assert promise.bound == upper_bound(promise.measured, 100, 0.95) <= 0.1
    assert [each.safe for each in promise.tested] == [True, True, True, False, False]


def test_too_few_documents_are_reported_with_the_number_needed() -> None:
    with pytest.raises(LetheError) as raised:
        promised(curve_of([0, 0], 58), 0.05, 0.95)
    assert str(raised.value) == (
        "No threshold can be promised to leak at most 0.05 with confidence 0.95: that takes 59 documents "
        "that have something to leak, even if nothing of it comes out, and here are 58. Give more documents, "
        "a larger --max-leak or a smaller --confidence."
    )
    assert promised(curve_of([0, 0], 59), 0.05, 0.95).tau == 0.1
    assert documents_needed(0.05, 0.95) == 59
    with pytest.raises(LetheError, match="leaks 0.017 of what a document has, on average over the 59 "):
        promised(curve_of([1 / 59], 59), 0.05, 0.95)


@pytest.mark.parametrize("n", [60, 80])
def test_documents_that_leak_at_the_strictest_are_reported(n: int) -> None:
    with pytest.raises(LetheError) as raised:
        promised(curve_of([0.25, 0.5], n), 0.05, 0.95)
    assert str(raised.value) == (
        "No threshold can be promised to leak at most 0.05 with confidence 0.95: the strictest of them, "
        "which generalizes all that is found, leaks 0.250 of what a document has, on average over the "
        f"{n} that have something to leak. What is left is not found by the detector: take a larger "
        "--max-leak."
    )


# -- linked entities and their marks ------------------------------------------------------------------------


@BOTH
def test_a_label_that_is_kept_has_no_threshold(system: System, policy: Policy) -> None:
    ready = ready_of(system)
    kept = replace(policy, treatment=Treatment({"city name": "keep"}))
    towns = sum(name == "Bremen" for text in ready.texts for name in names_of(text))
    assert len(links_of(ready, kept)) == len(links_of(ready, policy)) - towns


@BOTH
def test_linked_entities_come_in_the_order_of_their_names(system: System, policy: Policy) -> None:
    ready = ready_of(system)
    assert [names_of(text) for text in ready.texts] == [
        ["Tobias Orrin", "Bremen", "lighthouse keeper", "cough", "61"],
        ["Ada Venn", "knee", "Bremen"],
        [],
        ["cough", "Bremen"],
    ]
    marked = [[name == "Bremen" for name in names_of(text)] for text in ready.texts]
    ruled = replace(policy, direct_limit=0.0)
    found = links_of(ready, ruled, marked)
    assert [each.marked for each in found] == [mark for of_text in marked for mark in of_text]
    assert [each.always for each in found] == [True, *[False] * 4, True, *[False] * 4]
    assert not any(each.marked for each in links_of(ready, ruled))
    assert not any(each.always for each in links_of(ready, policy))


@BOTH
def test_a_threshold_takes_just_the_links_that_reach_it(system: System, policy: Policy) -> None:
    ready = ready_of(system)
    found = links_of(ready, policy)
    for link in found:
        # The least below it: k and the bits of k are not the same to the last digit.
        texts = sanitized(ready, policy.at(link.priority - 1e-9))
        names = [name for text in ready.texts for name in names_of(text)]
        places = [row for row, text in enumerate(ready.texts) for _ in names_of(text)]
        for name, row, each in zip(names, places, found, strict=True):
            assert (name not in texts[row]) == (each.priority >= link.priority)


def test_a_name_with_an_address_goes_always_only_if_both_do(tmp_path: Path) -> None:
    phrases = {"Tobias Orrin": "person full name", "t.orrin@example.org": "email address"}
    system = replace(system_in(tmp_path), detector=PhraseDetector(phrases))
    ready = ready_of(system, ["Tobias Orrin has t.orrin@example.org.", "Write to t.orrin@example.org."])
    assert [len(text.mentions()) for text in ready.texts] == [1, 1]
    assert [each.always for each in links_of(ready, BARE)] == [False, True]
    for ruled in (Policy("trip"), Policy("lethe")):
        assert [each.always for each in links_of(ready, ruled)] == [True, True]


def test_an_entity_is_named_by_its_longest_mention(tmp_path: Path) -> None:
    phrases = dict.fromkeys(("Tobias Orrin", "Orrin"), "person full name")
    system = replace(system_in(tmp_path), detector=PhraseDetector(phrases))
    (text,) = ready_of(system, ["Orrin came. It was Tobias Orrin, and Orrin left."]).texts
    assert names_of(text) == ["Tobias Orrin"]


def people(system: System, *marks: str, **more: object) -> list[bool]:
    rows = [{"text": mark, "label": "PERSON", **more} for mark in marks]
    ready = ready_of(system, TEXTS[:1], {"d0": rows})
    assert ready.corpus.gold is not None
    (marked,) = marked_by_people(ready, ready.corpus.gold)
    return marked


@pytest.mark.parametrize(
    ("mark", "places"),
    [
        ("Tobias Orrin", [0]),
        ("tobias  ORRIN", [0]),
        ("Orrin", [0]),
        ("Tobias Orrin of Bremen", [0, 1]),
        ("keeper", [2]),
        ("keep", []),
        ("mill", None),
        (" ", []),
        ("\u200b", []),
    ],
)
def test_what_people_marked_marks_what_says_it(system: System, mark: str, places: list[int] | None) -> None:
    if places is None:
        with pytest.raises(
            LetheError, match="document d0, gold row 0: its text does not stand in the document"
        ):
            people(system, mark)
    else:
        assert people(system, mark) == [place in places for place in range(5)]


def test_what_people_left_in_is_not_marked(system: System) -> None:
    assert not any(people(system, "Bremen", identifier="NO_MASK"))
    assert people(system) == [False] * 5


class Scripted:
    """A language model with one answer after the other; None where the prompt is too long."""

    name = "scripted (test double)"
    context_tokens = 2_048

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(len(each.content.split()) for each in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        assert max_tokens == PROMPT.max_tokens
        self.asked.append(messages[-1].content)
        answer = self.answers.pop(0)
        if answer is None:
            raise PromptTooLong(self.name, 9000, self.context_tokens)
        return answer


def test_a_model_is_asked_of_each_document_with_an_entity(system: System) -> None:
    model = Scripted('{"critical": [1, 3]}', "I cannot say.", "Really not.", '{"critical": [9]}')
    steps: list[tuple[str, int, int | None]] = []
    ready = ready_of(system)
    marks = marked_by_model(ready, model, 100, lambda *each: steps.append(each))
    asked = [each for each in model.asked if each.startswith("Document:")]
    assert all(text in said for text, said in zip([TEXTS[0], TEXTS[1], TEXTS[3]], asked, strict=True))
    assert "1. Tobias Orrin\n2. Bremen\n3. lighthouse keeper\n4. cough\n5. 61" in model.asked[0]
    assert marks == ModelMarks([[True, False, True, False, False], [False, False]], [0, 3], 1)
    assert steps == [(f"asking {model.name}", done, 3) for done in (0, 1, 2, 3)]
    part = ready.only(marks.documents)
    assert [document.doc_id for document in part.corpus.documents] == ["d0", "d3"]
    found = links_of(part, BARE, marks.marked)
    assert [each.marked for each in found] == [True, False, True, False, False, False, False]
    assert threshold_from_marks(found).links == 7
    assert not any(secret in repr((marks, part, ready)) for secret in SECRETS)


def test_no_more_documents_are_asked_about_than_wanted(system: System) -> None:
    model = Scripted("[1]", "[1]")
    assert marked_by_model(ready_of(system), model, 2).documents == [0, 1]
    assert model.answers == []


def test_a_document_too_long_for_the_model_is_passed_over(system: System) -> None:
    marks = marked_by_model(ready_of(system), Scripted("[1]", None, "[1]"), 3)
    assert (marks.documents, marks.unreadable) == ([0, 3], 1)


def test_half_of_the_answers_are_enough_and_less_are_not(system: System) -> None:
    assert marked_by_model(ready_of(system), Scripted("[1]", "no", "no"), 2).unreadable == 1
    with pytest.raises(LetheError) as raised:
        marked_by_model(ready_of(system), Scripted("[1]", "no", "no", None), 3)
    assert str(raised.value) == (
        "scripted (test double) gave no list of numbers for 2 of 3 documents: take a model that follows "
        "instructions better, or one with a larger context."
    )


def test_of_documents_without_an_entity_no_model_is_asked(system: System) -> None:
    ready = ready_of(system, TEXTS[2:3])
    marks = marked_by_model(ready, Scripted(), 100)
    assert marks == ModelMarks([], [], 0)
    with pytest.raises(LetheError, match="^None of the 0 linked entities is marked"):
        threshold_from_marks(links_of(ready.only(marks.documents), BARE, marks.marked))


# -- remembered risk ----------------------------------------------------------------------------------------


class Counting(RiskPrior):
    """Notes the texts that it is asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        self.asked += [text.text for text in texts]
        return super().hazards(texts)


def test_each_text_is_asked_about_once() -> None:
    counting = Counting()
    remembered: RiskModel = remembering(counting, "hazards", key=AnnotatedText.digest)
    texts = [AnnotatedText(text, [entity(0, 4, "person full name", 0)]) for text in ("Anna", "Otto", "Anna")]
    for asked in (texts, texts[::-1], texts[1:2], []):
        assert remembered.hazards(asked) == RiskPrior().hazards(asked)
    assert counting.asked == ["Anna", "Otto"]
    assert remembered.name == counting.name


def test_texts_that_differ_in_anything_a_model_reads_are_distinguished() -> None:
    plain = AnnotatedText("a person of Bremen", [entity(12, 18, "city name", 0)])
    others = [
        replace(plain, text="A person of Bremen"),
        replace(plain, entities=[]),
        replace(plain, entities=[entity(12, 17, "city name", 0)]),
        replace(plain, entities=[entity(12, 18, "person full name", 0)]),
        replace(plain, entities=[entity(12, 18, "city name", 1)]),
        replace(plain, stand_ins=[Span(0, 8)]),
        replace(plain, stand_ins=[Span(0, 7)]),
        replace(plain, text="a person of Bremen \ud800"),
    ]
    counting = Counting()
    remembered: RiskModel = remembering(counting, "hazards", key=AnnotatedText.digest)
    together = [plain, *others]
    assert remembered.hazards(together) == RiskPrior().hazards(together)
    assert remembered.hazards(together) == RiskPrior().hazards(together)
    assert len(counting.asked) == len(together)


def test_a_whole_curve_asks_of_each_original_once(tmp_path: Path) -> None:
    counting = Counting()
    leak_curve(ready_of(replace(system_in(tmp_path), risk=counting)), BARE, COUNTED["all"])
    assert len(counting.asked) == len(set(counting.asked))
    assert set(TEXTS) <= set(counting.asked)


# -- the scale ----------------------------------------------------------------------------------------------

TOWNS = ("Aldmoor", "Brinnel", "Corvath", "Dunwy", "Esterholm", "Fallowby", "Grenmark")
TRADES = ("miller", "cooper", "ferrier", "weaver", "glazier")
NAMES = ("Ilse Tarn", "Oswin Quill", "Petra Vosk", "Dario Lume")


def letters(many: int) -> list[str]:
    """Invented texts with five linked entities each."""
    return [
        f"Letter {n}: {NAMES[n % 4]}, a {TRADES[n % 5]} of {TOWNS[n % 7]}, moved to {TOWNS[(n + 3) % 7]} in "
        f"{1970 + n} and kept {n + 2} geese near the water."
        for n in range(many)
    ]


def with_many(folder: Path, **settings: object) -> System:
    made = system_in(folder, **settings)
    kinds = {"city name": TOWNS, "occupation": TRADES, "person full name": NAMES}
    phrases = {word: label for label, words in kinds.items() for word in words}
    return replace(made, detector=PhraseDetector(phrases | {str(year): "date" for year in range(1970, 2000)}))


def readings(texts: Sequence[str]) -> list[Reading]:
    return [Reading(Document(f"d{number}", text), len(text)) for number, text in enumerate(texts)]


def ingested_scale(folder: Path, texts: Sequence[str], system: System | None = None) -> Scale:
    data = DataDir(settings_in(folder))
    ingest(system or with_many(folder, **TRIP_ONLY), data, "letters", iter(readings(texts)))
    return read_manifest(data.folder("letters") / "manifest.json").scale


TRIP_ONLY = {"policy.name": "trip"}
"""Under lethe no scale is needed, and none is fitted."""


def test_the_scale_is_that_of_an_ingest_of_the_same_documents(tmp_path: Path) -> None:
    texts = letters(13)
    ready = ready_of(with_many(tmp_path, **TRIP_ONLY), texts)
    assert ready.scale.source.startswith("the first 65 linked entities")
    assert ready.scale == ingested_scale(tmp_path, texts)
    assert ready.scale.percentiles != EMBEDDED_SCALE.percentiles


@pytest.mark.parametrize(
    ("limit", "most", "entities"),
    [
        ("SAMPLE_ENTITIES", 60, 80),  # in whole batches of eight documents
        ("SAMPLE_DOCUMENTS", 11, 55),
        ("SAMPLE_CHARACTERS", 1300, 65),  # which the thirteenth document reaches
    ],
)
def test_a_long_corpus_is_sampled_as_an_ingest_samples_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, entities: int
) -> None:
    for module in (app.ingesting, eval.prepared):
        monkeypatch.setattr(module, limit, most)
    texts = letters(25)
    ready = ready_of(with_many(tmp_path, **TRIP_ONLY), texts)
    assert ready.scale.source.startswith(f"the first {entities} linked entities")
    assert ready.scale == ingested_scale(tmp_path, texts)
    assert len(ready.texts) == len(ready.hazards) == 25


def test_few_entities_get_the_embedded_scale_and_the_settings_win(tmp_path: Path) -> None:
    assert ready_of(system_in(tmp_path)).scale == EMBEDDED_SCALE
    given_scale = with_many(tmp_path, **{"policy.scale": (0.0, 0.5, 0.25, 1.0)})
    assert ready_of(given_scale, letters(13)).scale.percentiles == (0.0, 0.5, 0.25, 1.0)


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    system = system_in(tmp_path)
    ready = ready_of(system)
    encode = WordEncoder.encode
    calls: list[Sequence[str]] = []

    def noted(self: WordEncoder, texts: Sequence[str]) -> Any:
        calls.append(texts)
        return encode(self, texts)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WordEncoder, "encode", noted)
        leak_curve(ready, BARE, COUNTED["all"])
        assert not any(calls), "sanitizing by another threshold takes no vectors"
        replace(system, policy=BARE, scale=ready.scale).method().decide(ready.texts, ready.hazards)
        assert any(calls)


# -- the scale of the settings and the collections ----------------------------------------------------------


def test_a_given_scale_is_put_into_the_manifest_and_no_other_goes_in_later(tmp_path: Path) -> None:
    def with_scale(high: float) -> System:
        return with_many(tmp_path, **{"policy.scale": (0.0, high, 0.25, 1.0)})

    found = ingested_scale(tmp_path, letters(13), with_scale(0.5))
    assert found == Scale(0.0, 0.5, 0.25, 1.0, "the settings")
    assert (
        ingest(with_scale(0.5), DataDir(settings_in(tmp_path)), "letters", iter(readings(letters(14)))).kept
        == 1
    )
    with pytest.raises(CollectionError) as raised:
        ingest(with_scale(0.4), DataDir(settings_in(tmp_path)), "letters", iter(readings(letters(15))))
    assert str(raised.value).endswith(
        "uses scale (0.0, 0.5, 0.25, 1.0), you asked for (0.0, 0.4, 0.25, 1.0). Use the settings it was made "
        "with, or ingest into a new collection."
    )
    # without one of its own, a run takes that of the collection
    assert (
        ingest(
            with_many(tmp_path), DataDir(settings_in(tmp_path)), "letters", iter(readings(letters(15)))
        ).kept
        == 1
    )


def test_the_scale_of_the_settings_is_that_of_documents_outside_of_collections(tmp_path: Path) -> None:
    assert system_in(tmp_path).scale is None, "the embedded one is taken"
    assert system_in(tmp_path, **{"policy.scale": [0, 1, 0, 1]}).scale == Scale(0, 1, 0, 1, "the settings")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0.0, 1.0, 0.0], "policy.scale.3 (argument): Field required"),
        ("wide", "policy.scale (argument): should be a list"),
        ([0.0, math.inf, 0.0, 1.0], "policy.scale.1 (argument): should be a finite number"),
    ],
)
def test_a_scale_of_another_shape_is_refused(tmp_path: Path, value: object, message: str) -> None:
    with pytest.raises(LetheError) as raised:
        settings_in(tmp_path, **{"policy.scale": value})
    assert message in str(raised.value)


# -- the verb -----------------------------------------------------------------------------------------------

RECORDS = [
    f"Invented note. {title} {name}, aged {40 + n}, of {n + 3} Mill Lane, was seen on {n + 1} May 2021 for a "
    f"cough. Write to {name.split()[1].lower()}{n}@example.org or call about MRN: {553100 + n}."
    for n, (title, name) in enumerate(
        (title, name) for name in ("Ada Venn", "Oswin Tarrant", "Petra Vosk") for title in ("Mrs", "Dr", "Ms")
    )
]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in (PLAIN | {"LETHE_DATA_DIR": str(tmp_path / "data")}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LETHE_RETRIEVAL__PASSAGE_TOKENS", "32")
    monkeypatch.setenv("LETHE_DETECTOR__LEARNED", "true")
    monkeypatch.setattr("app.compose._encoder", lambda settings: WordEncoder())
    return write_records(tmp_path / "notes.jsonl", RECORDS)


TREES = ("ash", "birch", "cedar", "elm", "fir", "hazel", "lime", "oak", "pine")
OF_TREES = (
    "Invented. Mr Tobias Quell{tree} keeps goats. He sold the {tree} barn in May. His knee hurts at night. "
    "He takes drops of valerian. The {tree} road is shut. He plays the {tree} fiddle."
)
Ran = tuple[int, dict[str, Any], str]


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, " ".join(err.split())


def fitted_policy(figures: Mapping[str, Any], name: PolicyName) -> Policy:
    """The policy with the threshold of a result, as its file has it."""
    return Policy(name, tau=figures["tau"]) if name == "trip" else Policy(name, k=figures["k"])


@pytest.mark.parametrize("name", ["trip", "lethe"])
@pytest.mark.parametrize(
    "mode", [("--share", "0.8"), ("--max-leak", "0.4", "--confidence", "0.6")], ids=["share", "promise"]
)
def test_a_policy_file_makes_a_collection_with_its_scale_and_threshold(
    notes: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    mode: tuple[str, ...],
    name: PolicyName,
) -> None:
    monkeypatch.setenv("LETHE_POLICY__NAME", name)
    policy = notes.with_name("fitted.toml")
    code, figures, stderr = ran(capsys, "calibrate", str(notes), *mode, "--output", str(policy))
    assert code == 0, stderr
    assert f"policy: {policy}; use it with --policy {policy}" in stderr
    read = load_policy_file(policy)
    fitted = fitted_policy(figures, name)
    assert (read.name, read.k, read.tau) == (name, fitted.k, fitted.tau)
    assert fitted.threshold == pytest.approx(figures["tau"])
    if name == "lethe":
        assert read.scale is None and "scale" not in figures
        code, _, stderr = ran(capsys, "ingest", str(notes), "-c", "fitted", "--policy", str(policy))
        assert code == 0, stderr
        manifest = read_manifest(notes.parent / "data" / "collections" / "fitted" / "manifest.json")
        assert manifest.policy == fitted
        return
    assert read.scale == tuple(figures["scale"])
    assert figures["scale_source"].startswith("the first ")

    code, _, stderr = ran(capsys, "ingest", str(notes), "-c", "fitted", "--policy", str(policy))
    assert code == 0, stderr
    manifest = read_manifest(notes.parent / "data" / "collections" / "fitted" / "manifest.json")
    assert manifest.scale.percentiles == tuple(figures["scale"])
    assert manifest.policy == fitted

    ran(capsys, "ingest", str(notes), "-c", "bare")
    bare = read_manifest(notes.parent / "data" / "collections" / "bare" / "manifest.json")
    assert bare.scale.percentiles == tuple(figures["scale"]), "an ingest of these fits the same scale"

    lines = [line for line in policy.read_text().splitlines() if not line.startswith("scale")]
    policy.write_text("\n".join([*lines, "scale = [0.0, 1.0, 0.0, 1.0]\n"]))
    code, _, stderr = ran(capsys, "ingest", str(notes), "-c", "fitted", "--policy", str(policy))
    assert code == 1
    assert f"scale {tuple(figures['scale'])}, you asked for (0.0, 1.0, 0.0, 1.0)." in stderr


def test_a_promise_is_reported_with_all_that_it_rests_on(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--max-leak", "0.4", "--confidence", "0.6", "--count", "all")
    code, figures, stderr = ran(capsys, "calibrate", str(notes), *asked)
    assert code == 0, stderr
    assert (figures["method"], figures["counted"], figures["documents"]) == ("conformal", "all", 9)
    assert (figures["max_leak"], figures["confidence"]) == (0.4, 0.6)
    assert figures["measured_leakage"] <= figures["bound"] <= 0.4
    assert 0 <= figures["mentions_kept"] <= 1
    tested = figures["thresholds"]
    assert [each["tau"] for each in tested] == thresholds(Policy("lethe"))
    assert figures["tau"] == max(each["tau"] for each in tested if each["safe"])
    assert f"k {figures['k']:.3g} of 100: an index reader finds on average" in stderr
    assert "at most 40.0% of the sensitive entities (all) of a new document that has any" in stderr
    assert not any(secret in stderr + json.dumps(figures) for secret in ("Venn", "Tarrant", "Mill Lane"))


def test_an_attack_of_an_audit_can_be_bounded(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_records(notes.with_name("long.jsonl"), [OF_TREES.format(tree=tree) for tree in TREES])
    asked = ("--max-leak", "0.01", "--confidence", "0.99", "--attack")
    code, figures, stderr = ran(capsys, "calibrate", str(path), *asked, "told")
    assert (code, figures) == (1, {})
    assert "No threshold can be promised to leak at most 0.01 with confidence 0.99" in stderr
    code, figures, stderr = ran(capsys, "calibrate", str(path), *asked, "left-direct")
    assert (code, figures) == (2, {})
    assert (
        "--attack left-direct is none that can be promised. There are: linked, told, singled-out." in stderr
    )
    lenient = ("--max-leak", "0.99", "--confidence", "0.05", "--attack", "singled-out")
    code, figures, stderr = ran(capsys, "calibrate", str(path), *lenient)
    assert code == 0, stderr
    assert (figures["counted"], figures["documents"]) == ("singled-out", len(TREES))
    assert "each hidden among" not in stderr


def test_a_promise_about_an_attack_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    promise = Promise(0.4, 0.2, 0.9, 300, 0.1, 0.14, 0.55, ())
    reader = IndexReader((), NOTHING_SENSITIVE)
    measure = Measure(
        "linked",
        "documents found",
        "nobody",
        reader,
        lambda rows: Estimate(),
        "claims in other words",
        reference="the originals",
    )
    _report_attack(Policy("trip"), promise, measure, 299)
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "tau 0.4: the share of documents found is at most 20.0% in expectation, with confidence 90%." in said
    )
    assert "Measured: 10.00% over 300 documents, each hidden among 299 others, upper bound 14.00%;" in said
    assert said.endswith("The attack does not see claims in other words.")


def test_too_few_documents_are_reported_and_nothing_is_written(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = notes.with_name("fitted.toml")
    code, figures, stderr = ran(
        capsys, "calibrate", str(notes), "--max-leak", "0.05", "--output", str(policy)
    )
    assert (code, figures) == (1, {})
    assert "that takes 59 documents that have something to leak, even if nothing of it comes" in stderr
    assert "and here are 9." in stderr
    assert not policy.exists()


def test_what_the_settings_say_of_the_policy_stays_in_the_file(
    notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, object] = {
        "replacements": "alias", "people": 300.0, "direct_limit": 0.5,
        "alpha": 1.25, "beta": 0.25, "gamma": 0.5, "marginal": "difference", "epsilon": 3.0,
    }  # fmt: skip
    for name, value in said.items():
        monkeypatch.setenv(f"LETHE_POLICY__{name.upper()}", str(value))
    policy = notes.with_name("fitted.toml")
    code, figures, stderr = ran(capsys, "calibrate", str(notes), "--share", "0.9", "--output", str(policy))
    assert code == 0, stderr
    read = load_policy_file(policy)
    assert {name: getattr(read, name) for name in said} == said
    assert (read.name, read.k, read.scale) == ("lethe", figures["k"], None)
    assert read.tau == Policy().tau, "under lethe the scores decide nothing"
    assert policy.read_text().startswith("# fitted by lethe calibrate (share)\n")


def test_marks_of_people_fit_a_threshold(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in notes.read_text().splitlines()]
    for row in rows:
        row["marks"] = [{"text": "cough", "label": "symptom"}]
    notes.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code, figures, stderr = ran(capsys, "calibrate", str(notes), "--marks", "marks", "--quantile", "0.2")
    assert code == 0, stderr
    assert (figures["method"], figures["marked_by"], figures["marked"]) == ("marks", "marks", 9)
    assert figures["f1"] <= figures["best_f1"]
    code, _, stderr = ran(capsys, "calibrate", str(notes), "--marks", "gone")
    assert code == 2
    assert "No record has a field 'gone' among 3 fields." in stderr


def test_marks_of_a_model_fit_a_threshold(
    notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Scripted(*['{"critical": [1, 2, 3, 4, 5]}'] * 8, "no", "no")
    monkeypatch.setattr("app.compose.generating_model_of", lambda settings: model)
    code, figures, stderr = ran(capsys, "calibrate", str(notes), "--ask-model")
    assert code == 0, stderr
    assert (figures["marked_by"], figures["marked"]) == (model.name, 40)
    assert f"asking {model.name}" in stderr


def never(*_: object, **__: object) -> Any:
    raise AssertionError("documents were read before the arguments were looked at")


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.calibrate.read_corpus", never)
    monkeypatch.setattr("app.cli.calibrate.gold_rows", never)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--share", "0.5", "--policy", "redact"],
            "Only lethe and trip have a threshold, and this is redact: leave out --policy.",
        ),
        (
            ["--ask-model"],
            "--ask-model needs a language model: set generator.kind to llama_cpp or openai_compatible, or "
            "name a file with --gguf.",
        ),
        (
            ["--share", "0.5", "--output", "fitted"],
            "fitted: a policy file must end in .toml, else --policy reads it as a policy's name.",
        ),
    ],
)
def test_misuse_is_reported_before_anything_is_read(
    notes: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    code, figures, stderr = ran(capsys, "calibrate", str(notes), *arguments)
    assert (code, figures, stderr) == (2, {}, f"lethe: {sentence}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "one of the arguments --max-leak --share --marks --ask-model is required"),
        (["--share", "0.5", "--ask-model"], "argument --ask-model: not allowed with argument --share"),
        (["--max-leak", "1"], "argument --max-leak: must be a number above 0 and below 1"),
        (
            ["--max-leak", "0.1", "--confidence", "1"],
            "argument --confidence: must be a number above 0 and below 1",
        ),
        (["--max-leak", "0.1", "--count", "names"], "argument --count: invalid choice: 'names'"),
    ],
)
def test_arguments_that_do_not_go_together_are_misuse(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["calibrate", "notes.jsonl", *arguments])
    assert raised.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder / "nowhere" / "fitted.toml", "No such file or directory"),
        (lambda folder: (folder / "is.toml").mkdir() or folder / "is.toml", "Is a directory"),
        (
            lambda folder: (folder / "file").write_text("x") and folder / "file" / "fitted.toml",
            "Not a directory",
        ),
    ],
    ids=["nowhere", "folder", "file"],
)
def test_a_file_that_cannot_be_written_is_reported_before_anything_is_read(
    notes: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], Path], reason: str
) -> None:
    path = make(notes.parent)
    code, figures, stderr = ran(capsys, "calibrate", str(notes), "--share", "0.5", "--output", str(path))
    assert (code, figures) == (1, {})
    assert stderr == f"lethe: {path}: the policy could not be written ({reason}). Name another file."


def test_a_policy_that_was_there_stays_until_there_is_another(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = notes.with_name("fitted.toml")
    policy.write_text("tau = 0.25\n")
    code, _, _ = ran(capsys, "calibrate", str(notes), "--share", "0.01", "--output", str(policy))
    assert code == 1, "the hard rules take more"
    assert policy.read_text() == "tau = 0.25\n"


def test_documents_that_cannot_be_read_are_reported(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with notes.open("a") as file:
        file.write("{broken\n")
    code, figures, stderr = ran(capsys, "calibrate", str(notes), "--share", "0.9")
    assert (code, figures["method"], figures["share"]) == (0, "share", 0.9)
    assert "1 documents could not be read and are not counted" in stderr


def test_the_real_parts_promise_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    notes = write_records(tmp_path / "notes.jsonl", RECORDS[:4])
    policy = tmp_path / "fitted.toml"
    asked = ("--max-leak", "0.6", "--confidence", "0.5", "--output", str(policy))
    code, figures, stderr = ran(capsys, "calibrate", str(notes), *asked)
    assert code == 0, stderr
    assert figures["documents"] == 4
    assert load_policy_file(policy).k == figures["k"]
    assert [each.item.doc_id for each in read_documents([str(notes)]) if isinstance(each.item, Document)]
