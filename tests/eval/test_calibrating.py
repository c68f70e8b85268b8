"""Thresholds fitted to documents: what they disclose, what is marked in them, and that an ingest obeys.

Every document, name and mark here is invented.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import app.ingesting
import eval.prepared
from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import Settings, load_policy_file, load_settings
from eval.corpora.corpus import Corpus
from eval.corpora.sensitive import sensitive_in
from eval.documents import EntityRef
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.prepared import Prepared, prepared
from eval.studies import calibrate as fitting
from eval.tasks.index import KEPT, IndexReader
from ingest.annotated import AnnotatedText
from ingest.deciding.policy import Policy, PolicyName, Treatment
from ingest.documents import Decision, Document, SanitizedDocument, Span
from ingest.errors import SanitizationError
from ingest.protocols import Hazards, Method, RiskModel
from ingest.read.reading import Reading
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE, Scale, Weights
from models.errors import LetheError
from models.language.protocol import PromptTooLong
from models.remembering import remembering
from retrieval.errors import CollectionError
from retrieval.manifest import Manifest, read_manifest
from retrieval.system import System
from tests.commands import PLAIN, in_process, write_lines, write_records
from tests.doubles import PhraseDetector, Scripted, WordEncoder, entity

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
    return load_settings({"data_dir": str(folder / "data"), "risk.kind": "prior", **settings})


def system_in(folder: Path, phrases: dict[str, str] = PHRASES, **policy: object) -> System:
    chosen = {f"policy.{name}": value for name, value in policy.items()}
    made = system_of(settings_in(folder, **chosen), encoder=WordEncoder())
    return replace(made, detector=PhraseDetector(phrases))


def ready_of(system: System, texts: Sequence[str] = TEXTS, gold: Any = None) -> Prepared:
    documents = [Document(f"d{number}", text) for number, text in enumerate(texts)]
    return prepared(system, Corpus("invented", documents, gold=gold))


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> System:
    return system_in(tmp_path_factory.mktemp("system"))


@pytest.fixture(scope="module")
def ready(system: System) -> Prepared:
    return ready_of(system)


weight = st.floats(0, 3).map(lambda each: round(each, 5))


@given(weight, weight, weight)
def test_thresholds_hold_every_priority_that_can_be(alpha: float, beta: float, gamma: float) -> None:
    taus = fitting.thresholds(Policy("trip", weights=Weights(alpha, beta, gamma)))
    assert taus[0] <= -beta and taus[-1] > alpha + gamma
    assert np.diff(taus) == pytest.approx(0.05)
    assert len(taus) <= (alpha + beta + gamma) / 0.05 + 3


def test_the_usual_thresholds() -> None:
    taus = fitting.thresholds(Policy("trip"))
    assert (taus[0], taus[-1], len(taus), 0.6 in taus) == (-1.0, 2.05, 62, True)
    bits = fitting.thresholds(Policy("lethe"))
    assert bits[0] < 0 == bits[1], "a fact of no bits stays at any threshold above 0"
    assert np.diff(bits[1:]) == pytest.approx(0.5)
    assert 2 ** -bits[-1] < 1e-9
    assert fitting.thresholds(Policy("lethe", k=2, people=7, weights=Weights(beta=2.0))) == bits


def labelled(*labels: str) -> Callable[[EntityRef], bool]:
    return lambda each: each.label in labels


NAMES_ONLY = labelled("person full name")


def sanitized(ready: Prepared, policy: Policy) -> list[str]:
    outcomes = ready.by(policy).sanitizer().sanitize(ready.corpus.documents)
    return [each.text for each in outcomes if isinstance(each, SanitizedDocument)]


@BOTH
def test_losses_are_what_stands_in_the_sanitized_texts(ready: Prepared, policy: Policy) -> None:
    curve = fitting.leak_curves(ready, policy, [fitting.COUNTED["all"]])[0]
    assert curve.losses.shape == (3, len(curve.taus)), "a document without entities has nothing to leak"
    assert curve.losses[:, 0].tolist() == [0, 0, 0] and curve.losses.max() <= 1
    assert curve.kept[0] == 0 and list(curve.kept) == sorted(curve.kept)
    assert len(set(curve.kept)) > 2, "one threshold decides for all of these: they show nothing"
    sensitive = sensitive_in(ready.corpus, ready.system.detector)
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


def test_the_strictest_threshold_is_redaction_and_the_loosest_none(ready: Prepared) -> None:
    counted = [fitting.COUNTED["all"], fitting.COUNTED["identifiers"], NAMES_ONLY]
    everything, identifiers, names = fitting.leak_curves(ready, BARE, counted)
    assert sanitized(ready, BARE.at(everything.taus[0])) == sanitized(ready, Policy("redact"))
    assert sanitized(ready, BARE.at(everything.taus[-1])) == sanitized(ready, BITS.at(math.inf)) == TEXTS
    assert everything.losses[:, -1].tolist() == identifiers.losses[:, -1].tolist() == [1, 1, 1]
    assert names.losses[:, -1].tolist() == [1, 1], "only what is counted counts"
    # By bits, the loosest keeps all but rare words.
    names, commoner = fitting.leak_curves(ready, BITS, [NAMES_ONLY, labelled("city name", "symptom")])
    strict = [place for place, bits in enumerate(names.taus) if bits <= 8]
    assert not names.losses[:, strict].any(), "a name says more than one in 256"
    assert commoner.losses[:, -1].tolist() == [1, 1, 1]


def test_documents_without_what_is_counted_cannot_dilute_a_promise(system: System) -> None:
    """A hundred documents without a name do not make the two that leak one any safer."""
    ready = ready_of(system, [*TEXTS[:2], *["Invented. Nothing was said of anybody at all."] * 100])
    curve, nothing = fitting.leak_curves(ready, BARE, [NAMES_ONLY, labelled("passport number")])
    assert curve.losses.shape[0] == 2
    with pytest.raises(LetheError, match="and here are 2"):
        fitting.promised(curve, 0.05, 0.95)
    with pytest.raises(LetheError, match="^No document has anything of what is counted, so there is "):
        fitting.promised(nothing, 0.05, 0.95)


def test_the_losses_of_any_attack_make_a_curve(ready: Prepared) -> None:
    reader = IndexReader([each.doc_id for each in ready.corpus.documents], NOTHING_SENSITIVE)
    lost = {"d0": 0.25, "d1": None, "d2": 1.0, "d3": 0.0}
    losses = [lambda row: lost[row.case], lambda row: row.figures[KEPT] / 100]
    curve, kept = fitting.attack_curves(ready, BARE, reader, losses)
    assert curve.losses.tolist() == [[value] * len(curve.taus) for value in (0.25, 1.0, 0.0)]
    assert (np.diff(kept.losses, axis=1) >= 0).all()
    assert curve.kept == kept.kept


@BOTH
def test_hard_rules_hold_at_every_threshold(ready: Prepared, policy: Policy) -> None:
    curve = fitting.leak_curves(ready, replace(policy, direct_limit=0.0), [NAMES_ONLY])[0]
    assert not curve.losses.any() and curve.kept[-1] < 1


def test_what_the_detector_missed_leaks_at_every_threshold(system: System) -> None:
    gold = {"d0": [{"text": "boiler", "label": "occupation"}]}
    ready = ready_of(system, TEXTS[2:3], gold)
    assert (fitting.leak_curves(ready, BARE, [fitting.COUNTED["all"]])[0].losses == 1).all()
    with pytest.raises(LetheError, match="^There is nothing sensitive to look for in 1 documents"):
        fitting.leak_curves(ready_of(system, TEXTS[2:3]), BARE, [fitting.COUNTED["all"]])


class Failing:
    """Decides like another method, and fails on every text with a word."""

    def __init__(self, method: Method) -> None:
        self.method, self.name = method, method.name

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        if any("knee" in text.text for text in texts):
            raise RuntimeError(f"cannot decide about {texts[0].text}")
        return self.method.decide(texts, hazards)


def test_a_document_that_cannot_be_sanitized_ends_it_by_its_id(
    ready: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = System.method
    monkeypatch.setattr(System, "method", lambda self: Failing(own(self)))
    with pytest.raises(SanitizationError, match=r"^document d1 was not indexed: scoring failed \(RuntimeErr"):
        fitting.leak_curves(ready, BARE, [fitting.COUNTED["all"]])


def test_each_phase_is_reported_to_its_end_and_each_original_is_scored_once(system: System) -> None:
    steps: dict[str, list[tuple[int, int | None]]] = {}

    def phases(phase: str, done: int, total: int | None) -> None:
        steps.setdefault(phase, []).append((done, total))

    counting = Counting()
    corpus = ready_of(system).corpus
    ready = prepared(replace(system, risk=counting), corpus, phases)
    n = len(fitting.leak_curves(ready, BARE, [fitting.COUNTED["all"]], phases)[0].taus)
    assert steps["scoring"] == [(0, 4), (4, 4)]
    assert steps["thresholds"] == [(number, n) for number in range(n + 1)]
    assert len(counting.asked) == len(set(counting.asked)) and set(TEXTS) <= set(counting.asked)


def curve_of(means: Sequence[float], n: int) -> fitting.LeakCurve:
    losses = np.array([[float(row < round(mean * n)) for mean in means] for row in range(n)])
    taus = [number / 10 for number in range(len(means))]
    return fitting.LeakCurve(taus, losses, [number / 20 for number in range(len(means))])


def test_the_largest_threshold_that_was_shown_to_be_safe_is_promised() -> None:
    promise = fitting.promised(curve_of([0, 0.01, 0.02, 0.3, 0.0], 100), 0.1, 0.95)
    assert (promise.tau, promise.kept, promise.documents) == (0.2, 0.1, 100)
    assert (promise.max_leak, promise.confidence) == (0.1, 0.95)
    assert promise.measured == pytest.approx(0.02)
    assert promise.bound == fitting.upper_bound(promise.measured, 100, 0.95) <= 0.1
    assert [each.safe for each in promise.tested] == [True, True, True, False, False]
    assert fitting.promised(curve_of([0, 0], 59), 0.05, 0.95).tau == 0.1


def test_what_cannot_be_promised_is_reported_with_what_would_help() -> None:
    begun = "^No threshold can be promised to leak at most 0.05 with confidence 0.95: "
    with pytest.raises(LetheError, match=f"{begun}that takes 59 .* and here are 58. Give more "):
        fitting.promised(curve_of([0, 0], 58), 0.05, 0.95)
    with pytest.raises(LetheError, match=f"{begun}the strictest .* leaks 0.250 .* the 60 .* take a larger"):
        fitting.promised(curve_of([0.25, 0.5], 60), 0.05, 0.95)


@BOTH
def test_linked_entities_come_in_the_order_of_their_names(ready: Prepared, policy: Policy) -> None:
    names = [fitting.names_of(text) for text in ready.texts]
    assert names == [
        ["Tobias Orrin", "Bremen", "lighthouse keeper", "cough", "61"],
        ["Ada Venn", "knee", "Bremen"],
        [],
        ["cough", "Bremen"],
    ]
    towns = [[name == "Bremen" for name in each] for each in names]
    ruled = replace(policy, direct_limit=0.0)
    found = fitting.links_of(ready, ruled, towns)
    assert [each.marked for each in found] == sum(towns, [])
    assert [each.always for each in found] == [True, *[False] * 4, True, *[False] * 4]
    assert not any(each.marked for each in fitting.links_of(ready, ruled))
    free = fitting.links_of(ready, policy)
    assert not any(each.always for each in free)
    kept = replace(policy, treatment=Treatment({"city name": "keep"}))
    assert len(fitting.links_of(ready, kept)) == len(free) - 3, "a label that is kept has no threshold"
    placed = [(name, row) for row, each in enumerate(names) for name in each]
    for link in free:
        # The least below it: k and the bits of k are not the same to the last digit.
        texts = sanitized(ready, policy.at(link.priority - 1e-9))
        for (name, row), each in zip(placed, free, strict=True):
            assert (name not in texts[row]) == (each.priority >= link.priority)


def test_a_name_with_an_address_goes_always_only_if_both_do(tmp_path: Path) -> None:
    phrases = {"Tobias Orrin": "person full name", "t.orrin@example.org": "email address"}
    texts = ["Tobias Orrin has t.orrin@example.org.", "Write to t.orrin@example.org."]
    ready = ready_of(system_in(tmp_path, phrases), texts)
    assert [len(text.mentions()) for text in ready.texts] == [1, 1]
    assert [each.always for each in fitting.links_of(ready, BARE)] == [False, True]
    for ruled in (Policy("trip"), Policy("lethe")):
        assert [each.always for each in fitting.links_of(ready, ruled)] == [True, True]
    # An entity is named by its longest mention.
    system = system_in(tmp_path, dict.fromkeys(("Tobias Orrin", "Orrin"), "person full name"))
    (text,) = ready_of(system, ["Orrin came. It was Tobias Orrin, and Orrin left."]).texts
    assert fitting.names_of(text) == ["Tobias Orrin"]


def marked_by_people(system: System, **row: str) -> list[list[bool]]:
    ready = ready_of(system, TEXTS[:1], {"d0": [{"label": "PERSON", **row}]})
    return fitting.marked_by_people(ready, ready.corpus.gold or {})


@pytest.mark.parametrize(
    ("marks", "places"),
    [
        (["Tobias Orrin", "tobias  ORRIN", "Orrin"], [0]),
        (["Tobias Orrin of Bremen"], [0, 1]),
        (["keeper"], [2]),
        (["keep", " ", "\u200b"], []),
    ],
)
def test_what_people_marked_marks_what_says_it(system: System, marks: list[str], places: list[int]) -> None:
    for mark in marks:
        assert marked_by_people(system, text=mark) == [[place in places for place in range(5)]]


def test_what_people_left_in_is_not_marked_and_what_is_not_there_is_refused(system: System) -> None:
    assert marked_by_people(system, text="Bremen", identifier="NO_MASK") == [[False] * 5]
    with pytest.raises(LetheError, match="document d0, gold row 0: its text does not stand in the document"):
        marked_by_people(system, text="mill")


def scripted(*answers: str | None) -> Scripted:
    """A language model with one answer after the other; None where the prompt is too long."""
    left = iter(answers)

    def says(*_: object) -> str:
        answer = next(left)
        if answer is None:
            raise PromptTooLong("scripted", 9000, 4096)
        return answer

    return Scripted(says)


def test_a_model_is_asked_of_each_document_with_an_entity(ready: Prepared) -> None:
    model = scripted('{"critical": [1, 3]}', "I cannot say.", "Really not.", '{"critical": [9]}')
    steps: list[tuple[str, int, int | None]] = []
    marks = fitting.marked_by_model(ready, model, 100, lambda *each: steps.append(each))
    asked = [said for _, said in model.asked if said.startswith("Document:")]
    assert all(text in said for text, said in zip([TEXTS[0], TEXTS[1], TEXTS[3]], asked, strict=True))
    assert marks == fitting.ModelMarks([[True, False, True, False, False], [False, False]], [0, 3], 1)
    assert steps == [(f"asking {model.name}", done, 3) for done in (0, 1, 2, 3)]
    part = ready.only(marks.documents)
    assert [document.doc_id for document in part.corpus.documents] == ["d0", "d3"]
    found = fitting.links_of(part, BARE, marks.marked)
    assert [each.marked for each in found] == [True, False, True, False, False, False, False]
    assert fitting.threshold_from_marks(found).links == 7
    assert not any(secret in repr((marks, part, ready)) for secret in SECRETS)
    # Of documents without an entity no model is asked.
    assert fitting.marked_by_model(ready.only([2]), scripted(), 100) == fitting.ModelMarks([], [], 0)


def test_documents_that_a_model_cannot_read_are_passed_over_if_they_are_few(ready: Prepared) -> None:
    for answers, most, documents, unreadable in (
        (("[1]", "[1]"), 2, [0, 1], 0),
        (("[1]", None, "[1]"), 3, [0, 3], 1),  # too long for the model
        (("[1]", "no", "no"), 2, [0], 1),  # half of the answers are enough
    ):
        model = scripted(*answers)
        marks = fitting.marked_by_model(ready, model, most)
        assert (marks.documents, marks.unreadable, len(model.asked)) == (documents, unreadable, len(answers))
    with pytest.raises(LetheError, match=" gave no list of numbers for 2 of 3 documents: take a model that "):
        fitting.marked_by_model(ready, scripted("[1]", "no", "no", None), 3)


class Counting(RiskPrior):
    """Notes the texts that it is asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        self.asked += [text.text for text in texts]
        return super().hazards(texts)


