"""Passages marked by reading: what tells of a person, of what kind and class, and whether it has to go.

``models/training/data/needs`` has the guide, invented passages with their marks, and for passages of public
corpora the marks as offsets without the text. Its README says who marked them and how well readers agreed.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from models.corpora.examples import NEEDS, Example, Mention, Need
from models.corpora.labels import Part
from models.corpora.rubric import records_in, rows_of
from models.errors import ConfigurationError

FOLDER = Path(__file__).parents[1] / "training" / "data" / "needs"
HELD_OUT_SHARE = 6
"""One in so many records is held out."""
PERSON = "person full name"

_MARK = re.compile(r"\[\[([^\[\]|]+)\|([A-Z]+)\|([A-Z]+)\|([012])\|(\d+)\]\]")


def marked_passages(data: Path | None, part: Part, leave_out: Collection[str] = ()) -> list[Example]:
    """The passages of a part; those of public corpora only where their folder is under ``data``.

    Fresh ones are in neither part. Passages from the corpora that ``leave_out`` names are left out;
    ``spia_cases`` means both parts of SPIA. Raises ConfigurationError where the files are not here, or one of
    them does not fit its corpus.
    """
    without = {name.partition("_")[0] if name.startswith("spia") else name for name in leave_out}
    of_part = (each for each in _passages(data) if is_held_out(each.group) == (part == "held_out"))
    return [each for each in of_part if each.group.partition("/")[0] not in without]


def marked_records() -> frozenset[str]:
    """The records that passages are from, as ``mts_dialog/ID``; those of held-out and fresh ones too."""
    return frozenset(str(row["record"]) for _, row in rows_of(FOLDER / "references.jsonl"))


def is_held_out(group: str) -> bool:
    """Whether a record's passages are held out. Those of SPIA are not: its own marks teach the same."""
    return not group.startswith("spia/") and hashlib.sha256(group.encode()).digest()[0] % HELD_OUT_SHARE == 0


def _passages(data: Path | None) -> Iterator[Example]:
    if not FOLDER.is_dir():
        raise ConfigurationError(
            "The marked passages are not part of the installed package: run this in a checkout of its source."
        )
    path = FOLDER / "invented.jsonl"
    for number, row in rows_of(path):
        if row.get("fresh", False):
            continue
        text, needs = _parsed(str(row["marked"]))
        if "[[" in text:
            raise ConfigurationError(f"{path.name}, line {number} has a mark that cannot be read.")
        yield _example(str(row["id"]), str(row["id"]), text, needs)
    yield from _referenced(FOLDER / "references.jsonl", data)


def _parsed(marked: str) -> tuple[str, list[Need]]:
    """The text without its marks, and the marks."""
    pieces, needs, at, length = list[str](), list[Need](), 0, 0
    for match in _MARK.finditer(marked):
        words, kind, identifier, must, _ = match.groups()
        length += match.start() - at
        needs.append(Need(length, length + len(words), kind, identifier, int(must)))
        pieces += [marked[at : match.start()], words]
        length += len(words)
        at = match.end()
    return "".join([*pieces, marked[at:]]), needs


def _referenced(path: Path, data: Path | None) -> Iterator[Example]:
    records: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for number, row in rows_of(path):
        if row.get("fresh", False):
            continue
        corpus, _, record = str(row["record"]).partition("/")
        if corpus not in records:
            records[corpus] = {} if data is None else records_in(data / corpus)
        if record not in records[corpus]:
            continue
        text: Any = records[corpus][record]
        for name in str(row["field"]).split("."):
            text = text[name]
        passage = str(text)[row["start"] : row["end"]]
        if hashlib.sha256(passage.encode()).hexdigest()[:16] != row["digest"]:
            raise ConfigurationError(
                f"{path.name}, line {number}: {corpus} has another text there; take it as it was published."
            )
        needs = [Need(*mark) for *mark, _ in row["marks"]]
        yield _example(str(row["id"]), str(row["record"]), passage, needs)


def _example(name: str, group: str, text: str, needs: Iterable[Need]) -> Example:
    needs = tuple(sorted(needs))
    # The names, so that training may put others in their place.
    people = (each for each in needs if (each.kind, each.must) == ("PERSON", 2))
    names = tuple(Mention(each.start, each.end, PERSON) for each in people)
    return Example(f"{NEEDS}:{name}", NEEDS, group, text, names, (), needs)
