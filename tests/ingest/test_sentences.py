"""Sentences are cut in linear time, and as a plain and slow version cuts them. All text is invented."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.language.sentences import ABBREVIATIONS, MAX_CHARACTERS, WRAPPED_LINE, split_sentences
from tests.timing import cost

ENDING = re.compile(
    r"[.!?…]+[\"')\]”’»]*(?P<gap>\s+)(?=[\"'(\[“‘«¿¡]?[^\Wa-z_])|[。！？]+[」』”’]*(?P<none>\s*)"
)
LAST_WORD = re.compile(r"[\w.]*\w(?=\.\Z)")
NEW_LINE_ITEM = re.compile(r"\s*(?:[-*•|>]|\d+[.)]\s|[^\s:|][^:|\n]{0,30}:(?:\s|$))")
PIECES = (
    'Dr.|Dr. |e.g. |U.S. |A. |I. |1. |1.5 |x|Xy |zed |_|.|..|! |?!|…|."|.) |”| |  |\t|\n|\n\n|- |Name: |。'
    "|！ |」|é|Ö |(|“|¿|many words on one line that goes on |'|;"
).split("|") + ["|", "w" * 130]


def slow_sentences(text: str) -> list[str]:
    """What ``split_sentences`` has to answer, in the plainest words."""
    paragraphs: list[str] = []
    previous = ""
    for line in text.splitlines():
        if previous.strip() and line.strip() and continues(previous, line):
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
        previous = line
    return [piece for line in paragraphs for one in slow_split(line) for piece in slow_cut(one)]


def continues(previous: str, line: str) -> bool:
    if NEW_LINE_ITEM.match(line) or "|" in line or "\t" in line.strip():
        return False
    if previous.rstrip().endswith((".", "!", "?", ":", ";", "…", "。", "！", "？")):
        return False
    return line.lstrip()[0].islower() or len(previous.rstrip()) >= WRAPPED_LINE


def slow_split(line: str) -> Iterator[str]:
    start = 0
    for ending in ENDING.finditer(line):
        if not is_inside(line[start : ending.end()].rstrip()):
            yield " ".join(line[start : ending.end()].split())
            start = ending.end()
    if rest := line[start:].split():
        yield " ".join(rest)


def is_inside(piece: str) -> bool:
    found = LAST_WORD.search(piece)
    if not found:
        return False
    word = found[0]
    if found.start() == 0 and word.isdigit():
        return True
    initial = len(word) == 1 and word.isupper() and word != "I"
    return initial or word.casefold() in ABBREVIATIONS or re.fullmatch(r"(\w\.)+\w", word) is not None


def slow_cut(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_CHARACTERS:
        end = sentence.rfind(" ", 1, MAX_CHARACTERS + 1)
        end = end if end > 0 else MAX_CHARACTERS
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence


@settings(max_examples=600)
@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.text(max_size=60)))
def test_sentences_are_those_of_the_slow_version(text: str) -> None:
    assert split_sentences(text) == slow_sentences(text)


TROUBLESOME = ("Dr. ", "!!!", "!!! ", "e.g. ", "a.", ".", "w", "A. B ", "(.) ", "no end\n", "。")


@pytest.mark.slow
@pytest.mark.parametrize("piece", TROUBLESOME)
def test_time_grows_linearly(piece: str) -> None:
    def seconds(size: int) -> float:
        return cost(lambda: split_sentences((piece * size)[:size]))

    assert seconds(80_000) < 12 * max(seconds(20_000), 2e-3)  # four times the text; a square takes 16 times
