"""Reading what a text says of its person: age, birth, sex, place, nationality, job and condition.

For judging sanitized texts, by rules that share no code with the detectors and ladders that make them. The
whole text is taken to be about one person. Cannot be seen: what is said in other words than those below, such
as an age at an event; an unknown job or illness, and those of more than one word; events and their dates;
relatives; and whose of several people a word is, so that a text about two says of one what is true of the
other. A denied condition is taken for one unless the denial stands before it in its clause.
"""

import re
from collections.abc import Iterator
from functools import cache
from math import floor, inf

from eval.attacks.population import SaidOfPerson, conditions, jobs
from eval.measures.classify import class_of
from eval.measures.said_areas import Area, areas_in
from eval.measures.said_dates import moment_of
from eval.measures.said_numbers import Range, ranges_of
from ingest.language.vocabulary import fold

_FEMALE = re.compile(r"(?i)(?<![^\W_])(?:she|her|hers|herself|woman|female|girl|lady|mrs|ms|miss)(?![^\W_])")
_MALE = re.compile(r"(?i)(?<![^\W_])(?:he|him|his|himself|man|male|boy|gentleman|mr|mister|sir)(?![^\W_])")
_CLEARLY = 2
"""How many times as many words of one sex as of the other tell it."""
_OLD = re.compile(
    r"(?i)(?P<behind>[^.;:!?\n]{0,40}?)[ -]?(?:years?|yrs?)[ -](?:old|of age)(?![^\W_])"
    r"|(?<![^\W_])(?:aged?|age of|age is|age:)\s(?P<ahead>[^.;!?\n]{1,30})"
    r"|(?<![^\W_])in (?:his|her|their|my|your) "
    r"(?P<decade>(?:(?:early|mid|late)[ -])?[a-z]+ies|teens)(?![^\W_])"
)
_OLDEST = 120
_BORN = re.compile(
    r"(?i)(?<![^\W_])(?:born(?: on| in)?|date of birth(?: is)?|dob|birthday(?: is)?)[:,]?\s"
    r"(?P<when>[^;!?\n]{4,40})"
)
_LIVES = re.compile(
    r"(?<![^\W_])(?:(?:[Ll]iv(?:es?|ed|ing)|[Rr]esid(?:es?|ed|ing|ent)|[Bb]orn|[Bb]ased|[Cc]omes?|[Gg]rew up)"
    r"(?: (?:on|at) [^.;!?\n]{1,40}?)?(?: (?:in|from|near|of))+"
    r"|[Hh]ome (?:is )?in|I'm from|(?:am|is|was) from) (?P<where>[^.;!?\n]{2,60})"
)
_NATIONAL = re.compile(
    r"(?P<who>(?:[A-Z][^\W\d_]+[ -]){1,2})"
    r"(?:national|citizen|nationality|man|woman|subject|origin)s?(?![^\W_])"
)
_WORKS = re.compile(
    r"(?i)(?<![^\W_])(?:(?:is|was|am|'m|be|became|works?|worked|working|employed|job|profession|occupation)"
    r"(?: (?:is|as|currently|now|still|also))*[:,]?(?: an?| the)?|retired)\s(?=(?P<what>[^.,;!?\n]{3,60}))"
)
_NEAR = 4
"""A job is among so many words."""
_DENIED = re.compile(r"(?i)(?<![^\W_])(?:no|not|denies|denied|without|never|negative for)\s[^.;,]*$")
_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE = 60


def said_of_person(text: str) -> SaidOfPerson:
    """What the text says of its person, as far as these rules see."""
    return SaidOfPerson(
        ages=_narrowest(_ages(text)),
        born=_narrowest(_births(text)),
        female=_female(text),
        areas=frozenset(_homes(text)),
        nationalities=frozenset(_nations(text)),
        jobs=_jobs(text),
        conditions=_conditions(text),
    )


def _narrowest(ranges: Iterator[tuple[float, float]]) -> tuple[float, float] | None:
    """The most specific of several, the first of equals."""
    return min(ranges, key=lambda each: each[1] - each[0], default=None)


def _ages(text: str) -> Iterator[tuple[float, float]]:
    for match in _OLD.finditer(text):
        said = match["behind"] or match["ahead"]
        found = [_decade(match["decade"])] if match["decade"] else _numbers(said, last=bool(match["behind"]))
        for each in found:
            if each is not None and 0 < each.high and each.low <= _OLDEST:
                yield floor(each.low), each.high


def _numbers(said: str, *, last: bool) -> list[Range]:
    found = ranges_of(said)
    return found[-1:] if last else found[:1]


def _decade(said: str) -> Range | None:
    part, _, decade = fold(said).replace("-", " ").rpartition(" ")
    found = ranges_of(decade)
    if not found:
        return None
    low, high = found[0].low, found[0].high
    third = {"early": (low, low + 4), "mid": (low + 3, low + 7), "late": (low + 5, high)}
    return Range(*third.get(part, (low, high)))


def _births(text: str) -> Iterator[tuple[float, float]]:
    for match in _BORN.finditer(text):
        moment = moment_of(match["when"])
        if moment is not None and moment.dated and len(moment.readings) == 1:
            days = moment.readings[0]
            if -inf < days.low and days.high < inf:
                yield days.low, days.high


def _female(text: str) -> bool | None:
    female, male = (len(pattern.findall(text)) for pattern in (_FEMALE, _MALE))
    if female >= max(1, _CLEARLY * male):
        return True
    return False if male >= max(1, _CLEARLY * female) else None


def _homes(text: str) -> Iterator[Area]:
    """The first area behind each word of living somewhere: of Paris, Texas, the town."""
    for match in _LIVES.finditer(text):
        named = next(areas_in(match["where"]), None)
        if named is not None:
            yield named.area


def _nations(text: str) -> Iterator[str]:
    for match in _NATIONAL.finditer(text):
        for named in areas_in(match["who"]):
            if named.area.point is None:
                yield from named.area.countries


def _jobs(text: str) -> frozenset[int]:
    """The job behind the first word of working that names one; of a class of jobs, all of it."""
    for match in _WORKS.finditer(text):
        said = fold(match["what"])
        for word in _WORD.findall(said)[:_NEAR]:
            if word in _job_numbers():
                return frozenset((_job_numbers()[word],))
        for kind, members in _job_classes().items():
            if said.startswith(kind):
                return members
    return frozenset()


@cache
def _job_numbers() -> dict[str, int]:
    return {name: number for number, name in enumerate(jobs())}


@cache
def _job_classes() -> dict[str, frozenset[int]]:
    """The jobs of each class, the longest name of a class first."""
    found: dict[str, set[int]] = {}
    for number, name in enumerate(jobs()):
        if (kind := class_of(name, "jobs")) is not None:
            found.setdefault(fold(kind), set()).add(number)
    return {kind: frozenset(found[kind]) for kind in sorted(found, key=len, reverse=True)}


@cache
def _condition_numbers() -> dict[str, int]:
    return {name: number for number, name in enumerate(conditions())}


def _conditions(text: str) -> frozenset[int]:
    """All that are named: a member has one of them."""
    return frozenset(
        number
        for match in _WORD.finditer(text)
        if (number := _condition_numbers().get(fold(match[0]))) is not None
        and not _DENIED.search(text[max(0, match.start() - _CLAUSE) : match.start()])
    )
