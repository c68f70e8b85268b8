"""Documents that a user names, as a corpus."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from eval.corpora.corpus import Corpus, Truths
from eval.corpora.gold import GoldRows
from eval.progress import Progress, no_progress
from ingest.documents import Document
from ingest.read.reading import Reading
from models.errors import LetheError


def read_corpus(
    readings: Iterable[Reading],
    public_ids: Callable[[Sequence[str]], Sequence[str]],
    gold: GoldRows | None = None,
    progress: Progress = no_progress,
    persons: Mapping[str, str] | None = None,
    attributes: Mapping[str, Truths] | None = None,
) -> Corpus:
    """The readable documents without duplicates of a text or an id; the first is kept, as in a collection.

    ``public_ids`` are the ids for rows and reports; ``gold``, the ``persons`` that documents are about,
    and their ``attributes`` are keyed by the ids as read.

    Raises:
        LetheError: There is no document, or one without its line of marked entities.
    """
    read, unread = _distinct(readings, progress)
    if not read:
        raise LetheError("There is no document to attack: none of the paths could be read.")
    public = public_ids([document.doc_id for document in read])
    marks = None if gold is None else _marks(public, read, gold)
    documents = [replace(old, doc_id=new) for new, old in zip(public, read, strict=True)]
    people: dict[str, set[str]] = {}
    for new, old in zip(public, read, strict=True):
        if person := (persons or {}).get(old.doc_id):
            people.setdefault(person, set()).add(new)
    several = [frozenset(ids) for ids in people.values() if len(ids) > 1]
    known = {
        new: those
        for new, old in zip(public, read, strict=True)
        if (those := (attributes or {}).get(old.doc_id))
    }
    return Corpus("files", documents, gold=marks, unread=unread, people=several, attributes=known)


def _distinct(readings: Iterable[Reading], progress: Progress) -> tuple[list[Document], int]:
    """Documents with a unique text and id, and the number of others that are not duplicates."""
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
        progress("reading", len(by_id), None)
    return list(by_id.values()), unread


def _marks(public: Sequence[str], read: Sequence[Document], gold: GoldRows) -> GoldRows:
    missing = [new for new, old in zip(public, read, strict=True) if old.doc_id not in gold]
    if missing:
        raise LetheError(
            f"{len(missing)} of {len(read)} documents have no marked entities, the first is {missing[0]}. "
            "Name only files of records with the marks in them."
        )
    return {new: gold[old.doc_id] for new, old in zip(public, read, strict=True)}