def test_texts_that_differ_in_anything_a_model_reads_are_asked_about_once_each() -> None:
    plain = AnnotatedText("a person of Bremen", [entity(12, 18, "city name", 0)])
    together = [
        plain,
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
    for asked in (together, together[::-1], [plain, plain], []):
        assert remembered.hazards(asked) == RiskPrior().hazards(asked)
    assert len(counting.asked) == len(together)
    assert remembered.name == counting.name


TOWNS = ("Aldmoor", "Brinnel", "Corvath", "Dunwy", "Esterholm", "Fallowby", "Grenmark")
TRADES = ("miller", "cooper", "ferrier", "weaver", "glazier")
NAMES = ("Ilse Tarn", "Oswin Quill", "Petra Vosk", "Dario Lume")
MANY = (
    dict.fromkeys(TOWNS, "city name")
    | dict.fromkeys(TRADES, "occupation")
    | dict.fromkeys(NAMES, "person full name")
    | {str(year): "date" for year in range(1970, 2000)}
)
with_many = partial(system_in, phrases=MANY)


def letters(many: int) -> list[str]:
    """Invented texts with five linked entities each."""
    return [
        f"Letter {n}: {NAMES[n % 4]}, a {TRADES[n % 5]} of {TOWNS[n % 7]}, moved to {TOWNS[(n + 3) % 7]} in "
        f"{1970 + n} and kept {n + 2} geese near the water."
        for n in range(many)
    ]


def manifest_in(folder: Path, collection: str) -> Manifest:
    return read_manifest(folder / "data" / "collections" / collection / "manifest.json")


def ingested(folder: Path, texts: Sequence[str], system: System) -> int:
    """How many of the texts were new to the collection."""
    readings = (Reading(Document(f"d{number}", text), len(text)) for number, text in enumerate(texts))
    return ingest(system, DataDir(settings_in(folder)), "letters", readings).kept


@pytest.mark.parametrize(
    ("limit", "most", "many", "entities"),
    [
        ("SAMPLE_ENTITIES", None, 13, 65),
        ("SAMPLE_ENTITIES", 60, 25, 80),  # in whole batches of eight documents
        ("SAMPLE_DOCUMENTS", 11, 25, 55),
        ("SAMPLE_CHARACTERS", 1300, 25, 65),  # which the thirteenth document reaches
    ],
)
def test_the_scale_is_that_of_an_ingest_of_the_same_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int | None, many: int, entities: int
) -> None:
    for module in (app.ingesting, eval.prepared):
        monkeypatch.setattr(module, limit, most or getattr(module, limit))
    # Under lethe no scale is needed, and none is fitted.
    system, texts = with_many(tmp_path, name="trip"), letters(many)
    ready = ready_of(system, texts)
    assert ready.scale.source.startswith(f"the first {entities} linked entities")
    ingested(tmp_path, texts, system)
    assert EMBEDDED_SCALE != ready.scale == manifest_in(tmp_path, "letters").scale
    assert len(ready.texts) == len(ready.hazards) == many


