"""The public surface of a RAG system, as an attacker meets it."""

from dataclasses import dataclass

from retrieval.documents import Answer
from retrieval.protocols import Generator, Retriever


@dataclass(frozen=True, slots=True)
class RagTarget:
    """Retrieve ``k`` passages, then generate."""

    retriever: Retriever
    generator: Generator
    k: int

    def ask(self, question: str) -> Answer:
        """The answer with the passages it was made from."""
        return self.generator.generate(question, self.retriever.retrieve([question], self.k)[0])
