"""The labels of the synthetic texts, and their alternative names: ``data/labels.toml``."""

import tomllib
from collections.abc import Collection
from pathlib import Path

DATA = Path(__file__).with_name("data")
_TABLE = tomllib.loads((DATA / "labels.toml").read_text(encoding="utf-8"))

PERSON = "person full name"
LABELS: tuple[str, ...] = tuple(_TABLE["labels"]["all"])


def names_of(label: str) -> tuple[str, ...]:
    """The label and its alternative names."""
    return (label, *_TABLE["names"].get(label, ()))


def marked_as(label: str) -> tuple[str, ...]:
    """The label, and the further labels of its mentions."""
    return (label, *_TABLE["also"].get(label, ()))


def asked_for(found: Collection[str], unvouched: Collection[str]) -> tuple[str, ...]:
    """The completely annotated labels of a text with ``found``; a frame may hold ``unvouched`` unmarked."""
    blurred = {label for label, others in _TABLE["blurred"].items() if not set(others).isdisjoint(found)}
    asked = {*found, *_TABLE["labels"]["technical"], *_TABLE["labels"]["always_marked"]}
    return tuple(label for label in LABELS if label in asked - blurred - set(unvouched))
