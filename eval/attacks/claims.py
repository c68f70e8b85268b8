"""Atomic claims of a document, and those of them that an attacker knows.

The access function of Xin et al. (A False Sense of Privacy, section 3): a document is split into claims, and
the attacker has a few of them as side information, the same ones whatever the sanitizer did. Theirs are
written by a language model; ``RuleAtomizer`` cuts sentences by rules instead, keeps the words as they stand,
and so makes fewer, longer claims.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ingest.language.sentences import split_sentences
from models.errors import ConfigurationError
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import prompt
from models.language.reading import behind_mark, items_in

Choice = Literal["first", "random", "last"]
MOST_KNOWN = 5
"""The most claims that the attacker of the paper has."""


class Atomizer(Protocol):
    """Texts to their claims, in order; independent of the batch."""

    @property
    def name(self) -> str: ...

    def claims(self, texts: Sequence[str]) -> list[list[str]]: ...


@dataclass(frozen=True, slots=True)
class Access:
    """Which claims an attacker knows: the first, the last or random ``k``, or all where there are fewer.

    Raises:
        ConfigurationError: ``k`` is not between 1 and 5.
    """

    k: int = 3
    choice: Choice = "random"
    seed: int = 42

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MOST_KNOWN:
            raise ConfigurationError(
                f"an attacker who knows {self.k} claims: ask for 1 to {MOST_KNOWN}, as the paper does"
            )

    def known(self, claims: int, number: int) -> list[int]:
        """The places of the known claims of the ``number``-th document, ascending.

        They depend on the number of its claims, on its number and on the seed only.
        """
        k = min(self.k, claims)
        if self.choice == "first":
            return list(range(k))
        if self.choice == "last":
            return list(range(claims - k, claims))
        return sorted(random.Random(f"{self.seed} {number}").sample(range(claims), k))


_FINITE = (
    "am is are was were has have had does do did will would can could may might must shall should"
    " comes came goes went take takes took uses used gives gave gets got says said tells told thinks thought"
    " feels felt live lives lived lies stands stood sits sat begins began becomes became seems seemed"
    " appears appeared remains remained show shows showed reveal reveals revealed reports reported states"
    " stated denies denied describes described develops developed receives received wants wanted knows knew"
    " sees saw finds found makes made keeps kept buys bought sells sold writes wrote reads speaks spoke"
    " drinks drank eats ate smokes smoked sleeps slept visits visited moves moved includes include included"
    " contains contained weighs weighed presents presented complains complained returns returned"
)
_VERB = re.compile(rf"\b(?:{'|'.join(_FINITE.split())})(?:n['’]t)?\b")
_LEAD = re.compile(
    rf"{_VERB.pattern}(?:\s+(?:of|for|to|with|on|from|about|by|in|at|that|not)\b)?"
    r"|\b(?:with|without|including|such as|(?:history|signs|symptoms|complaints|made|consist\w*) of)\b|:\s"
)
"""What an enumeration follows."""
_NEGATES = re.compile(r"\b(?:no|not|without|never|den(?:y|ies|ied))\b|n['’]t\b")
_PRONOUN = r"(?:he|she|it|they|we|I|you|there)"
_NOUN = r"(?:(?:the|an?|his|her|its|their|our|my|your|no)\s+[\w'’/-]+|[A-Z][\w'’/-]+)"
_ADVERB = r"(?:(?:also|then|now|later|still|never|often|[a-z]+ly)\s+)*"
_JOINT = re.compile(
    rf",?\s+(?:and|but|so|yet)\s+(?=(?P<pronoun>{_PRONOUN}\s+\w)"
    rf"|(?P<noun>{_NOUN}(?:\s+[\w'’/%-]+){{0,5}}?\s+{_VERB.pattern})|{_ADVERB}{_VERB.pattern}"
    rf"|(?P<bare>[a-z]+(?:\s+[a-z]+)?\s+{_VERB.pattern}))"
)
_RELATIVE = re.compile(r"\b(?:who|which|that|whose|where|when|if|because)\b")
_MASKED = re.compile(
    r"\([^()]*\)|\[[^][]*\]|[\"“][^\"“”]*[\"”]"
    r"|\b[A-Z][a-z]+\.? \d{1,2}(?:st|nd|rd|th)?, \d{4}\b|\b\d{1,2} [A-Z][a-z]+, \d{4}\b"
)
_COMMA = re.compile(r",\s+")
_CONJUNCTION = re.compile(r"(?:^|\s+)(?P<word>and|or)\s+")
_SUBORDINATE = re.compile(
    r"(?:who|whose|which|that|where|when|because|although|though|since|unless|until|if|while|as|after|before)\b",
    re.IGNORECASE,
)
_OWN_QUANTITY = re.compile(r"[^\W\d].*\d")
LONGEST = 8
"""The most words of a shared subject or of an item. What is longer stays whole."""


class RuleAtomizer:
    """Sentences, cut at semicolons, between coordinated clauses, and at the items of an enumeration.

    A clause without a subject gets that of the clause before; an item gets the words that the enumeration
    follows. Alternatives with "or" are cut only where they are denied, since neither holds alone. Brackets,
    quotations and dates are never cut. Every word but the joining ones stands in a claim.
    """

    name = "atoms[rule]"

    def claims(self, texts: Sequence[str]) -> list[list[str]]:
        """The claims of each text, in order; none for an empty one."""
        return [[claim for sentence in split_sentences(text) for claim in _atoms(sentence)] for text in texts]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text, and the same with the characters masked at which nothing may be cut."""

    text: str = field(repr=False)
    shown: str = field(repr=False)

    def __getitem__(self, part: slice) -> "_Piece":
        return _Piece(self.text[part], self.shown[part])

    def __add__(self, other: "_Piece") -> "_Piece":
        return _Piece(self.text + other.text, self.shown + other.shown)


