"""What is compared: a corpus under one sanitizing method, ready to be asked.

An arm made here lives in memory only and ends with the process.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from ingest.documents import Document, SanitizedDocument
from ingest.keys import content_key
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
    store = Store(None)
    stack.callback(store.close)
    writer = Writer(store, encoder, passage_tokens)
    sanitized: list[SanitizedDocument] = []
    for first in range(0, len(documents), _BATCH):
        progress(first, len(documents))
        batch = documents[first : first + _BATCH]
        outcomes = zip(batch, sanitizer.sanitize(batch), strict=True)
        kept = [
            (Arrival(document.doc_id, content_key(document.text, b"")), outcome)
            for document, outcome in outcomes
            if isinstance(outcome, SanitizedDocument)
        ]
        writer.keep(kept)
        sanitized += [outcome for _, outcome in kept]
    progress(len(documents), len(documents))
    index = FaissIndex(encoder.dim)
    add_vectors(store, index, after=0)
    actions = Counter(str(decision.action) for each in sanitized for decision in each.decisions)
    failed = len(documents) - len(sanitized)
    return Arm(DenseRetriever(encoder, index, store), actions, len(sanitized), failed, sanitized)
