"""A language model that infers attributes, and one that rewrites a text against an inference.

After Staab et al. (2024), Beyond Memorization, and Large Language Models are Advanced Anonymizers; and Frikha
et al. (2024), IncogniText. The prompts are our own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.protecting.protocols import Inference, Wanted
from models.language.asking import Asker, Plan
from models.language.prompts import prompt
from models.language.reading import behind_mark, json_in

GUESSES, MOST_CERTAIN = 3, 5


class ModelAdversary:
    """Asks for three guesses at each attribute; an attribute without a readable guess has no inference.

    It is told the ``truths`` that are given, by attribute: for variants whose adversary looks for what gives
    them away.
    """

    def __init__(
        self, asker: Asker, attributes: Sequence[str], truths: Mapping[str, str] | None = None
    ) -> None:
        self._asker, self._prompt = asker, prompt("infer_attributes")
        self._hint = "".join(f"True {name}: {value}\n" for name, value in (truths or {}).items())
        self.attributes = tuple(attributes)

    @property
    def name(self) -> str:
        """The model and the prompt."""
        return f"adversary ({self._asker.engine(self._prompt)})"

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        """The inferences of each text by attribute; none where the answer could not be read.

        Raises ModelUnavailable where the model could not be reached or failed.
        """
        return [each or {} for each in self._asker.all(self._prompt, self._asked(texts), self._read)]

    def plan(self, texts: Sequence[str]) -> Plan:
        """What inferring takes."""
        return self._asker.plan(self._prompt, self._asked(texts))

    def _asked(self, texts: Sequence[str]) -> list[dict[str, str]]:
        same = {"attributes": ", ".join(self.attributes), "hint": self._hint}
        return [{**same, "text": text} for text in texts]

    def _read(self, answer: str) -> dict[str, Inference] | None:
        said = json_in(answer)
        rows = said.get("inferences") if isinstance(said, dict) else None
        if not isinstance(rows, list):
            return None
        found: dict[str, Inference] = {}
        for row in rows:
            if isinstance(row, dict) and row.get("attribute") in self.attributes:
                if (inference := _inference(row)) is not None:
                    found.setdefault(row["attribute"], inference)
        return found or None


def _inference(row: Mapping[str, Any]) -> Inference | None:
    guesses = row.get("guesses")
    if not isinstance(guesses, list):
        return None
    said = tuple(str(each).strip() for each in guesses if isinstance(each, str | int | float))[:GUESSES]
    certainty = row.get("certainty")
    certain = certainty if isinstance(certainty, int | float) else 1
    if not any(said):
        return None
    share = min(max(certain / MOST_CERTAIN, 0.0), 1.0)
    return Inference(tuple(filter(None, said)), share, str(row.get("reasoning") or ""))


class ModelRewriter:
    """Rewrites a text toward a wrong value, or, without one, so that the attribute can no longer be told."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._toward, self._without = prompt("rewrite_toward"), prompt("rewrite_without")

    @property
    def name(self) -> str:
        """The model and both prompts."""
        return f"rewriter ({self._asker.engine(self._toward)}, {self._without.label})"

    def rewrite(self, text: str, wanted: Wanted) -> str | None:
        """The new text; None where the answer could not be read, or would be cut off.

        Raises as ``ModelAdversary.infer``.
        """
        slots = {"attribute": wanted.attribute, "knowledge": knowledge(wanted), "text": text}
        asked = self._without
        if wanted.target is not None:
            asked, slots["target"] = self._toward, wanted.target
        return self._asker.all(asked, [slots], behind_mark)[0] if self._asker.has_room(asked, text) else None


def knowledge(wanted: Wanted) -> str:
    """What a rewriter is told of the truth and of an inference, in lines."""
    lines: list[str] = []
    if wanted.truth is not None:
        lines.append(f"True value: {wanted.truth}")
    if wanted.inference is not None:
        lines.append(f"A reader guessed: {'; '.join(wanted.inference.guesses)}")
        if wanted.inference.reasoning:
            lines.append(f"The reader's reasons: {wanted.inference.reasoning}")
    return "".join(f"{line}\n" for line in lines)
