"""Marked passages drawn anew: other names, places, firms and numbers, and other noise.

All mentions of a person or thing get the same words, so a model learns what stands around a name, and not the
names of the passages. Names of people come from the lists of the library ``faker`` (MIT) and from other
passages, all others from other passages.
"""

import random
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from importlib import import_module
from pkgutil import iter_modules

from models.corpora.passages import Mark, Passage
from models.errors import ConfigurationError

KEPT = 0.25
"""Share of the people who keep their names, with what their words mean elsewhere in the passage."""
FROM_PASSAGES = 0.25
"""Share of the people who get words from other passages' names: those that are words among them."""
MADE_UP, ORDINARY = 0.12, 0.08
"""Shares of the people whose names are made of parts of two others, and are ordinary words."""
IN_LISTS = 0.12
"""Share of the passages whose full names are in another form: family name first, or in capitals."""
ANEW = {
    **{"ORG": 0.5, "LOC": 0.5, "ADDRESS": 0.5},
    **dict.fromkeys(("DRUG", "CONDITION", "JOB", "TEST", "PROCEDURE", "ORIGIN", "MISC", "FAMILY"), 0.2),
}
"""How often a thing of a kind becomes another of its kind, class and need."""
DIGITS = {
    **{"CODE": 0.8, "CONTACT": 0.8, "DATE": 0.6, "TIME": 0.5, "AGE": 0.6, "MONEY": 0.6, "ADDRESS": 0.6},
    **{"QUANTITY": 0.5, "TEST": 0.5, "DURATION": 0.4},
}
"""How often the digits of a kind are drawn anew."""
PARTICLES = frozenset(
    "van von der den de del della di da do dos das du la le les el al bin ibn bint ben abu ter ten zu mac mc"
    " of the and y e i af av san st saint o d l jr sr".split()
)
_LETTERS = re.compile(r"[^\W\d_]+")
_ORDINARY = re.compile(r"(?<= )[a-z]{3,9}(?=[ ,.])")
_INITIALS = 3
"""So many capitals or fewer may be somebody's initials."""


Pieces = list[tuple[str, Mark | None]]
Lists = tuple[Sequence[str], Sequence[str]]
"""First and last names."""


@dataclass(frozen=True, slots=True)
class Pools:
    """What is drawn from: words of names, other words, and things by language, kind, class and need."""

    first: Sequence[str] = field(repr=False)
    last: Sequence[str] = field(repr=False)
    ordinary: Sequence[str] = field(repr=False)
    things: dict[tuple[str, str, str, int], list[str]] = field(repr=False)


def pools_of(passages: Iterable[Passage]) -> Pools:
    """The pools of the passages that are learned from."""
    first, last, ordinary = set[str](), set[str](), set[str]()
    things: dict[tuple[str, str, str, int], set[str]] = {}
    for passage in passages:
        if passage.language == "English":
            ordinary.update(word for word in _ORDINARY.findall(passage.text))
        for mark in passage.marks:
            words = passage.text[mark.start : mark.end]
            if mark.kind == "PERSON":
                names = [word for word in _LETTERS.findall(words) if len(word) > 2 and word[1:].islower()]
                first.update(names[:1])
                last.update(names[1:][-1:])
            elif mark.kind in ANEW:
                things.setdefault(_pool(passage, mark), set()).add(words)
    by_key = {key: sorted(found) for key, found in things.items()}
    return Pools(sorted(first), sorted(last), [word.capitalize() for word in sorted(ordinary)], by_key)


def _pool(passage: Passage, mark: Mark) -> tuple[str, str, str, int]:
    return passage.language, mark.kind, mark.identifier, mark.must


def redrawn(passage: Passage, pools: Pools, chance: random.Random) -> tuple[str, tuple[Mark, ...]]:
    """The passage with other things in it and other noise, and its marks."""
    names = _Names(passage, pools, chance)
    things: dict[tuple[str, str], str] = {}
    pieces, at = Pieces(), 0
    for mark in passage.marks:
        pieces.append((passage.text[at : mark.start], None))
        words = passage.text[mark.start : mark.end]
        key = (mark.kind, words.casefold())
        if mark.kind == "PERSON":
            new = names.instead_of(words)
        elif key in things:
            new = things[key]
        else:
            new = things[key] = names.within(_thing(words, passage, mark, pools, chance), mark.kind)
        pieces.append((new, mark))
        at = mark.end
    pieces.append((passage.text[at:], None))
    return _joined(_noise(pieces, chance))


