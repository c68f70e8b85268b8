"""Claims that a language model writes, and their paraphrase: as in Xin et al., A False Sense of Privacy."""

from collections.abc import Sequence
from dataclasses import dataclass

from eval.attacks.claims import RuleAtomizer
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import prompt
from models.language.protocol import behind_mark, items_in


@dataclass(frozen=True, slots=True)
class ModelAtomizer:
    """One question a text. What is too long, or has no claims in its answer, is cut by rules.

    Without any claim it would look private.
    """

    asker: Asker

    @property
    def name(self) -> str:
        """The model and the prompt, and what takes their place."""
        return f"atoms[{self.asker.engine(prompt('split_claims'))}, else rule]"

    def claims(self, texts: Sequence[str]) -> list[list[str]]:
        """The claims of each text, in order; none for an empty one.

        Raises:
            ModelUnavailable: The model could not be reached or failed.
        """
        asked = [each for each in texts if self._is_asked(each)]
        found = iter(
            self.asker.all(prompt("split_claims"), _texts(asked), lambda answer: items_in(answer) or None)
        )
        claims = [next(found) if self._is_asked(each) else None for each in texts]
        return [
            RuleAtomizer().claims([text])[0] if each is None else each
            for text, each in zip(texts, claims, strict=True)
        ]

    def _is_asked(self, text: str) -> bool:
        # Claims are longer than their text: each names what it is about.
        return bool(text.strip()) and self.asker.has_room(prompt("split_claims"), f"{text} {text}")

    def plan(self, texts: Sequence[str]) -> Plan:
        """What cutting takes."""
        return self.asker.plan(prompt("split_claims"), _texts(list(filter(self._is_asked, texts))))


def _texts(texts: Sequence[str]) -> list[Slots]:
    return [{"text": text} for text in texts]


@dataclass(frozen=True, slots=True)
class ModelRewording:
    """One question a claim. Where no answer can be read the claim keeps its words: a stronger attacker."""

    asker: Asker

    @property
    def name(self) -> str:
        """The model and the prompt, and what takes their place."""
        return f"paraphrase[{self.asker.engine(prompt('reword_claim'))}, else own words]"

    def reworded(self, claims: Sequence[str]) -> list[str]:
        """Each claim in other words, in one line. Raises as ``ModelAtomizer.claims``."""
        found = self.asker.all(prompt("reword_claim"), _claims(claims), behind_mark)
        return [
            claim if each is None else " ".join(each.split())
            for claim, each in zip(claims, found, strict=True)
        ]

    def plan(self, claims: Sequence[str]) -> Plan:
        """What rewording takes."""
        return self.asker.plan(prompt("reword_claim"), _claims(claims))


def _claims(claims: Sequence[str]) -> list[Slots]:
    return [{"claim": claim} for claim in claims]
