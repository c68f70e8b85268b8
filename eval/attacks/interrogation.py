"""Questions about a text that are answered by yes or no, written by a language model that sees it (IA).

After Naseh et al. 2025, Riddle Me This! A victim that has the text in its index answers them better than one
that has not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eval.attacks.membership import QUOTED, YesNo
from ingest.protocols import Encoder
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import prompt
from models.language.protocol import rows_in

KEPT = 15
"""The questions that are asked about a text, of up to 30 that are written: the most similar to it."""


@dataclass(frozen=True, slots=True)
class Interrogator:
    """One question a text to the model, about the first 2,048 characters of it."""

    asker: Asker
    encoder: Encoder
    kept: int = KEPT

    @property
    def name(self) -> str:
        """The model, the prompt, and what chooses among the questions."""
        return f"interrogation[{self.asker.engine(prompt('interrogate'))}; {self.encoder.name}]"

    def plan(self, texts: Sequence[str]) -> Plan:
        """What writing takes."""
        return self.asker.plan(prompt("interrogate"), _slots(texts))

    def questions(self, texts: Sequence[str]) -> Iterator[list[YesNo]]:
        """The questions about each text, in order; none where the answer has none, or the prompt is too long.

        Raises:
            ModelUnavailable: The model could not be reached or failed.
        """
        written = self.asker.each(prompt("interrogate"), _slots(texts), questions_in)
        for text, found in zip(texts, written, strict=True):
            yield nearest(text, found, self.encoder, self.kept) if found else []


def questions_in(answer: str) -> list[YesNo] | None:
    """The questions of an answer, each once; None without any. What has another form is left out."""
    found: dict[str, YesNo] = {}
    for row in rows_in(answer, "questions") or ():
        asked, right = (row.get("question"), row.get("answer")) if isinstance(row, dict) else (None, None)
        said = right.strip().casefold() if isinstance(right, str) else ""
        if isinstance(asked, str) and asked.strip() and said in ("yes", "no"):
            found.setdefault(asked.strip().casefold(), YesNo(asked.strip(), said == "yes"))
    return list(found.values()) or None


def nearest(text: str, questions: Sequence[YesNo], encoder: Encoder, most: int) -> list[YesNo]:
    """At most so many questions, those whose vectors have the largest cosine with that of the text."""
    vectors = encoder.encode([text, *(each.question for each in questions)])
    order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:most]
    return [questions[place] for place in sorted(order.tolist())]


def _slots(texts: Sequence[str]) -> list[Slots]:
    return [{"text": text[:QUOTED]} for text in texts]
