"""Synthetic people, and the forms in which a text refers to them."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Literal, TypeVar

from models.corpora.countries import Country, countries, tables
from models.errors import ModelUnavailable
from models.training.labels import PERSON, marked_as
from models.training.synthetic.frames import word
from models.training.synthetic.marked import MarkedPiece, compose, join, mark

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


_ENGLISH = ("en_US", "en_GB", "en_CA", "en_AU")
_TOWNS_OF_THEIR_OWN = {"en_US": "_american city", "en_GB": "_british city", "en_CA": "_canadian city"}
_STATES = {
    "en_US": "_american state",
    "en_CA": "_canadian province",
    "en_AU": "_australian state",
    "en_IN": "_indian state",
    "pt_BR": "_brazilian state",
}


def new_address(stage: Stage, country: Country) -> Address:
    """An address in that country."""
    random = stage.random
    american = country.locale == "en_US"
    numbers = "%## %### %# %####" if american else "% %# %# %## %## %### %#A %#/%"
    code = digits(random, random.choice(country.zips or ("",))) or stage.fakers[country.locale].postcode()
    return Address(
        country,
        random.choice(country.layouts),
        digits(random, random.choice(numbers.split())),
        _road(stage, country),
        digits(random, random.choice(country.units)),
        _city(stage, country),
        _state(stage, country),
        word(random, "_british county"),
        code,
    )


def _road(stage: Stage, country: Country) -> str:
    """In English mostly after a tree or a church, elsewhere after somebody."""
    random = stage.random
    if country.locale in _ENGLISH and random.random() < 0.7:
        name = word(random, "_road")
    else:
        name = stage.fakers[country.locale].last_name()
    return random.choice(country.roads).replace("{name}", name)


def _city(stage: Stage, country: Country) -> str:
    own = _TOWNS_OF_THEIR_OWN.get(country.locale)
    if own and stage.random.random() < 0.6:
        return word(stage.random, own)
    if country.locale == "it_IT":
        return stage.random.choice(italian_towns())
    city: str = stage.fakers[country.locale].city()
    # The library's lists hold a few towns with a space behind them.
    return city.strip()


@cache
def italian_towns() -> tuple[str, ...]:
    """In their own order: the library keeps them as a set, which another process goes through differently."""
    from faker.providers.address.it_IT import Provider

    return tuple(sorted(Provider.cities))


def _state(stage: Stage, country: Country) -> str:
    """The name or the letters of a state, empty where addresses name none."""
    kind = _STATES.get(country.locale)
    if kind is None:
        return ""
    name, _, letters = word(stage.random, kind).partition("=")
    return letters if letters and stage.random.random() < 0.6 else name


def whole(address: Address) -> MarkedPiece:
    """The address as one mention, its parts marked inside."""
    return mark(compose(address.layout, parts(address)), "street address")


def line(address: Address) -> MarkedPiece:
    """Road and number alone, as one mention."""
    layout = "{road} {number}" if address.layout.startswith("{road}") else "{number} {road}"
    return mark(compose(layout, parts(address)), "street address")


def parts(address: Address) -> dict[str, MarkedPiece]:
    """Every part by its name in a layout, marked with its label."""
    return {
        "number": mark(address.number, "building number"),
        "road": MarkedPiece(address.road),
        "unit": mark(address.unit, "secondary address unit"),
        "city": mark(address.city, "city name", "place"),
        "state": mark(address.state, "state or province", "place") if address.state else MarkedPiece(""),
        "county": mark(address.county, "county", "place"),
        "zip": mark(address.zip, "zip postal code"),
        "country": mark(address.country.name, "country", "place"),
    }


_MONTHS = ("January February March April May June July August September October November December").split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_LAYOUTS: dict[str, tuple[str, ...]] = {
    "numeric": (
        *("{mm}/{dd}/{year}", "{dd}/{mm}/{year}", "{mm}/{dd}/{yy}", "{dd}.{mm}.{year}", "{dd}-{mm}-{year}"),
        *("{year}-{mm}-{dd}", "{dd}/{mm}/{yy}", "{mm}-{dd}-{year}", "{m}/{d}/{year}", "{m}/{d}/{year}"),
    ),
    "long": (
        *("{month} {d}, {year}", "{d} {month} {year}", "{nth} {month} {year}", "{month} {nth}, {year}"),
        *("{nth} of {month}, {year}", "{mon} {d}, {year}", "{dd}-{mon}-{year}", "{d} {mon} {year}"),
    ),
    "short": (
        *("{month} {d}", "{d} {month}", "the {nth} of {month}", "{mon} {nth}", "{m}/{d}", "{month} {nth}"),
    ),
    "spoken": tuple(
        f"{day}{year}"
        for day in ("the {said} of {month}", "{month} {said}")
        for year in ("", "", " {year_said}", ", {year_said}")
    ),
    "weekday": ("{weekday}", "{weekday}", "{weekday}, {d} {month}", "{weekday} {month} {nth}"),
    "iso": ("{year}-{mm}-{dd}",),
    "year": ("{year}",),
    "yearwords": ("{year_said}",),
    "month": ("{month} {year}",),
    "monthname": ("{month}",),
    "log": ("{dd}/{mon}/{year}",),
    "mail": ("{wday}, {d} {mon} {year}",),
}
_USUAL = (("numeric", 4.0), ("long", 5.0), ("short", 1.5), ("iso", 1.0))
_USUAL_WITH_YEAR = (("numeric", 4.0), ("long", 4.0), ("iso", 1.0))


def number_words(number: int) -> str:
    """A number below one hundred in words."""
    if number < 20:
        return _UNITS[number]
    tens, unit = divmod(number, 10)
    return _TENS[tens] + (f"-{_UNITS[unit]}" if unit else "")


def ordinal_words(number: int) -> str:
    """The day of a month in words."""
    if number <= 20:
        return _ORDINALS[number]
    tens, unit = divmod(number, 10)
    return f"{_TENS[tens]}-{_ORDINALS[unit]}" if unit else "thirtieth"


def year_words(year: int) -> str:
    """A year as it is said."""
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return f"two thousand {number_words(rest)}" if rest else "two thousand"
    return f"{number_words(century)} {number_words(rest).replace('-', ' ') if rest else 'hundred'}"


def written(day: date, random: Random, style: str) -> str:
    """The day in that style."""
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
    text = random.choice(_LAYOUTS[style]).format(
        **{"d": day.day, "dd": f"{day.day:02d}", "nth": f"{day.day}{ending}", "said": ordinal_words(day.day)},
        **{"m": day.month, "mm": f"{day.month:02d}", "mon": month[:3], "month": month},
        **{"year": day.year, "yy": f"{day.year % 100:02d}", "year_said": year_words(day.year)},
        **{"weekday": weekday, "wday": weekday[:3]},
    )
    return text.lower() if style == "spoken" and random.random() < 0.5 else text


def any_date(stage: Stage, style: str) -> MarkedPiece:
    """A day within three years of the example's own; a year alone may lie decades back."""
    back = 12000 if style.startswith("year") else 1100
    day = stage.today - timedelta(days=stage.random.randrange(back))
    return MarkedPiece(written(day, stage.random, style or weighted(stage.random, _USUAL)))


