"""The state of one example: its random source, its day, and the people and values used so far."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, Literal, TypeVar

from models.corpora.countries import Country, countries
from models.errors import ModelUnavailable
from models.training.synthetic.marked import MarkedPiece

if TYPE_CHECKING:
    from faker import Faker

_FIRST_DAY = date(2004, 1, 1)
_DAYS = 8000
_CAPITALS, _DIGITS = "ABCDEFGHJKLMNPRSTUVWXYZ", "0123456789"
_KINDS = {
    "#": _DIGITS,
    "%": _DIGITS[1:],
    "?": _CAPITALS,
    "*": _CAPITALS + _DIGITS,
    "~": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "¤": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "§": "0123456789abcdef",
}

T = TypeVar("T")
Gender = Literal["female", "male"]


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of one address, as plain text; ``state`` and ``county`` may be empty."""

    country: Country
    layout: str
    number: str = field(repr=False)
    road: str = field(repr=False)
    unit: str = field(repr=False)
    city: str = field(repr=False)
    state: str = field(repr=False)
    county: str = field(repr=False)
    zip: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Person:
    """An invented person; ``country`` is where they live, by its English name."""

    given: str = field(repr=False)
    middle: str = field(repr=False)
    family: str = field(repr=False)
    gender: Gender
    born: date = field(repr=False)
    nationality: str
    home: Address = field(repr=False)
    family_first: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """One example in the making. ``people`` and ``values`` fill up as slots name them."""

    random: Random = field(repr=False)
    fakers: "Mapping[str, Faker]" = field(repr=False)
    today: date
    people: dict[str, Person] = field(default_factory=dict, repr=False)
    values: dict[str, MarkedPiece] = field(default_factory=dict, repr=False)


def any_country(stage: Stage) -> Country:
    """A country, as often as somebody lives there."""
    return weighted(stage.random, [(country, country.weight) for country in countries()])


def fakers(random: Random) -> "dict[str, Faker]":
    """One source of names and places for every locale, all seeded from ``random``.

    Raises:
        ModelUnavailable: the library is not installed.
    """
    try:
        from faker import Faker
    except ImportError as error:
        raise ModelUnavailable("faker", "is not installed: pip install 'lethe[train]'") from error
    made = {country.locale: Faker(country.locale) for country in countries()}
    for faker in made.values():
        faker.seed_instance(random.getrandbits(64))
    return made


def new_stage(random: Random, sources: "Mapping[str, Faker]") -> Stage:
    """An empty stage on a day of its own."""
    return Stage(random, sources, _FIRST_DAY + timedelta(days=random.randrange(_DAYS)))


def digits(random: Random, pattern: str) -> str:
    """The pattern with ``#`` as a digit, ``%`` as one from 1, ``?`` as a capital, ``*`` as either.

    ``~``, ``¤`` and ``§`` before a number stand for so many characters of base 58, of base 32 as in bech32,
    and of base 16.
    """

    def drawn(found: re.Match[str]) -> str:
        return "".join(random.choice(_KINDS[found["kind"]]) for _ in range(int(found["times"] or 1)))

    return re.sub(r"(?P<kind>[#%?*]|[~¤§](?=\d))(?P<times>(?<=[~¤§])\d+)?", drawn, pattern)


def weighted(random: Random, options: Sequence[tuple[T, float]]) -> T:
    """One of the options, as often as its weight says."""
    return random.choices([option for option, _ in options], [weight for _, weight in options])[0]
