"""A corpus with everything that does not depend on the sanitizing method, measured once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from eval.corpora.corpus import Corpus
from eval.corpora.sensitive import detect_all
from eval.progress import Progress, no_progress
from ingest.annotated import AnnotatedText
from ingest.deciding.policy import Policy
from ingest.documents import Decision, Document
from ingest.protocols import EntityDetector, Hazards, Method
from ingest.sanitize import DecidingSanitizer, Rewriter, RewritingSanitizer, annotate
from ingest.scoring.scale import (
    SAMPLE_BATCH,
    SAMPLE_CHARACTERS,
    SAMPLE_DOCUMENTS,
    SAMPLE_ENTITIES,
    Measurements,
    Scale,
    fit_scale,
)
from models.remembering import remembering
from retrieval.system import System


@dataclass(frozen=True, slots=True)
class Prepared:
    """Texts with their linked entities and hazards, one for each document of ``corpus``.

    ``further`` are those of documents that are slipped in later. ``system`` caches the results of its
    detector, engine and risk model, and has the scale fitted to this corpus. Its sanitizer inserts
    descriptors and does not measure the residual risk, which would take a third of a comparison and is not
    used.
    """

    system: System = field(repr=False)
    corpus: Corpus = field(repr=False)
    texts: Sequence[AnnotatedText] = field(repr=False)
    hazards: Sequence[Hazards] = field(repr=False)
    further: Sequence[tuple[AnnotatedText, Hazards]] = field(default=(), repr=False)

    @property
    def scale(self) -> Scale:
        """The scale of the scores."""
        assert self.system.scale is not None
        return self.system.scale

    def by(self, policy: Policy) -> System:
        """The system under another policy."""
        return replace(self.system, policy=policy)

    def carrying_out(self, method: Callable[[], Method]) -> System:
        """The system with a method that is not a policy, created on demand."""
        return replace(self.system, sanitizing=lambda system: _with_words(self, system, method()))

    def rewriting(self, rewriter: Rewriter) -> System:
        """The system with whole texts rewritten, without decisions."""
        return replace(
            self.system, sanitizing=lambda each: RewritingSanitizer(each.detector, rewriter, each.risk)
        )

    def only(self, places: Sequence[int]) -> "Prepared":
        """The part with the documents at these places."""
        documents = [self.corpus.documents[place] for place in places]
        texts, hazards = [self.texts[place] for place in places], [self.hazards[place] for place in places]
        corpus = replace(self.corpus, documents=documents, questions=())
        return replace(self, corpus=corpus, texts=texts, hazards=hazards)

    def decisions(self, method: Method) -> list[Sequence[Decision]]:
        """The decisions of a method for each document."""
        return method.decide(self.texts, self.hazards)


def prepared(
    system: System,
    corpus: Corpus,
    progress: Progress = no_progress,
    *,
    further: Sequence[Document] = (),
    score_all: bool = True,
) -> Prepared:
    """Measure every document once, and the risk of ``further`` ones.

    The scale is that of the system, or is fitted to the first entities as an ingest would fit it. Without
    ``score_all``, a system that has a scale scores what its methods ask for, and that once.
    """
    detector = detected(system, corpus.documents, progress)
    score_all = score_all or system.scale is None
    engine = remembering(system.engine, "measure", key=AnnotatedText.digest)
    risk = remembering(system.risk, "hazards", key=AnnotatedText.digest)
    texts: list[AnnotatedText] = []
    hazards: list[Hazards] = []
    sampled: list[Measurements] = []
    # An ingest fits its scale to at most so many leading documents.
    leading = accumulate((len(each.text) for each in corpus.documents[:SAMPLE_DOCUMENTS]), initial=0)
    within = sum(characters < SAMPLE_CHARACTERS for characters in list(leading)[:-1])
    for first in range(0, len(corpus.documents), SAMPLE_BATCH):
        progress("scoring", first, len(corpus.documents))
        batch = annotate(detector, corpus.documents[first : first + SAMPLE_BATCH])
        if score_all:
            found = engine.measure(batch)
            if sum(len(each) for each in sampled) < SAMPLE_ENTITIES:
                sampled += found[: max(0, within - first)]
        texts += batch
        hazards += risk.hazards(batch)
    progress("scoring", len(corpus.documents), len(corpus.documents))
    scale = system.scale or fit_scale(sampled, system.encoder.name)
    made = replace(system, detector=detector, engine=engine, risk=risk, scale=scale, score_all=score_all)
    slipped_in = annotate(detector, further)
    also = list(zip(slipped_in, risk.hazards(slipped_in), strict=True))
    found_all = Prepared(made, corpus, texts, hazards, also)
    sanitizing = lambda each: _with_words(found_all, each, each.method())  # noqa: E731
    return replace(found_all, system=replace(made, sanitizing=sanitizing))


def detected(
    system: System, documents: Sequence[Document], progress: Progress = no_progress
) -> EntityDetector:
    """The detector of a system, with its results on these documents cached."""
    detector = remembering(system.detector, "detect", key=lambda each: (each.doc_id, each.text))
    detect_all(detector, documents, progress)
    return detector


def _with_words(prepared: Prepared, system: System, method: Method) -> DecidingSanitizer:
    known = [*zip(prepared.texts, prepared.hazards, strict=True), *prepared.further]
    return DecidingSanitizer(
        system.detector, method, _CorpusHazards(known), language=system.language, wording=system.wording()
    )


class _CorpusHazards:
    """The hazards of a prepared corpus, zero for other texts and each of their mentions."""

    name = "not asked"

    def __init__(self, known: Iterable[tuple[AnnotatedText, Hazards]]) -> None:
        self._hazards = {text.text: hazards for text, hazards in known}

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """One for each text."""
        return [
            self._hazards.get(each.text) or Hazards(0.0, dict.fromkeys(each.mentions(), 0.0))
            for each in texts
        ]
