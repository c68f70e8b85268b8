"""The settings in force with their origins, and digests of them for manifests and runs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pydantic import BaseModel, SecretStr

from app.settings.load import Origin, Settings, layers, origin_of
from models.catalog import ModelRef, Role, folder_of


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
    """32 hexadecimal digits that differ if documents would be sanitized or indexed differently.

    They are the BLAKE2b of detector, risk model, encoder, policy and passage size as JSON with sorted keys. A
    model counts by its reference: a folder whose files change keeps its digest. Of allow-lists, deny-lists
    and expressions only the number counts: a digest of the names in them could confirm a guess.
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


def run_settings(settings: Settings, encoders: Iterable[ModelRef] = ()) -> str:
    """The settings and model files that the figures of a benchmark depend on.

    A model's file counts by its size and time of change; embedded models are checked against their
    digest when they are loaded.

    Raises:
        ModelUnavailable: A folder that the settings name is not there.
    """
    generator = settings.generator.model_dump(mode="json", exclude={"api_key"})
    search = settings.retrieval.search
    return repr((settings_digest(settings), generator, search, files_of(_model_paths(settings, encoders))))


def _model_paths(settings: Settings, encoders: Iterable[ModelRef]) -> list[Path]:
    """Files and folders of the models in use that are not embedded."""
    used: list[tuple[ModelRef, Role]] = [(settings.encoder, "encoder")]
    used += [(ref, "encoder") for ref in encoders]
    if settings.detector.learned:
        used.append((settings.detector.model, "detector"))
    if settings.risk.kind == "learned":
        used.append((settings.risk.model, "risk"))
    found = [folder_of(ref, role) for ref, role in used if ref.source != "embedded"]
    gguf = settings.generator.path if settings.generator.kind == "llama_cpp" else None
    return found if gguf is None else [*found, gguf]


def files_of(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Name, size and time of change of every file; its folder makes no difference."""
    found = []
    for path in paths:
        inside = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        for file in inside:
            stat = file.stat()
            found.append((str(file.relative_to(path.parent)), stat.st_size, stat.st_mtime_ns))
    return found


def _values(table: BaseModel, above: str = "", inherited: str = "") -> Iterator[tuple[str, object, str]]:
    """Name, value and description of each setting; a field without description borrows its table's."""
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
        case bool() | int() | float():
            return json.dumps(value)
        case tuple() | dict():
            plain = _plain(value)
            return plain if isinstance(plain, str) else json.dumps(plain)
        case _:
            return str(value)


def _plain(value: object) -> object:
    """Lists and tables as JSON values; of secrets only their number."""
    match value:
        case SecretStr():
            return str(value)
        case BaseModel():
            return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case tuple() if value and all(isinstance(each, SecretStr) for each in value):
            return f"{len(value)} not shown"
        case tuple():
            return [_plain(each) for each in value]
        case _:
            return value
