"""Stock Presidio as a detector: what practice uses, as it comes, with its types told in our labels.

Its recognizers, its score threshold (0) and its list of what spaCy finds but Presidio ignores are left as
they are. Only its ways to the network are closed: it would fetch a spaCy model that is missing, and a list
of domain endings for the first e-mail address that it sees.
"""

import importlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
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
    "UK_NHS": "medical record number",
    "URL": "URL link",
    "US_BANK_NUMBER": "bank account number",
    "US_DRIVER_LICENSE": "driving licence number",
    "US_ITIN": "tax number",
    "US_PASSPORT": "passport number",
    "US_SSN": "social security number",
    "UUID": "reference number",
}
"""What stock Presidio finds in English. NRP is a nationality, a religion or a political group."""

OTHER = "identifying detail"
"""For a type of somebody's own spaCy model that Presidio passes on as it is."""

_TALKATIVE = ("presidio-analyzer", "tldextract")


class Found(Protocol):
    """What Presidio says of one mention: offsets in characters, a score in [0, 1]."""

    @property
    def entity_type(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def score(self) -> float: ...


class Analyzer(Protocol):
    """The one method of Presidio's analyzer that is used."""

    def analyze(self, text: str, language: str) -> Sequence[Found]: ...


class PresidioDetector:
    """An ``EntityDetector`` over Presidio's analyzer; a mention's confidence is Presidio's score."""

    def __init__(self, analyzer: Analyzer, model: str) -> None:
        self._analyzer = analyzer
        self.name = f"presidio:{model}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked entities of each document, by start."""
        found = (self._analyzer.analyze(document.text, language=LANGUAGE) for document in documents)
        return [[self._entity(each) for each in _surest(mentions)] for mentions in found]

    def _entity(self, found: Found) -> Entity:
        label = _label(found)
        return Entity(Span(found.start, found.end), label, label_of(label).identifier, found.score, self.name)


def presidio_detector(model: str = "en_core_web_lg") -> EntityDetector:
    """Stock Presidio with a spaCy model of this machine: the name of an installed one, or a folder.

    Raises:
        ModelUnavailable: The package or the model is not here. Nothing is ever downloaded.
    """
    # These loggers quote what they read, and so may not say anything for as long as the program runs.
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


def _label(found: Found) -> str:
    return TYPES.get(found.entity_type, OTHER)


def _surest(mentions: Iterable[Found]) -> list[Found]:
    """Of the types that Presidio gives one span, the one that it is surest of, and then the riskiest.

    A row of figures is a passport, a bank account and a driving licence to it, each with its own score.
    """
    best: dict[tuple[int, int], Found] = {}
    for each in sorted(mentions, key=lambda m: (m.score, label_of(_label(m)).risk, m.entity_type)):
        best[each.start, each.end] = each
    return [best[place] for place in sorted(best)]
