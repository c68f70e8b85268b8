"""Snippets whose entities were scored under TRIP-RAG's rubric: what the privacy-risk model learns from.

A line of a file is ``{"id": ..., "marked": "Mrs. [[Keller|person full name]] was seen", "scores": [0.7]}``,
one score in [0, 1] for each mark in its order. The shipped snippets that are measured on keep the scores of
their two passes in files of their own; of texts that are not ours only the places are kept, as a record's
id and offsets. Those called ``more`` were scored once and serve training alone.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from models.errors import ConfigurationError

FOLDER = Path(__file__).with_name("rubric")
DOMAINS = ("clinical", "email", "legal", "social")
PASSES = ("pass1", "pass2")
BLOCK = 5

_MARK = re.compile(r"\[\[([^\[\]|]+)\|([^\[\]|]+)\]\]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text, the places and labels of its mentions, and each mention's score in each pass. Private."""

    id: str
    domain: str
    text: str = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    passes: tuple[tuple[float, ...], ...] = field(repr=False)
    record: str = field(default="", repr=False)
    """Of which corpus and record it is a passage, as ``spia/TAB-...``; nothing where it was invented."""

    @property
    def scores(self) -> tuple[float, ...]:
        """The mean over the passes, for each mention."""
        return tuple(sum(of_mention) / len(of_mention) for of_mention in zip(*self.passes, strict=True))


def read_snippets(path: Path) -> list[Snippet]:
    """A user's own snippets; raises ConfigurationError with file and line of what does not do."""
    return [_own(path, number, row) for number, row in _rows(path)]


def held_out(snippets: Sequence[Snippet]) -> tuple[list[Snippet], list[Snippet]]:
    """What is trained on, and the fourth of the twice scored snippets that is measured on.

    Every fourth block of five of each file goes to the second: neighbors were written as contrasting pairs.
    The number in its id places a snippet, so that it falls to the same side whatever corpora are missing. A
    passage of a record that is measured on is not trained on either.
    """
    measured = [snippet for snippet in snippets if _is_measured(snippet)]
    records = records_of(measured)
    trained_on = [s for s in snippets if not _is_measured(s) and s.record not in records]
    return trained_on, measured


def records_of(snippets: Sequence[Snippet]) -> frozenset[str]:
    """The records that the snippets are passages of."""
    return frozenset(snippet.record for snippet in snippets if snippet.record)


def _is_measured(snippet: Snippet) -> bool:
    return len(snippet.passes) == len(PASSES) and (int(snippet.id[-3:]) - 1) // BLOCK % 4 == 3


def shipped_snippets(data: Path | None) -> list[Snippet]:
    """The snippets that lie here, and those that only refer to records if their ``data`` folder is given.

    References to a corpus that is not in the folder are left out.
    """
    found = []
    for domain in DOMAINS:
        passes = [_scores(FOLDER / f"{domain}_{name}.jsonl") for name in PASSES]
        for number, row in _rows(FOLDER / f"{domain}.jsonl"):
            place = f"{domain}.jsonl, line {number}"
            text, places, labels = parse_marked(row["marked"])
            found.append(
                _checked(Snippet(row["id"], domain, text, places, labels, _of(row["id"], passes)), place)
            )
        if data is not None:
            found += _referenced(domain, data)
        found += [
            replace(snippet, domain=domain) for snippet in read_snippets(FOLDER / f"{domain}_more.jsonl")
        ]
    return found


def parse_marked(marked: str) -> tuple[str, tuple[tuple[int, int], ...], tuple[str, ...]]:
    """The text without its marks, and where each mark lies in it with its label."""
    pieces, places, labels, at, length = [], [], [], 0, 0
    for match in _MARK.finditer(marked):
        before, mention = marked[at : match.start()], match[1]
        length += len(before)
        places.append((length, length + len(mention)))
        labels.append(match[2].strip())
        length += len(mention)
        pieces += [before, mention]
        at = match.end()
    return "".join([*pieces, marked[at:]]), tuple(places), tuple(labels)


def _own(path: Path, number: int, row: Mapping[str, Any]) -> Snippet:
    place = f"{path.name}, line {number}"
    try:
        text, places, labels = parse_marked(row["marked"])
        scores = tuple(float(score) for score in row["scores"])
        return _checked(
            Snippet(str(row.get("id", number)), path.stem, text, places, labels, (scores,)), place
        )
    except (KeyError, TypeError, ValueError):
        raise ConfigurationError(
            f'{place}: a snippet needs "marked", a text with [[mention|label]], and "scores", a list '
            "of numbers."
        ) from None


def _checked(snippet: Snippet, place: str) -> Snippet:
    for scores in snippet.passes:
        if len(scores) != len(snippet.places):
            marks = len(snippet.places)
            raise ConfigurationError(
                f"{place}: {marks} marks and {len(scores)} scores; give one score for each mark."
            )
        if not all(0 <= score <= 1 for score in scores):
            raise ConfigurationError(f"{place}: a score lies outside of 0 to 1.")
    return snippet


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
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
    return {row["id"]: tuple(row["scores"]) for _, row in _rows(path)}


def _of(id_: str, passes: Sequence[Mapping[str, tuple[float, ...]]]) -> tuple[tuple[float, ...], ...]:
    return tuple(scores[id_] for scores in passes)


def _referenced(domain: str, data: Path) -> Iterator[Snippet]:
    passes = [_scores(FOLDER / f"{domain}_references_{name}.jsonl") for name in PASSES]
    records: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    for number, row in _rows(FOLDER / f"{domain}_references.jsonl"):
        corpus, _, record = row["record"].partition("/")
        if corpus not in records:
            records[corpus] = _records(data / corpus)
        if record not in records[corpus]:
            continue
        text = str(records[corpus][record][row.get("field", "text")])[row["start"] : row["end"]]
        places = tuple((start - row["start"], end - row["start"]) for start, end, _ in row["mentions"])
        labels = tuple(label for _, _, label in row["mentions"])
        snippet = Snippet(row["id"], domain, text, places, labels, _of(row["id"], passes), row["record"])
        yield _checked(snippet, f"{domain}_references.jsonl, line {number}")


def _records(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for _, row in _rows(path):
            name = row.get("id") or row.get("doc_id") or row.get("metadata", {}).get("data_id")
            if name is not None and str(name) not in found:
                found[str(name)] = row
    return found