def birth(stage: Stage, born: date, style: str) -> MarkedPiece:
    """A day of birth, which is a date as well."""
    style = style or weighted(stage.random, _USUAL_WITH_YEAR)
    return mark(written(born, stage.random, style), "date of birth", "date")


def age(stage: Stage, years: int, style: str) -> MarkedPiece:
    """An age: digits, or words, or the compound that stands before "man"."""
    said = {
        "": str(years),
        "words": number_words(years),
        "compound": f"{years}-year-old",
        "compoundwords": f"{number_words(years)}-year-old",
        "short": stage.random.choice((f"{years} yo", f"{years} y/o", f"{years}yo", f"{years} year old")),
    }
    return mark(said[style], "person age")


def clock(stage: Stage, style: str) -> MarkedPiece:
    """A time of day."""
    random = stage.random
    hour, minute, second = random.randrange(24), random.randrange(60), random.randrange(60)
    half = random.choice(("am", "pm", " AM", " PM", " a.m.", " p.m."))
    shown = {
        "full": f"{hour:02d}:{minute:02d}:{second:02d}",
        "hm": f"{hour:02d}:{minute:02d}",
        "half": f"{hour % 12 + 1}:{minute:02d}{half}",
        "words": f"{random.choice(('half past', 'quarter to'))} {number_words(hour % 12 + 1)}",
    }
    if style:
        return MarkedPiece(shown[style])
    return MarkedPiece(random.choice((shown["hm"], shown["half"], shown["half"], f"{hour % 12 + 1}{half}")))


