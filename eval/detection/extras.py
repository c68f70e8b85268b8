"""What is measured by other means than holding usual labels against marked spans."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from eval.detection.cases import POLITICS, Case, cases_of
from eval.detection.gold import Row, rows
from eval.detection.intervals import Estimated, ratio
from eval.detection.measures import Tally, equal, overlapping
from eval.detection.spans import Cover, Ends, trimmed
from ingest.documents import Action, Document, Entity, SanitizedDocument, Span
from ingest.labels import LABELS
from ingest.protocols import EntityDetector, Sanitizer
from models.errors import LetheError
from models.packs import packs
from models.training.corpora import medquad_training_docs
from models.training.label_maps import LABEL_MAPS

LabelFactory = Callable[[Sequence[str]], EntityDetector]
"""Makes a detector that looks for the labels it is given."""
Generalizer = Callable[[Sequence[Document]], Sequence[Sequence[Span] | None]]
"""The spans that are changed in each document, in code points as it was read; None where that failed."""
Told = Callable[[int, int | None], None]
"""How much is done, and of how much."""

BATCH = 16
SPEED_BATCH = 4
MEDQUAD = "medquad"
MEDQUAD_FILE = Path(MEDQUAD, "data.jsonl.gz")
ANSWERS = 400
SAMPLE_SEED = 20261120


class _Answer(Row):
    id: str
    doc: str
    answer: str = Field(repr=False)


def detected(
    name: str, detector: EntityDetector, corpus: str, documents: Sequence[Document]
) -> list[list[Entity]]:
    """What a detector finds in each document.

    Raises:
        LetheError: It failed, or answered for more or fewer documents; no message quotes them.
    """
    try:
        found = detector.detect(documents)
    except LetheError:
        raise
    except Exception as error:
        # Whatever it was, its message may quote a document.
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
    """The labels that a corpus itself uses: of several names for one span, the narrowest."""
    return sorted({label for case in cases for _, label in _own_spans(case)})


def _own_spans(case: Case) -> set[tuple[Ends, str]]:
    """Trimmed spans with the label that the corpus itself has for them."""
    names: dict[Ends, set[str]] = defaultdict(set)
    for mention in case.mentions:
        inner = trimmed(case.text, (mention.start, mention.end))
        if inner is not None:
            names[inner].add(mention.label)
    return {(span, _NARROWEST.get(frozenset(of), min(of))) for span, of in names.items()}


_NARROWEST = {frozenset(names): names[0] for names in LABEL_MAPS["crossner"].values()}


def flat(found: Sequence[Entity]) -> list[Entity]:
    """Spans that do not overlap, the surest first served; ties go to the longer, then to the earlier."""
    kept: list[Entity] = []
    for entity in sorted(found, key=lambda e: (-e.confidence, -len(e.span), e.span, e.label)):
        if not any(entity.span.overlaps(other.span) for other in kept):
            kept.append(entity)
    return sorted(kept, key=lambda e: e.span)


def _tallies() -> dict[str, Tally]:
    return defaultdict(Tally)


@dataclass(frozen=True, slots=True)
class Asked:
    """Tallies of spans with the right label, by document: exact, overlapping, and exact of new labels alone.

    New is what the descriptor table lacks, and training did not ask by: party, election, politician.
    """

    exact: dict[str, Tally] = field(default_factory=_tallies, repr=False)
    touched: dict[str, Tally] = field(default_factory=_tallies, repr=False)
    new: dict[str, Tally] = field(default_factory=_tallies, repr=False)


def labels_asked(name: str, factory: LabelFactory, folder: Path, told: Told) -> Asked:
    """How politics is answered when its own labels are asked."""
    cases = list(cases_of(folder, POLITICS))
    detector = factory(own_labels(cases))
    asked = Asked()
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
        told(done, len(cases))
    return asked


def _by_label(case: Case, found: Sequence[Entity]) -> Iterator[tuple[str, list[Ends], list[Ends]]]:
    """Each label with the marked and the found spans of it."""
    own = _own_spans(case)
    for label in sorted({label for _, label in own} | {entity.label for entity in found}):
        marked = [span for span, of in own if of == label]
        spans = [(entity.span.start, entity.span.end) for entity in found if entity.label == label]
        yield label, marked, spans


def changed_by(sanitizer: Sanitizer) -> Generalizer:
    """What a sanitizer does not keep."""

    def changed(documents: Sequence[Document]) -> list[list[Span] | None]:
        return [
            [d.entity.span for d in outcome.decisions if d.action is not Action.KEEP]
            if isinstance(outcome, SanitizedDocument)
            else None
            for outcome in sanitizer.sanitize(documents)
        ]

    return changed


def answers(folder: Path, number: int = ANSWERS) -> list[Document]:
    """Answers about diseases and drugs from pages that nothing is trained on, drawn by a fixed seed."""
    seen = medquad_training_docs(folder)
    free = [
        Document(row.id, row.answer) for row in rows(folder / MEDQUAD_FILE, _Answer) if row.doc not in seen
    ]
    free.sort(key=lambda document: document.doc_id)
    return random.Random(SAMPLE_SEED).sample(free, min(number, len(free)))


def share_changed(generalize: Generalizer, documents: Sequence[Document], told: Told) -> Estimated:
    """The share of characters that are changed; documents in which that failed are left out.

    Every character of a changed span counts, white space too.
    """
    changed: list[int] = []
    of: list[int] = []
    for number, batch in enumerate(packs(documents, BATCH)):
        for document, spans in zip(batch, generalize(batch), strict=True):
            if spans is not None:
                changed.append(len(Cover((span.start, span.end) for span in spans)))
                of.append(len(document.text))
        told(number * BATCH + len(batch), len(documents))
    return ratio(changed, of)


def speed(name: str, detector: EntityDetector, corpus: str, documents: Sequence[Document]) -> Estimated:
    """Characters a second, over batches of four documents; the first batch is also read once before."""
    characters: list[int] = []
    seconds: list[float] = []
    detected(name, detector, corpus, documents[:SPEED_BATCH])
    for batch in packs(documents, SPEED_BATCH):
        begun = time.perf_counter()
        detected(name, detector, corpus, batch)
        seconds.append(time.perf_counter() - begun)
        characters.append(sum(len(document.text) for document in batch))
    return ratio(characters, seconds)
