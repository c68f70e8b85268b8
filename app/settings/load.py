"""All settings, their sources, and the refusal of everything else.

A value comes from the arguments, else from the environment (``LETHE_POLICY__TAU``), else from
``settings.toml``, else from its default. A misspelled name is refused wherever it stands: a privacy
threshold that is silently not read would be worse than none. No message shows a value, since any of
them may be a key.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from app.settings.policy import PolicySettings
from app.settings.tables import (
    DetectorSettings,
    GeneratorSettings,
    IngestSettings,
    RetrievalSettings,
    RiskSettings,
    ServerSettings,
    VaultSettings,
)
from models.catalog import ModelRef
from models.errors import ConfigurationError

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


__all__ = [
    "DetectorSettings",
    "GeneratorSettings",
    "IngestSettings",
    "Origin",
    "PolicySettings",
    "RetrievalSettings",
    "RiskSettings",
    "ServerSettings",
    "Settings",
    "VaultSettings",
    "layers",
    "load_policy_file",
    "load_settings",
    "origin_of",
]

Origin = Literal["argument", "environment", "file", "default"]

SETTINGS_FILE = "settings.toml"
DATA_DIR = Path("lethe-data")

SHAPES = {
    "model_type": "should be a table",
    "tuple_type": "should be a list",
    "path_type": "should be a path",
}
"""Our wording where pydantic would name Python types."""


class Environment(EnvSettingsSource):
    """The ``LETHE_`` variables; what is not JSON stays text, for validation to refuse by name."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """The JSON of a list or table, or the value as it was."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


class Settings(BaseSettings):
    """Everything that can be set. ``load_settings`` makes one and explains what it refuses."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", hide_input_in_errors=True
    )

    data_dir: Path = Field(default=DATA_DIR, description="folder of the collections")
    key_file: Path | None = Field(
        default=None,
        description="secret for digests of ids and texts; none for secret.key in the data folder",
    )
    settings_file: Path | None = Field(
        default=None, description=f"file to read instead of {SETTINGS_FILE} in the data folder"
    )
    detector: DetectorSettings = Field(default=DetectorSettings(), description="what finds entities")
    risk: RiskSettings = Field(default=RiskSettings(), description="how strongly an entity exposes a person")
    encoder: ModelRef = Field(default=ModelRef(), description="text encoder")
    policy: PolicySettings = Field(default=PolicySettings(), description="what is done with entities")
    generator: GeneratorSettings = Field(default=GeneratorSettings(), description="what writes answers")
    retrieval: RetrievalSettings = Field(
        default=RetrievalSettings(), description="what is looked up for a question"
    )
    ingest: IngestSettings = Field(default=IngestSettings(), description="how much is sanitized at once")
    server: ServerSettings = Field(default=ServerSettings(), description="where the server listens")
    vault: VaultSettings = Field(default=VaultSettings(), description="whether originals are kept")
    threads: int | None = Field(
        default=None,
        ge=1,
        description="CPU threads of the models; none for one for each request of a server, and elsewhere for "
        "what torch chooses",
    )
    numbers: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto",
        description="number format of the embedded models: auto takes bfloat16 where the processor has it, "
        "about twice as fast; float32 gives the same results on every machine",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, environment, settings file: the first that has a value wins."""
        environment = Environment(settings_cls)
        values = _file_values({"argument": init_settings(), "environment": environment()})
        return init_settings, environment, InitSettingsSource(settings_cls, init_kwargs=values)


def load_settings(arguments: Mapping[str, object]) -> Settings:
    """The settings in force.

    Args:
        arguments: Values by dotted name (``policy.tau``) or by table (``policy``). None means not
            given; a whole ``PolicySettings`` or other table object replaces every lower layer of it.

    Raises:
        ConfigurationError: Names every problem at once, by field and origin and without values.
    """
    strangers = _unknown_variables()
    problems = [
        f"{name}: no such setting, the nearest is {variable_of(nearest(dotted_of(name), Settings))}"
        for name in strangers
    ]
    try:
        settings = Settings(**_nested(arguments))
    except ValidationError as error:
        places = layers(arguments)
        for problem in _problems(error, Settings):
            origin = origin_of(problem.name, places)
            if origin == "environment" and variable_of(problem.name) in strangers:
                continue
            as_json = ", written as JSON" if origin == "environment" and problem.shape else ""
            place = _settings_path(places) if origin == "file" else origin
            problems.append(f"{problem.name} ({place}): {problem.wrong}{as_json}")
    if problems:
        raise ConfigurationError(f"settings: {'; '.join(problems)}")
    return settings


