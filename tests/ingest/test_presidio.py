"""Presidio behind a stand-in, and for real where it is installed. Everybody here is invented."""

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ingest.deciding.baselines.uniform import REDACT
from ingest.detection.presidio import TYPES, PresidioDetector, presidio_detector
from ingest.documents import Document, Identifier, SanitizedDocument
from ingest.labels import LABELS, VAGUE
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ModelUnavailable

MARKER = "zqxmarker"
STOCK: Mapping[str, Any] = {
    "nlp_engine_name": "spacy",
    "models": [{"lang_code": "en", "model_name": "en_core_web_lg"}],
    "ner_model_configuration": {"labels_to_ignore": ["ORGANIZATION"]},
}


@dataclass(frozen=True)
class Result:
    """A result as Presidio's looks."""

    entity_type: str
    start: int
    end: int
    score: float


class Finds:
    """Finds the same in every text, and notes how it was asked."""

    def __init__(self, *results: Result) -> None:
        self.results = results
        self.asked: list[tuple[str, str]] = []

    def analyze(self, text: str, language: str) -> Sequence[Result]:
        self.asked.append((text, language))
        return self.results


class Library:
    """Stand-ins for presidio_analyzer, spacy and tldextract in ``sys.modules``."""

    def __init__(self, patch: pytest.MonkeyPatch, installed: Sequence[str] = ("en_core_web_lg",)) -> None:
        self.built: list[Mapping[str, Any]] = []
        self.broken = False
        self.suffixes = SimpleNamespace(suffix_list_urls=("https://list.example",))
        engines = SimpleNamespace(NlpEngineProvider=self._provider)
        util = SimpleNamespace(is_package=lambda name: name in installed)
        parts_of: dict[str, dict[str, object]] = {
            "presidio_analyzer": {"AnalyzerEngine": self._engine, "nlp_engine": engines},
            "spacy": {"util": util},
            "tldextract": {},
            "tldextract.tldextract": {"TLD_EXTRACTOR": self.suffixes},
        }
        for name, parts in parts_of.items():
            module = ModuleType(name)
            vars(module).update(parts)
            patch.setitem(sys.modules, name, module)

    def _provider(self, nlp_configuration: Mapping[str, Any] = STOCK) -> SimpleNamespace:
        def create_engine() -> str:
            if self.broken:
                raise OSError(f"no config in {MARKER}")
            self.built.append(nlp_configuration)
            print("loading, loading")  # noqa: T201
            return "nlp"

        return SimpleNamespace(nlp_configuration=nlp_configuration, create_engine=create_engine)

    def _engine(self, nlp_engine: str) -> Finds:
        assert nlp_engine == "nlp"
        return Finds(Result("PERSON", 0, 4, 0.85))


def labels_of(*results: Result) -> list[tuple[int, int, str]]:
    (found,) = PresidioDetector(Finds(*results), "m").detect([Document("d", "x" * 40)])
    return [(e.span.start, e.span.end, e.label) for e in found]


@pytest.fixture(autouse=True)
def loggers_as_they_were() -> Any:
    levels = {name: logging.getLogger(name).level for name in ("presidio-analyzer", "tldextract")}
    yield
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(
    ("kind", "label", "identifier"),
    [
        ("PERSON", "person full name", Identifier.DIRECT),
        ("LOCATION", "place", Identifier.QUASI),
        ("DATE_TIME", "date", Identifier.QUASI),
        ("NRP", "demographic attribute", Identifier.QUASI),
        ("US_DRIVER_LICENSE", "driving licence number", Identifier.DIRECT),
        ("WORK_OF_ART", VAGUE, Identifier.QUASI),
    ],
)
def test_a_type_gets_the_label_and_what_comes_with_it(kind: str, label: str, identifier: Identifier) -> None:
    assert {*TYPES.values(), VAGUE} <= LABELS.keys()
    ((found,),) = PresidioDetector(Finds(Result(kind, 2, 9, 0.4)), "m").detect([Document("d", "x" * 40)])
    assert (found.label, found.identifier) == (label, identifier)
    assert (found.confidence, found.source, found.link) == (0.4, "presidio:m", -1)


