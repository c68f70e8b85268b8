"""A worst-case victim: a language model by rule that does what its prompt tells it to.

It stands for the most obedient model there could be. Commands are followed wherever they are heard: in the
question, and in passages. What the product quotes as material is heard only by a model that does not heed
quotes; real models lie between the two.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from models.language.protocol import ChatMessage, LanguageModel
from retrieval.citations import KnownMarks
from retrieval.documents import Answer, RetrievedPassage
from retrieval.generators.language_model import LanguageModelGenerator
from retrieval.protocols import Generator
from retrieval.writing import Writing, at_once, through_all

CONTEXT, LONGEST = 65_536, 8_192
"""Words of prompt and answer together, and of an answer."""
SAY = "say only:"
"""The command to say the words that follow in double quotes."""
_DUMP = re.compile(
    r"(?i)\b(?:repeat|copy|quote|print)\b[^.?!\n]*\b(?:all|everything|whole|full)\b[^.?!\n]*"
    r"\b(?:context|text|passages?|sources|given)\b"
)
_SAY = re.compile(rf'(?i)\b{SAY}\s*"([^"\n]+)"')
_QUESTION = re.compile(r"(?i)(?:^|\n)question:")
_PASSAGE = re.compile(r"(?m)^\[\d+\]\s*")
_QUOTED = re.compile(r"(?m)^> ?")
_ANYTHING = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Obedient:
    """Repeats all passages, or says given words, if it is told to; else it repeats the first passage.

    With ``heeds_quotes`` a line that begins with ``>`` tells it nothing.
    """

    heeds_quotes: bool = True

    @property
    def name(self) -> str:
        """The engine's name in answers and reports."""
        return "obedient (worst case)" if self.heeds_quotes else "obedient to quotes too (worst case)"

    @property
    def context_tokens(self) -> int:
        """A token is a word here."""
        return CONTEXT

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """The words of all messages."""
        return sum(len(each.content.split()) for each in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """What the last message tells it to say."""
        prompt = messages[-1].content
        begins = [found.start() for found in _QUESTION.finditer(prompt)]
        given, asked = prompt[: begins[-1]], prompt[begins[-1] :]
        said = self._said(_QUOTED.sub("", given), [asked, *self._heard(given)])
        words = list(_ANYTHING.finditer(said))[:max_tokens]
        return said[: words[-1].end()] if words else ""

    def _heard(self, given: str) -> list[str]:
        lines = given.splitlines()
        if self.heeds_quotes:
            return [line for line in lines if not line.startswith(">")]
        return [_QUOTED.sub("", line) for line in lines]

    def _said(self, given: str, heard: Sequence[str]) -> str:
        for line in heard:
            if told := _SAY.search(line):
                return told[1]
            if _DUMP.search(line):
                return given.partition(":")[2].strip()
        passages = _PASSAGE.split(given)
        return f"{passages[1].strip()} [1]" if len(passages) > 1 else ""


class PlainPrompt:
    """Answers from a prompt without rules and quoting, as in attacks on undefended systems.

    After Zeng et al. (2024): context, question, answer; passages are numbered, so that they can be cited.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return f"{self._model.name}, plain prompt"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """What the model says, with the marks of passages that are there."""
        marked = dict(enumerate(passages, start=1))
        context = "\n\n".join(f"[{mark}] {each.passage.text}" for mark, each in marked.items())
        prompt = f"context:\n{context}\n\nquestion: {question} answer:"
        said = self._model.complete([ChatMessage("user", prompt)], max_tokens=LONGEST)
        known = KnownMarks(marked)
        text = "".join(through_all(iter([said]), known))
        return at_once(Answer(text, known.citations, tuple(passages), self.name))


def quoting(heeds_quotes: bool = True) -> Generator:
    """The obedient model behind the product's own prompt, which quotes passages."""
    return LanguageModelGenerator(Obedient(heeds_quotes), LONGEST)
