"""Atomic claims of a document, and those of them that an attacker knows.

The access function of Xin et al. (A False Sense of Privacy, section 3): a document is split into claims, and
the attacker has a few of them as side information, the same ones whatever the sanitizer did. Theirs are
written by a language model; ``RuleAtomizer`` cuts sentences by rules instead, keeps the words as they stand,
and so makes fewer, longer claims.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from ingest.language.sentences import split_sentences
from models.errors import ConfigurationError
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import prompt
from models.language.protocol import behind_mark, items_in


class Rewording(Protocol):
    """Claims to claims of the same meaning, one for each."""

    @property
    def name(self) -> str: ...

    def reworded(self, claims: Sequence[str]) -> list[str]: ...


class OwnWords:
    """No rewording: the attacker knows the claims as the document words them (version 1 of the paper)."""

    name = "own words"

    def reworded(self, claims: Sequence[str]) -> list[str]:
        """The claims as they are."""
        return list(claims)


_PATH = Path(__file__).with_name("rewordings.toml")
PHRASES: Mapping[str, str] = tomllib.loads(_PATH.read_text(encoding="utf-8"))
"""What is said otherwise, in small letters. No number, name or negation is in it on one side alone."""

_PHRASE = re.compile(
    r"\b(?:" + "|".join(re.escape(each) for each in sorted(PHRASES, key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
_UNIT = r"(?P<unit>hour|day|week|month|year)"
_HISTORY = re.compile(rf"\ban? (?P<count>\d+)-{_UNIT} history of\b", re.IGNORECASE)
_AGED = re.compile(
    r"\b(?P<article>an?) (?P<age>\d+)-year-old (?P<noun>[a-z]+)"
    r"(?=$| (?:who|with|is|was|has|had|comes|came|lives|and|in|on|at|from|to)\b)",
    re.IGNORECASE,
)
_FRONT = re.compile(
    r"(?P<front>(?:In|On|At|After|Before|During|For|Since|Over|When|While|Although|Because|If|Until)"
    r"\b[^,]{1,60}), (?P<rest>[^,]+)"
)
_BACK = re.compile(
    r"(?P<rest>[^,]+?),? (?P<back>(?:(?:because|although|while|after|before|since|until)\b[^,]+"
    rf"|(?:for|over|during|in) (?:the )?(?:past |last )?(?:\d+|two|three|four|five|six|several) {_UNIT}s))"
)
_SHOWN = re.compile(
    r"(?!.*\b(?:that|which|who|how|no|not|is|are|was|were|has|had)\b)"
    r"(?P<source>[^,]+?) (?:shows?|reveals?|demonstrates?|indicates?) (?P<what>[^,]+)"
)
_THERE = re.compile(r"[Tt]here (?:is|are) (?!to\b)(?P<what>.+)")
_MEASURED = re.compile(r"(?:hours?|days?|weeks?|months?|years?|shortly|soon|just|right|not|only|even)$")
"""What belongs to an "after" or "before" behind it."""
_MOVABLE = re.compile(r"(?:The|An?|His|Her|Its|Their|He|She|It|They|We|There|This|These|Some|No)\b")
"""First words that are no name: small inside a sentence."""


class RuleRewording:
    """What stands first goes to the end, or what stands last to the front; then phrases are swapped.

    In A False Sense of Privacy, version 2, a language model paraphrases what is known. This changes the order
    of clauses, contractions, function words and some general words by rules, which is far less: say with
    ``eval.tasks.linkage`` how much of the wording is left. Numbers, names and negations stay.
    """

    name = "paraphrase[rule]"

    def reworded(self, claims: Sequence[str]) -> list[str]:
        """Each claim in other words."""

        def lasting(found: re.Match[str]) -> str:
            return f"{found['count']} {found['unit']}{'' if found['count'] == '1' else 's'} of"

        def other(found: re.Match[str]) -> str:
            other = PHRASES[found[0].lower()]
            return _capital(other) if found[0][0].isupper() else other

        moved = [_AGED.sub(_aged, _HISTORY.sub(lasting, _moved(each))) for each in claims]
        return [_PHRASE.sub(other, each) for each in moved]


def _moved(claim: str) -> str:
    if found := _FRONT.fullmatch(claim):
        return f"{_capital(found['rest'])} {found['front'][0].lower()}{found['front'][1:]}"
    if found := _THERE.fullmatch(claim):
        return f"One finds {found['what']}"
    if found := _SHOWN.fullmatch(claim):
        return f"{_capital(found['what'])} can be seen from {_inside(found['source'])}"
    found = _BACK.fullmatch(claim)
    if found is None or _MEASURED.search(found["rest"]):
        return claim
    return f"{_capital(found['back'])}, {_inside(found['rest'])}"


def _inside(text: str) -> str:
    """A beginning as it is written inside a sentence: names keep their capital letter."""
    return text[0].lower() + text[1:] if _MOVABLE.match(text) else text


def _aged(found: re.Match[str]) -> str:
    article = "an" if found["noun"][0].lower() in "aeiou" else "a"
    if found["article"][0].isupper():
        article = article.capitalize()
    return f"{article} {found['noun']} aged {found['age']}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


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
    head, others = piece.text[:begin], [part.text for part in parts[first + 1 :]]
    # In "it is 37, pulse 80, breaths 16" only the first item is what the head speaks of.
    alone = piece.text[begin : ends[first]].lstrip()[:1].isdigit()
    rest = [each if alone and _OWN_QUANTITY.match(each) else f"{head} {each}" for each in others]
    return [piece.text[: ends[first]], *rest]


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
        asked = self._asked(texts)
        answers = self.asker.all(
            prompt("split_claims"), list(asked.values()), lambda answer: items_in(answer) or None
        )
        found = dict(zip(asked, answers, strict=True))
        return [found.get(n) or RuleAtomizer().claims([text])[0] for n, text in enumerate(texts)]

    def _asked(self, texts: Sequence[str]) -> dict[int, Slots]:
        """By the numbers of the texts. Claims are longer than their text: each names what it is about."""
        return {
            number: {"text": text}
            for number, text in enumerate(texts)
            if text.strip() and self.asker.has_room(prompt("split_claims"), f"{text} {text}")
        }

    def plan(self, texts: Sequence[str]) -> Plan:
        """What cutting takes."""
        return self.asker.plan(prompt("split_claims"), list(self._asked(texts).values()))


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
        both = zip(claims, found, strict=True)
        return [claim if each is None else " ".join(each.split()) for claim, each in both]

    def plan(self, claims: Sequence[str]) -> Plan:
        """What rewording takes."""
        return self.asker.plan(prompt("reword_claim"), _claims(claims))


def _claims(claims: Sequence[str]) -> list[Slots]:
    return [{"claim": claim} for claim in claims]
