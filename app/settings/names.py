"""The names of settings: dotted (``policy.tau``), as variables, and the nearest to a misspelled name."""

from difflib import get_close_matches
from types import UnionType
from typing import Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

PREFIX = "LETHE_"


def known_fields(table: type[BaseModel], above: str = "") -> dict[str, FieldInfo]:
    """Every field by its dotted name, each table before the fields in it."""
    found: dict[str, FieldInfo] = {}
    for name, field in table.model_fields.items():
        found[above + name] = field
        if (below := _table_in(field)) is not None:
            found |= known_fields(below, f"{above}{name}.")
    return found


def variable_of(name: str) -> str:
    """The environment variable of a dotted name: ``policy.tau`` is ``LETHE_POLICY__TAU``."""
    return PREFIX + name.upper().replace(".", "__")


def _table_in(field: FieldInfo) -> type[BaseModel] | None:
    """The table of a field, optional or not."""
    kinds = get_args(field.annotation) if get_origin(field.annotation) in (Union, UnionType) else ()
    for kind in (field.annotation, *kinds):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def dotted_of(variable: str) -> str:
    """The dotted name that an environment variable spells: the reverse of ``variable_of``."""
    return variable[len(PREFIX) :].lower().replace("__", ".")


def nearest(name: str, table: type[BaseModel]) -> str:
    """The most similar known name."""
    fields = known_fields(table).items()
    known = [each for each, field in fields if _table_in(field) is None]
    return get_close_matches(name, known, n=1, cutoff=0)[0]
