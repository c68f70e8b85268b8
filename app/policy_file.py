"""A fitted policy as a file for --policy."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from app.settings.policy import PolicySettings
from ingest.private_files import write_private
from models.errors import ConfigurationError, LetheError


def check_writable(path: Path) -> None:
    """Check before long work that the file can be written; leaves an existing file as it is.

    Raises:
        ConfigurationError: The name does not end in .toml.
        LetheError: The file cannot be written.
    """
    if path.suffix.lower() != ".toml":
        raise ConfigurationError(
            f"{path}: a policy file must end in .toml, else --policy reads it as a policy's name."
        )
    try:
        there = path.exists()
        path.open("a", encoding="utf-8").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise _unwritten(path, error) from None


def write_policy(path: Path, chosen: PolicySettings, fitted: Mapping[str, object], by: str) -> None:
    """Write the policy of the settings with fitted values; a first line says how they were fitted.

    It holds the user's own lists, so only its owner may read it.

    Raises:
        LetheError: The file cannot be written.
    """
    text = policy_text({**chosen.model_dump(exclude_none=True), **fitted})
    try:
        write_private(path, f"# fitted by {by}\n{text}")
    except OSError as error:
        raise _unwritten(path, error) from None


def policy_text(values: Mapping[str, object]) -> str:
    """Settings of a policy as the file has them, a line each; empty lists and tables are left out."""
    return "".join(f"{name} = {_toml(value)}\n" for name, value in values.items() if value not in ((), {}))


def _toml(value: object) -> str:
    match value:
        case SecretStr():
            return _toml(value.get_secret_value())
        case Path():
            return _toml(str(value.absolute()))
        case Mapping():
            return f"{{{', '.join(f'{_toml(name)} = {_toml(each)}' for name, each in value.items())}}}"
        case tuple() | list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _unwritten(path: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{path}: the policy could not be written ({reason}). Name another file.")