def test_few_entities_get_the_embedded_scale_and_the_settings_win(
    tmp_path: Path, system: System, ready: Prepared
) -> None:
    assert system.scale is None and ready.scale == EMBEDDED_SCALE
    given_scale = with_many(tmp_path, scale=[0, 0.5, 0.25, 1])
    assert given_scale.scale == Scale(0.0, 0.5, 0.25, 1.0, "the settings")
    assert ready_of(given_scale, letters(13)).scale.percentiles == (0.0, 0.5, 0.25, 1.0)


def test_a_given_scale_is_put_into_the_manifest_and_no_other_goes_in(tmp_path: Path) -> None:
    def with_scale(high: float) -> System:
        return with_many(tmp_path, scale=(0.0, high, 0.25, 1.0))

    assert ingested(tmp_path, letters(13), with_scale(0.5)) == 13
    assert manifest_in(tmp_path, "letters").scale == Scale(0.0, 0.5, 0.25, 1.0, "the settings")
    assert ingested(tmp_path, letters(14), with_scale(0.5)) == 1
    with pytest.raises(CollectionError) as raised:
        ingested(tmp_path, letters(15), with_scale(0.4))
    assert str(raised.value).endswith(
        "uses scale (0.0, 0.5, 0.25, 1.0), you asked for (0.0, 0.4, 0.25, 1.0). Use the settings it was made "
        "with, or ingest into a new collection."
    )
    # without one of its own, a run takes that of the collection
    assert ingested(tmp_path, letters(15), with_many(tmp_path)) == 1
    for value, message in (
        ([0.0, 1.0, 0.0], "policy.scale.3 (argument): Field required"),
        ("wide", "policy.scale (argument): should be a list"),
        ([0.0, math.inf, 0.0, 1.0], "policy.scale.1 (argument): should be a finite number"),
    ):
        with pytest.raises(LetheError, match=re.escape(message)):
            system_in(tmp_path, scale=value)


