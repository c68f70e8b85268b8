"""Multiple choice with sanitized vignettes: the task utility of A False Sense of Privacy on exam questions.

In the paper a language model answers, as ``ModelAnswerer`` has one do. ``SimilarityAnswerer`` needs none and
knows no medicine: it takes the option nearest to vignette and question, which is hardly better than chance.
Compare either with chance, and with its own answers where everything was removed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Protocol

from eval.corpora.loaders import ChoiceQuestion
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from ingest.protocols import Encoder
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import prompt

_LETTER = re.compile(r"[\W_]*([^\W\d_])(?![^\W_])")
"""A letter that stands alone, whatever signs are before it: "B", "(b)", "**C.** because"."""


def chosen(answer: str) -> str | None:
    """The letter that an answer begins with, as a capital; None where a longer word or a number does."""
    found = _LETTER.match(answer)
    return found[1].upper() if found else None


RIGHT, UNANSWERED, OPTIONS = "answered right", "unanswered", "options"


class Answerer(Protocol):
    """Answers each question about the document beside it; an answer begins with the letter of an option."""

    @property
    def name(self) -> str: ...

    def answers(self, documents: Sequence[str], questions: Sequence[ChoiceQuestion]) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class SimilarityAnswerer:
    """The option with the highest cosine to the question and the document, the first of equals."""

    encoder: Encoder

    @property
    def name(self) -> str:
        return f"nearest option[{self.encoder.name}]"

    def answers(self, documents: Sequence[str], questions: Sequence[ChoiceQuestion]) -> list[str]:
        pairs = zip(documents, questions, strict=True)
        # The question comes first: an encoder reads only the beginning of a long text.
        asked = self.encoder.encode([f"{each.text} {document}".strip() for document, each in pairs])
        options = self.encoder.encode([text for each in questions for text in each.options.values()])
        places = pairwise(accumulate((len(each.options) for each in questions), initial=0))
        return [
            list(each.options)[int((options[start:end] @ vector).argmax())]
            for each, vector, (start, end) in zip(questions, asked, places, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ModelAnswerer:
    """A language model that reads the document; a question is unanswered where it names no option."""

    asker: Asker

    @property
    def name(self) -> str:
        return f"exam[{self.asker.engine(prompt('answer_exam'))}]"

    def answers(self, documents: Sequence[str], questions: Sequence[ChoiceQuestion]) -> list[str]:
        """What it said, empty where that twice began with the letter of no option.

        Raises:
            ModelUnavailable: The model could not be reached or failed.
        """
        letters = {letter for each in questions for letter in each.options}

        def lettered(answer: str) -> str | None:
            return answer if chosen(answer) in letters else None

        found = self.asker.all(prompt("answer_exam"), _slots(documents, questions), lettered)
        return [each or "" for each in found]

    def plan(self, documents: Sequence[str], questions: Sequence[ChoiceQuestion]) -> Plan:
        return self.asker.plan(prompt("answer_exam"), _slots(documents, questions))


def _slots(documents: Sequence[str], questions: Sequence[ChoiceQuestion]) -> list[Slots]:
    return [
        {
            "text": text,
            "question": each.text,
            "options": "\n".join(f"{letter}. {option}" for letter, option in each.options.items()),
        }
        for text, each in zip(documents, questions, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Choices:
    """One row per question, with numbers only; a failure if its document could not be sanitized."""

    questions: Sequence[ChoiceQuestion] = field(repr=False)
    answerer: Answerer

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"multiple choice, {self.answerer.name}"

    @property
    def cases(self) -> Sequence[str]:
        return [each.about for each in self.questions]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        progress(f"answering from {kept.system}", 0, len(cases))
        written = {each.doc_id: each.text for each in kept.documents}
        wanted = set(cases) & set(written)
        asked = [each for each in self.questions if each.about in wanted]
        answers = self.answerer.answers([written[each.about] for each in asked], asked)
        found = {
            each.about: {
                RIGHT: float(chosen(answer) == each.right.strip().upper()),
                UNANSWERED: float(chosen(answer) is None),
                OPTIONS: float(len(each.options)),
            }
            for each, answer in zip(asked, answers, strict=True)
        }
        for case in cases:
            yield kept.row(self.name, case, found.get(case), self.answerer.name)
        progress(f"answering from {kept.system}", len(cases), len(cases))
