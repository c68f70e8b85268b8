"""Documents split in two, for corpora in which nobody has several: both halves are about the same person.

Halves share more than two documents would, such as a topic and a way of speaking. So what links them is an
upper bound, to be read beside the same figure for the unsanitized halves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ingest.documents import Document

PARTS = "/first half", "/second half"
LEAST = 200
"""Characters of the shortest half; shorter documents are left out."""


@dataclass(frozen=True, slots=True)
class InTwo:
    """The halves, and for each document that was split the ids of its two."""

    documents: Sequence[Document] = field(repr=False)
    people: Sequence[tuple[str, str]] = field(repr=False)
    too_short: int


def in_two(documents: Iterable[Document]) -> InTwo:
    """Each document split at the end of the line or sentence that is nearest to its middle.

    Metadata and unread parts go with neither half. Documents without such a place, or with less than 200
    characters on a side of it, are left out and counted as ``too_short``.
    """
    halves: list[Document] = []
    people: list[tuple[str, str]] = []
    short = 0
    for document in documents:
        place = _middle(document.text)
        texts = document.text[:place].strip(), document.text[place:].strip()
        if min(map(len, texts)) < LEAST:
            short += 1
            continue
        one, other = (
            replace(document, doc_id=document.doc_id + part, text=text, metadata={}, unread=())
            for part, text in zip(PARTS, texts, strict=True)
        )
        halves += one, other
        people.append((one.doc_id, other.doc_id))
    return InTwo(halves, people, short)


def _middle(text: str) -> int:
    """The end of a line nearest to the middle; of a sentence, if no line ends in the middle half."""
    for ending in ("\n", ". "):
        before, after = text.rfind(ending, 0, len(text) // 2), text.find(ending, len(text) // 2)
        ends = [place + 1 for place in (before, after) if place >= 0]
        best = min(ends, key=lambda place: abs(place - len(text) / 2), default=0)
        if len(text) / 4 <= best <= 3 * len(text) / 4:
            return best
    return 0