RECORDS = [
    f"Invented note. {title} {name}, aged {40 + n}, of {n + 3} Mill Lane, was seen on {n + 1} May 2021 for a "
    f"cough. Write to {name.split()[1].lower()}{n}@example.org or call about MRN: {553100 + n}."
    for n, (title, name) in enumerate(
        (title, name) for name in ("Ada Venn", "Oswin Tarrant", "Petra Vosk") for title in ("Mrs", "Dr", "Ms")
    )
]
Lethe = Callable[[str], tuple[int, dict[str, Any], str]]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    chosen = {"LETHE_DATA_DIR": str(tmp_path / "data"), "LETHE_RETRIEVAL__PASSAGE_TOKENS": "32"}
    for name, value in (PLAIN | chosen | {"LETHE_DETECTOR__LEARNED": "true"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("app.compose._encoder", lambda settings: WordEncoder())
    return write_records(tmp_path / "notes.jsonl", RECORDS)


@pytest.fixture
def lethe(notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Lethe:
    """A command beside the notes: its code, its figures and what it said."""
    monkeypatch.chdir(notes.parent)

    def ran(line: str) -> tuple[int, dict[str, Any], str]:
        done = in_process(capsys, *line.split())
        return done.code, json.loads(done.out) if done.out else {}, " ".join(done.err.split())

    return ran


@pytest.mark.parametrize("name", ["trip", "lethe"])
@pytest.mark.parametrize("mode", ["--share 0.8", "--max-leak 0.4 --confidence 0.6 --count all"])
def test_a_policy_file_makes_a_collection_with_its_scale_and_threshold(
    notes: Path, lethe: Lethe, monkeypatch: pytest.MonkeyPatch, mode: str, name: PolicyName
) -> None:
    monkeypatch.setenv("LETHE_POLICY__NAME", name)
    code, figures, stderr = lethe(f"calibrate notes.jsonl {mode} --output fitted.toml")
    assert code == 0, stderr
    assert "policy: fitted.toml; use it with --policy fitted.toml" in stderr
    assert not any(secret in stderr + json.dumps(figures) for secret in ("Venn", "Tarrant", "Mill Lane"))
    if figures["method"] == "conformal":
        assert (figures["counted"], figures["documents"]) == ("all", 9)
        assert (figures["max_leak"], figures["confidence"]) == (0.4, 0.6)
        assert figures["measured_leakage"] <= figures["bound"] <= 0.4
        assert 0 <= figures["mentions_kept"] <= 1
        tested = figures["thresholds"]
        assert [each["tau"] for each in tested] == fitting.thresholds(Policy(name))
        assert figures["tau"] == max(each["tau"] for each in tested if each["safe"])
        stated = f"tau {figures['tau']:g}" if name == "trip" else f"k {figures['k']:.3g} of 100"
        assert f"{stated}: an index reader finds on average" in stderr
        assert "at most 40.0% of the sensitive entities (all) of a new document that has any" in stderr
    read = load_policy_file(notes.with_name("fitted.toml"))
    fitted = Policy(name, tau=figures["tau"]) if name == "trip" else Policy(name, k=figures["k"])
    assert (read.name, read.k, read.tau) == (name, fitted.k, fitted.tau)
    assert fitted.threshold == pytest.approx(figures["tau"])
    code, _, stderr = lethe("ingest notes.jsonl -c fitted --policy fitted.toml")
    assert code == 0, stderr
    made = manifest_in(notes.parent, "fitted")
    assert made.policy == fitted
    if name == "lethe":
        assert read.scale is None and "scale" not in figures
        return
    # An ingest of these fits the same scale by itself.
    lethe("ingest notes.jsonl -c bare")
    bare = manifest_in(notes.parent, "bare").scale.percentiles
    assert bare == made.scale.percentiles == read.scale == tuple(figures["scale"])
    assert figures["scale_source"].startswith("the first ")


def test_an_attack_of_an_audit_can_be_bounded(notes: Path, lethe: Lethe) -> None:
    trees = ("ash", "birch", "cedar", "elm", "fir", "hazel", "lime", "oak", "pine")
    texts = [
        f"Invented. Mr Tobias Quell{tree} keeps goats. He sold the {tree} barn in May. His knee hurts at "
        f"night. He takes drops of valerian. The {tree} road is shut. He plays the {tree} fiddle."
        for tree in trees
    ]
    write_records(notes, texts)
    lenient = "calibrate notes.jsonl --max-leak 0.99 --confidence 0.05 --attack"
    code, figures, stderr = lethe(f"{lenient} left-direct")
    assert (code, figures) == (2, {})
    assert "--attack left-direct is none that can be promised. There are: linked, told, singled-out" in stderr
    for attack, documents in (("told", 5), ("singled-out", 9)):
        code, figures, stderr = lethe(f"{lenient} {attack}")
        assert code == 0, stderr
        assert (figures["counted"], figures["documents"]) == (attack, documents)
        assert "is at most 99.0% in expectation, with confidence 5%. Measured: " in stderr
        assert ("over 5 documents, each hidden among 4 others, upper bound" in stderr) is (attack == "told")
        assert "The attack does not see " in stderr


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("--max-leak 0.05", "that takes 59 documents that have something to leak, even if nothing of it"),
        ("--share 0.01", "more than the share 0.01"),  # the hard rules take more
    ],
)
def test_a_policy_that_was_there_stays_until_there_is_another(
    notes: Path, lethe: Lethe, mode: str, reason: str
) -> None:
    policy = notes.with_name("fitted.toml")
    policy.write_text("tau = 0.25\n")
    code, figures, stderr = lethe(f"calibrate notes.jsonl {mode} --output fitted.toml")
    assert (code, figures, policy.read_text()) == (1, {}, "tau = 0.25\n") and reason in stderr


def test_what_the_settings_say_of_the_policy_stays_in_the_file(
    notes: Path, lethe: Lethe, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, object] = {
        "replacements": "alias", "people": 300.0, "direct_limit": 0.5,
        "alpha": 1.25, "beta": 0.25, "gamma": 0.5, "marginal": "difference", "epsilon": 3.0,
    }  # fmt: skip
    for name, value in said.items():
        monkeypatch.setenv(f"LETHE_POLICY__{name.upper()}", str(value))
    with notes.open("a") as file:
        file.write("{broken\n")
    code, figures, stderr = lethe("calibrate notes.jsonl --share 0.9 --output fitted.toml")
    assert code == 0, stderr
    assert (figures["method"], figures["share"]) == ("share", 0.9)
    assert "1 documents could not be read and are not counted" in stderr
    policy = notes.with_name("fitted.toml")
    read = load_policy_file(policy)
    assert {name: getattr(read, name) for name in said} == said
    assert (read.name, read.k, read.scale) == ("lethe", figures["k"], None)
    assert read.tau == Policy().tau, "under lethe the scores decide nothing"
    assert policy.read_text().startswith("# fitted by lethe calibrate (share)\n")


def test_marks_of_people_and_of_a_model_fit_a_threshold(
    notes: Path, lethe: Lethe, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = [{"text": "cough", "label": "symptom"}]
    write_lines(notes, [{"id": str(n), "text": text, "marks": marks} for n, text in enumerate(RECORDS)])
    code, figures, stderr = lethe("calibrate notes.jsonl --marks marks --quantile 0.2")
    assert code == 0, stderr
    assert (figures["method"], figures["marked_by"], figures["marked"]) == ("marks", "marks", 9)
    assert figures["f1"] <= figures["best_f1"]
    code, _, stderr = lethe("calibrate notes.jsonl --marks gone")
    assert code == 2 and "No record has a field 'gone' among 3 fields." in stderr
    model = scripted(*['{"critical": [1, 2, 3, 4, 5]}'] * 8, "no", "no")
    monkeypatch.setattr("app.compose.generating_model_of", lambda settings: model)
    code, figures, stderr = lethe("calibrate notes.jsonl --ask-model")
    assert code == 0, stderr
    assert (figures["marked_by"], figures["marked"]) == (model.name, 40)
    assert f"asking {model.name}" in stderr


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ("--share 0.5 --policy redact", 2, "Only lethe and trip have a threshold, and this is redact: leave"),
        ("--ask-model", 2, "--ask-model needs a language model: set generator.kind to llama_cpp or openai_"),
        ("--share 0.5 --output fitted", 2, "fitted: a policy file must end in .toml, else --policy reads it"),
        ("--share 0.5 --output no/a.toml", 1, "no/a.toml: the policy could not be written (No such file"),
        ("--share 0.5 --output is.toml", 1, "is.toml: the policy could not be written (Is a directory)"),
        ("--share 0.5 --output notes.jsonl/a.toml", 1, "policy could not be written (Not a directory). Name"),
        ("", 2, "one of the arguments --max-leak --share --marks --ask-model is required"),
        ("--share 0.5 --ask-model", 2, "argument --ask-model: not allowed with argument --share"),
        ("--max-leak 1", 2, "argument --max-leak: must be a number above 0 and below 1"),
        ("--max-leak 0.1 --confidence 1", 2, "argument --confidence: must be a number above 0 and below 1"),
        ("--max-leak 0.1 --count names", 2, "argument --count: invalid choice: 'names'"),
    ],
)
def test_misuse_is_reported_before_anything_is_read(
    notes: Path, lethe: Lethe, monkeypatch: pytest.MonkeyPatch, arguments: str, code: int, sentence: str
) -> None:
    for reading in ("read_corpus", "gold_rows"):
        monkeypatch.delattr(f"app.cli.calibrate.{reading}")
    notes.with_name("is.toml").mkdir()
    ended, figures, stderr = lethe(f"calibrate notes.jsonl {arguments}")
    assert (ended, figures) == (code, {}) and sentence in stderr


def test_the_real_parts_promise_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    notes, policy = write_records(tmp_path / "notes.jsonl", RECORDS[:4]), tmp_path / "fitted.toml"
    asked = ("--max-leak", "0.6", "--confidence", "0.5", "--output", str(policy))
    done = in_process(capsys, "calibrate", str(notes), *asked)
    assert done.code == 0, done.err
    assert done.summary["documents"] == 4 and load_policy_file(policy).k == done.summary["k"]
