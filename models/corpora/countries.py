"""Countries in which invented people live, from ``countries.toml``."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Country:
    """A row of ``countries.toml``; ``layouts`` are for ``marked.compose``, what counts for ``digits``."""

    name: str
    nationality: str
    locale: str
    weight: float
    layouts: tuple[str, ...]
    roads: tuple[str, ...]
    units: tuple[str, ...]
    zips: tuple[str, ...]
    phones: tuple[str, ...]


@cache
def tables() -> dict[str, Any]:
    """Everything in the file."""
    return tomllib.loads(Path(__file__).with_name("countries.toml").read_text(encoding="utf-8"))


@cache
def countries() -> tuple[Country, ...]:
    """Every country that somebody may live in."""
    return TypeAdapter(tuple[Country, ...]).validate_python(tables()["country"])