def load_policy_file(path: Path) -> PolicySettings:
    """The policy that a TOML file states by the keys of ``PolicySettings``.

    What it leaves out is default and not set (``model_fields_set``), so that others may say it.

    Raises:
        ConfigurationError: The file cannot be read, or what is wrong in it, by key.
    """
    values = _read_toml(path)
    if "policy" in values:
        raise ConfigurationError(f"{path}: write the keys of the policy without the header [policy]")
    values.pop("engine", None)  # of when there were several engines
    try:
        return PolicySettings.model_validate(values)
    except ValidationError as error:
        found = _problems(error, PolicySettings)
        problems = [f"{p.name}: {p.wrong}" if p.name else p.wrong for p in found]
    raise ConfigurationError(f"{path}: {'; '.join(problems)}")


def layers(arguments: Mapping[str, object]) -> dict[Origin, dict[str, Any]]:
    """The values of each source as nested tables, highest precedence first."""
    stated: dict[Origin, dict[str, Any]] = {
        "argument": _nested(arguments),
        "environment": Environment(Settings)(),
    }
    return {**stated, "file": _file_values(stated)}


def origin_of(name: str, places: Mapping[Origin, Mapping[str, Any]]) -> Origin:
    """The first source that sets a dotted name."""
    for origin, values in places.items():
        if _says(values, name.split(".")):
            return origin
    return "default"


def _says(values: object, parts: list[str]) -> bool:
    """Whether nested tables set a name, or hold a bare value above it."""
    for part in parts:
        if not isinstance(values, Mapping):
            return True
        if part not in values:
            return False
        values = values[part]
    return True


def _nested(arguments: Mapping[str, object]) -> dict[str, Any]:
    """Arguments as nested tables; sorted, so that a table comes before the names in it."""
    tables: dict[str, Any] = {}
    for name in sorted(arguments):
        value = arguments[name]
        if value is None:
            continue
        *above, last = name.split(".")
        table = tables
        for part in above:
            # copied, so that the caller's own tables stay as they are
            held = table.get(part)
            table[part] = dict(held) if isinstance(held, Mapping) else {}
            table = table[part]
        table[last] = _stated(value) if isinstance(value, BaseModel) else value
    return tables


def _stated(table: BaseModel) -> dict[str, Any]:
    """The values of a table without those derived from others, which may be given beside it."""
    fields = type(table).model_fields.items()
    worked_out = {name for name, field in fields if field.default_factory_takes_validated_data}
    return table.model_dump(exclude=worked_out - table.model_fields_set)


def _unknown_variables() -> list[str]:
    known = {variable_of(name) for name in known_fields(Settings)}
    return sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name not in known)


def _settings_path(stated: Mapping[Origin, Mapping[str, Any]]) -> Path:
    """The settings file that the arguments or else the environment choose, or that of the data folder."""
    chosen = {**stated["environment"], **stated["argument"]}
    named = chosen.get("settings_file")
    return Path(str(chosen.get("data_dir", DATA_DIR)), SETTINGS_FILE) if named is None else Path(str(named))


def _file_values(stated: Mapping[Origin, Mapping[str, Any]]) -> dict[str, Any]:
    path = _settings_path(stated)
    named = any("settings_file" in values for values in stated.values())
    if not named and not path.exists():
        return {}
    values = _read_toml(path)
    if "settings_file" in values:
        raise ConfigurationError(f"{path}: settings_file cannot be set in a settings file; remove it")
    if isinstance(values.get("vault"), dict) and "key" in values["vault"]:
        raise ConfigurationError(
            f"{path}: vault.key cannot be set in a settings file, where others find it; set "
            f"{variable_of('vault.key')}, or vault.key_file to a file outside the data folder"
        )
    if not named and "data_dir" in values:
        raise ConfigurationError(
            f"{path}: data_dir cannot be set in the data folder itself; set {variable_of('data_dir')}"
        )
    return values


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        reason = "there is no such file; check the path"
    except OSError as error:
        reason = f"could not be read ({type(error).__name__}); check that it is a file you may read"
    except UnicodeDecodeError:
        reason = "is not UTF-8; save it as UTF-8"
    except tomllib.TOMLDecodeError as error:
        # only the place: the rest of the message may quote the file
        place = re.search(r"line \d+, column \d+", str(error))
        reason = f"is not TOML at {place[0] if place else 'its end'}; correct it there"
    raise ConfigurationError(f"{path}: {reason}")


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is wrong with a field; ``shape`` if the type is wrong, not the value."""

    name: str
    wrong: str
    shape: bool


def _problems(error: ValidationError, table: type[BaseModel]) -> Iterator[_Problem]:
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(str(part) for part in detail["loc"])
        kind, words = detail["type"], detail["msg"]
        if kind == "default_factory_not_called":
            continue  # only because of another problem, which is reported
        if kind == "extra_forbidden":
            words = f"no such setting, the nearest is {nearest(name, table)}"
        words = SHAPES.get(kind, words.removeprefix("Input ").removeprefix("Value error, "))
        yield _Problem(name, words, kind in SHAPES)
