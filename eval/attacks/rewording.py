"""Rewording of the claims that an attacker knows: what one knows of a person one seldom knows word for word.

In A False Sense of Privacy, version 2, a language model paraphrases them. ``RuleRewording`` changes the order
of clauses, contractions, function words and some general words by rules, which is far less: say with
``eval.tasks.linkage`` how much of the wording is left.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol


class Rewording(Protocol):
    """Claims to claims of the same meaning, one for each, independent of the batch."""

    @property
    def name(self) -> str: ...

    def reworded(self, claims: Sequence[str]) -> list[str]: ...


class OwnWords:
    """No rewording: the attacker knows the claims as the document words them (version 1 of the paper)."""

    name = "own words"

    def reworded(self, claims: Sequence[str]) -> list[str]:
        """The claims as they are."""
        return list(claims)


PHRASES: Mapping[str, str] = {
    # contractions
    **{f"{verb} not": f"{verb}n't" for verb in "is are was were has have had does do did".split()},
    **{f"{verb}n't": f"{verb} not" for verb in "is are was were has have had does do did".split()},
    "cannot": "can't",
    "can't": "cannot",
    # function words
    "as a rule": "usually",
    "as well as": "and also",
    "at least": "a minimum of",
    "at present": "now",
    "at the age of": "when aged",
    "because of": "owing to",
    "close to": "near",
    "due to": "because of",
    "during the": "in the course of the",
    "each day": "every day",
    "every day": "each day",
    "for example": "for instance",
    "for the past": "over the last",
    "in addition to": "besides",
    "in order to": "so as to",
    "is able to": "can",
    "less than": "under",
    "more than": "over",
    "over the past": "for the last",
    "prior to": "before",
    "such as": "like",
    "twice daily": "twice a day",
    "with no": "without any",
    # general words
    "a number of": "several",
    "approximately": "about",
    "began": "started",
    "begins": "starts",
    "big": "large",
    "bought": "purchased",
    "children": "kids",
    "comes to the": "visits the",
    "currently": "at present",
    "demonstrates": "shows",
    "difficult": "hard",
    "doctor": "physician",
    "father": "dad",
    "frequently": "often",
    "has to": "must",
    "house": "home",
    "however": "yet",
    "includes": "contains",
    "large": "big",
    "mother": "mum",
    "needs to": "has to",
    "often": "frequently",
    "physician": "doctor",
    "rapidly": "quickly",
    "reports": "mentions",
    "reveals": "shows",
    "shows": "reveals",
    "starts": "begins",
    "states that": "says that",
    "usually": "as a rule",
    "wants to": "would like to",
}
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

    Numbers, names and negations stay. A claim to which no rule applies stays as it is.
    """

    name = "paraphrase[rule]"

    def reworded(self, claims: Sequence[str]) -> list[str]:
        """Each claim in other words."""
        moved = [_AGED.sub(_aged, _HISTORY.sub(_lasting, _moved(each))) for each in claims]
        return [_PHRASE.sub(_other, each) for each in moved]


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


def _lasting(found: re.Match[str]) -> str:
    return f"{found['count']} {found['unit']}{'' if found['count'] == '1' else 's'} of"


def _aged(found: re.Match[str]) -> str:
    article = "an" if found["noun"][0].lower() in "aeiou" else "a"
    if found["article"][0].isupper():
        article = article.capitalize()
    return f"{article} {found['noun']} aged {found['age']}"


def _other(found: re.Match[str]) -> str:
    other = PHRASES[found[0].lower()]
    return _capital(other) if found[0][0].isupper() else other


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
