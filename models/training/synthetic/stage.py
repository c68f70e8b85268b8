"""What one example is made with: its chance, its day, and who and what has already appeared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, TypeVar

from models.errors import ModelUnavailable
from models.training.synthetic.marked import Marked
from models.training.synthetic.nouns import Person

if TYPE_CHECKING:
    from faker import Faker

LOCALES = (
    "en_US",
    "en_GB",
    "en_IN",
    "en_CA",
    "en_AU",
    "de_DE",
    "fr_FR",
    "es_ES",
    "it_IT",
    "pl_PL",
    "tr_TR",
    "nl_NL",
    "sv_SE",
    "pt_BR",
    "cs_CZ",
    "fi_FI",
)
_FIRST_DAY = date(2004, 1, 1)
_DAYS = 8000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stage:
    """One example in the making. ``people`` and ``values`` fill up as slots name them."""

    random: Random = field(repr=False)
    fakers: "Mapping[str, Faker]" = field(repr=False)
    today: date
    people: dict[str, Person] = field(default_factory=dict, repr=False)
    values: dict[str, Marked] = field(default_factory=dict, repr=False)


def fakers(random: Random) -> "dict[str, Faker]":
    """One source of names and places for every locale, all seeded from ``random``.

    Raises:
        ModelUnavailable: the library is not installed.
    """
    try:
        from faker import Faker
    except ImportError as error:
        raise ModelUnavailable("faker", "is not installed: pip install 'lethe[train]'") from error
    made = {locale: Faker(locale) for locale in LOCALES}
    for faker in made.values():
        faker.seed_instance(random.getrandbits(64))
    return made


def new_stage(random: Random, sources: "Mapping[str, Faker]") -> Stage:
    """An empty stage on a day of its own."""
    return Stage(random, sources, _FIRST_DAY + timedelta(days=random.randrange(_DAYS)))


def digits(random: Random, pattern: str) -> str:
    """The pattern with ``#`` as a digit, ``%`` as one from 1, ``?`` as a capital, ``*`` as either."""
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    kinds = {"#": "0123456789", "%": "123456789", "?": letters, "*": letters + "0123456789"}
    return "".join(random.choice(kinds[c]) if c in kinds else c for c in pattern)


def weighted(random: Random, options: Sequence[tuple[T, float]]) -> T:
    """One of the options, as often as its weight says."""
    return random.choices([option for option, _ in options], [weight for _, weight in options])[0]
