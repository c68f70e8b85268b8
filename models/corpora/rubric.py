"""Snippets with entities scored under TRIP-RAG's rubric: training data of the privacy-risk model.

A line of a file is ``{"id": ..., "marked": "Mrs. [[Keller|person full name]] was seen", "scores": [0.7]}``,
with one score in [0, 1] per mark, in order. The scores of the two passes over the shipped held-out snippets
are in separate files. For third-party texts only a record's id and offsets are stored. Files called ``more``
were scored once and are for training only. Those called ``fresh`` are for measuring only: other readers chose
and scored the mentions, and knew no other snippet.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from models.errors import ConfigurationError

FOLDER = Path(__file__).parents[1] / "training" / "data" / "rubric"
DOMAINS = ("clinical", "email", "legal", "social")
PASSES = ("pass1", "pass2")
BLOCK = 5

_MARK = re.compile(r"\[\[([^\[\]|]+)\|([^\[\]|]+)\]\]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text, the spans and labels of its mentions, and each mention's score in each pass. Private."""

    id: str
    domain: str
    text: str = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    passes: tuple[tuple[float, ...], ...] = field(repr=False)
    record: str = field(default="", repr=False)
    """The corpus and record that it is from, as ``spia/TAB-...``; empty if synthetic."""

    @property
    def scores(self) -> tuple[float, ...]:
        """The mean over the passes, for each mention."""
        return tuple(sum(of_mention) / len(of_mention) for of_mention in zip(*self.passes, strict=True))


def read_snippets(path: Path) -> list[Snippet]:
    """A user's own snippets; raises ConfigurationError with file and line of an invalid one."""
    return [_own(path, number, row) for number, row in rows_of(path)]


def held_out(snippets: Sequence[Snippet]) -> tuple[list[Snippet], list[Snippet]]:
    """The training snippets, and the held-out ones: a quarter of those scored twice, and all fresh ones.

    Of the former every fourth block of five of each file is held out, since neighbors were written as
    contrasting pairs. The number in a snippet's id determines its part, even if some corpora are missing.
    Passages of a held-out record are excluded from training.
    """
    measured, others = list[Snippet](), list[Snippet]()
    for each in snippets:
        apart = is_fresh(each.id) or _in_held_out_block(each.id)
        (measured if apart and len(each.passes) == len(PASSES) else others).append(each)
    records = records_of(measured)
    return [each for each in others if each.record not in records], measured


def records_of(snippets: Sequence[Snippet]) -> frozenset[str]:
    """The records that the snippets are passages of."""
    return frozenset(snippet.record for snippet in snippets if snippet.record)


def is_fresh(snippet_id: str) -> bool:
    """Whether readers scored it who knew no other snippet."""
    return "-fresh-" in snippet_id


def _in_held_out_block(snippet_id: str) -> bool:
    return (int(snippet_id[-3:]) - 1) // BLOCK % 4 == 3


def referenced_records() -> tuple[frozenset[str], frozenset[str]]:
    """The records, as ``mts_dialog/ID``, that training snippets refer to, and those of held-out ones.

    Read from the references alone, so it needs no corpus. No record is in both. Raises ConfigurationError
    where the references are not here, since they do not ship with the server.
    """
    sides: tuple[set[str], set[str]] = (set(), set())
    for domain in DOMAINS:
        for path in _references(domain):
            for _, row in rows_of(path):
                sides[is_fresh(row["id"]) or _in_held_out_block(row["id"])].add(row["record"])
    return frozenset(sides[0] - sides[1]), frozenset(sides[1])