def test_one_span_has_the_surest_or_riskiest_label_and_what_overlaps_stays_in_order() -> None:
    surer, other = Result("URL", 3, 12, 0.05), Result("US_PASSPORT", 3, 12, 0.01)
    assert labels_of(surer, other) == labels_of(other, surer) == [(3, 12, "URL link")]
    one, other = Result("URL", 3, 12, 0.5), Result("EMAIL_ADDRESS", 3, 12, 0.5)
    assert labels_of(one, other) == labels_of(other, one) == [(3, 12, "email address")]
    found = labels_of(Result("URL", 6, 17, 0.5), Result("EMAIL_ADDRESS", 2, 17, 1.0))
    assert found == [(2, 17, "email address"), (6, 17, "URL link")]


def test_each_document_is_asked_in_english_and_in_order() -> None:
    finds = Finds()
    assert PresidioDetector(finds, "m").detect([Document("a", "one"), Document("b", "")]) == [[], []]
    assert finds.asked == [("one", "en"), ("", "en")]


def test_it_is_stock_but_for_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = Library(monkeypatch)
    folder = tmp_path / "small"
    folder.mkdir()
    assert presidio_detector().name == "presidio:en_core_web_lg"
    assert presidio_detector(str(folder)).name == "presidio:small"
    models = [{"lang_code": "en", "model_name": name} for name in ("en_core_web_lg", str(folder))]
    assert library.built == [{**STOCK, "models": [model]} for model in models]


def test_nothing_is_said_and_nothing_is_fetched(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    library = Library(monkeypatch)
    presidio_detector()
    assert library.suffixes.suffix_list_urls == ()
    logging.getLogger("presidio-analyzer").critical("Failed to validate text %s", MARKER)
    assert (caplog.text, tuple(capfd.readouterr())) == ("", ("", ""))


def refused(model: str = "en_core_web_lg") -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as told:
        presidio_detector(model)
    return told.value


@pytest.mark.parametrize("missing", ["presidio_analyzer", "spacy"])
def test_a_missing_package_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    Library(monkeypatch)
    monkeypatch.setitem(sys.modules, missing, None)
    assert str(refused()) == "presidio-analyzer is not installed: pip install 'lethe[presidio]'"


@pytest.mark.parametrize("model", ["en_core_web_lg", "/nowhere/at/all"])
def test_a_missing_model_is_told_and_not_fetched(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    library = Library(monkeypatch, installed=())
    assert str(refused(model)) == (
        f"spaCy has no model {model} here: name a folder that holds one, or one that 'python -m spacy "
        "download' has installed"
    )
    assert library.built == []


def test_a_damaged_model_is_told_by_its_type_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    Library(monkeypatch).broken = True
    told = refused()
    remedy = "cannot be loaded (OSError): install it again, or name another one"
    assert str(told) == f"The spaCy model en_core_web_lg {remedy}"
    assert told.__cause__ is None and told.__suppress_context__


def test_with_a_model_that_knows_no_names_its_patterns_are_left(tmp_path: Path) -> None:
    pytest.importorskip("presidio_analyzer", reason="presidio-analyzer is not installed")
    spacy = pytest.importorskip("spacy", reason="spacy is not installed")
    spacy.blank("en").to_disk(tmp_path / "blank")
    detector = presidio_detector(str(tmp_path / "blank"))
    text = "Invented. Write to a.keller@example.org from 10.0.0.1 on 2019-03-12; Anna Keller reads it."
    sanitizer = DecidingSanitizer(detector, REDACT, RiskPrior())
    outcome, empty = sanitizer.sanitize([Document("d", text), Document("e", "")])
    assert isinstance(outcome, SanitizedDocument) and isinstance(empty, SanitizedDocument)
    assert {"email address", "IP address", "date"} <= {d.entity.label for d in outcome.decisions}
    assert "a.keller" not in outcome.text
    assert outcome.text.endswith("Anna Keller reads it.")
