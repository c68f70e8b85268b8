"""A fitted policy as a file for --policy."""

import json
from collections.abc import Mapping
from pathlib import Path

from app.settings_tables import PolicySettings
from models.errors import ConfigurationError, LetheError


def check_writable(path: Path) -> None:
    """Asked before the work, so that none is done for nothing. Leaves what is there as it is.

    Raises:
        ConfigurationError: The name does not end in .toml.
        LetheError: The file cannot be written.
    """
    if path.suffix.lower() != ".toml":
        raise ConfigurationError(
            f"{path}: a policy file ends in .toml, else --policy takes it for a policy's name. Name it so."
        )
    try:
        there = path.exists()
        path.open("a", encoding="utf-8").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise _unwritten(path, error) from None


def write_policy(path: Path, chosen: PolicySettings, fitted: Mapping[str, object], by: str) -> None:
    """Write what the settings say of a policy, with what was fitted and a first line that says how.

    Raises:
        LetheError: The file cannot be written.
    """
    keys = {**chosen.model_dump(exclude_none=True), **fitted}
    lines = [f"# fitted by {by}", *(f"{name} = {json.dumps(value)}" for name, value in keys.items())]
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise _unwritten(path, error) from None


def _unwritten(path: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{path}: the policy could not be written ({reason}). Name a file that can be.")
