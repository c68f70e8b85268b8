"""Methods of the papers that have a language model rewrite a whole text, without decisions on its entities.

Sanitize and paraphrase, iterative anonymization and the abstraction of self-disclosures, as Xin et al., A
False Sense of Privacy, compare them; and SAGE, after Zeng et al. (2025), Mitigating the Privacy Issues in
Retrieval-Augmented Generation via Pure Synthetic Data. The prompts are our own. None gives a guarantee: they
are for comparison.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeVar

from ingest.annotated import AnnotatedText
from ingest.protecting.adversary import ModelAdversary
from ingest.protecting.incognitext import ROUNDS
from models.language.asking import NO_PLAN, Asker, Plan, Slots
from models.language.prompts import prompt
from models.language.protocol import behind_mark, json_in, rows_in

ATTRIBUTES = ("age", "sex", "place", "birthplace", "education", "occupation", "income", "relationship")
"""What the iterative method protects: the eight of Staab et al. (2024)."""
NAMED = 10
"""The attributes that a synthetic text is written from, at most."""
_T = TypeVar("_T")


class NotRewritten(Exception):
    """A model gave no readable answer, or a text does not fit: the document is not sanitized."""


class WholeTexts(ABC):
    """A method: its ``kind`` is what tables name it, ``prompts`` say how often each is asked of a text."""

    kind: ClassVar[str]
    prompts: ClassVar[Mapping[str, int]]

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        first, *others = map(prompt, self.prompts)
        self.name = f"{self.kind} ({', '.join([asker.engine(first), *(each.label for each in others)])})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The new texts. An empty one stays as it is: given one, a model would invent another.

        Raises:
            NotRewritten: An answer could not be read, or a text does not fit into one.
            ModelUnavailable: The model could not be reached or failed.
        """
        done = iter(self._written([each.text for each in texts if each.text.strip()]))
        return [next(done) if each.text.strip() else each.text for each in texts]

    def plan(self, texts: Sequence[str]) -> Plan:
        """What rewriting takes at most, as if every step were given the texts."""
        empty = {"inferred": "", "changes": "", "hint": ""}
        slots = [{**empty, "text": each, "attributes": each} for each in texts]
        steps = self.prompts.items()
        return sum((self._asker.plan(prompt(name), slots).times(times) for name, times in steps), NO_PLAN)

    @abstractmethod
    def _written(self, texts: Sequence[str]) -> list[str]: ...

    def _all(self, step: str, asked: Sequence[Slots], read: Callable[[str], _T | None]) -> list[_T]:
        """What is read in every answer to one prompt."""
        found = self._asker.all(prompt(step), asked, read)
        done = [each for each in found if each is not None]
        if len(done) < len(found):
            raise NotRewritten
        return done

    def _rewritten(self, step: str, asked: Sequence[Slots]) -> list[str]:
        """The texts behind the mark of every answer, none of which is cut off."""
        if not all(self._asker.has_room(prompt(step), each.get("text", "")) for each in asked):
            raise NotRewritten
        return self._all(step, asked, behind_mark)


class SanitizeAndParaphrase(WholeTexts):
    """Anonymizes in one answer, and says the result in other words in the next."""

    kind = "sanitize-paraphrase"
    prompts: ClassVar = {"anonymize_text": 1, "reword_text": 1}

    def _written(self, texts: Sequence[str]) -> list[str]:
        return self._rewritten("reword_text", _slots(self._rewritten("anonymize_text", _slots(texts))))


class Iterative(WholeTexts):
    """Three rounds: an adversary infers eight attributes, and a rewriter answers all that it inferred."""

    kind = "iterative"
    prompts: ClassVar = {"infer_attributes": ROUNDS, "rewrite_against": ROUNDS}

    def _written(self, texts: Sequence[str]) -> list[str]:
        adversary, written = ModelAdversary(self._asker, ATTRIBUTES), list(texts)
        for _ in range(ROUNDS):
            slots = []
            for text, inferred in zip(written, adversary.infer(written), strict=True):
                if not inferred:
                    raise NotRewritten
                lines = (f"{name}: {'; '.join(x.guesses)} ({x.reasoning})" for name, x in inferred.items())
                slots.append({"inferred": "\n".join(lines), "text": text})
            written = self._rewritten("rewrite_against", slots)
        return written


