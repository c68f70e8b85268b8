"""What fills a slot that speaks of a person."""

from collections.abc import Callable

from models.training.synthetic import addresses, dates, people
from models.training.synthetic.labels import PERSON
from models.training.synthetic.marked import Marked, compose, join, mark
from models.training.synthetic.nouns import Gender, Person
from models.training.synthetic.phrases import word
from models.training.synthetic.stage import Stage, digits

Form = Callable[[Person, Stage, str], Marked]

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


def _named(write: Callable[[Person], str]) -> Form:
    return lambda person, stage, style: mark(write(person), PERSON)


def _pronoun(name: str) -> Form:
    masculine, feminine = _PRONOUNS[name]
    return lambda person, stage, style: Marked(masculine if person.gender == "male" else feminine)


def _part(name: str) -> Form:
    return lambda person, stage, style: addresses.parts(person.home)[name]


def _gender(person: Person, stage: Stage, style: str) -> Marked:
    return mark(stage.random.choice(_GENDERS[style][person.gender]), "gender")


def _age(person: Person, stage: Stage, style: str) -> Marked:
    return dates.age(stage, max(1, (stage.today - person.born).days // 365), style)


def _email(person: Person, stage: Stage, style: str) -> Marked:
    random = stage.random
    if style == "work":
        domain = word(random, "_work domain")
    else:
        domain = word(random, "_mail domain")
    return mark(f"{people.mailbox(person, random)}@{domain}", "email address")


def _phone(person: Person, stage: Stage, style: str) -> Marked:
    return mark(digits(stage.random, stage.random.choice(person.home.country.phones)), "phone number")


def _handle(person: Person, stage: Stage, style: str) -> Marked:
    handle = people.handle(person, stage.random)
    return mark("@" + handle.lstrip("@") if style == "at" else handle, "account handle")


def _link(person: Person, stage: Stage, style: str) -> Marked:
    name = people.handle(person, stage.random).lstrip("@")
    site = word(stage.random, "_profile site")
    return mark(site.replace("*", name), "personal web link", "URL link")


def _caps(person: Person, stage: Stage, style: str) -> Marked:
    return mark(f"{person.family.upper()}, {person.given}", PERSON)


def _spelled(person: Person, stage: Stage, style: str) -> Marked:
    return mark("-".join(person.family.upper()), PERSON)


def _account_name(person: Person, stage: Stage, style: str) -> Marked:
    kind = word(stage.random, "bank account name")
    name = mark(f"{person.given} {person.family}", PERSON)
    return mark(compose("{name} {kind}", {"name": name, "kind": Marked(kind)}), "bank account name")


def _relative(person: Person, stage: Stage, style: str) -> Marked:
    given = word(stage.random, f"_relative {stage.random.choice(('female', 'male'))}")
    return mark(f"{given} {person.family}" if style == "full" else given, PERSON)


FORMS: dict[str, Form] = {
    "full": lambda person, stage, style: people.full_name(person, stage.random),
    "name": _named(lambda person: f"{person.given} {person.family}"),
    "first": _named(lambda person: person.given),
    "middle": _named(lambda person: person.middle),
    "last": _named(lambda person: person.family),
    "short": _named(lambda person: f"{person.given[0]}. {person.family}"),
    "firstl": _named(lambda person: f"{person.given} {person.family[0]}."),
    "initials": _named(people.initials),
    "reversed": _named(lambda person: f"{person.family}, {person.given}"),
    "caps": _caps,
    "spelled": _spelled,
    "titled": lambda person, stage, style: people.titled(person, stage.random),
    "formal": lambda person, stage, style: join(
        (Marked(people.title(person, stage.random) + " "), mark(f"{person.given} {person.family}", PERSON))
    ),
    "doctor": lambda person, stage, style: people.doctor(person, stage.random),
    "any": lambda person, stage, style: people.any_form(person, stage.random),
    "relative": _relative,
    "born": lambda person, stage, style: dates.birth(stage, person.born, style),
    "age": _age,
    "gender": _gender,
    "email": _email,
    "phone": _phone,
    "handle": _handle,
    "link": _link,
    "account": _account_name,
    "address": lambda person, stage, style: addresses.whole(person.home),
    "line": lambda person, stage, style: addresses.line(person.home),
    "unit": _part("unit"),
    "city": _part("city"),
    "state": _part("state"),
    "zip": _part("zip"),
    "country": _part("country"),
    "nationality": lambda person, stage, style: mark(
        person.nationality, "nationality", "demographic attribute"
    ),
    **{name: _pronoun(name) for name in _PRONOUNS},
}

# What may differ from one time to the next though the person is the same.
FREE = ("any", "titled", "relative", "gender", "doctor")
