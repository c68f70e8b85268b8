"""Whoever appears in an example, and where they live."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from models.training.synthetic.countries import Country

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
    country: str
    nationality: str
    home: Address = field(repr=False)
    family_first: bool = False
