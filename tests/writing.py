"""Texts that pass a filter, whole or cut anywhere."""

from collections.abc import Sequence

from hypothesis import strategies as st

from retrieval.citations import KnownMarks
from retrieval.documents import Citation, RetrievedPassage
from retrieval.writing import Filter


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
