"""The public surface of a RAG system, as an attacker sees it, and caching encoders."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.progress import Progress, no_progress
from ingest.protocols import Encoder
from models.remembering import remembering
from models.vectors import Vectors
from retrieval.documents import Answer, RetrievedPassage
from retrieval.protocols import Generator, Retriever
from retrieval.writing import whole

TEXTS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class RagTarget:
    """Retrieve ``k`` passages, then generate."""

    retriever: Retriever
    generator: Generator
    k: int

    def ask(self, question: str) -> Answer:
        """The answer and the passages it was generated from."""
        return whole(self.generator.write(question, self.retriever.retrieve([question], self.k)[0]))


def reading_once(encoder: Encoder) -> Encoder:
    """An encoder that caches every text: for indexes of one corpus that differ in few passages."""
    return remembering(encoder, "encode", joined=np.stack)


def having_read(
    encoder: Encoder, texts: Sequence[str], phase: str = "encoding", progress: Progress = no_progress
) -> Encoder:
    """An encoder with the vectors of some texts computed in batches; it caches no others.

    Encoding prompts one by one, again for each system, would take most of the time of an attack.
    """
    distinct = list(dict.fromkeys(texts))
    known: list[tuple[str, Vectors]] = []
    for first in range(0, len(distinct), TEXTS_AT_ONCE):
        batch = distinct[first : first + TEXTS_AT_ONCE]
        known += zip(batch, encoder.encode(batch), strict=True)
        progress(phase, len(known), len(distinct))
    return remembering(encoder, "encode", joined=np.stack, known=known, grows=False)


class HavingFound:
    """A retriever with the passages of some questions found in one batch; it caches no others."""

    def __init__(self, retriever: Retriever, questions: Sequence[str], k: int) -> None:
        self._retriever, self._k = retriever, k
        distinct = list(dict.fromkeys(questions))
        self._found = dict(zip(distinct, retriever.retrieve(distinct, k), strict=True))

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """As the retriever does."""
        if k != self._k or not all(each in self._found for each in questions):
            return self._retriever.retrieve(questions, k)
        return [self._found[each] for each in questions]
