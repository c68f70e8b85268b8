"""The words of pages, and the figures of the paper: one data file per page."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def words(name: str) -> dict[str, Any]:
    """The content of one file."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