_ENGLISH_COUNTRIES = ("United States", "United Kingdom", "Canada", "Australia")
_SHARE_FROM_LISTS = 0.22
_PLAIN = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "ı": "i", "đ": "d", "æ": "ae"})
_GENDERS: dict[str, dict[Gender, tuple[str, ...]]] = {
    "": {"female": ("female", "Female", "woman", "F"), "male": ("male", "Male", "man", "M")},
    "letter": {"female": ("F",), "male": ("M",)},
    "word": {"female": ("female",), "male": ("male",)},
    "noun": {"female": ("woman", "lady"), "male": ("man", "gentleman")},
    "child": {"female": ("girl",), "male": ("boy",)},
}
_PRONOUNS = {
    "he": ("he", "she"),
    "him": ("him", "her"),
    "his": ("his", "her"),
    "hers": ("his", "hers"),
    "himself": ("himself", "herself"),
    "son": ("son", "daughter"),
    "husband": ("husband", "wife"),
    "spouse": ("wife", "husband"),
    "brother": ("brother", "sister"),
    "father": ("father", "mother"),
    "sir": ("sir", "madam"),
}

Form = Callable[[Person, Stage, str], MarkedPiece]


def new_person(stage: Stage, child: bool = False) -> Person:
    """An adult of up to ninety years, or a child of two to seventeen."""
    random = stage.random
    gender: Gender = random.choice(("female", "male"))
    youngest, oldest = (2, 18) if child else (19, 90)
    born = stage.today - timedelta(days=random.randrange(youngest * 365, oldest * 365))
    if random.random() < _SHARE_FROM_LISTS:
        origin = weighted(random, _origins())
        given, middle = (word(random, f"_{origin} {gender}") for _ in range(2))
        family = word(random, f"_{origin} family")
        name = random.choice(_ENGLISH_COUNTRIES)
        country = next(country for country in countries() if country.name == name)
        family_first = origin in ("Chinese", "Korean", "Vietnamese") and random.random() < 0.25
        nationality = origin
    else:
        country = any_country(stage)
        faker, family_first, nationality = stage.fakers[country.locale], False, country.nationality
        given, middle = (getattr(faker, f"first_name_{gender}")() for _ in range(2))
        family = getattr(faker, f"last_name_{gender}")()
    home = new_address(stage, country)
    return Person(given, middle, family, gender, born, nationality, home, family_first)


@cache
def _origins() -> list[tuple[str, float]]:
    return list(tables()["origins"].items())


def _named(write: Callable[[Person], str]) -> Form:
    return lambda person, stage, style: mark(write(person), PERSON)


def _pronoun(name: str) -> Form:
    masculine, feminine = _PRONOUNS[name]
    return lambda person, stage, style: MarkedPiece(masculine if person.gender == "male" else feminine)


def _part(name: str) -> Form:
    return lambda person, stage, style: parts(person.home)[name]


def _full(person: Person, stage: Stage, style: str) -> MarkedPiece:
    """Given and family name, at times with what stands between."""
    if person.family_first:
        return mark(f"{person.family} {person.given}", PERSON)
    chance = stage.random.random()
    if chance < 0.14:
        return mark(f"{person.given} {person.middle[0]}. {person.family}", PERSON)
    if chance < 0.22:
        return mark(f"{person.given} {person.middle} {person.family}", PERSON)
    return mark(_name(person), PERSON)


def _name(person: Person) -> str:
    return f"{person.given} {person.family}"


def _titled(
    person: Person, stage: Stage, style: str, *, doctor: bool = False, full: bool = False
) -> MarkedPiece:
    """A title and the family or the full name; the title is no part of the mention."""
    titles = "Mr. Mr Mr. Mister" if person.gender == "male" else "Ms. Mrs. Ms Mrs Miss"
    title = stage.random.choice(("Dr. Dr. Dr Doctor" if doctor else titles).split())
    return join((MarkedPiece(f"{title} "), mark(_name(person) if full else person.family, PERSON)))


def _doctor(person: Person, stage: Stage, style: str) -> MarkedPiece:
    return _titled(person, stage, style, doctor=True, full=stage.random.random() < 0.4)


def _any(person: Person, stage: Stage, style: str) -> MarkedPiece:
    """One of the shorter forms for a person already named."""
    names = (person.given, person.family, f"{person.given[0]}. {person.family}", _name(person))
    if stage.random.random() < 0.2:
        return _titled(person, stage, style)
    return mark(stage.random.choice(names), PERSON)


