"""Decode disguised text, with a mapping back to the original offsets.

Percent encoding, HTML entities, Unicode escapes and circled numbers encode other characters, and a word may
be spelled out with separators. Detectors also read the decoded view; its spans are mapped back to the text.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.documents import Span
from ingest.language.normalize import fixed_text
from ingest.spans import substitute

PASSAGE_END = "\f"
"""Marks omitted lines without disguise in a view; it never occurs in a text."""

_ESCAPE = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})++)"
    r"|&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}"
    r"|(?P<circled>[\u2469-\u2473\u247d-\u2487\u2491-\u249b\u3251-\u325f\u32b1-\u32bf])"
)
_QUERY_WORD = r"(?:[^\W\d_]|%[0-9A-Fa-f]{2}){2,60}+"
_QUERY = re.compile(rf"(?<==){_QUERY_WORD}(?:\+{_QUERY_WORD})+")
_LETTER = r"[^\W\d_]"
_SPELLED = re.compile(
    rf"(?<![^\W_])(?:{_LETTER}(?P<joint>[ ]{{1,2}}|[-‐‑–_*·•])"
    rf"(?:{_LETTER}|[@.])(?:(?P=joint)(?:{_LETTER}|[@.]))+"
    rf"|{_LETTER}(?:\.{_LETTER}){{4,}})(?![^\W_])"
)
_DISGUISE = re.compile("|".join(regex.pattern for regex in (_ESCAPE, _QUERY, _SPELLED)))

_Edit = tuple[Span, str]


class _Step:
    """Edits of a text, by where they stand in the new text and in the old one."""

    def __init__(self, edits: Sequence[_Edit]) -> None:
        self._starts: list[int] = []
        self._edits: list[tuple[int, Span]] = []
        growth = 0
        for span, words in edits:
            self._starts.append(span.start + growth)
            growth += len(words) - len(span)
            self._edits.append((span.end + growth, span))

    def range_of(self, place: int) -> tuple[int, int]:
        """The range of the old text for one character of the new one."""
        number = bisect_right(self._starts, place) - 1
        if number < 0:
            return place, place + 1
        end, old = self._edits[number]
        if place < end:
            return old.start, old.end
        return old.end + place - end, old.end + place - end + 1


@dataclass(frozen=True, slots=True)
class View:
    """The decoded lines of a text that had disguises, in order. Private.

    ``PASSAGE_END`` stands where lines were left out.
    """

    text: str = field(repr=False)
    steps: tuple[_Step, ...] = field(repr=False)

    def original(self, span: Span) -> Span:
        """The characters of the text that a span of the view stands for, with the disguise around them."""
        start, last = span.start, span.end - 1
        for step in reversed(self.steps):
            start, last = step.range_of(start)[0], step.range_of(last)[1] - 1
        return Span(start, last + 1)


def view_of(text: str) -> View | None:
    """The view of ``text``, or None where it has no disguise; takes linear time."""
    if _DISGUISE.search(text) is None:
        return None
    disguised = view = _edited(View(text, ()), _lines_left_out)
    for edits_of in _READINGS:
        view = _edited(view, edits_of)
    return None if view is disguised else view


def undisguised(said: str) -> str:
    """``said``, a few words, without its disguises."""
    view = view_of(said)
    return said if view is None else view.text


def _edited(view: View, edits_of: Callable[[str], Iterator[_Edit]]) -> View:
    edits = list(edits_of(view.text))
    return View(substitute(view.text, edits), (*view.steps, _Step(edits))) if edits else view


def _lines_left_out(text: str) -> Iterator[_Edit]:
    """A mark for each run of lines in which nothing is in disguise."""
    done = 0
    for match in _DISGUISE.finditer(text):
        if match.end() <= done:
            continue
        first = text.rfind("\n", done, match.start()) + 1 or done
        if first > done:
            yield Span(done, first), PASSAGE_END
        line_end = text.find("\n", match.end())
        done = line_end + 1 if line_end >= 0 else len(text)
    if done < len(text):
        yield Span(done, len(text)), PASSAGE_END


def _blanks_of_queries(text: str) -> Iterator[_Edit]:
    for match in _QUERY.finditer(text):
        for place in range(*match.span()):
            if text[place] == "+":
                yield Span(place, place + 1), " "


def _escapes(text: str) -> Iterator[_Edit]:
    for match in _ESCAPE.finditer(text):
        if match["circled"]:
            yield Span(*match.span()), str(int(unicodedata.numeric(match[0])))
        elif match["percent"]:
            yield from _percents(match[0], match.start())
        else:
            shown = _unescaped(match[0])
            if shown != match[0]:
                yield Span(*match.span()), fixed_text(shown)


def _percents(written: str, start: int) -> Iterator[_Edit]:
    octets = bytes.fromhex(written.replace("%", ""))
    try:
        shown, encoding = octets.decode(), "utf-8"
    except UnicodeDecodeError:
        shown, encoding = octets.decode("latin-1"), "latin-1"
    for char in shown:
        end = start + 3 * len(char.encode(encoding))
        yield Span(start, end), fixed_text(char)
        start = end


def _unescaped(escape: str) -> str:
    if escape[0] == "&":
        return html.unescape(escape)
    units = b"".join(int(unit, 16).to_bytes(2, "big") for unit in re.split(r"\\[ux]", escape)[1:])
    return units.decode("utf-16-be", "replace")


def _spelled_words(text: str) -> Iterator[_Edit]:
    """Letters joined to a word with a capital; what stood between two of these becomes one blank."""
    before = 0
    for match in _SPELLED.finditer(text):
        start, end = match.span()
        if before and 1 < start - before and not text[before:start].strip(" \t"):
            yield Span(before, start), " "
        step = 1 + len(match["joint"] or ".")
        for place in range(start, end, step):
            letter, capital = text[place], place == start or _begins_word(text, place, step)
            if letter != (cased := letter.upper() if capital else letter.lower()) and len(cased) == 1:
                yield Span(place, place + 1), cased
            if place + step < end:
                yield (
                    Span(place + 1, place + step),
                    " " if _begins_word(text, place + step, step) else "",
                )
        before = end


def _begins_word(text: str, place: int, step: int) -> bool:
    """Whether a capital behind a small letter begins another word: A n n a K e l l e r."""
    return text[place].isupper() and text[place - step].islower()


_READINGS = (_blanks_of_queries, _escapes, _escapes, _spelled_words)
"""The decoding steps, in order; %2520 and &amp;nbsp; were encoded twice."""
