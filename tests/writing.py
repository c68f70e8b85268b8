"""Passages that were found, and texts that pass a filter, whole or cut anywhere."""

from collections.abc import Sequence

from hypothesis import strategies as st

from retrieval.citations import KnownMarks
from retrieval.documents import Citation, Passage, RetrievedPassage
from retrieval.writing import Filter


def found(*texts: str) -> list[RetrievedPassage]:
    """A passage of each text, the first of them of the document d1 with the number 101."""
    return [
        RetrievedPassage(Passage(100 + n, f"d{n}", 0, len(text), text), 0.5)
        for n, text in enumerate(texts, start=1)
    ]


def cite(text: str, passages: dict[int, RetrievedPassage]) -> tuple[str, tuple[Citation, ...]]:
    """A whole answer with only the marks of ``passages``, and its citations."""
    known = KnownMarks(passages)
    return passed([text], known), known.citations


def passed(pieces: Sequence[str], through: Filter) -> str:
    """All that a filter lets out."""
    return "".join([*(through.feed(piece) for piece in pieces), through.close()])


def cuts_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """Texts, cut into pieces."""
    return st.lists(texts, max_size=6)
