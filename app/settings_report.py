"""The settings in force, for people and for manifests: where each came from, and what they come to."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from pydantic import BaseModel, SecretStr

from app.settings import Origin, Settings, layers, origin_of


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting: dotted name, value as shown, where it came from, what it means."""

    name: str
    value: str
    origin: Origin
    description: str


def settings_rows(settings: Settings, arguments: Mapping[str, object]) -> list[SettingRow]:
    """A row for every setting, in the order of their declaration, secrets as stars.

    ``arguments`` are those that ``load_settings`` made the settings from.
    """
    places = layers(arguments)
    return [
        SettingRow(name, _shown(value), origin_of(name, places), description)
        for name, value, description in _values(settings)
    ]


def settings_digest(settings: Settings) -> str:
    """32 hexadecimal digits that differ when documents would be sanitized or indexed differently.

    They are the BLAKE2b of detector, risk model, encoder, policy and passage size as JSON with sorted keys. A
    model counts by its reference: a folder whose files change keeps its digest.
    """
    parts = settings.model_dump(
        mode="json",
        include={
            "detector": True,
            "encoder": True,
            "policy": True,
            "risk": True,
            "retrieval": {"passage_tokens"},
        },
    )
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return blake2b(canonical.encode(), digest_size=16).hexdigest()


def _values(table: BaseModel, above: str = "", inherited: str = "") -> Iterator[tuple[str, object, str]]:
    """Name, value and description of each setting; a field without words borrows its table's."""
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        description = field.description or f"{inherited}: {name}"
        if isinstance(value, BaseModel):
            yield from _values(value, f"{above}{name}.", description)
        else:
            yield above + name, value, description


def _shown(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool() | int() | float() | tuple():
            return json.dumps(value)
        case SecretStr():
            return "**********"
        case _:
            return str(value)
