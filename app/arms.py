"""What is compared: a corpus under one sanitizing method, ready to be asked.

An arm made here lives in memory only and ends with the process.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Arrival, Encoder, Sanitizer
from retrieval.collection import Writer, add_vectors
from retrieval.faiss_index import FaissIndex
from retrieval.protocols import Retriever
from retrieval.retriever import DenseRetriever
from retrieval.store import Store

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Arm:
    """What is attacked, what was done with its entities, and how many documents it has and has not.

    ``documents`` are what it keeps, where it was made in memory.
    """

    retriever: Retriever
    decisions: Mapping[str, int] = field(repr=False)
    kept: int
    failed: int
    documents: Sequence[SanitizedDocument] = field(default=(), repr=False)


def in_memory(
    documents: Sequence[Document],
    sanitizer: Sanitizer,
    encoder: Encoder,
    passage_tokens: int,
    stack: ExitStack,
    progress: Callable[[int, int], None],
) -> Arm:
    """Sanitize and index; the index lives as long as ``stack``."""
    sanitized: list[SanitizedDocument] = []
    for first in range(0, len(documents), _BATCH):
        progress(first, len(documents))
        outcomes = sanitizer.sanitize(documents[first : first + _BATCH])
        sanitized += [outcome for outcome in outcomes if isinstance(outcome, SanitizedDocument)]
    progress(len(documents), len(documents))
    actions = Counter(str(decision.action) for each in sanitized for decision in each.decisions)
    retriever = indexed(sanitized, encoder, passage_tokens, stack)
    return Arm(retriever, actions, len(sanitized), len(documents) - len(sanitized), sanitized)


def indexed(
    documents: Sequence[SanitizedDocument], encoder: Encoder, passage_tokens: int, stack: ExitStack
) -> Retriever:
    """Search in sanitized documents; the index lives as long as ``stack``."""
    store = Store(None)
    stack.callback(store.close)
    writer = Writer(store, encoder, passage_tokens)
    for first in range(0, len(documents), _BATCH):
        batch = documents[first : first + _BATCH]
        # Each arrives once, so an id tells documents apart as well as a text does.
        writer.keep([(Arrival(each.doc_id, each.doc_id.encode()), each) for each in batch])
    index = FaissIndex(encoder.dim)
    add_vectors(store, index, after=0)
    return DenseRetriever(encoder, index, store)
