"""Methods of the papers that have a language model rewrite a whole text, without decisions on its entities.

Sanitize and paraphrase, iterative anonymization and the abstraction of self-disclosures, as Xin et al., A
False Sense of Privacy, compare them; and SAGE, after Zeng et al. (2025), Mitigating the Privacy Issues in
Retrieval-Augmented Generation via Pure Synthetic Data. The prompts are our own. None gives a guarantee: they
are for comparison.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from ingest.annotated import AnnotatedText
from ingest.protecting.by_model import ModelAdversary
from ingest.protecting.incognitext import ROUNDS
from ingest.protecting.protocols import Inference
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import Prompt, prompt
from models.language.reading import behind_mark, json_in

ATTRIBUTES = ("age", "sex", "place", "birthplace", "education", "occupation", "income", "relationship")
"""What the iterative method protects: the eight of Staab et al. (2024)."""
NAMED = 10
"""The attributes that a synthetic text is written from, at most."""


class NotRewritten(Exception):
    """A model gave no readable answer, or a text does not fit: the document is not sanitized."""


class SanitizeAndParaphrase:
    """Anonymizes in one answer, and says the result in other words in the next."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._steps = prompt("anonymize_text"), prompt("reword_text")
        self.name = f"sanitize-paraphrase ({asker.engine(self._steps[0])}, {self._steps[1].label})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The new texts.

        Raises:
            NotRewritten: An answer could not be read, or a text does not fit into the model's context.
            ModelUnavailable: The model could not be reached or failed.
        """
        written = [each.text for each in texts]
        for step in self._steps:
            written = _rewritten(self._asker, step, written, _slots(written))
        return written

    def plan(self, texts: Sequence[str]) -> Plan:
        """What rewriting takes, as if the first step changed nothing."""
        first, second = (self._asker.plan(step, _slots(texts)) for step in self._steps)
        return first + second


class Iterative:
    """Three rounds: an adversary infers eight attributes, and a rewriter answers all that it inferred."""

    def __init__(self, asker: Asker) -> None:
        self._asker, self._adversary = asker, ModelAdversary(asker, ATTRIBUTES)
        self._prompt = prompt("rewrite_against")
        self.name = f"iterative ({self._adversary.name}, {self._prompt.label})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The new texts. Raises as ``SanitizeAndParaphrase.rewrite``."""
        written = [each.text for each in texts]
        for _ in range(ROUNDS):
            inferred = self._adversary.infer([text for text in written if text.strip()])
            if not all(inferred):
                raise NotRewritten
            found = iter(inferred)
            knowledge = [_said(next(found)) if text.strip() else "" for text in written]
            slots = [{"inferred": each, "text": text} for each, text in zip(knowledge, written, strict=True)]
            written = _rewritten(self._asker, self._prompt, written, slots)
        return written

    def plan(self, texts: Sequence[str]) -> Plan:
        """What rewriting takes, as if nothing were inferred or changed."""
        rewriting = self._asker.plan(self._prompt, [{**each, "inferred": ""} for each in _slots(texts)])
        return (self._adversary.plan(texts) + rewriting).times(ROUNDS)


class DisclosureAbstraction:
    """Puts the first of three more general wordings in the place of each disclosure that a model finds."""

    def __init__(self, asker: Asker) -> None:
        self._asker, self._prompt = asker, prompt("abstract_disclosures")
        self.name = f"disclosure-abstraction ({asker.engine(self._prompt)})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The new texts; words that do not stand in a text change nothing. Raises as the others."""
        asked = [each.text for each in texts if each.text.strip()]
        found = iter(self._asker.all(self._prompt, _slots(asked), _wordings))
        return [_with(each.text, next(found)) if each.text.strip() else each.text for each in texts]

    def plan(self, texts: Sequence[str]) -> Plan:
        """What rewriting takes."""
        return self._asker.plan(self._prompt, _slots(texts))


