"""The type of synthetic documents."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SyntheticDocument:
    """An invented text: it is about nobody, nothing in it is true, and none of its kin can be indexed as is.

    ``method`` made it, and ``privacy`` says what is promised of each document that the method learned from.
    """

    doc_id: str
    text: str = field(repr=False)
    method: str
    privacy: str


def synthetic_documents(texts: Iterable[str], method: str, privacy: str) -> Iterator[SyntheticDocument]:
    """Texts under numbered ids."""
    for number, text in enumerate(texts, 1):
        yield SyntheticDocument(f"synthetic-{number}", text, method, privacy)
