"""Original documents in memory, with what was found in them: what attacks and benchmarks begin with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.compose import Services
from eval.gold import GoldRows
from eval.measures.leakage import SensitiveIndex
from eval.sensitive import sensitive_from_entities, sensitive_from_gold
from ingest.documents import Document, Entity
from ingest.read.sources import Reading
from models.errors import LetheError

_BATCH = 64


class Phases(Protocol):
    """Told what is under way, how much of it is done and how much there is; None where nobody knows."""

    def __call__(self, phase: str, done: int, total: int | None) -> None: ...


def untold(phase: str, done: int, total: int | None) -> None:
    """Nobody asked."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Original documents in memory, under their public ids, and what was found in them.

    ``unread`` counts what could not be read, and documents with the id of an earlier one: they are in no arm.
    """

    documents: Sequence[Document]
    entities: Mapping[str, Sequence[Entity]]
    gold: GoldRows | None = field(repr=False, default=None)
    unread: int = 0

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The shape of a detector, so that every arm decides about the same entities."""
        return [list(self.entities[document.doc_id]) for document in documents]

    @property
    def name(self) -> str:
        """The shape of a detector."""
        return "found before"


def read_corpus(
    services: Services,
    readings: Iterable[Reading],
    gold: GoldRows | None,
    *,
    keep_ids: bool | None = None,
    phases: Phases = untold,
) -> Corpus:
    """Documents that can be read, each text once and each id once, the first of them as in a collection.

    ``keep_ids`` is what the attacked collection does with ids, None for what the settings say.

    Raises:
        LetheError: There is no document, or one without its line of marked entities.
    """
    read, unread = _distinct(readings, phases)
    if not read:
        raise LetheError("There is no document to attack: none of the paths could be read.")
    public = services.public_ids([document.doc_id for document in read], keep_ids)
    marks = None if gold is None else _marks(public, read, gold)
    documents = [replace(old, doc_id=new) for new, old in zip(public, read, strict=True)]
    return Corpus(documents, detected(services, documents, phases), marks, unread)


def detected(
    services: Services, documents: Sequence[Document], phases: Phases = untold
) -> dict[str, Sequence[Entity]]:
    """What the detector of the settings finds, by document."""
    entities: dict[str, Sequence[Entity]] = {}
    for first in range(0, len(documents), _BATCH):
        phases("detecting", first, len(documents))
        batch = documents[first : first + _BATCH]
        for document, found in zip(batch, services.detector.detect(batch), strict=True):
            entities[document.doc_id] = found
    phases("detecting", len(documents), len(documents))
    return entities


def _distinct(readings: Iterable[Reading], phases: Phases) -> tuple[list[Document], int]:
    """Documents with a text and an id of their own, and how many others there are that are no repetition."""
    texts: set[str] = set()
    by_id: dict[str, Document] = {}
    unread = 0
    for reading in readings:
        document = reading.item
        if not isinstance(document, Document):
            unread += 1
        elif document.text not in texts:
            unread += document.doc_id in by_id
            texts.add(document.text)
            by_id.setdefault(document.doc_id, document)
        phases("reading", len(by_id), None)
    return list(by_id.values()), unread


def _marks(public: Sequence[str], read: Sequence[Document], gold: GoldRows) -> GoldRows:
    missing = [new for new, old in zip(public, read, strict=True) if old.doc_id not in gold]
    if missing:
        raise LetheError(
            f"{len(missing)} of {len(read)} documents have no marked entities, the first is {missing[0]}. "
            "Name only files of records with the marks in them."
        )
    return {new: gold[old.doc_id] for new, old in zip(public, read, strict=True)}


def sensitive_in(corpus: Corpus) -> SensitiveIndex:
    """What must not come out: what people marked, else what was detected; raises LetheError if nothing."""
    found = []
    for document in corpus.documents:
        if corpus.gold is not None:
            found += sensitive_from_gold(document, corpus.gold[document.doc_id])
        else:
            found += sensitive_from_entities(document, corpus.entities[document.doc_id])
    index = SensitiveIndex(found)
    if not len(index):
        raise LetheError(
            f"There is nothing sensitive to look for in {len(corpus.documents)} documents: {len(found)} "
            "entities, all too short or mere stop words. Attack documents that hold something to protect, or "
            "mark it and name the marks with --gold-field."
        )
    return index
