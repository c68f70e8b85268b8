"""An answer reader that counts words: what it finds is known before, whatever a model learned."""

import re
from collections.abc import Sequence
from typing import cast

from models.answers import AnswerReader, Judged

_SMALL = frozenset(
    "a about an and did do does how i in is it of on or the to was what when where who why".split()
)


class WordReader:
    """A sentence is the likelier the more words of the question it has; without one it answers nothing.

    It needs the sentence before where it begins with a pronoun.
    """

    name = "word reader (test double)"

    def judged(
        self, question: str, texts: Sequence[str], sentences: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[Judged]]:
        asked = _words(question)
        return [
            [self._judged(asked, text[start:end]) for start, end in spans]
            for text, spans in zip(texts, sentences, strict=True)
        ]

    def _judged(self, asked: frozenset[str], sentence: str) -> Judged:
        shared = len(asked & _words(sentence))
        led = re.match(r"(?:he|she|it|they)\b", sentence, re.IGNORECASE)
        return Judged(2.0 * shared - 1.0, 1.0 if led else -1.0)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold())) - _SMALL


def word_reader() -> AnswerReader:
    """It, as what loads a reader."""
    return cast("AnswerReader", WordReader())
