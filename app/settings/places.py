"""The paths that settings name, for who must not be told them."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from app.settings.load import Settings
from models.catalog import ModelRef


def places_of(settings: Settings) -> list[str]:
    """Every path of the settings as messages may spell it, and where it leads; the longest first."""
    # Of a data folder that is the working folder, messages name only what lies in it.
    paths = [settings.data_dir / "collections", *_paths(settings)]
    spelled = {str(each) for path in paths for each in (path, path.absolute(), path.resolve())}
    return sorted(spelled - {".", "/"}, key=lambda each: (-len(each), each))


def _paths(value: object) -> Iterator[Path]:
    match value:
        case Path():
            yield value
        case ModelRef(source="path"):
            yield Path(value.name)
        case BaseModel():
            for _, each in value:
                yield from _paths(each)
        case tuple() | list():
            for each in value:
                yield from _paths(each)