def _thing(words: str, passage: Passage, mark: Mark, pools: Pools, chance: random.Random) -> str:
    if chance.random() < ANEW.get(mark.kind, 0.0):
        other = chance.choice(pools.things[_pool(passage, mark)])
        # What goes on in the small words of a sentence is put in where it fits.
        if other[:1].isupper() == words[:1].isupper() and "\n" not in other:
            words = other if not words.isupper() else other.upper()
    if chance.random() < DIGITS.get(mark.kind, 0.0):
        words = _other_digits(words, mark.kind, chance)
    return words


def _other_digits(words: str, kind: str, chance: random.Random) -> str:
    letters = kind == "CODE" and chance.random() < 0.4

    def group(match: re.Match[str]) -> str:
        old = match[0]
        if len(old) == 4 and kind in ("DATE", "AGE", "DURATION") and 1900 <= int(old) < 2100:
            return str(chance.randint(1930, 2027))
        if len(old) <= 2 and kind in ("DATE", "TIME"):
            first, last = (1, 28) if kind == "DATE" else (0, 59)
            return f"{chance.randint(first, min(last, max(12, int(old)))):0{len(old)}d}"
        if len(old) <= 2 and kind == "AGE":
            return str(chance.randint(1, 99))
        return str(chance.randint(1, 9)) + "".join(chance.choice(string.digits) for _ in old[1:])

    words = re.sub(r"\d+", group, words)
    if letters:
        words = re.sub(
            r"(?<=[\d\-/])[A-Z]|[A-Z](?=[\d\-/])", lambda _: chance.choice(string.ascii_uppercase), words
        )
    return words


