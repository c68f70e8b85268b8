"""Annotated texts, and edits that keep mentions aligned with their words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

SYNTHETIC, NEEDS = "synthetic", "needs"
"""The corpus names of synthetic training texts, and of passages in which readers marked what has to go."""


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A half-open span, in code points, and its label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True, order=True)
class Need:
    """What tells of a protected person: a half-open span, its kind and class, and whether it has to go.

    Kinds and classes are those of ``models.reader.network``. ``must`` is 2 for what has to be masked, 1 for
    what should be generalized, 0 for what may stay.
    """

    start: int
    end: int
    kind: str
    identifier: str
    must: int


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its mentions; private.

    ``asked`` are the completely annotated labels: unannotated text contains none of them. Other labels may
    occur unannotated, so their absence is no training signal. ``group`` is the unit that a split must keep
    together: a document, a person, a template. ``needs`` is None where nobody marked what has to go.
    """

    id: str
    corpus: str
    group: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    asked: tuple[str, ...]
    needs: tuple[Need, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: str = field(repr=False)


T = TypeVar("T", Mention, Need)


def edited(text: str, mentions: Iterable[T], edits: Sequence[Edit]) -> tuple[str, tuple[T, ...]]:
    """The text and its mentions after the edits, which are ordered and cross no mention boundary."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.new]
        at = edit.end

    def moved(place: int) -> int:
        return place + sum(len(e.new) - (e.end - e.start) for e in edits if e.end <= place)

    changed = tuple(replace(m, start=moved(m.start), end=moved(m.end)) for m in mentions)
    return "".join([*pieces, text[at:]]), changed