class DisclosureAbstraction(WholeTexts):
    """Puts the first of three more general wordings in the place of each disclosure that a model finds.

    Words that do not stand in a text change nothing.
    """

    kind = "disclosure-abstraction"
    prompts: ClassVar = {"abstract_disclosures": 1}

    def _written(self, texts: Sequence[str]) -> list[str]:
        found = self._all("abstract_disclosures", _slots(texts), _wordings)
        return [_with(text, each) for text, each in zip(texts, found, strict=True)]


class SyntheticTexts(WholeTexts):
    """Writes a new text from the attributes of one, and refines it until a privacy agent calls it safe.

    Whoever writes never sees the text, and whoever refines sees the new text and what must be changed. What
    is not safe after three rounds is not rewritten: the privacy agent has the last word.
    """

    kind = "sage"
    prompts: ClassVar = {
        "name_attributes": 1,
        "write_from_attributes": 1,
        "check_synthetic": ROUNDS + 1,
        "refine_synthetic": ROUNDS,
    }

    def _written(self, texts: Sequence[str]) -> list[str]:
        known = [{"attributes": each} for each in self._all("name_attributes", _slots(texts), _attributes)]
        written = self._rewritten("write_from_attributes", known)
        for left in reversed(range(ROUNDS + 1)):
            read = [{**own, "text": text} for own, text in zip(known, written, strict=True)]
            changes = self._all("check_synthetic", read, _changes)
            if not any(changes):
                return written
            if not left:
                break
            pairs = list(zip(changes, written, strict=True))
            slots = [{"changes": each, "text": text} for each, text in pairs if each]
            refined = iter(self._rewritten("refine_synthetic", slots))
            written = [next(refined) if each else text for each, text in pairs]
        raise NotRewritten


BY_MODEL: Mapping[str, type[WholeTexts]] = {
    each.kind: each for each in (SanitizeAndParaphrase, Iterative, DisclosureAbstraction, SyntheticTexts)
}
"""By the names that tables show."""


def _slots(texts: Sequence[str]) -> list[Slots]:
    return [{"text": text} for text in texts]


def _attributes(answer: str) -> str | None:
    """The attributes of an answer in lines; None where a row cannot be read."""
    lines = list[str]()
    for row in rows_in(answer, "attributes") or ():
        match row:
            case {"name": str(name), "value": str(value)} if name.strip() and value.strip():
                lines.append(f"{name.strip()}: {value.strip()}")
            case _:
                return None
    return "\n".join(lines[:NAMED]) or None


def _changes(answer: str) -> str | None:
    """What must be changed, in lines, "" where a text is safe; None where an answer says neither."""
    match json_in(answer):
        case {"safe": True, "changes": []}:
            return ""
        case {"safe": bool(), "changes": [*changes]} if all(isinstance(each, str) for each in changes):
            return "\n".join(f"- {each.strip()}" for each in changes if each.strip()) or None
    return None


def _wordings(answer: str) -> dict[str, str] | None:
    """The first wording of each disclosure of an answer; None where it has no list of them."""
    rows, found = rows_in(answer, "disclosures"), dict[str, str]()
    for row in rows or ():
        match row:
            case {"words": str(words), "instead": [str(first), *_]} if words.strip() and first.strip():
                found.setdefault(words.strip(), first.strip())
    return None if rows is None else found


def _with(text: str, instead: Mapping[str, str]) -> str:
    longest_first = sorted(instead, key=len, reverse=True)
    found = re.compile("|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in longest_first))
    return found.sub(lambda match: instead[match[0]], text) if instead else text
