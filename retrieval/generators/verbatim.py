"""The worst case for privacy: a generator that repeats all its passages."""

from collections.abc import Sequence

from retrieval.citations import NO_ANSWER, citations_of
from retrieval.documents import Answer, RetrievedPassage
from retrieval.writing import Writing, at_once


class VerbatimGenerator:
    """Repeats every retrieved passage word for word, whatever the question.

    What an attack cannot extract from it, no prompt extracts from a model that reads the same passages.
    """

    @property
    def name(self) -> str:
        """The engine's name in answers and reports."""
        return "verbatim (worst case)"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """All passages, best first, each followed by its mark."""
        marked = dict(enumerate(passages, start=1))
        text = "\n\n".join(f"{found.passage.text} [{mark}]" for mark, found in marked.items())
        cited = citations_of(marked, marked)
        return at_once(Answer(text or NO_ANSWER, cited, tuple(passages), self.name))
