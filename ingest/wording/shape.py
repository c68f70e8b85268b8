"""The shape of files in texts: what was valid JSON, CSV, XML, a mail header or a table row stays so."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ingest.documents import Action, Decision, Span
from ingest.language.json_text import json_values

_ATOM = re.compile(
    r"\\u[0-9a-fA-F]{4}|\\[nrtbf\\/|]|&(?:#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,7});"
    r"|=\?[\w-]{1,40}\?[QqBb]\?[^?\s]{0,200}\?="
)
"""Escapes, entities and encoded words, of which no part can be replaced by itself."""
_TAG = re.compile(r"<!\[CDATA\[|\]\]>|<(?P<name>[/!?]?[A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,2000})?(?P<end>/?)>")
_MARKUP = re.compile(r"</[A-Za-z][\w:.-]*\s*>|/>")
_ADDRESSES = re.compile(
    r"(?im)^(?:resent-)?(?:from|to|cc|bcc|sender|reply-to|return-path|delivered-to|errors-to|x-original-to"
    r"|envelope-to|disposition-notification-to):[^\n]*(?:\n[ \t][^\n]*)*"
)
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,40}:")
_BARE_IN_STRING = re.compile(r"\\\":\s?$")
_KEY = re.compile(r"(?:to|from|cc|bcc|e?mail|user|sender|recipient|rcpt|addr|address|contact|reply_to)=(?=.)")
_KEYS = re.compile(r"(?<!\S)[A-Za-z_][\w.-]*=")
NEAR = 300
"""Characters on each side of a span that are looked through for pairs."""
_ENDS_STRING = re.compile(r"(?=[\":,])\"?\s?[:,]?\s?")
_ESCAPED_BEFORE = re.compile(r"\\\"?\Z")
_ENDS_BARE = re.compile(r"\s?[,}\]]")
_SEPARATORS = {"\t": 2, "|": 3, ";": 3, ",": 3}
"""What parts the cells of a row, and from how many cells on."""
_LONGEST_ROW = 2_000


def unsplit(text: str, decisions: Sequence[Decision]) -> list[Decision]:
    """Decisions that split no escape, entity, encoded word or tag, and take a number of JSON as a whole.

    One about the name of an element is about all tags of that name.
    """
    atoms = [Span(*match.span()) for match in _ATOM.finditer(text)] if re.search(r"[\\&]|=\?", text) else []
    atoms = sorted([*atoms, *bare_values(text)])
    tags = _tags(text)
    if not atoms and not tags and "\\" not in text:
        return list(decisions)
    parts = (atoms, [Span(*tag.span()) for tag in tags])
    starts = [[span.start for span in spans] for spans in parts]
    named = defaultdict[str, list[Span]](list)
    for tag in tags:
        if tag["name"]:
            named[tag["name"].lstrip("/!?")].append(Span(tag.start("name"), tag.end("name")))

    def whole(decision: Decision) -> list[Decision]:
        if decision.action is Action.KEEP:
            return [decision]
        span = decision.entity.span
        ends = _ENDS_STRING.match(text, span.start, span.end)
        escaped = _ESCAPED_BEFORE.search(text, max(0, span.start - 2), span.start)
        if ends and escaped and ends.end() < span.end:
            span = Span(ends.end(), span.end)
        met = list(_met(parts[0], starts[0], span))
        met += [
            each
            for each in _met(parts[1], starts[1], span)
            if not each.start <= span.start <= span.end <= each.end
        ]
        if met:
            span = Span(
                min(span.start, met[0].start, met[-1].start), max(span.end, *(each.end for each in met))
            )
        around = (
            tags[bisect_right(starts[1], span.start) - 1] if tags and span.start >= starts[1][0] else None
        )
        if around and around["name"] and around.start() < span.start and span.end <= around.end("name"):
            name = around["name"].lstrip("/!?")
            return [
                replace(decision, entity=decision.entity.at(Span(each.end - len(name), each.end)))
                for each in named[name]
            ]
        return [
            decision if span == decision.entity.span else replace(decision, entity=decision.entity.at(span))
        ]

    return [each for decision in decisions for each in whole(decision)]


def _met(spans: Sequence[Span], starts: Sequence[int], span: Span) -> Sequence[Span]:
    """The spans, in order and disjoint, that overlap one."""
    first = max(0, bisect_right(starts, span.start) - 1)
    return [each for each in spans[first : bisect_left(starts, span.end)] if span.overlaps(each)]


def bare_values(text: str) -> list[Span]:
    """The numbers of JSON in a text."""
    return [value.span for value in json_values(text) if value.span and value.bare]


class Shape:
    """What the words in a text's places have to respect."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._bare = frozenset(bare_values(text))
        self._tags = _tags(text)
        self._starts = [tag.start() for tag in self._tags]
        self._names = Counter(tag["name"].lstrip("/") for tag in self._tags if tag["name"])
        self._headers_end = _headers_end(text)
        self._fields = [field.span() for field in _ADDRESSES.finditer(text, 0, self._headers_end)]
        self._escaped = '\\"' in text
        self._rows: dict[int, tuple[str, list[int]]] = {}

    def takes(self, span: Span, words: str) -> str:
        """The words as they may stand at a span: quoted, or with the tags and separators that it crossed."""
        if span in self._bare:
            return f'"{words}"'
        if tag := self._tag_around(span):
            inside = self._text[tag.start() : span.start].count('"') % 2
            return words if inside else re.sub(r"\W+", "_", words).strip("_")
        before, after = self._text[max(0, span.start - 12) : span.start], self._text[span.end : span.end + 3]
        if self._escaped and _BARE_IN_STRING.search(before) and _ENDS_BARE.match(after):
            return f'\\"{words}\\"'
        if span.start < self._headers_end and "[" in words and self._is_address(span):
            return f'"{words}"'
        key = _KEY.match(self._text, span.start, span.end)
        if key and len(_KEYS.findall(self._near(span))) > 1:
            return key[0] + words
        return self._crossed(span, words)

    def _tag_around(self, span: Span) -> re.Match[str] | None:
        number = bisect_right(self._starts, span.start) - 1
        tag = self._tags[number] if number >= 0 else None
        return tag if tag and tag.start() < span.start and span.end < tag.end() else None

    def _crossed(self, span: Span, words: str) -> str:
        """The words, with the tags, without what they say, or the separators that a span reaches over."""
        first = max(0, bisect_right(self._starts, span.start) - 1)
        met = self._tags[first : bisect_right(self._starts, span.end - 1)]
        tags = [each for each in met if each.end() > span.start]
        if not tags:
            return words + self._separators(span)
        said = _TAG.sub("", self._text[span.start : span.end])
        if not any(map(str.isalnum, said)):
            # nothing but a name in angle brackets
            return words
        pairs = (
            each
            for each in tags
            if not each["name"] or self._names[each["name"].lstrip("/")] > 1 or each["end"]
        )
        tags = list(pairs)
        bare = [f"<{tag['name']}{tag['end']}>" if tag["name"] else tag[0] for tag in tags]
        at, ahead = span.start, 0
        while ahead < len(tags) and not self._text[at : tags[ahead].start()].strip():
            at, ahead = tags[ahead].end(), ahead + 1
        return "".join([*bare[:ahead], words, *bare[ahead:]])

    def _separators(self, span: Span) -> str:
        said = self._text[span.start : span.end]
        if not any(sign in said for sign in _SEPARATORS) or "\n" in said:
            return ""
        start = self._text.rfind("\n", max(0, span.start - _LONGEST_ROW), span.start) + 1
        end = self._text.find("\n", span.end, span.end + _LONGEST_ROW)
        end = len(self._text) if end < 0 else end
        if end - start > _LONGEST_ROW or (start == 0 and span.start > _LONGEST_ROW):
            return ""
        if start not in self._rows:
            line = self._text[start:end]
            sign = next((each for each in _SEPARATORS if self._is_row(line, each, start, end)), "")
            self._rows[start] = line, _marks(line, sign) if sign else []
        line, marks = self._rows[start]
        first, last = bisect_left(marks, span.start - start), bisect_left(marks, span.end - start)
        return "".join(line[place] for place in marks[first:last])

    def _is_row(self, line: str, sign: str, start: int, end: int) -> bool:
        cells = _cells(line, sign)
        prose = sign in ",;" and 2 * line.count(f"{sign} ") > line.count(sign)
        if cells < _SEPARATORS[sign] or prose:
            return False
        above = self._text[max(0, start - _LONGEST_ROW) : start].splitlines()[-2:]
        below = self._text[end : end + _LONGEST_ROW].lstrip("\r\n").splitlines()[:2]
        alike = sum(_cells(line, sign) == cells for line in (*above, *below))
        return sign == "\t" or alike >= (1 if sign == "|" else 2)

    def _near(self, span: Span) -> str:
        """The span's line, or as much of it as is near."""
        before = self._text[max(0, span.start - NEAR) : span.start].rpartition("\n")[2]
        return before + self._text[span.start : span.end + NEAR].partition("\n")[0]

    def _is_address(self, span: Span) -> bool:
        number = bisect_right(self._fields, (span.start, len(self._text))) - 1
        start, end = self._fields[number] if number >= 0 else (0, 0)
        return span.start < end and self._text[max(start, span.start - NEAR) : span.start].count('"') % 2 == 0


def _tags(text: str) -> list[re.Match[str]]:
    return list(_TAG.finditer(text)) if _MARKUP.search(text) else []


def _headers_end(text: str) -> int:
    """Where the header of a mail at the start of a text ends; 0 if there is none."""
    head = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
    lines = [line for line in head.splitlines() if line[:1] not in (" ", "\t") and line[:5] != "From "]
    return len(head) if len(lines) > 2 and all(map(_HEADER.match, lines)) else 0


def _cells(line: str, sign: str) -> int:
    return len([place for place in _marks(line, sign) if line[place] == sign]) + 1 if line else 0


def _marks(line: str, sign: str) -> list[int]:
    """The places of the separators of a row, and of the quotation marks that open and close its cells."""
    found, quoted = [], False
    for place, char in enumerate(line):
        if char == '"':
            edge = (
                line[place - 1 : place] in (sign, "")
                if not quoted
                else line[place + 1 : place + 2] in (sign, "", "\r")
            )
            if edge:
                found.append(place)
            quoted = not quoted
        elif char == sign and not quoted and line[place - 1 : place] != "\\":
            found.append(place)
    return found
