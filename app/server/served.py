"""What a server serves."""

from dataclasses import dataclass

from retrieval.protocols import Generator, Retriever


@dataclass(frozen=True, slots=True)
class ServedCollection:
    """A collection by name, with its retriever and generator.

    Both are called by several threads at once.
    """

    collection: str
    retriever: Retriever
    generator: Generator
    k: int

    @property
    def models(self) -> tuple[str, str]:
        """The names that a chat may ask for; the second tells collections apart."""
        return "lethe", f"kb:{self.collection}"
