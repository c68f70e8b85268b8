"""The forms in which a text speaks of a person."""

import unicodedata
from random import Random

from models.training.synthetic.labels import PERSON
from models.training.synthetic.marked import Marked, join, mark
from models.training.synthetic.nouns import Person

_PLAIN = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "ı": "i", "đ": "d", "æ": "ae"})


def plain(name: str) -> str:
    """The name in the letters of an address: lower case, no accents, no spaces or marks."""
    spelled = unicodedata.normalize("NFKD", name.translate(_PLAIN))
    return "".join(c for c in spelled.lower() if "a" <= c <= "z")


def full_name(person: Person, random: Random) -> Marked:
    """Given and family name, at times with what stands between."""
    if person.family_first:
        return mark(f"{person.family} {person.given}", PERSON)
    chance = random.random()
    if chance < 0.14:
        return mark(f"{person.given} {person.middle[0]}. {person.family}", PERSON)
    if chance < 0.22:
        return mark(f"{person.given} {person.middle} {person.family}", PERSON)
    return mark(f"{person.given} {person.family}", PERSON)


def title(person: Person, random: Random) -> str:
    """What stands before the family name."""
    if person.gender == "male":
        return random.choice(("Mr.", "Mr", "Mr.", "Mister"))
    return random.choice(("Ms.", "Mrs.", "Ms", "Mrs", "Miss"))


def titled(person: Person, random: Random, word: str = "") -> Marked:
    """A title and the family name; the title is no part of the mention."""
    return join((Marked((word or title(person, random)) + " "), mark(person.family, PERSON)))


def doctor(person: Person, random: Random) -> Marked:
    """A doctor, by family name or by full name."""
    word = random.choice(("Dr.", "Dr.", "Dr", "Doctor"))
    if random.random() < 0.4:
        return join((Marked(word + " "), mark(f"{person.given} {person.family}", PERSON)))
    return titled(person, random, word)


def any_form(person: Person, random: Random) -> Marked:
    """One of the shorter ways to name somebody who has been named."""
    return random.choice(
        (
            mark(person.given, PERSON),
            mark(person.family, PERSON),
            titled(person, random),
            mark(f"{person.given[0]}. {person.family}", PERSON),
            mark(f"{person.given} {person.family}", PERSON),
        )
    )


def initials(person: Person) -> str:
    """The two initials with their points."""
    return f"{person.given[0]}.{person.family[0]}."


def mailbox(person: Person, random: Random) -> str:
    """What stands before the at sign."""
    given, family = plain(person.given) or "mail", plain(person.family) or "box"
    year = f"{person.born.year % 100:02d}"
    return random.choice(
        (
            f"{given}.{family}",
            f"{given[0]}.{family}",
            f"{given}{family}",
            f"{given[0]}{family}",
            f"{given}_{family}",
            f"{family}.{given}",
            f"{given}{year}",
            f"{given}.{family}{year}",
        )
    )


def handle(person: Person, random: Random) -> str:
    """A name on some platform, with its at sign or without."""
    given, family = plain(person.given) or "user", plain(person.family) or "one"
    word = random.choice(("real", "its", "the", "just", "dj", "mama", "runs", "bakes", "codes", "x"))
    number = random.choice(("", str(person.born.year % 100), str(random.randrange(10, 9999))))
    stem = random.choice(
        (f"{given}{family}", f"{word}_{given}", f"{given}{word}", f"{family}{given[0]}", f"{given}.{word}")
    )
    return random.choice(("@", "@", "")) + stem + number