class _Names:
    """Other words for the words of a passage's names, the same wherever they stand."""

    def __init__(self, passage: Passage, pools: Pools, chance: random.Random) -> None:
        self._chance = chance
        self._new: dict[str, str] = {}
        self._form = chance.choice(_FORMS) if chance.random() < IN_LISTS else None
        self._initials: dict[str, str] = {}
        people = (mark for mark in passage.marks if mark.kind == "PERSON")
        mentions = [(mark.entity, _LETTERS.findall(passage.text[mark.start : mark.end])) for mark in people]
        sources: dict[int, Lists | None] = {}
        for entity, words in sorted(mentions, key=lambda each: -len(each[1])):
            if entity not in sources:
                sources[entity] = self._source(pools)
            source = sources[entity]
            for place, word in enumerate(words):
                low = word.casefold()
                if low in self._new or low in PARTICLES or len(word) < 2 or _may_be_initials(word):
                    continue
                is_last = place > 0 and place == len(words) - 1
                self._new[low] = word if source is None else self._drawn(low, source[is_last])
        for word in (each for _, words in mentions for each in words if each.casefold() in self._new):
            self._initials.setdefault(word[0].casefold(), self._new[word.casefold()][0])

    def _source(self, pools: Pools) -> Lists | None:
        which = self._chance.random()
        if which < KEPT:
            return None
        if which < KEPT + FROM_PASSAGES:
            return pools.first, pools.last
        if which < KEPT + FROM_PASSAGES + ORDINARY:
            return pools.ordinary, pools.ordinary
        cultures = names_by_culture()
        one, other = (cultures[self._chance.choice(sorted(cultures))] for _ in range(2))
        if which < KEPT + FROM_PASSAGES + ORDINARY + MADE_UP:
            return self._made_up(one[0], other[0]), self._made_up(one[1], other[1])
        return one

    def _made_up(self, one: Sequence[str], other: Sequence[str]) -> list[str]:
        begins, ends = self._chance.choices(one, k=8), self._chance.choices(other, k=8)
        return [a[: (len(a) + 1) // 2] + b[len(b) // 2 :].lower() for a, b in zip(begins, ends, strict=True)]

    def _drawn(self, low: str, pool: Sequence[str]) -> str:
        # A short form becomes a short form of the new name.
        for old, new in self._new.items():
            if len(low) >= 3 and old.startswith(low) and len(new) > 3:
                return new[: min(len(low), len(new) - 1)]
        return self._chance.choice(pool)

    def instead_of(self, words: str) -> str:
        """The name with other words in it, in the case of the old ones."""
        new = _LETTERS.sub(lambda match: self._word(match[0]), words)
        parts = new.split(" ")
        if self._form is None or len(parts) != 2 or not all(map(str.istitle, parts)):
            return new
        return self._form(*parts)

    def _word(self, word: str) -> str:
        low = word.casefold()
        if low in self._new:
            return _in_case_of(word, self._new[low])
        if low in PARTICLES and len(word) > 1:
            return word
        if len(word) == 1 or _may_be_initials(word):
            for letter in word.casefold():
                if letter not in self._initials:
                    self._initials[letter] = self._chance.choice(string.ascii_uppercase)
            return "".join(_in_case_of(letter, self._initials[letter.casefold()]) for letter in word)
        return word

    def within(self, words: str, kind: str) -> str:
        """What holds a name, such as a mail address or a firm, with the new words in it."""
        for old, new in self._new.items():
            if len(old) < 3 or old not in words.casefold():
                continue
            if kind == "CONTACT":
                plain = "".join(filter(str.isalnum, unicodedata.normalize("NFD", new).lower())) or new
                plain = plain.encode("ascii", "ignore").decode() or old
                words = re.sub(re.escape(old), plain, words, flags=re.IGNORECASE)
            else:
                found = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
                words = found.sub(lambda match, new=new: _in_case_of(match[0], new), words)  # type: ignore[misc]
        return words


_FORMS: Sequence[Callable[[str, str], str]] = (
    lambda first, last: f"{last.upper()}, {first}",
    lambda first, last: f"{last}, {first}",
    lambda first, last: f"{first} {last.upper()}",
    lambda first, last: f"{last.upper()} {first}",
    lambda first, last: f"{last}, {first[0]}.",
    lambda first, last: f"{first[0]}. {last}",
)


def _may_be_initials(word: str) -> bool:
    return len(word) <= _INITIALS and word.isupper()


def _in_case_of(old: str, new: str) -> str:
    return new.lower() if old.islower() else new.upper() if old.isupper() and len(old) > 1 else new


@cache
def names_by_culture() -> Mapping[str, Lists]:
    """First and last names in Latin letters by locale; raises ConfigurationError without the library."""
    try:
        import faker.providers.person as person
    except ImportError:
        raise ConfigurationError(
            "Names are drawn from the lists of the library faker: install it with 'pip install lethe[train]'."
        ) from None
    found = {}
    for module in iter_modules(person.__path__):
        provider = import_module(f"{person.__name__}.{module.name}").Provider
        first, last = (_listed(provider, name) for name in ("first_names", "last_names"))
        if min(len(first), len(last)) >= 20:
            found[module.name] = (sorted(set(first)), sorted(set(last)))
    return found


def _listed(provider: object, name: str) -> list[str]:
    lists = (getattr(provider, f"{name}{sex}", ()) for sex in ("", "_male", "_female", "_unisex"))
    names = (str(each) for names in lists if not isinstance(names, property | str) for each in names)
    return [each for each in names if _LETTERS.fullmatch(each) and each < "\u0370"]


def _noise(pieces: Pieces, chance: random.Random) -> Pieces:
    """The pieces in another case, with errors of typing or scanning, in other lines; mostly as they are."""
    which = chance.random()
    if which < 0.07:
        return [(text.lower(), mark) for text, mark in pieces]
    if which < 0.14:
        return [(text.upper(), mark) for text, mark in pieces]
    if which < 0.20:
        return [(_mistyped(text, chance, inside=mark is not None), mark) for text, mark in pieces]
    if which < 0.24:
        return [
            (reduce(lambda read, each: _replaced(each[0], each[1], 0.06, read, chance), _MISREAD, text), mark)
            for text, mark in pieces
        ]
    if which < 0.28:
        return [(re.sub(r" *\n+ *", " ", text) if mark is None else text, mark) for text, mark in pieces]
    if which < 0.31:
        return [
            (_replaced(r"(?<=[\w,.]) (?=\w)", "\n", 0.07, text, chance) if mark is None else text, mark)
            for text, mark in pieces
        ]
    return pieces


def _mistyped(text: str, chance: random.Random, *, inside: bool) -> str:
    made = ""
    for sign in text:
        error, alpha = chance.random(), sign.isalpha()
        if alpha and error < 0.014:
            made += sign * 2 if error < 0.006 else chance.choice(string.ascii_lowercase)
        elif not (alpha and error < 0.022) and not (sign in ".,;" and error < 0.08 and not inside):
            made += sign
    return made or text


_MISREAD: Sequence[tuple[str, str]] = (("rn", "m"), ("m", "rn"), *zip("lIO05eö", "1l0OSco", strict=True))


def _replaced(pattern: str, new: str, share: float, text: str, chance: random.Random) -> str:
    return re.sub(pattern, lambda match: new if chance.random() < share else match[0], text)


def _joined(pieces: Pieces) -> tuple[str, tuple[Mark, ...]]:
    texts, marks, length = list[str](), list[Mark](), 0
    for text, mark in pieces:
        if mark is not None and text:
            marks.append(replace(mark, start=length, end=length + len(text)))
        texts.append(text)
        length += len(text)
    return "".join(texts), tuple(marks)
