"""A corpus with everything that does not depend on how it will be sanitized, measured once."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from app.compose import Services
from app.corpus import Corpus, Phases, untold
from app.ingesting import SAMPLE_BATCH, SAMPLE_ENTITIES, sample_size, scale_of
from ingest.annotated import AnnotatedText
from ingest.documents import Decision
from ingest.policy import Policy
from ingest.protocols import Hazards
from ingest.sanitize import DecidingSanitizer, Method, annotate
from ingest.scoring.remembered import Measurements, Remembered, RememberedRisk
from ingest.scoring.scale import Scale


@dataclass(frozen=True, slots=True)
class ScoredCorpus:
    """Texts with their linked entities, distances and hazards, one for each document of ``corpus``.

    ``services`` are a system whose engine and risk model remember them.
    """

    services: Services = field(repr=False)
    corpus: Corpus = field(repr=False)
    texts: Sequence[AnnotatedText] = field(repr=False)
    hazards: Sequence[Hazards] = field(repr=False)
    scale: Scale

    def method(self, policy: Policy) -> Method:
        """How a policy decides about these documents."""
        return self.services.method(policy, self.scale)

    def sanitizer(self, method: Method) -> DecidingSanitizer:
        """What carries a method out, with descriptors; the risk that is left is not measured."""
        return DecidingSanitizer(self.corpus, method, _Known(self))

    def only(self, places: Sequence[int]) -> "ScoredCorpus":
        """The part with the documents at these places."""
        documents = [self.corpus.documents[place] for place in places]
        texts, hazards = [self.texts[place] for place in places], [self.hazards[place] for place in places]
        return replace(self, corpus=replace(self.corpus, documents=documents), texts=texts, hazards=hazards)

    def decisions(self, method: Method) -> list[list[Decision]]:
        """What a method decides about each mention of each document."""
        return method.decide(self.texts, self.hazards)


class _Known:
    """The hazards of a scored corpus.

    What is sanitized of it is not measured: that would take a third of a comparison, and none asks for it.
    """

    name = "not asked"

    def __init__(self, scored: ScoredCorpus) -> None:
        known = zip(scored.texts, scored.hazards, strict=True)
        self._hazards = {text.text: (text, hazards) for text, hazards in known}

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """Those of the corpus's own texts; nothing of others."""
        found = (self._hazards.get(text.text, (None, _UNASKED)) for text in texts)
        return [
            hazards if known == text else _UNASKED
            for text, (known, hazards) in zip(texts, found, strict=True)
        ]


_UNASKED = Hazards(0.0, {})


def scored_corpus(services: Services, corpus: Corpus, phases: Phases = untold) -> ScoredCorpus:
    """Measure every document once.

    The scale is that of the settings, or fitted to the first entities as an ingest of these documents would,
    each text once.
    """
    exact = services.exact or services.engine
    measured: list[tuple[AnnotatedText, Measurements]] = []
    hazards: list[Hazards] = []
    sampled: list[Measurements] = []
    risk, within = RememberedRisk(services.risk), sample_size(corpus.documents)
    for first in range(0, len(corpus.documents), SAMPLE_BATCH):
        phases("scoring", first, len(corpus.documents))
        texts = annotate(corpus, corpus.documents[first : first + SAMPLE_BATCH])
        found = exact.measure(texts)
        if sum(len(each) for each in sampled) < SAMPLE_ENTITIES:
            sampled += found[: max(0, within - first)]
        measured += zip(texts, found, strict=True)
        hazards += risk.hazards(texts)
    phases("scoring", len(corpus.documents), len(corpus.documents))
    remembering = copy(services)
    remembering.engine, remembering.exact = Remembered(exact, measured), None
    remembering.risk = risk
    scale = services.given_scale or scale_of(services, sampled)
    return ScoredCorpus(remembering, corpus, [text for text, _ in measured], hazards, scale)
