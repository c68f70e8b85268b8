"""Questions by name about documents that have aliases in place of names.

A keyed alias is the same in every document and question of a collection, so that who asks by a name finds the
documents of its alias, and no name is stored. A name must be given in full: a surname alone has no alias.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.language.normalize import fixed_text
from ingest.protocols import Sanitizer
from ingest.spans import substitute
from ingest.wording.aliases import alias_in
from ingest.wording.replace import render
from retrieval.documents import RetrievedPassage
from retrieval.protocols import Generator, Retriever
from retrieval.writing import Restored, Writing, filtered


@dataclass(frozen=True, slots=True)
class Aliased:
    """A question with aliases in place of names; ``names`` has what the asker said for each alias."""

    text: str = field(repr=False)
    names: Mapping[str, str] = field(repr=False)


def aliased(question: str, sanitizer: Sanitizer) -> Aliased:
    """The question with the aliases of its names, and nothing else changed.

    One that cannot be sanitized, such as in another language, is unchanged: it stays on this machine.
    """
    text = fixed_text(question)
    (outcome,) = sanitizer.sanitize([Document("question", text)])
    if isinstance(outcome, SanitizationError):
        return Aliased(question, {})
    named = [each for each in outcome.decisions if alias_in(each.replacement)]
    return Aliased(substitute(text, render(text, named).replacements), names_in(text, outcome))


def names_in(question: str, sanitized: SanitizedDocument) -> Mapping[str, str]:
    """What the question says for each alias, the first time that it does."""
    names: dict[str, str] = {}
    for decision in sanitized.decisions:
        if alias := alias_in(decision.replacement):
            names.setdefault(alias, question[decision.entity.span.start : decision.entity.span.end])
    return names


class SearchByAlias:
    """Searches for the aliases of the names in a question."""

    def __init__(self, retriever: Retriever, sanitizer: Sanitizer) -> None:
        self._retriever = retriever
        self._sanitizer = sanitizer

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """As the retriever does."""
        return self._retriever.retrieve([aliased(each, self._sanitizer).text for each in questions], k)


class AnswerByAlias:
    """Lets ``generator`` read the aliases that the passages have; with ``restore``, names come back."""

    def __init__(self, generator: Generator, sanitizer: Sanitizer, *, restore: bool) -> None:
        self._generator = generator
        self._sanitizer = sanitizer
        self._restore = restore

    @property
    def name(self) -> str:
        """The name of the generator."""
        return self._generator.name

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The answer to the question with aliases; raises what the generator raises."""
        asked = aliased(question, self._sanitizer)
        writing = self._generator.write(asked.text, passages)
        return (yield from filtered(writing, Restored(asked.names)) if self._restore else writing)
