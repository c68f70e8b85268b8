"""Sentences of a text, by rules."""

import re
from collections.abc import Callable, Iterator

MAX_CHARACTERS = 400
"""Longer sentences are cut in pieces, at white space where there is some."""
ABBREVIATIONS = frozenset(
    "apr approx aug ave capt cf co corp dec dept dr drs ed eds eq esq ext feb fig figs gen gov hon inc "
    "jan jr jul jun lt ltd m.d mar messrs mr mrs ms mt nos nov nr oct op p ph.d pl pp prof rep rev sen "
    "sep sept sgt sr st tel viz vol vs".split()
)

_ENDING = re.compile(
    r"(?<![.!?…])[.!?…]++[\"')\]”’»]*+(?P<gap>\s++)(?=[\"'(\[“‘«¿¡]?[^\Wa-z_])|[。！？]++[」』”’]*+(?P<none>\s*+)"
)
_LETTERS = re.compile(r"(?:\w\.)++\w")
"""U.S.A and the like."""
_SMALL = re.compile(r"(?<=[a-z][a-z][.?!])\s+(?=[a-z])")
_NEW_LINE_ITEM = re.compile(r"\s*(?:[-*•|>]|\d+[.)]\s|[^\s:|][^:|\n]{0,30}:(?:\s|$))")
_GOES_ON = re.compile(r"[^\W\d_]|[0-9]+(?:[.,][0-9]+)*\s?[a-z%]")
"""How a line begins that goes on with a sentence: with a letter, or with a number of something."""
WRAPPED_LINE = 60
"""A line this long that ends in the middle of a sentence was wrapped, not ended, by its writer."""


def split_sentences(text: str) -> list[str]:
    """The sentences of ``text`` in order, white space collapsed; nothing else is lost or added.

    Lines of dialogue, lists and tables are sentences of their own; wrapped lines are joined. A
    period after an abbreviation, an initial or the number of a list item ends no sentence.
    """
    return [piece for line in _unwrapped(text, _continues) for one in _split(line) for piece in _cut(one)]


def _unwrapped(text: str, goes_on: Callable[[str, str], bool]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in text.splitlines():
        if paragraph and not (line.strip() and paragraph[-1].strip() and goes_on(paragraph[-1], line)):
            yield " ".join(paragraph)
            paragraph = []
        paragraph.append(line)
    yield " ".join(paragraph)


def _continues(previous: str, line: str) -> bool:
    if _NEW_LINE_ITEM.match(line) or "|" in line or "\t" in line.strip():
        return False
    if previous.rstrip().endswith((".", "!", "?", ":", ";", "…", "。", "！", "？")):
        return False
    return line.lstrip()[0].islower() or len(previous.rstrip()) >= WRAPPED_LINE


def _was_wrapped(previous: str, line: str) -> bool:
    long = len(previous.rstrip()) >= WRAPPED_LINE
    return long and _GOES_ON.match(line.lstrip()) is not None and _continues(previous, line)


def _split(line: str) -> Iterator[str]:
    start = 0
    for ending in _ENDING.finditer(line):
        stop = ending.end() if ending["gap"] is None else ending.start("gap")
        if not _is_inside(line, start, stop):
            yield " ".join(line[start : ending.end()].split())
            start = ending.end()
    if rest := line[start:].split():
        yield " ".join(rest)


def _is_inside(line: str, start: int, stop: int) -> bool:
    """Whether the period that may stand before ``stop`` belongs to the word before it."""
    end = stop - 1
    if line[end] != "." or end == start or not _in_word(line[end - 1]):
        return False
    first = end - 1
    while first > start and (line[first - 1] == "." or _in_word(line[first - 1])):
        first -= 1
    word = line[first:end]
    if first == start and word.isdigit():
        return True
    initial = len(word) == 1 and word.isupper() and word != "I"
    return initial or word.casefold() in ABBREVIATIONS or _LETTERS.fullmatch(word) is not None


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _cut(sentence: str) -> Iterator[str]:
    start = 0
    while len(sentence) - start > MAX_CHARACTERS:
        blank = sentence.rfind(" ", start + 1, start + MAX_CHARACTERS + 1)
        end = blank if blank > 0 else start + MAX_CHARACTERS
        yield sentence[start:end]
        start = end + (blank > 0)
    if start < len(sentence):
        yield sentence[start:]


def quotable_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of the parts of ``text`` that are quoted by themselves: its sentences and its lines.

    Lines are joined only where one was wrapped, and sentences end before small letters too, as in chats.
    """
    found, at = list[tuple[int, int]](), 0
    for line in _unwrapped(text, _was_wrapped):
        for sentence in _split(line):
            for piece in (part for said in _SMALL.split(sentence) for part in _cut(said)):
                start = None
                for char in piece:
                    if not char.isspace():
                        at = text.index(char, at) + 1
                        start = at - 1 if start is None else start
                if start is not None:
                    found.append((start, at))
    return found