def shipped_snippets(data: Path | None) -> list[Snippet]:
    """The stored snippets, plus those that refer to records if the ``data`` folder is given.

    References to a corpus that is not in the folder are left out. Raises ConfigurationError where the
    snippets are not here, since they do not ship with the server.
    """
    if not FOLDER.is_dir():
        raise ConfigurationError(
            "The scored snippets are not part of the installed package: run this in a checkout of its source."
        )
    found = []
    for domain in DOMAINS:
        passes = [_scores(FOLDER / f"{domain}_{name}.jsonl") for name in PASSES]
        for number, row in rows_of(FOLDER / f"{domain}.jsonl"):
            place = f"{domain}.jsonl, line {number}"
            text, places, labels = parse_marked(row["marked"])
            scores = tuple(of_pass[row["id"]] for of_pass in passes)
            found.append(_checked(Snippet(row["id"], domain, text, places, labels, scores), place))
        if data is not None:
            found += _referenced(domain, data)
        found += [replace(each, domain=domain) for each in read_snippets(FOLDER / f"{domain}_more.jsonl")]
    return found


def parse_marked(marked: str) -> tuple[str, tuple[tuple[int, int], ...], tuple[str, ...]]:
    """The text without its marks, and the span and label of each mark."""
    pieces, places, labels, at, length = [], [], [], 0, 0
    for match in _MARK.finditer(marked):
        before, mention = marked[at : match.start()], match[1]
        start, at = length + len(before), match.end()
        length = start + len(mention)
        places.append((start, length))
        labels.append(match[2].strip())
        pieces += [before, mention]
    return "".join([*pieces, marked[at:]]), tuple(places), tuple(labels)


def _own(path: Path, number: int, row: Mapping[str, Any]) -> Snippet:
    place = f"{path.name}, line {number}"
    try:
        text, places, labels = parse_marked(row["marked"])
        scores = tuple(float(score) for score in row["scores"])
        snippet = Snippet(str(row.get("id", number)), path.stem, text, places, labels, (scores,))
        return _checked(snippet, place)
    except (KeyError, TypeError, ValueError):
        raise ConfigurationError(
            f'{place}: a snippet needs "marked", a text with [[mention|label]], and "scores", a list '
            "of numbers."
        ) from None


def _checked(snippet: Snippet, place: str) -> Snippet:
    for scores in snippet.passes:
        marks = len(snippet.places)
        if len(scores) != marks:
            raise ConfigurationError(
                f"{place}: {marks} marks and {len(scores)} scores; give one score for each mark."
            )
        if not all(0 <= score <= 1 for score in scores):
            raise ConfigurationError(f"{place}: a score lies outside of 0 to 1.")
    return snippet


def rows_of(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a file of JSON lines, with their line numbers; ConfigurationError names a broken one."""
    try:
        # Not splitlines(): a text may hold the rarer line separators as they are.
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError(f"{path} cannot be read: give a file of JSON lines in UTF-8.") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise ConfigurationError(f"{path.name}, line {number} is no JSON object: mend or remove it.")
            yield number, row


def _scores(path: Path) -> Mapping[str, tuple[float, ...]]:
    return {row["id"]: tuple(row["scores"]) for _, row in rows_of(path)}


def _references(domain: str) -> list[Path]:
    paths = [FOLDER / f"{domain}_references.jsonl", FOLDER / f"{domain}_fresh.jsonl"]
    return [path for path in paths if path.is_file()]


def _referenced(domain: str, data: Path) -> Iterator[Snippet]:
    of_passes = [_scores(FOLDER / f"{domain}_references_{name}.jsonl") for name in PASSES]
    records: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for path in _references(domain):
        for number, row in rows_of(path):
            corpus, _, record = row["record"].partition("/")
            if corpus not in records:
                records[corpus] = records_in(data / corpus)
            if record not in records[corpus]:
                continue
            text = str(records[corpus][record][row.get("field", "text")])[row["start"] : row["end"]]
            places = tuple((start - row["start"], end - row["start"]) for start, end, _ in row["mentions"])
            labels = tuple(label for _, _, label in row["mentions"])
            scores = tuple(map(tuple, row.get("passes") or [each[row["id"]] for each in of_passes]))
            snippet = Snippet(row["id"], domain, text, places, labels, scores, row["record"])
            yield _checked(snippet, f"{path.name}, line {number}")


def records_in(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """The records of a corpus by id, of all files in its folder."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for _, row in rows_of(path):
            name = row.get("id") or row.get("doc_id") or row.get("metadata", {}).get("data_id")
            if name is not None and str(name) not in found:
                found[str(name)] = row
    return found