class SyntheticTexts:
    """Writes a new text from the attributes of one, and refines it until a privacy agent calls it safe.

    Whoever writes never sees the text, and whoever refines sees the new text and what must be changed. What
    is not safe after three rounds is not rewritten.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._naming, self._writing = prompt("name_attributes"), prompt("write_from_attributes")
        self._checking, self._refining = prompt("check_synthetic"), prompt("refine_synthetic")
        labels = ", ".join(each.label for each in (self._writing, self._checking, self._refining))
        self.name = f"sage ({asker.engine(self._naming)}, {labels})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The new texts; an empty one stays as it is.

        Raises:
            NotRewritten: A text is not safe after the last round, or as ``SanitizeAndParaphrase.rewrite``.
            ModelUnavailable: The model could not be reached or failed.
        """
        asked = [each.text for each in texts if each.text.strip()]
        named = [each or "" for each in self._asker.all(self._naming, _slots(asked), _attributes)]
        if not all(named):
            raise NotRewritten
        known = [{"attributes": each} for each in named]
        done = iter(self._made_safe(known, _rewritten(self._asker, self._writing, named, known)))
        return [next(done) if each.text.strip() else each.text for each in texts]

    def plan(self, texts: Sequence[str]) -> Plan:
        """What rewriting takes at most, as if the attributes were as long as the texts, and never safe."""
        same = [{"attributes": text, "changes": "", "text": text} for text in texts]
        checking = self._asker.plan(self._checking, same)
        rounds = (checking + self._asker.plan(self._refining, same)).times(ROUNDS)
        return (
            self._asker.plan(self._naming, same) + self._asker.plan(self._writing, same) + checking + rounds
        )

    def _made_safe(self, known: Sequence[Slots], written: list[str]) -> list[str]:
        """Refine what is not safe in as many rounds as are allowed; the privacy agent has the last word."""
        for turn in range(ROUNDS + 1):
            read = [{**own, "text": text} for own, text in zip(known, written, strict=True)]
            changes = self._asker.all(self._checking, read, _changes)
            if None in changes or (turn == ROUNDS and any(changes)):
                raise NotRewritten
            if not any(changes):
                break
            unsafe = [(text, each) for text, each in zip(written, changes, strict=True) if each]
            slots = [{"changes": each, "text": text} for text, each in unsafe]
            refined = iter(_rewritten(self._asker, self._refining, [text for text, _ in unsafe], slots))
            written = [next(refined) if each else text for text, each in zip(written, changes, strict=True)]
        return written


WholeTexts = SanitizeAndParaphrase | Iterative | DisclosureAbstraction | SyntheticTexts
BY_MODEL: Mapping[str, Callable[[Asker], WholeTexts]] = {
    "sanitize-paraphrase": SanitizeAndParaphrase,
    "iterative": Iterative,
    "disclosure-abstraction": DisclosureAbstraction,
    "sage": SyntheticTexts,
}
"""By the names that tables show."""


def _slots(texts: Sequence[str]) -> list[Slots]:
    return [{"text": text} for text in texts]


def _rewritten(asker: Asker, step: Prompt, texts: Sequence[str], slots: Sequence[Slots]) -> list[str]:
    """The answers, but for empty texts: given one, a model would invent another."""
    asked = [each for text, each in zip(texts, slots, strict=True) if text.strip()]
    if not all(asker.has_room(step, text) for text in texts):
        raise NotRewritten
    found = iter(asker.all(step, asked, behind_mark))
    written = [next(found) if text.strip() else text for text in texts]
    done = [each for each in written if each is not None]
    if len(done) < len(written):
        raise NotRewritten
    return done


def _said(inferred: Mapping[str, Inference]) -> str:
    return "\n".join(
        f"{attribute}: {'; '.join(each.guesses)} ({each.reasoning})" for attribute, each in inferred.items()
    )


def _attributes(answer: str) -> str | None:
    """The attributes of an answer in lines; None where a row cannot be read."""
    said = json_in(answer)
    rows = said.get("attributes") if isinstance(said, dict) else None
    lines = list[str]()
    for row in rows if isinstance(rows, list) else ():
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
    said = json_in(answer)
    rows = said.get("disclosures") if isinstance(said, dict) else None
    if not isinstance(rows, list):
        return None
    found: dict[str, str] = {}
    for row in rows:
        match row:
            case {"words": str(words), "instead": [str(first), *_]} if words.strip() and first.strip():
                found.setdefault(words.strip(), first.strip())
    return found


def _with(text: str, instead: Mapping[str, str] | None) -> str:
    if instead is None:
        raise NotRewritten
    if not instead:
        return text
    longest_first = sorted(instead, key=len, reverse=True)
    found = re.compile("|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in longest_first))
    return found.sub(lambda match: instead[match[0]], text)
