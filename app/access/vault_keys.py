"""The keys of the vault, from the settings. None of them may lie in the data folder, beside what it opens."""

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path

from app.settings.load import Settings
from ingest.keys import secret_in
from models.errors import ConfigurationError

_BYTES = 32


def vault_keys(settings: Settings) -> tuple[bytes, Sequence[bytes]] | None:
    """The key that seals, and those before it; None where the settings name none and leave the vault off.

    Raises:
        ConfigurationError: The vault is on without a key, or a key is none or lies in the data folder.
    """
    chosen = settings.vault
    if chosen.key is not None and chosen.key_file is not None:
        raise ConfigurationError("vault.key and vault.key_file both name a key: leave one of them out.")
    if chosen.key is not None:
        key = _key_in(chosen.key.get_secret_value(), "vault.key")
    elif chosen.key_file is not None:
        key = _key_at(chosen.key_file, "vault.key_file", settings.data_dir)
    elif chosen.enabled:
        raise ConfigurationError(
            "vault.enabled keeps originals, and there is no key to seal them. Make one outside the data "
            f"folder, `openssl rand -base64 {_BYTES} > FILE`, and set vault.key_file or LETHE_VAULT__KEY."
        )
    else:
        return None
    return key, [_key_at(path, "vault.old_key_files", settings.data_dir) for path in chosen.old_key_files]


def _key_at(path: Path, name: str, data_dir: Path) -> bytes:
    if path.resolve().is_relative_to(data_dir.resolve()):
        raise ConfigurationError(
            f"{name}: the key lies in the data folder, beside what it opens. Move it to another place."
        )
    try:
        text = secret_in(path).decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigurationError(f"{name}: the key cannot be read ({reason}). Check the path.") from None
    return _key_in(text, name)


def _key_in(text: str, name: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _BYTES:
        raise ConfigurationError(
            f"{name} should be {_BYTES} random bytes in base64: `openssl rand -base64 {_BYTES}`."
        )
    return key
