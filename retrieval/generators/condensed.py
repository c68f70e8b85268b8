"""Answers from what each passage says about the question, as a language model condensed it before.

The model that answers does not see the passages, so that nobody makes it copy them out: a question gets what
bears on it. What says nothing about the question is left out, and so is what could not be condensed.
"""

from collections.abc import Sequence
from dataclasses import replace

from models.errors import ModelUnavailable
from models.language.asking import Asker
from models.language.prompts import prompt
from models.language.protocol import behind_mark
from retrieval.documents import RetrievedPassage
from retrieval.prompt import quoted
from retrieval.protocols import Generator
from retrieval.writing import Writing

NOTHING = "nothing"
"""What a passage is condensed to that does not bear on the question."""


class CondensedPassages:
    """Lets ``generator`` read condensed passages; citations and the answer's passages are those retrieved.

    ``asker`` is asked once for each passage before the answer begins, and once more where what it says is
    not in the asked form. If no passage can be condensed, that is an error and no answer.
    """

    def __init__(self, generator: Generator, asker: Asker) -> None:
        self._generator = generator
        self._asker = asker

    @property
    def name(self) -> str:
        """The generator and the prompt that condenses."""
        return f"{self._generator.name}, prompt {prompt('condense_passage').label}"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The answer, with the passages that were left; raises what the model and the generator raise."""
        asked = [{"question": question, "passage": quoted(each.passage.text)} for each in passages]
        said = self._asker.all(prompt("condense_passage"), asked, condensed_in)
        if passages and all(text is None for text in said):
            raise ModelUnavailable(
                "the language model condensed no passage, since none fits or no answer has the asked form:",
                "ask a shorter question, or set generator.condense to false.",
            )
        left = [(each, text) for each, text in zip(passages, said, strict=True) if text]
        short = [replace(each, passage=replace(each.passage, text=text)) for each, text in left]
        answer = yield from self._generator.write(question, short)
        return replace(answer, passages=tuple(each for each, _ in left), engine=self.name)


def condensed_in(answer: str) -> str | None:
    """What a passage was condensed to, "" for nothing; None where the answer is not in the asked form."""
    text = behind_mark(answer) or answer.strip()
    if text.rstrip(".").casefold() == NOTHING:
        return ""
    return behind_mark(answer)
