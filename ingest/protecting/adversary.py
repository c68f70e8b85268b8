"""Who infers attributes of the person of a text: the seam, and a language model behind it.

After Staab et al. (2024), Beyond Memorization. The prompt is our own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from models.language.asking import Asker, Plan
from models.language.prompts import prompt
from models.language.protocol import rows_in

GUESSES, MOST_CERTAIN = 3, 5


@dataclass(frozen=True, slots=True)
class Inference:
    """The guesses at an attribute, best first, how certain the first is in [0, 1], and why.

    Private: guesses and reasoning give the text away.
    """

    guesses: tuple[str, ...] = field(repr=False)
    certainty: float
    reasoning: str = field(default="", repr=False)


class Adversary(Protocol):
    """Infers attributes of the person of each text; the guesses do not depend on the other texts."""

    @property
    def name(self) -> str: ...

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]: ...


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
        self._attributes = tuple(attributes)
        self.name = f"adversary ({asker.engine(self._prompt)})"

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        """The inferences of each text by attribute; none where the answer could not be read.

        Raises ModelUnavailable where the model could not be reached or failed.
        """
        return [each or {} for each in self._asker.all(self._prompt, self._asked(texts), self._read)]

    def plan(self, texts: Sequence[str]) -> Plan:
        """What inferring takes."""
        return self._asker.plan(self._prompt, self._asked(texts))

    def _asked(self, texts: Sequence[str]) -> list[dict[str, str]]:
        same = {"attributes": ", ".join(self._attributes), "hint": self._hint}
        return [{**same, "text": text} for text in texts]

    def _read(self, answer: str) -> dict[str, Inference] | None:
        found: dict[str, Inference] = {}
        for row in rows_in(answer, "inferences") or ():
            match row:
                case {"attribute": str(name), "guesses": [*guesses]} if name in self._attributes:
                    said = [str(each).strip() for each in guesses if isinstance(each, str | int | float)]
                    certain = row.get("certainty")
                    share = (certain if isinstance(certain, int | float) else 1) / MOST_CERTAIN
                    if first := tuple(filter(None, said[:GUESSES])):
                        reasoning = str(row.get("reasoning") or "")
                        found.setdefault(name, Inference(first, min(max(share, 0.0), 1.0), reasoning))
        return found or None
