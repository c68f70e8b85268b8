"""A mention in its sentence, and the words that fit in its place."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ingest.documents import Entity
from ingest.labels import label_of
from ingest.ladders.rungs import Ladder

LOOK = 60
"""Characters on each side of a mention that are read for its form."""
Choose = Callable[[Ladder], str]
"""Takes the words of a rung."""

_BRACKETS = {
    "demographic attribute": "personal detail",
    "identifying detail": "detail",
    "job area": "field of work",
    "date of birth": "date of birth",
    "quantity": "number",
    "monetary amount": "amount",
    "duration": "duration",
    "diagnosis": "medical condition",
    "disease": "medical condition",
    "street address": "address",
    "medical department": "department",
    "frequency": "frequency",
    "dosage": "dose",
}
"""Nouns for labels whose descriptor does not stand well alone."""
_CONFUSED = frozenset(
    (
        "national id number",
        "tax number",
        "driving licence number",
        "employee number",
        "health insurance number",
    )
)
_OWN_ARTICLE = re.compile(r"^an? (?:specific |certain )?")
_THE = re.compile(r"(?i)(?<![^\W_])the\s$")
_DETERMINER = re.compile(r"(?i)(?<![^\W_])(?:the|this|that|his|her|their|our|my|its|a|an)\s$")
_NO_NOUN = re.compile(
    r"(?i)\s*(?:$|[^\w\s]|(?:and|or|to|in|at|on|for|with|by|when|where|he|she|i|we|they|the|a|is|was)\b)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention's words, and up to ``LOOK`` characters on each side."""

    entity: Entity
    said: str = field(repr=False)
    before: str = field(repr=False)
    after: str = field(repr=False)
    room: tuple[int, int] = (LOOK, LOOK)
    """Characters on each side up to the next mention that is replaced."""

    @property
    def label(self) -> str:
        """The entity's label."""
        return self.entity.label

    @property
    def determined(self) -> bool:
        """Whether an article or the like stands before it."""
        return _DETERMINER.search(self.before) is not None

    @property
    def the(self) -> int:
        """The length of "the" before it, with its blank; 0 if there is none."""
        found = _THE.search(self.before)
        return len(found.group()) if found else 0

    @property
    def modifies(self) -> bool:
        """Whether a noun may follow, as in "the Tuesday meeting"."""
        return _NO_NOUN.match(self.after) is None


@dataclass(frozen=True, slots=True)
class Fit:
    """Words for a mention, and how many characters on its left and right they replace too."""

    words: str
    left: int = 0
    right: int = 0


def bracket(label: str) -> Fit:
    """The kind in brackets, for what has no rung that fits any sentence: "[phone number]".

    Numbers of kinds that models confuse are "[identification number]".
    """
    if label in _CONFUSED:
        return Fit("[identification number]")
    return Fit(f"[{_BRACKETS.get(label) or _OWN_ARTICLE.sub('', label_of(label).descriptor)}]")


def like(words: str, original: str) -> str:
    """The words with a capital if the original has one."""
    return words[0].upper() + words[1:] if original[:1].isupper() else words


def without_second_article(words: str, mention: Mention) -> Fit:
    """The words, whose article goes behind another one."""
    return Fit(words.removeprefix("the ") if mention.determined else words)


def behind_the(words: str, mention: Mention) -> Fit:
    """The words in place of a mention and the article before it."""
    left = mention.the
    return Fit(like(words, mention.before[len(mention.before) - left :]) if left else words, left)
