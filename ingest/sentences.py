"""Sentences of a text, by rules."""

import re
from collections.abc import Iterator

MAX_CHARACTERS = 400
"""Longer sentences are cut in pieces, at white space where there is some."""
ABBREVIATIONS = frozenset(
    "apr approx aug ave capt cf co corp dec dept dr drs ed eds eq esq ext feb fig figs gen gov hon inc "
    "jan jr jul jun lt ltd m.d mar messrs mr mrs ms mt nos nov nr oct op p ph.d pl pp prof rep rev sen "
    "sep sept sgt sr st tel viz vol vs".split()
)

_ENDING = re.compile(
    r"[.!?…]+[\"')\]”’»]*(?P<gap>\s+)(?=[\"'(\[“‘«¿¡]?[^\Wa-z_])|[。！？]+[」』”’]*(?P<none>\s*)"
)
_LAST_WORD = re.compile(r"[\w.]*\w(?=\.\Z)")
_NEW_LINE_ITEM = re.compile(r"\s*(?:[-*•|>]|\d+[.)]\s|[^\s:|][^:|\n]{0,30}:(?:\s|$))")
WRAPPED_LINE = 60
"""A line this long that ends in the middle of a sentence was wrapped, not ended, by its writer."""


def split_sentences(text: str) -> list[str]:
    """The sentences of ``text`` in order, white space collapsed; nothing else is lost or added.

    Lines of dialogue, lists and tables are sentences of their own; wrapped lines are joined. A
    period after an abbreviation, an initial or the number of a list item ends no sentence.
    """
    return [piece for line in _unwrapped(text) for one in _split(line) for piece in _cut(one)]


def _unwrapped(text: str) -> list[str]:
    paragraphs: list[str] = []
    previous = ""
    for line in text.splitlines():
        if previous.strip() and line.strip() and _continues(previous, line):
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
        previous = line
    return paragraphs


def _continues(previous: str, line: str) -> bool:
    if _NEW_LINE_ITEM.match(line) or "|" in line or "\t" in line.strip():
        return False
    if previous.rstrip().endswith((".", "!", "?", ":", ";", "…", "。", "！", "？")):
        return False
    return line.lstrip()[0].islower() or len(previous.rstrip()) >= WRAPPED_LINE


def _split(line: str) -> Iterator[str]:
    start = 0
    for ending in _ENDING.finditer(line):
        if not _is_inside(line[start : ending.end()].rstrip()):
            yield " ".join(line[start : ending.end()].split())
            start = ending.end()
    if rest := line[start:].split():
        yield " ".join(rest)


def _is_inside(piece: str) -> bool:
    """Whether the period at the end of ``piece`` belongs to its last word."""
    found = _LAST_WORD.search(piece)
    if not found:
        return False
    word = found[0]
    if found.start() == 0 and word.isdigit():
        return True
    initial = len(word) == 1 and word.isupper() and word != "I"
    return initial or word.casefold() in ABBREVIATIONS or re.fullmatch(r"(\w\.)+\w", word) is not None


def _cut(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_CHARACTERS:
        end = sentence.rfind(" ", 1, MAX_CHARACTERS + 1)
        end = end if end > 0 else MAX_CHARACTERS
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence
