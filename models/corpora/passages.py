"""Invented passages of many kinds and languages, marked by reading: what the reader learns from.

``models/training/data/reader`` has the passages, a second reading of some, and a README with the guide.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from models.corpora.rubric import rows_of
from models.errors import ConfigurationError

FOLDER = Path(__file__).parents[1] / "training" / "data" / "reader"
KINDS = (
    *("PERSON", "CODE", "CONTACT", "ADDRESS", "LOC", "ORG", "DATE", "TIME", "DURATION", "AGE", "QUANTITY"),
    *("MONEY", "JOB", "FAMILY", "ORIGIN", "DEM", "CONDITION", "DRUG", "TEST", "PROCEDURE", "MISC"),
)
Part = Literal["learn", "aside"]
_MARK = re.compile(rf"\[\[([^\[\]|\n]+)\|({'|'.join(KINDS)})\|(DIRECT|QUASI|SENSITIVE)\|([012])\|(\d+)\]\]")


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """What tells of a protected person: a half-open span in code points, its kind and class.

    ``must`` is 2 for what has to be masked, 1 for what a careful redactor generalizes, 0 for what may stay.
    Marks of one ``entity`` in a passage name the same person or thing.
    """

    start: int
    end: int
    kind: str
    identifier: str
    must: int
    entity: int


@dataclass(frozen=True, slots=True)
class Passage:
    """An invented text and its marks, in order; they do not overlap and cross no line.

    ``document`` is what kind of document it is. Those of the part ``aside`` only measure: whole kinds of
    documents, and one in nine of the others, one in five of other languages than English.
    """

    name: str
    document: str
    language: str
    noise: str
    part: Part
    text: str = field(repr=False)
    marks: tuple[Mark, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as it is read, its sentences, and for a place of the passage the place in it."""

    text: str = field(repr=False)
    sentences: Sequence[tuple[int, int]] = field(repr=False)
    place_of: Callable[[tuple[int, int]], tuple[int, int]] = field(repr=False)


def passages(part: Part) -> list[Passage]:
    """The passages of a part. Raises ConfigurationError where files are missing, or a mark cannot be read."""
    return [each for each in _read() if each.part == part]


def second_reading() -> dict[str, tuple[Mark, ...]]:
    """Another reader's marks, made without these, by the names of passages; raises as ``passages``."""
    rows = rows_of(_present("second_reading.jsonl"))
    return {str(row["id"]): parsed(str(row["marked"]), str(row["id"]))[1] for _, row in rows}


def parsed(marked: str, name: str) -> tuple[str, tuple[Mark, ...]]:
    """The text without its marks, and the marks. Raises ConfigurationError for one that cannot be read."""
    pieces, marks, at, length = list[str](), list[Mark](), 0, 0
    for match in _MARK.finditer(marked):
        words, kind, identifier, must, entity = match.groups()
        pieces += [marked[at : match.start()], words]
        length += match.start() - at
        marks.append(Mark(length, length + len(words), kind, identifier, int(must), int(entity)))
        length += len(words)
        at = match.end()
    text = "".join([*pieces, marked[at:]])
    if "[[" in text or "]]" in text:
        raise ConfigurationError(f"Passage {name} has a mark that cannot be read.")
    return text, tuple(marks)


def _read() -> Iterator[Passage]:
    for _, row in rows_of(_present("passages.jsonl")):
        text, marks = parsed(str(row["marked"]), str(row["id"]))
        part: Part = "aside" if row["part"] == "aside" else "learn"
        name, document, language, noise = (str(row[each]) for each in ("id", "kind", "language", "noise"))
        yield Passage(name, document, language, noise, part, text, marks)


def _present(name: str) -> Path:
    if not FOLDER.is_dir():
        raise ConfigurationError(
            "The marked passages are not part of the installed package: run this in a checkout of its source."
        )
    return FOLDER / name