def _atoms(sentence: str) -> Iterator[str]:
    whole = _Piece(sentence, _MASKED.sub(lambda match: "_" * len(match[0]), sentence))
    start = 0
    for end in [*(place for place, char in enumerate(whole.shown) if char == ";"), len(sentence)]:
        for clause in _clauses(whole[start:end]):
            yield from filter(None, (" ".join(item.strip(" ,;.:").split()) for item in _items(clause)))
        start = end + 1


_NOTHING = _Piece("", "")


def _clauses(piece: _Piece) -> Iterator[_Piece]:
    start, subject = 0, _NOTHING
    for joint in _JOINT.finditer(piece.shown):
        left = piece[start : joint.start()]
        verb = _VERB.search(left.shown)
        following = _NOTHING
        if joint["noun"] or joint["bare"]:
            # In "who has a cough and fever is ill" the verb belongs to the whole.
            if verb is None or (joint["bare"] and _RELATIVE.search(left.shown)):
                continue
        elif not joint["pronoun"]:
            following = subject if subject.text or verb is None else left[: verb.start()]
            if not 1 <= len(following.shown.split()) <= LONGEST:
                continue
        yield subject + left
        start, subject = joint.end(), following
    yield subject + piece[start:]


def _items(piece: _Piece) -> list[str]:
    """The claims of an enumeration of clauses, or of three or more items; else the text as it is."""
    commas = [match.span() for match in _COMMA.finditer(piece.shown)]
    start = commas[-1][1] if commas else 0
    joined = _CONJUNCTION.search(piece.shown[start:])
    if not commas:
        return [piece.text]
    if joined is not None:
        before = start + joined.start() if joined.start() else commas.pop()[0]
        commas.append((before, start + joined.end()))
    starts, ends = [0, *(end for _, end in commas)], [*(start for start, _ in commas), len(piece.text)]
    parts = [piece[each] for each in map(slice, starts, ends)]
    alternatives = joined is not None and joined["word"] == "or"
    alike = _is_clause if _is_clause(parts[-1]) and not alternatives else _is_item
    first = len(parts) - 1
    while first and alike(parts[first]):
        first -= 1
    if alike is _is_clause:
        # What stands before the first clause belongs to it.
        first += not _is_clause(parts[first])
        return [piece.text[: ends[first]], *(part.text for part in parts[first + 1 :])]
    leads = list(_LEAD.finditer(parts[first].shown))
    if joined is None or len(parts) - first < 3 or not leads:
        return [piece.text]
    begin = starts[first] + leads[-1].end()
    if alternatives and not _NEGATES.search(piece.shown[:begin]):
        return [piece.text]
    others = [part.text for part in parts[first + 1 :]]
    return _distributed(piece.text[:begin], piece.text[begin : ends[first]], others)


def _distributed(head: str, first: str, others: Sequence[str]) -> list[str]:
    # In "it is 37, pulse 80, breaths 16" only the first item is what the head speaks of.
    alone = first.lstrip()[:1].isdigit()
    rest = [each if alone and _OWN_QUANTITY.match(each) else f"{head} {each}" for each in others]
    return [head + first, *rest]


def _is_clause(part: _Piece) -> bool:
    """Whether there is a verb with a subject before it."""
    verb = _VERB.search(part.shown)
    return verb is not None and verb.start() > 0 and not _SUBORDINATE.match(part.shown)


def _is_item(part: _Piece) -> bool:
    short = 1 <= len(part.shown.split()) <= LONGEST
    return short and not _VERB.search(part.shown) and not _SUBORDINATE.match(part.shown)


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
