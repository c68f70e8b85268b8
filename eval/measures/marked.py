"""What a system did to what annotators marked: two views, as counts of one document.

The first view is by place. A mark is touched if one of its letters or digits lies in a replaced span, and
covered if all do; blanks and punctuation do not count, unless a mark has nothing else. An entity is left if
one of its marks is not covered: one is enough to read it. The second view is that of an index reader, who
sees the sanitized text only: a mark stands if its words are there, as whole words, wherever they come from.
It counts short marks too, and a word of a name. What a system puts in, or what stands elsewhere unmarked, can
make a mark stand by chance: the oracle, which replaces exactly the marks, shows how often.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from eval.documents import Mark, MarkedDocument
from eval.measures.leakage import STOP_WORDS, normalized, stands_in
from ingest.documents import Action, SanitizedDocument, Span

MARKS, TOUCHED, COVERED = "marks", "touched", "covered"
ENTITIES, LEFT = "entities", "entities left"
STANDING, ENTITIES_STANDING, WORDS_STANDING = "standing", "entities standing", "a word standing"
UNMARKED, CHANGED = "unmarked characters", "unmarked characters changed"
ANY = "ANY"
"""The group of all classes of one must."""

_WORD = re.compile(r"\w+")
_TITLES = frozenset("mr mrs ms miss dr prof sir".split())


def figure(group: tuple[str, int], count: str) -> str:
    """The name of a count of a class and must, as ``DIRECT 2: covered``."""
    return f"{group[0]} {group[1]}: {count}"


def mark_counts(marked: MarkedDocument, sanitized: SanitizedDocument) -> dict[str, float]:
    """The counts of each class and must of a document, by ``figure``, and those of its unmarked text.

    Counts by place are missing where a system rewrites texts without saying what it replaced.
    """
    text = marked.document.text
    spans = replaced_spans(text, sanitized)
    replaced = None if spans is None else _characters(len(text), spans)
    said = normalized(sanitized.text)
    found: dict[str, float] = {}
    for group, marks in _groups(marked.marks).items():
        counts = {
            **_standing(text, said, marks),
            **({} if replaced is None else _places(text, replaced, marks)),
        }
        counts |= {MARKS: len(marks), ENTITIES: len({mark.entity for mark in marks})}
        found |= {figure(group, name): float(count) for name, count in counts.items()}
    if replaced is not None:
        in_marks = _characters(len(text), (Span(mark.start, mark.end) for mark in marked.marks))
        outside = [n for n, each in enumerate(text) if each.isalnum() and not in_marks[n]]
        found |= {UNMARKED: float(len(outside)), CHANGED: float(sum(replaced[n] for n in outside))}
    return found


def replaced_spans(text: str, sanitized: SanitizedDocument) -> list[Span] | None:
    """What was replaced, in offsets of the original; None if the text changed without a decision."""
    spans = [each.entity.span for each in sanitized.decisions if each.action is not Action.KEEP]
    return None if not spans and sanitized.text != text else spans


def _groups(marks: Iterable[Mark]) -> Mapping[tuple[str, int], list[Mark]]:
    found: dict[tuple[str, int], list[Mark]] = defaultdict(list)
    for mark in marks:
        found[mark.kind, mark.must].append(mark)
        found[ANY, mark.must].append(mark)
    return found


def _characters(length: int, spans: Iterable[Span]) -> bytearray:
    """1 for each character of a text that lies in a span."""
    found = bytearray(length)
    for span in spans:
        found[span.start : span.end] = b"\x01" * (min(span.end, length) - span.start)
    return found


def _places(text: str, replaced: Sequence[int], marks: Sequence[Mark]) -> dict[str, int]:
    counts = {TOUCHED: 0, COVERED: 0}
    left = set()
    for mark in marks:
        places = range(mark.start, mark.end)
        telling = [place for place in places if text[place].isalnum()] or list(places)
        gone = sum(replaced[place] for place in telling)
        counts[TOUCHED] += gone > 0
        counts[COVERED] += gone == len(telling)
        if gone < len(telling):
            left.add(mark.entity)
    return {**counts, LEFT: len(left)}


def _standing(text: str, said: str, marks: Sequence[Mark]) -> dict[str, int]:
    counts = {STANDING: 0, WORDS_STANDING: 0}
    standing = set()
    for mark in marks:
        words = normalized(text[mark.start : mark.end])
        if words and stands_in(words, said):
            counts[STANDING] += 1
            standing.add(mark.entity)
        counts[WORDS_STANDING] += any(stands_in(word, said) for word in _telling(words))
    return {**counts, ENTITIES_STANDING: len(standing)}


def _telling(words: str) -> list[str]:
    """The words of a mark but initials, titles and stop words; all if there are no others."""
    found = _WORD.findall(words)
    return [
        word for word in found if len(word) > 1 and word not in STOP_WORDS and word not in _TITLES
    ] or found
