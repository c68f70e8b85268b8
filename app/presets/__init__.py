"""Settings files that ship under a name, for ``--preset``."""

from pathlib import Path

from models.errors import ConfigurationError

_FOLDER = Path(__file__).parent


def preset_names() -> tuple[str, ...]:
    """The names that ``preset_file`` knows, in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def preset_file(name: str) -> Path:
    """The settings file of a preset.

    Raises:
        ConfigurationError: There is no preset of this name; the message lists the presets.
    """
    names = preset_names()
    if name not in names:
        raise ConfigurationError(f"There is no preset {name!r}: the names are {', '.join(names)}.")
    return _FOLDER / f"{name}.toml"
