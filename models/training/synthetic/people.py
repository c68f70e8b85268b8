"""Synthetic people, and the forms in which a text refers to them."""

import unicodedata
from collections.abc import Callable
from datetime import timedelta
from functools import cache

from models.corpora.countries import countries, tables
from models.training.labels import PERSON, marked_as
from models.training.synthetic import dates, places
from models.training.synthetic.frames import word
from models.training.synthetic.marked import MarkedPiece, compose, join, mark
from models.training.synthetic.stage import Gender, Person, Stage, any_country, digits, weighted

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
    home = places.new_address(stage, country)
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
    return lambda person, stage, style: places.parts(person.home)[name]


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
    return dates.age(stage, max(1, (stage.today - person.born).days // 365), style)


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
    "born": lambda person, stage, style: dates.birth(stage, person.born, style),
    "age": _age,
    "gender": _gender,
    "email": _email,
    "phone": _phone,
    "handle": _handle,
    "link": _link,
    "account": _account,
    "address": lambda person, stage, style: places.whole(person.home),
    "line": lambda person, stage, style: places.line(person.home),
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