def _gender(person: Person, stage: Stage, style: str) -> MarkedPiece:
    return mark(stage.random.choice(_GENDERS[style][person.gender]), "gender")


def _age(person: Person, stage: Stage, style: str) -> MarkedPiece:
    return age(stage, max(1, (stage.today - person.born).days // 365), style)


def _letters(name: str, otherwise: str) -> str:
    """The name in the letters of an address: lower case, no accents, no spaces or marks."""
    spelled = unicodedata.normalize("NFKD", name.translate(_PLAIN)).lower()
    return "".join(c for c in spelled if "a" <= c <= "z") or otherwise


def _email(person: Person, stage: Stage, style: str) -> MarkedPiece:
    random = stage.random
    domain = word(random, "_work domain" if style == "work" else "_mail domain")
    given, family = _letters(person.given, "mail"), _letters(person.family, "box")
    year = f"{person.born.year % 100:02d}"
    boxes = (
        f"{given}.{family} {given[0]}.{family} {given}{family} {given[0]}{family} {given}_{family} "
        f"{family}.{given} {given}{year} {given}.{family}{year}"
    )
    return mark(f"{random.choice(boxes.split())}@{domain}", "email address")


def _account_of(person: Person, stage: Stage) -> str:
    """A name on some platform."""
    random = stage.random
    given, family = _letters(person.given, "user"), _letters(person.family, "one")
    added = random.choice(("real", "its", "the", "just", "dj", "mama", "runs", "bakes", "codes", "x"))
    number = random.choice(("", str(person.born.year % 100), str(random.randrange(10, 9999))))
    stems = f"{given}{family} {added}_{given} {given}{added} {family}{given[0]} {given}.{added}"
    return random.choice(stems.split()) + number


def _handle(person: Person, stage: Stage, style: str) -> MarkedPiece:
    at = "@" if style == "at" else stage.random.choice(("@", "@", ""))
    return mark(at + _account_of(person, stage), "account handle")


def _link(person: Person, stage: Stage, style: str) -> MarkedPiece:
    link = word(stage.random, "_profile site").replace("*", _account_of(person, stage))
    return mark(link, *marked_as("personal web link"))


def _account(person: Person, stage: Stage, style: str) -> MarkedPiece:
    kind = MarkedPiece(word(stage.random, "bank account name"))
    name = mark(_name(person), PERSON)
    return mark(compose("{name} {kind}", {"name": name, "kind": kind}), "bank account name")


def _relative(person: Person, stage: Stage, style: str) -> MarkedPiece:
    given = word(stage.random, f"_relative {stage.random.choice(('female', 'male'))}")
    return mark(f"{given} {person.family}" if style == "full" else given, PERSON)


def _phone(person: Person, stage: Stage, style: str) -> MarkedPiece:
    return mark(digits(stage.random, stage.random.choice(person.home.country.phones)), "phone number")


FORMS: dict[str, Form] = {
    "full": _full,
    "name": _named(_name),
    "first": _named(lambda person: person.given),
    "middle": _named(lambda person: person.middle),
    "last": _named(lambda person: person.family),
    "short": _named(lambda person: f"{person.given[0]}. {person.family}"),
    "firstl": _named(lambda person: f"{person.given} {person.family[0]}."),
    "initials": _named(lambda person: f"{person.given[0]}.{person.family[0]}."),
    "reversed": _named(lambda person: f"{person.family}, {person.given}"),
    "caps": _named(lambda person: f"{person.family.upper()}, {person.given}"),
    "spelled": _named(lambda person: "-".join(person.family.upper())),
    "titled": _titled,
    "formal": lambda person, stage, style: _titled(person, stage, style, full=True),
    "doctor": _doctor,
    "any": _any,
    "relative": _relative,
    "born": lambda person, stage, style: birth(stage, person.born, style),
    "age": _age,
    "gender": _gender,
    "email": _email,
    "phone": _phone,
    "handle": _handle,
    "link": _link,
    "account": _account,
    "address": lambda person, stage, style: whole(person.home),
    "line": lambda person, stage, style: line(person.home),
    "unit": _part("unit"),
    "city": _part("city"),
    "state": _part("state"),
    "zip": _part("zip"),
    "country": _part("country"),
    "nationality": lambda person, stage, style: mark(person.nationality, *marked_as("nationality")),
    **{name: _pronoun(name) for name in _PRONOUNS},
}

# What may differ from one time to the next though the person is the same.
FREE = ("any", "titled", "relative", "gender", "doctor")
