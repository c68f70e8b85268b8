"""The documents of a collection as they are stored, beside what the system writes of their originals now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from eval.experiment import SanitizedCorpus, Shelf, retrievers
from ingest.documents import SanitizedDocument
from ingest.errors import SanitizationError
from retrieval.search import Search
from retrieval.store.database import Store

NOT_STORED = "not in the collection"


@dataclass(frozen=True, slots=True)
class Stored:
    """A collection, and how many of its documents the system would write otherwise now.

    The slots of those are not known: they are attacked as texts.
    """

    corpus: SanitizedCorpus
    differing: int


def stored_texts(store: Store, doc_ids: Sequence[str]) -> dict[str, str]:
    """The whole stored text of each of these documents that is there, by the id that was given."""
    found = {doc_id: "".join(each.text for each in store.passages_of(doc_id)) for doc_id in doc_ids}
    return {doc_id: text for doc_id, text in found.items() if text or store.documents_called([doc_id])}


def vectors_digest(store: Store, doc_ids: Sequence[str]) -> str:
    """A digest of the stored vectors of these documents."""
    digest = blake2b(digest_size=16)
    for doc_id in doc_ids:
        _, vectors = store.vectors_of([each.passage_id for each in store.passages_of(doc_id)])
        digest.update(vectors.tobytes())
    return digest.hexdigest()


def as_stored(
    name: str,
    shelf: Shelf,
    texts: Mapping[str, str],
    sanitized: Sequence[SanitizedDocument | SanitizationError],
    search: Search,
) -> Stored:
    """The corpus of what is on a shelf, given its ``texts`` and its originals as they are sanitized now.

    ``search`` is how it is searched, which may be otherwise than its vectors were made for.

    The store keeps no places in originals, so decisions are those made now where the text is the same.
    """
    documents: list[SanitizedDocument] = []
    failed: dict[str, str] = {}
    differing = 0
    for each in sanitized:
        if each.doc_id not in texts:
            failed[each.doc_id] = NOT_STORED
        elif isinstance(each, SanitizationError):
            failed[each.doc_id] = each.what
        elif each.text == texts[each.doc_id]:
            documents.append(each)
        else:
            differing += 1
            documents.append(replace(each, text=texts[each.doc_id], decisions=(), places=()))
    store = shelf.store

    searched = retrievers(lambda encoder: replace(shelf, search=search))
    count, actions = store.count_documents(), store.entities_by_action()
    corpus = SanitizedCorpus(name, count, failed, actions, searched, documents, lambda encoder: shelf)
    return Stored(corpus, differing)
