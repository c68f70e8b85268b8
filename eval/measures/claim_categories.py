"""What kinds of personal information a claim holds: the categories of Xin et al., A False Sense of Privacy.

In the paper a language model names them (appendix C.4); ``RuleCategorizer`` goes by words, of its own and of
the lists in ``ingest.language.vocabulary``, so its shares are no yardstick for the published ones.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from ingest.language.vocabulary import entries, fold


class Categorizer(Protocol):
    """Claims to the categories of each, none or several."""

    @property
    def name(self) -> str: ...

    @property
    def categories(self) -> Sequence[str]: ...

    def label(self, claims: Sequence[str]) -> list[frozenset[str]]: ...


@dataclass(frozen=True, slots=True)
class Cues:
    """What tells a category: a pattern, and lists of the vocabulary with some words left out."""

    pattern: str = field(repr=False)
    lists: tuple[str, ...] = field(default=(), repr=False)
    but: str = field(default="", repr=False)

    def told_by(self, claim: str, runs: Set[str]) -> bool:
        """Whether a claim has a cue, given its runs of words."""
        return bool(_pattern(self.pattern).search(claim)) or not _phrases(self.lists, self.but).isdisjoint(
            runs
        )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})", re.IGNORECASE)


@cache
def _phrases(lists: tuple[str, ...], but: str) -> frozenset[str]:
    bare = {" ".join(_WORD.findall(entry)) for name in lists for entry in entries(name)} - set(but.split())
    return frozenset(bare | {f"{each}s" for each in bare})


_WORD = re.compile(r"[^\W_]+")
LONGEST_ENTRY = 4
"""The most words of an entry that is looked for."""


def _runs(claim: str) -> set[str]:
    said = [fold(word) for word in _WORD.findall(claim)]
    lengths = range(1, LONGEST_ENTRY + 1)
    return {" ".join(said[start : start + n]) for n in lengths for start in range(len(said) - n + 1)}


@dataclass(frozen=True, slots=True)
class RuleCategorizer:
    """A claim has every category of which it has a cue."""

    name: str
    cues: Mapping[str, Cues] = field(repr=False)

    @property
    def categories(self) -> Sequence[str]:
        """In the order of the paper."""
        return list(self.cues)

    def label(self, claims: Sequence[str]) -> list[frozenset[str]]:
        """The categories of each claim."""
        return [
            frozenset(name for name, cues in self.cues.items() if cues.told_by(claim, runs))
            for claim, runs in zip(claims, map(_runs, claims), strict=True)
        ]


_KIN = (
    r"(?:grand|step|half-)?(?:mother|father|son|daughter|brother|sister|mum|dad)s?\b|grandparents?\b|parents?\b"
    r"|uncles?\b|aunts?\b|cousins?\b|nephews?\b|nieces?\b|siblings?\b|twins?\b|child(?:ren)?\b"
)
_TREATING = "doctor physician nurse surgeon pediatrician paediatrician dentist dermatologist resident"
_SOCIAL: Mapping[str, Cues] = {
    "Age": Cues(
        r"\d+[- ](?:year|month|week|day)s?[- ]old\b|aged \d|(?:at|by) the age of|years of age|newborn|infant"
        r"|toddler|teenager|adolescent|elderly|in (?:his|her|their) (?:teens|\w+ties)\b"
    ),
    "Gender": Cues(r"(?:wo)?m[ae]n\b|boys?\b|girls?\b|(?:fe)?males?\b|gender", ("genders",)),
    "Sexual_Orientation": Cues(
        r"gay\b|lesbian|bisexual|h(?:omo|etero)sexual|queer|same-sex|sexual orientation"
    ),
    "Race_Nationality": Cues(
        r"race\b|ethnic|nationality|immigra|emigra|citizen|descent\b", ("demonyms", "ethnicities")
    ),
    "Spouse": Cues(r"husband|wife\b|wives\b|spouse|widow"),
    "Partner": Cues(r"girlfriend|boyfriend|partner|fianc[eé]"),
    "Relationship_Status": Cues(
        r"married|divorce|separated from|engaged to|unmarried|in a relationship|dating", ("marital_statuses",)
    ),
    "Family": Cues(rf"{_KIN}|famil(?:y|ies)\b|relatives?\b"),
    "Location": Cues(
        r"(?:lives?|lived|moved|resides?|born|grew up|stays?|stayed|travell?ed|works?) (?:in|to|at|near)\b"
        r"|street\b|avenue\b|village|neighbou?rhood|postcode|zip code",
        ("countries", "states"),
    ),
    "Appearance": Cues(
        r"(?:is|was|are) (?:\w+ )?(?:tall|short|slim|thin|bald|blond)|hair\b|eyes? (?:is|are)|beard|tattoo"
        r"|freckle|overweight|obes|weighs?\b|height\b|wears?\b"
    ),
    "Pet": Cues(r"pets?\b|dogs?\b|cats?\b|pupp(?:y|ies)\b|kittens?\b|parrots?\b|hamsters?\b|budgie"),
    "Occupation": Cues(
        r"works? as|worked as|jobs?\b|occupation|profession\b|(?:un)?employed|retired|career",
        ("jobs",),
        _TREATING,
    ),
    "Education": Cues(
        r"(?:pre|high )?school|college|universit|students?\b|degree in|graduat|diploma|kindergarten|classmate"
    ),
    "Finance": Cues(
        r"money|salar(?:y|ies)|wages?\b|income|debts?\b|loans?\b|mortgage|bankrupt|rent\b|afford|savings|insur"
        r"|tax(?:es)?\b|pension|(?<!\w)[$€£] ?\d"
    ),
}
_ILLNESS = ("diseases", "symptoms", "procedures", "medications", "medical_tests")
CLINICAL = RuleCategorizer(
    "categories[rule, 24]",
    {
        **_SOCIAL,
        "Chief_Concern": Cues(
            r"chief (?:complaint|concern)|complain"
            r"|(?:comes|came|presents?|presented|brought|referred|seen|visits)\b"
            r".*\b(?:because of|for|with|owing to|due to)\b"
        ),
        "History_of_Present_Illness": Cues(
            r"(?:for|over|during|in) the (?:past|last)\b|began|started|onset|worse|progressive|noticed"
            r"|(?:hour|day|week|month|year)s? ago\b|\d+[- ](?:hour|day|week|month)s? (?:history )?of\b"
        ),
        "Past_Medical_History": Cues(
            r"history of|past (?:medical|history)|previous|diagnosed|underwent|undergone|operated"
            r"|hospitali[sz]ed|surger(?:y|ies)\b|vaccin|immuni[sz]",
            ("procedures",),
        ),
        "Medications": Cues(
            r"medic(?:ation|ine)|prescri|tablets?\b|doses?\b|\d+ ?mg\b|inhaler|insulin|vitamin"
            r"|supplement|therapy\b",
            ("medications",),
        ),
        "Allergies_Reactions": Cues(r"allerg|anaphyla|reacts? to|reaction to|intoleran"),
        "Social_History": Cues(
            r"smok|cigarette|tobacco|alcohol|drinks?\b|beers?\b|wine\b|cannabis|marijuana|cocaine|heroin|sexual"
            r"|lives? (?:alone|with)|exercis|diet\b|homeless|travel"
        ),
        "Family_History": Cues(
            rf"family history|runs in the family|(?:{_KIN}).*\b(?:died|had|has|have|diagnosed|suffer\w*)\b"
        ),
        "Review_of_Systems": Cues(r"den(?:y|ies|ied)\b|review of systems", ("symptoms",)),
        "Physical_Exam": Cues(
            r"exam|auscult|palpat|percuss|inspection|tender|murmur|reflex|pulse|blood pressure|temperature"
            r"|afebrile|respirat|heart rate|vital signs|breath sounds|bmi\b|body mass|swollen|appears"
        ),
        "Diagnostic_Results": Cues(
            r"laborator|count\b|levels?\b|serum|urinalysis|x-?rays?\b|radiograph|ct\b|mri\b|ultraso|biops|culture"
            r"|ecg\b|ekg\b|electrocardio|imaging|screening|mg/d?l\b|mmol|test (?:is|was|shows?|reveals?)",
            ("medical_tests",),
        ),
    },
)
"""The 24 categories of the paper for medical records."""
GENERAL = RuleCategorizer(
    "categories[rule, 16]",
    {
        **_SOCIAL,
        "Health": Cues(
            r"health|ill\b|illness|sick|disease|pain\b|hurts?\b|injur|wound|doctor|hospital|clinic|treat(?:ed|ment)",
            _ILLNESS,
        ),
        "Mental_Health": Cues(
            r"sad\b|sadness|anxi|depress|stress|lonel|panic|suicid|grie[fv]|mood|feels?\b|felt\b|emotion|trauma"
            r"|mental|psych|therapist|insomnia|afraid|angry|upset|overwhelmed"
        ),
    },
)
"""The 16 categories of the paper for conversations."""
