"""Questions to passages."""

from collections.abc import Sequence

from ingest.protocols import Encoder
from retrieval.documents import RetrievedPassage
from retrieval.protocols import VectorIndex
from retrieval.store import Store


class DenseRetriever:
    """Encode, search, fetch."""

    def __init__(self, encoder: Encoder, index: VectorIndex, store: Store) -> None:
        self._encoder = encoder
        self._index = index
        self._store = store

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """For each question up to ``k`` passages, best first."""
        if not questions:
            return []
        found = self._index.search(self._encoder.encode(questions), k)
        wanted = sorted({number for row in found for number, _ in row})
        passages = self._store.passages(wanted)
        return [
            # A passage erased by another process since the index was loaded is left out.
            [RetrievedPassage(passages[number], score) for number, score in row if number in passages]
            for row in found
        ]
