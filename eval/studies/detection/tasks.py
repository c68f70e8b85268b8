"""What is measured on which corpus, as data: how detected spans are compared with gold ones."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from eval.measures.uncertainty import Estimate, ratio_of
from eval.studies.detection.cases import (
    ACI_BENCH,
    AGE,
    FAMILY_NAME,
    FIRST_NAME,
    GENDER,
    POLITICS,
    RESAMPLES,
    SEED,
    Case,
    Cover,
    Ends,
    Measure,
    Tally,
    cases_of,
    characters,
    entities_covered,
    entities_touched,
    equal,
    overlapping,
    trimmed,
)
from ingest.documents import Action, Document, Entity, SanitizedDocument, Span
from ingest.labels import LABELS
from ingest.protocols import EntityDetector, Sanitizer
from models.corpora.documents import medquad_answers
from models.corpora.examples import Mention
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


def _own_spans(case: Case) -> set[tuple[Ends, str]]:
    """Trimmed spans with the label of the corpus, of several the narrowest."""
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


def labels_asked(
    name: str, factory: LabelFactory, folder: Path, progress: StepProgress
) -> dict[str, dict[str, Tally]]:
    """Tallies by document on the politics corpus with its own labels: ``exact``, ``touched`` and ``new``.

    ``new`` are exact ones of labels that training never asked by: party, election, politician.
    """
    cases = list(cases_of(folder, POLITICS))
    detector = factory(sorted({label for case in cases for _, label in _own_spans(case)}))
    asked: dict[str, dict[str, Tally]] = {key: defaultdict(Tally) for key in ("exact", "touched", "new")}
    done = 0
    for batch in packs(cases, BATCH):
        found = detected(name, detector, POLITICS, [case.document for case in batch])
        for case, entities in zip(batch, found, strict=True):
            own, kept = _own_spans(case), flat(entities)
            for label in sorted({label for _, label in own} | {entity.label for entity in kept}):
                marked = [span for span, of in own if of == label]
                spans = spans_of([entity for entity in kept if entity.label == label])
                right = equal(case.text, marked, spans)
                asked["exact"][case.unit] += right
                asked["touched"][case.unit] += overlapping(case.text, marked, spans)
                if label not in LABELS:
                    asked["new"][case.unit] += right
        done += len(batch)
        progress(done, len(cases))
    return asked


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
    free = [Document(each.id, each.text) for each in medquad_answers(folder) if each.group not in seen]
    free.sort(key=lambda document: document.doc_id)
    return random.Random(SAMPLE_SEED).sample(free, min(number, len(free)))


def share_changed(generalize: Generalizer, documents: Sequence[Document], progress: StepProgress) -> Counted:
    """The share of characters that are changed; failed documents are left out.

    Every character of a changed span counts, including white space.
    """
    changed, lengths = list[int](), list[int]()
    for number, batch in enumerate(packs(documents, BATCH)):
        for document, spans in zip(batch, generalize(batch), strict=True):
            if spans is not None:
                changed.append(len(Cover((span.start, span.end) for span in spans)))
                lengths.append(len(document.text))
        progress(number * BATCH + len(batch), len(documents))
    return ratio_of(changed, lengths, SEED, RESAMPLES), len(lengths)


def speed(name: str, detector: EntityDetector, corpus: str, documents: Sequence[Document]) -> Counted:
    """Characters per second, over batches of four documents; the first batch is read once as a warm-up.

    Each text has a line break more, since a detector may remember the texts that it has read.
    """
    characters, seconds = list[int](), list[float]()
    detected(name, detector, corpus, documents[:SPEED_BATCH])
    for batch in packs([replace(each, text=f"{each.text}\n") for each in documents], SPEED_BATCH):
        begun = time.perf_counter()
        detected(name, detector, corpus, batch)
        seconds.append(time.perf_counter() - begun)
        characters.append(sum(len(document.text) for document in batch))
    return ratio_of(characters, seconds, SEED, RESAMPLES), len(seconds)


MEDICAL_CONTENT = frozenset(
    (
        "symptom", "disease", "medication", "dosage", "frequency", "medical test", "test result",
        "procedure", "chemical",
    )
)  # fmt: skip
"""Medical content that does not identify; corpora of identifiers do not mark it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of entity in corpora that mark a few kinds of names.

    ``marked`` are the gold labels to be found, ``found`` the detector's labels that claim one. ``also_found``
    count for recall but not for precision: an address finds the town in it, but is not wrong if no town is
    marked. ``also_right`` are gold labels that make a claim right but do not count for recall.
    """

    name: str
    marked: frozenset[str]
    found: frozenset[str]
    also_found: frozenset[str] = frozenset()
    also_right: frozenset[str] = frozenset()


_PERSON, _ANY_PERSON, _HANDLE = "person full name", "any mention of a person", "account handle"
_PEOPLE = frozenset((_PERSON, "politician", "researcher", "scientist", "writer", "musician"))

PERSONS = Kind("persons", frozenset((_PERSON,)), _PEOPLE, also_right=frozenset((_ANY_PERSON,)))
PERSONS_AND_HANDLES = Kind(
    "persons, handles among them", frozenset((_PERSON, _HANDLE)), _PEOPLE, also_found=frozenset((_HANDLE,))
)
PERSONS_DESCRIBED = Kind(
    "persons, named or described", frozenset((_PERSON, _ANY_PERSON)), _PEOPLE | {_ANY_PERSON}
)
PLACES = Kind(
    "places",
    frozenset(("place",)),
    frozenset(("place", "city name", "county", "state or province", "country")),
    also_found=frozenset(("any mention of a place", "facility", "street address")),
    also_right=frozenset(("any mention of a place", "facility")),
)
ORGANIZATIONS = Kind(
    "organizations",
    frozenset(("organization",)),
    frozenset(("organization", "political party", "university", "band")),
    also_right=frozenset(("contract party",)),
)
DISEASES = Kind("diseases", frozenset(("disease",)), frozenset(("disease", "diagnosis", "symptom")))
CHEMICALS = Kind("chemicals and drugs", frozenset(("chemical",)), frozenset(("chemical", "medication")))

_NAMES = (PERSONS, PLACES, ORGANIZATIONS)
_NAMES_IN_POSTS = (PERSONS_AND_HANDLES, PLACES, ORGANIZATIONS)
_NAMES_AND_DESCRIPTIONS = (PERSONS, PERSONS_DESCRIBED, PLACES)

CORPUS_NAMES = {
    "gum": "GUM",
    "litbank": "LitBank",
    "re3d": "re3d",
    "wnut17": "WNUT-17",
    "broad_twitter": "Broad Twitter",
    "wikigold": "Wikigold",
    "crossner": "CrossNER",
    "uner_ewt": "UNER-EWT",
    "sec_filings": "SEC filings",
    "bc5cdr": "BC5CDR",
    "ncbi_disease": "NCBI disease",
}

KINDS: dict[str, tuple[Kind, ...]] = {
    "gum": (*_NAMES_AND_DESCRIPTIONS, ORGANIZATIONS),
    "litbank": _NAMES_AND_DESCRIPTIONS,
    "re3d": (*_NAMES_AND_DESCRIPTIONS, ORGANIZATIONS),
    "wnut17": _NAMES_IN_POSTS,
    "broad_twitter": _NAMES_IN_POSTS,
    "wikigold": _NAMES,
    "crossner": _NAMES,
    "uner_ewt": _NAMES,
    "sec_filings": _NAMES,
    "bc5cdr": (DISEASES, CHEMICALS),
    "ncbi_disease": (DISEASES,),
}
"""The kinds that each corpus marks well enough to be measured on."""

WITHOUT_NAMES: dict[str, tuple[Kind, ...]] = {"bc5cdr": (PERSONS, PLACES), "ncbi_disease": (PERSONS, PLACES)}
"""Corpora in which every span of these kinds is a false alarm."""


Unit = Callable[[str, Sequence[Ends], Sequence[Ends]], Tally]
"""Counts the gold and detected spans of a text: by characters, or by spans."""


@dataclass(frozen=True, slots=True)
class Sides:
    """A comparison in one text: recall of ``marked`` by ``finders``, precision of ``claims`` by ``right``."""

    marked: Sequence[Mention]
    finders: Sequence[Entity]
    right: Sequence[Mention]
    claims: Sequence[Entity]


Choose = Callable[[Case, Sequence[Entity]], Sides]


@dataclass(frozen=True, slots=True)
class Task:
    """One comparison on one corpus, and its measures.

    ``misses`` selects the spans for the sample of misses and false alarms; not every task adds to it.
    """

    key: str
    corpus: str
    title: str
    tally: Callable[[Case, Sequence[Entity]], Tally]
    measures: tuple[Measure, ...]
    misses: Choose | None = field(default=None)


def spans_of(entities: Sequence[Entity]) -> list[Ends]:
    """The spans of detected entities."""
    return [(entity.span.start, entity.span.end) for entity in entities]


def identifying(found: Sequence[Entity]) -> list[Entity]:
    """All but pure medical content."""
    return [entity for entity in found if entity.label not in MEDICAL_CONTENT]


def everything(case: Case, found: Sequence[Entity]) -> Sides:
    """All mentions against all labels but those of medical content."""
    counted = identifying(found)
    return Sides(case.mentions, counted, case.mentions, counted)


def any_label(case: Case, found: Sequence[Entity]) -> Sides:
    """All mentions against all detected spans."""
    return Sides(case.mentions, found, case.mentions, found)


def of_kind(case: Case, found: Sequence[Entity], kind: Kind) -> Sides:
    """The mentions of a kind; claims are judged only where annotation of their kind is complete."""
    right_labels = kind.marked | kind.also_right
    finder_labels = kind.found | kind.also_found
    judged = not case.asked.isdisjoint(right_labels)
    return Sides(
        [mention for mention in case.mentions if mention.label in kind.marked],
        [entity for entity in found if entity.label in finder_labels],
        [mention for mention in case.mentions if mention.label in right_labels],
        [entity for entity in found if judged and entity.label in kind.found],
    )


def occurring(case: Case, found: Sequence[Entity], label: str | None = None) -> Sides:
    """The mentions with a label, or all; annotation may be incomplete, so no claim is judged."""
    marked = [mention for mention in case.mentions if label in (None, mention.label)]
    return Sides(marked, identifying(found), (), ())


def counted(case: Case, found: Sequence[Entity], unit: Unit, choose: Choose) -> Tally:
    """A tally for recall and precision of a comparison."""
    sides = choose(case, found)
    met = unit(case.text, [(m.start, m.end) for m in sides.marked], spans_of(sides.finders))
    right = unit(case.text, [(m.start, m.end) for m in sides.right], spans_of(sides.claims))
    return Tally(met.met, met.marked, right.right, right.found)


def entity_recall(case: Case, found: Sequence[Entity], kind: str, whole: bool) -> Tally:
    """Entities of a kind with all mentions touched, or all covered."""
    entities = [entity for entity in case.entities if entity.kind == kind]
    spans = spans_of(identifying(found))
    return entities_covered(case.text, entities, spans) if whole else entities_touched(entities, spans)


def taken_for(case: Case, found: Sequence[Entity], kinds: Sequence[Kind]) -> Tally:
    """The share of characters claimed for kinds that are certainly absent."""
    judged = [kind for kind in kinds if not case.asked.isdisjoint(kind.marked)]
    if not judged:
        return Tally()
    return Tally(len(Cover(spans_of(claimed(case, found, judged).claims))), len(case.text))


BOTH_WAYS = (Measure.PRECISION, Measure.RECALL, Measure.F1)
RECALL = (Measure.RECALL,)


def tasks() -> tuple[Task, ...]:
    """All tasks with the usual labels, in the order of the table."""
    return (
        _all_mentions("tab", "TAB"),
        *_entities("spia_cases", "SPIA court cases"),
        _all_mentions("spia_cases", "SPIA court cases"),
        *_entities("spia_posts", "SPIA posts"),
        _all_mentions("spia_posts", "SPIA posts"),
        *(_patient(*each) for each in _OF_PATIENTS),
        Task(
            "presidio_synth.spans",
            "presidio_synth",
            "Presidio's synthetic sentences: spans, any overlap, all labels",
            partial(counted, unit=overlapping, choose=any_label),
            BOTH_WAYS,
            any_label,
        ),
        *(task for corpus, kinds in KINDS.items() for kind in kinds for task in _of_kind(corpus, kind)),
        *(_without_names(corpus, kinds) for corpus, kinds in WITHOUT_NAMES.items()),
    )


def _all_mentions(corpus: str, name: str) -> Task:
    tally = partial(counted, unit=characters, choose=everything)
    title = f"{name}: characters, all mentions"
    return Task(f"{corpus}.characters", corpus, title, tally, BOTH_WAYS, everything)


def _entities(corpus: str, name: str) -> tuple[Task, ...]:
    return tuple(
        Task(
            f"{corpus}.{kind.lower()}.{'covered' if whole else 'touched'}",
            corpus,
            f"{name}: {kind} entities, {'full cover' if whole else 'any overlap'}",
            partial(entity_recall, kind=kind, whole=whole),
            RECALL,
        )
        for whole in (False, True)
        for kind in ("DIRECT", "QUASI")
    )


_OF_PATIENTS = (
    ("first_name", FIRST_NAME),
    ("family_name", FAMILY_NAME),
    ("age", AGE),
    ("gender", GENDER),
)


def _patient(name: str, label: str) -> Task:
    title, choose = f"ACI-Bench: {label} in dialogue and note, any overlap", partial(occurring, label=label)
    tally = partial(counted, unit=overlapping, choose=choose)
    return Task(f"{ACI_BENCH}.{name}", ACI_BENCH, title, tally, RECALL, choose)


def _of_kind(corpus: str, kind: Kind) -> tuple[Task, ...]:
    choose = partial(of_kind, kind=kind)
    key = f"{corpus}.{kind.name.replace(', ', '_').replace(' ', '_')}"
    title = f"{CORPUS_NAMES[corpus]}: {kind.name}"
    loose = partial(counted, unit=overlapping, choose=choose)
    if (corpus, kind) != _AS_PUBLISHED:
        # Descriptions are optional for a detector of names, so only their recall is shown.
        measures = RECALL if kind is PERSONS_DESCRIBED else (Measure.PRECISION, Measure.RECALL)
        return (Task(f"{key}.touched", corpus, f"{title}, any overlap", loose, measures, choose),)
    strict = partial(counted, unit=equal, choose=choose)
    return (
        Task(f"{key}.exact", corpus, f"{title}, exact", strict, BOTH_WAYS),
        Task(f"{key}.touched", corpus, f"{title}, any overlap", loose, BOTH_WAYS, choose),
    )


_AS_PUBLISHED = ("uner_ewt", PERSONS)
"""Kinds whose exact matches are counted too."""


def _without_names(corpus: str, kinds: Sequence[Kind]) -> Task:
    title = f"{CORPUS_NAMES[corpus]}: characters taken for persons or places, which are not there"
    tally, misses = partial(taken_for, kinds=kinds), partial(claimed, kinds=kinds)
    key = f"{corpus}.taken_for_names"
    return Task(key, corpus, f"{title} (lower is better)", tally, (Measure.SHARE,), misses)


def claimed(case: Case, found: Sequence[Entity], kinds: Sequence[Kind]) -> Sides:
    """Only the claims of kinds that are certainly absent."""
    claims = [claim for kind in kinds for claim in of_kind(case, found, kind).claims]
    return Sides((), (), (), claims)
