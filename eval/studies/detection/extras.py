"""Measures other than the usual labels against gold spans: own labels, changed text, speed."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from eval.measures.uncertainty import Estimate, ratio_of
from eval.studies.detection.cases import POLITICS, Case, cases_of
from eval.studies.detection.measures import RESAMPLES, SEED, Cover, Ends, Tally, equal, overlapping, trimmed
from ingest.documents import Action, Document, Entity, SanitizedDocument, Span
from ingest.labels import LABELS
from ingest.protocols import EntityDetector, Sanitizer
from models.corpora.documents import medquad_answers
from models.corpora.labels import label_map
from models.corpora.read import medquad_training_docs
from models.errors import LetheError
from models.packs import packs

LabelFactory = Callable[[Sequence[str]], EntityDetector]
"""Makes a detector for the given labels."""
Generalizer = Callable[[Sequence[Document]], Sequence[Sequence[Span] | None]]
"""The changed spans of each document, in code points of the text as read; None on failure."""
StepProgress = Callable[[int, int | None], None]
"""Called with the amount done and the total."""
Counted = tuple[Estimate, int]
"""A figure, and the number of bootstrap clusters (documents or batches)."""

BATCH = 16
SPEED_BATCH = 4
MEDQUAD = "medquad"
ANSWERS = 400
SAMPLE_SEED = 20261120


def detected(
    name: str, detector: EntityDetector, corpus: str, documents: Sequence[Document]
) -> list[list[Entity]]:
    """The detected entities of each document.

    Raises:
        LetheError: It failed, or answered for another number of documents; no message quotes them.
    """
    try:
        found = detector.detect(documents)
    except LetheError:
        raise
    except Exception as error:
        # The message of the error may quote a document.
        raise LetheError(
            f"The detector {name} failed on {corpus} ({type(error).__name__}); "
            "repair it, or leave it or the corpus out."
        ) from None
    if len(found) != len(documents):
        raise LetheError(
            f"The detector {name} answered for {len(found)} of {len(documents)} documents of {corpus}; "
            "it must give one list for each."
        )
    return found


def own_labels(cases: Iterable[Case]) -> list[str]:
    """The labels of a corpus; for a span with several, the narrowest."""
    return sorted({label for case in cases for _, label in _own_spans(case)})


def _own_spans(case: Case) -> set[tuple[Ends, str]]:
    """Trimmed spans with the label of the corpus."""
    names: dict[Ends, set[str]] = defaultdict(set)
    for mention in case.mentions:
        inner = trimmed(case.text, (mention.start, mention.end))
        if inner is not None:
            names[inner].add(mention.label)
    return {(span, _narrowest().get(frozenset(of), min(of))) for span, of in names.items()}


@cache
def _narrowest() -> Mapping[frozenset[str], str]:
    return {frozenset(names): names[0] for names in label_map("crossner").values()}


def flat(found: Sequence[Entity]) -> list[Entity]:
    """Non-overlapping spans by falling confidence; ties go to the longer, then to the earlier."""
    kept: list[Entity] = []
    for entity in sorted(found, key=lambda e: (-e.confidence, -len(e.span), e.span, e.label)):
        if not any(entity.span.overlaps(other.span) for other in kept):
            kept.append(entity)
    return sorted(kept, key=lambda e: e.span)


def _tallies() -> dict[str, Tally]:
    return defaultdict(Tally)


@dataclass(frozen=True, slots=True)
class LabelTallies:
    """Tallies of spans with the right label, by document: exact, overlapping, and exact of new labels alone.

    New labels are not in the descriptor table and not in training: party, election, politician.
    """

    exact: dict[str, Tally] = field(default_factory=_tallies, repr=False)
    touched: dict[str, Tally] = field(default_factory=_tallies, repr=False)
    new: dict[str, Tally] = field(default_factory=_tallies, repr=False)


def labels_asked(name: str, factory: LabelFactory, folder: Path, progress: StepProgress) -> LabelTallies:
    """Tallies on the politics corpus with its own labels."""
    cases = list(cases_of(folder, POLITICS))
    detector = factory(own_labels(cases))
    asked = LabelTallies()
    done = 0
    for batch in packs(cases, BATCH):
        found = detected(name, detector, POLITICS, [case.document for case in batch])
        for case, entities in zip(batch, found, strict=True):
            for label, marked, spans in _by_label(case, flat(entities)):
                right = equal(case.text, marked, spans)
                asked.exact[case.unit] += right
                asked.touched[case.unit] += overlapping(case.text, marked, spans)
                if label not in LABELS:
                    asked.new[case.unit] += right
        done += len(batch)
        progress(done, len(cases))
    return asked


def _by_label(case: Case, found: Sequence[Entity]) -> Iterator[tuple[str, list[Ends], list[Ends]]]:
    """Each label with its gold and its detected spans."""
    own = _own_spans(case)
    for label in sorted({label for _, label in own} | {entity.label for entity in found}):
        marked = [span for span, of in own if of == label]
        spans = [(entity.span.start, entity.span.end) for entity in found if entity.label == label]
        yield label, marked, spans


def changed_by(sanitizer: Sanitizer) -> Generalizer:
    """A function that gives the spans that a sanitizer changes."""

    def changed(documents: Sequence[Document]) -> list[list[Span] | None]:
        return [
            [d.entity.span for d in outcome.decisions if d.action is not Action.KEEP]
            if isinstance(outcome, SanitizedDocument)
            else None
            for outcome in sanitizer.sanitize(documents)
        ]

    return changed


def answers(folder: Path, number: int = ANSWERS) -> list[Document]:
    """Answers about diseases and drugs from held-out pages, drawn with a fixed seed."""
    seen = medquad_training_docs(folder)
    found = medquad_answers(folder)
    free = [Document(answer.id, answer.text) for answer in found if answer.group not in seen]
    free.sort(key=lambda document: document.doc_id)
    return random.Random(SAMPLE_SEED).sample(free, min(number, len(free)))


def share_changed(generalize: Generalizer, documents: Sequence[Document], progress: StepProgress) -> Counted:
    """The share of characters that are changed; failed documents are left out.

    Every character of a changed span counts, including white space.
    """
    changed: list[int] = []
    of: list[int] = []
    for number, batch in enumerate(packs(documents, BATCH)):
        for document, spans in zip(batch, generalize(batch), strict=True):
            if spans is not None:
                changed.append(len(Cover((span.start, span.end) for span in spans)))
                of.append(len(document.text))
        progress(number * BATCH + len(batch), len(documents))
    return ratio_of(changed, of, SEED, RESAMPLES), len(of)


def speed(name: str, detector: EntityDetector, corpus: str, documents: Sequence[Document]) -> Counted:
    """Characters per second, over batches of four documents; the first batch is read once as a warm-up.

    Each text has a line break more, since a detector may remember the texts that it has read.
    """
    characters: list[int] = []
    seconds: list[float] = []
    detected(name, detector, corpus, documents[:SPEED_BATCH])
    for batch in packs([replace(each, text=f"{each.text}\n") for each in documents], SPEED_BATCH):
        begun = time.perf_counter()
        detected(name, detector, corpus, batch)
        seconds.append(time.perf_counter() - begun)
        characters.append(sum(len(document.text) for document in batch))
    return ratio_of(characters, seconds, SEED, RESAMPLES), len(seconds)
