"""A mention in its sentence, and the words that fit in its place."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ingest.documents import Entity
from ingest.labels import label_of
from ingest.wording.rungs import Ladder

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
    "secondary address unit": "number",
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
_ANY_ARTICLE = re.compile("^(?:an?|the|some) ")
_LETTER = re.compile(r"(?:(?:[A-Z][a-z]+ )+|(?:Mr|Mrs|Ms|Dr|Prof)\.? )[A-Z]{1,2}|[A-Z]")
_THE = re.compile(r"(?i)(?<![^\W_])the\s$")
_DETERMINER = re.compile(
    r"(?i)(?:(?<![^\W_])(?:the|this|that|his|her|their|our|my|your|its|a|an)|\w['’]s|\ws['’])\s$"
)
_NO_NOUN = re.compile(
    r"(?i)\s*(?:$|[^\w\s-]|-(?!\w)|(?:and|or|to|in|at|on|for|with|by|of|from|under|after|before|until|since|during"
    r"|near|over|through|against|between|without|within|above|below|around|along|across|behind|beside|per|via|plus"
    r"|except|like|than|last|next|every|each|yesterday|tomorrow|twice|once|himself|herself|themselves"
    r"|when|where|who|which|that|if|as|than|then|so|because|but|about|into|here|there|again|please|also|not"
    r"|he|she|it|i|we|they|you|me|him|her|us|them|my|his|our|your|their|its|the|a|an|this|these|some|all|no"
    r"|later|now|today|ago|is|was|are|were|be|been|has|have|had|will|would|can|could|should|may|might|must|do|does|did|[a-z]+ly|(?!(?:relat|bas|own|fund|back|led)ed)[a-z]{3,}ed)\b)"
)
_NAME_AFTER = re.compile(r" [A-Z]")
_IN_SENTENCE = re.compile(r"(?<![^\W_])[A-Za-z]?[a-z]+['’]?[a-z]*,? $|(?<![^\W_])I $")
"""An ordinary word, behind which a noun phrase may stand."""
_CHOOSES = re.compile(r"(?i)(?<![^\W_])(?:last|past|next|first|each|every|few|other|same|another) $")
_ADJECTIVE = re.compile(
    r"(?i)(?<![^\W_])(?:[a-z]+(?:al|ic|ous|ive|ary|ior)"
    r"|retired|former|current|new|old|young|acute|severe|mild) $"
)
_A_CERTAIN = "a certain "
PHRASES = {
    "date": "a certain day",
    "month": "a certain month",
    "time": "a certain time",
    "person age": "a certain age",
    "duration": "some time",
    "quantity": "a certain amount",
    "monetary amount": "a certain amount",
    "dosage": "a certain dose",
    "frequency": "regularly",
    "diagnosis": "a medical condition",
    "disease": "a medical condition",
    "symptom": "a symptom",
    "medication": "a medicine",
    "medical test": "a test",
    "procedure": "a procedure",
    "medical department": "a department",
    "event": "an event",
    "religion": "a religion",
    "place": "a place",
}
"""What stands for a kind in a sentence, as a noun phrase that is true of all its values."""
SITUATION = "in a certain situation"
KIND_PHRASES = frozenset(
    (*PHRASES.values(), "a health problem", "a health matter", SITUATION, "something happened")
    + tuple(f"{verb} {SITUATION}" for verb in ("be", "is", "was", "being", "been"))
    + tuple(f"{verb} something" for verb in "do does did doing done have has had having".split())
)
_KINDS = frozenset(_ANY_ARTICLE.sub("", each) for each in KIND_PHRASES)


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

    @property
    def in_sentence(self) -> bool:
        """Whether an ordinary word stands before it."""
        return _IN_SENTENCE.search(self.before) is not None

    @property
    def takes_a_phrase(self) -> bool:
        """Whether it stands in a sentence as a phrase of its own: "in May we", not "May: ", "the May run"."""
        named = not self.determined and _NAME_AFTER.match(self.after) is not None
        chosen = _CHOOSES.search(self.before) is not None
        return self.in_sentence and not chosen and (not self.modifies or named)


@dataclass(frozen=True, slots=True)
class Fit:
    """Words for a mention, and how many characters on its left and right they replace too."""

    words: str
    left: int = 0
    right: int = 0


def bracket(label: str, letter: str = "") -> Fit:
    """The kind in brackets, for what has no rung that fits any sentence: "[phone number]", "[username B]".

    Numbers of kinds that models confuse are "[identification number]".
    """
    if label in _CONFUSED:
        return Fit("[identification number]")
    noun = _BRACKETS.get(label) or _OWN_ARTICLE.sub("", label_of(label).descriptor)
    return Fit(f"[{noun} {letter}]" if letter else f"[{noun}]")


def kind(mention: Mention, label: str) -> Fit:
    """The kind as a noun phrase where the sentence takes one: "a certain day"; else in brackets."""
    phrase = PHRASES.get(label)
    if phrase is None or not mention.takes_a_phrase:
        return bracket(label)
    if phrase.startswith(_A_CERTAIN) and mention.determined:
        return Fit(phrase, mention.the) if mention.the else bracket(label)
    if _ADJECTIVE.search(mention.before):
        return Fit(_OWN_ARTICLE.sub("", phrase))
    return Fit(phrase.removeprefix("some ") if mention.determined else phrase)


def names_only_a_kind(words: str, label: str) -> bool:
    """Whether a replacement says no more than its label: "a city", "[date]", "a certain day", "Person A"."""
    said = _ANY_ARTICLE.sub("", words.casefold())
    own = _ANY_ARTICLE.sub("", label_of(label).descriptor)
    return said == own or said in _KINDS or words.startswith("[") or _LETTER.fullmatch(words) is not None


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
