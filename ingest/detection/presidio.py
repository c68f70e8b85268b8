"""Stock Presidio as a detector: the common baseline, with its types mapped to our labels.

Its recognizers, score threshold (0) and list of ignored spaCy types are unchanged. Only its network access is
disabled: it would download a missing spaCy model, and a list of domain suffixes at the first e-mail address.
"""

import importlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ingest.documents import Document, Entity, Span
from ingest.labels import VAGUE, label_of
from ingest.protocols import EntityDetector
from models.errors import ModelUnavailable
from models.local_files import quiet

LANGUAGE = "en"

TYPES: Mapping[str, str] = {
    "CREDIT_CARD": "credit card number",
    "CRYPTO": "bitcoin wallet address",
    "DATE_TIME": "date",
    "EMAIL_ADDRESS": "email address",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP address",
    "LOCATION": "place",
    "MAC_ADDRESS": "MAC address",
    "MEDICAL_LICENSE": "reference number",
    "NRP": "demographic attribute",
    "PERSON": "person full name",
    "PHONE_NUMBER": "phone number",
    "UK_NHS": "health insurance number",
    "URL": "URL link",
    "US_BANK_NUMBER": "bank account number",
    "US_DRIVER_LICENSE": "driving licence number",
    "US_ITIN": "tax number",
    "US_PASSPORT": "passport number",
    "US_SSN": "social security number",
    "UUID": "reference number",
}
"""The English types of stock Presidio. NRP is a nationality, a religion or a political group."""

"""For types of a custom spaCy model, which Presidio passes through."""

_TALKATIVE = ("presidio-analyzer", "tldextract")


class RecognizerResult(Protocol):
    """One Presidio result: offsets in characters, a score in [0, 1]."""

    @property
    def entity_type(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def score(self) -> float: ...


class Analyzer(Protocol):
    """The used part of Presidio's analyzer."""

    def analyze(self, text: str, language: str) -> Sequence[RecognizerResult]: ...


class PresidioDetector:
    """An ``EntityDetector`` over Presidio's analyzer; a mention's confidence is Presidio's score."""

    def __init__(self, analyzer: Analyzer, model: str) -> None:
        self._analyzer = analyzer
        self.name = f"presidio:{model}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked entities of each document, by start."""
        found = (self._analyzer.analyze(document.text, language=LANGUAGE) for document in documents)
        return [[self._entity(each) for each in _surest(mentions)] for mentions in found]

    def _entity(self, found: RecognizerResult) -> Entity:
        label = _label(found)
        return Entity(Span(found.start, found.end), label, label_of(label).identifier, found.score, self.name)


def presidio_detector(model: str = "en_core_web_lg") -> EntityDetector:
    """Stock Presidio with a local spaCy model: the name of an installed one, or a folder.

    Raises:
        ModelUnavailable: The package or the model is missing. Nothing is ever downloaded.
    """
    # These loggers quote their input, so they stay disabled for the life of the process.
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with quiet():
        try:
            import presidio_analyzer
            import spacy
        except ImportError as error:
            raise ModelUnavailable(
                "presidio-analyzer", "is not installed: pip install 'lethe[presidio]'"
            ) from error
        if not (spacy.util.is_package(model) or Path(model).is_dir()):
            raise ModelUnavailable(
                f"spaCy has no model {model} here:",
                "name a folder that holds one, or one that 'python -m spacy download' has installed",
            )
        importlib.import_module("tldextract.tldextract").TLD_EXTRACTOR.suffix_list_urls = ()
        stock = presidio_analyzer.nlp_engine.NlpEngineProvider().nlp_configuration
        chosen = {**stock, "models": [{"lang_code": LANGUAGE, "model_name": model}]}
        try:
            engine = presidio_analyzer.nlp_engine.NlpEngineProvider(nlp_configuration=chosen).create_engine()
        except Exception as error:
            raise ModelUnavailable(
                f"The spaCy model {model} cannot be loaded ({type(error).__name__}):",
                "install it again, or name another one",
            ) from None
        analyzer = presidio_analyzer.AnalyzerEngine(nlp_engine=engine)
    return PresidioDetector(analyzer, Path(model).name)


def _label(found: RecognizerResult) -> str:
    return TYPES.get(found.entity_type, VAGUE)


def _surest(mentions: Iterable[RecognizerResult]) -> list[RecognizerResult]:
    """For each span the type with the highest score; ties go to the riskiest.

    Presidio labels one digit sequence as passport, bank account and driving licence, each with a score.
    """
    best: dict[tuple[int, int], RecognizerResult] = {}
    for each in sorted(mentions, key=lambda m: (m.score, label_of(_label(m)).risk, m.entity_type)):
        best[each.start, each.end] = each
    return [best[place] for place in sorted(best)]
