"""Answers by a model that may not read the question: it reads the sanitized question."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.documents import Document
from ingest.errors import ForeignDocument, SanitizationError
from ingest.language.normalize import fixed_text
from ingest.protocols import Sanitizer
from models.errors import LetheError
from retrieval.documents import RetrievedPassage
from retrieval.guards.questions import names_in
from retrieval.protocols import Generator
from retrieval.writing import Restored, Writing, filtered


class QuestionNotSent(LetheError):
    """A question could not be sanitized and was not sent: the cause and the remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"The question was not sent: {what}. {remedy}")


class SanitizedQuestion:
    """Sanitizes each question before ``generator`` reads it; passages are sanitized already.

    With ``restore`` the asker's names come back in the answer, in place of the aliases that were sent. Safe
    to share between threads if ``sanitizer`` is.
    """

    def __init__(self, generator: Generator, sanitizer: Sanitizer, *, restore: bool = False) -> None:
        self._generator = generator
        self._sanitizer = sanitizer
        self._restore = restore

    @property
    def name(self) -> str:
        """The name of the wrapped generator."""
        return self._generator.name

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The answer to the sanitized question, with ``question_sent`` and its doubts.

        Raises:
            QuestionNotSent: The question could not be sanitized.
        """
        asked = fixed_text(question)
        (outcome,) = self._sanitizer.sanitize([Document("question", asked)])
        if isinstance(outcome, ForeignDocument):
            raise QuestionNotSent(
                f"it is {outcome.why}", "Ask in one of these, or start with --language any."
            )
        if isinstance(outcome, SanitizationError):
            raise QuestionNotSent(
                outcome.what,
                'Ask in other words, or set generator.trust to "local" if that server is yours.',
            )
        writing = self._generator.write(outcome.text, passages)
        if self._restore:
            writing = filtered(writing, Restored(names_in(asked, outcome)))
        answer = yield from writing
        return replace(answer, question_sent=outcome.text, question_doubts=outcome.doubts)
