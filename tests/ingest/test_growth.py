"""Nothing that reads a text takes more than linear time, whatever it is made of. All text is invented."""

import gc
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from ingest.deciding.policy import Policy
from ingest.detection.hybrid import HybridDetector
from ingest.detection.patterns.find import PATTERNS, find_patterns, word_finder
from ingest.detection.patterns.page import page_of
from ingest.detection.patterns.pattern import Pattern, hits
from ingest.detection.repeats import repeats
from ingest.documents import Action, Decision, Document, Entity
from ingest.language.disguises import view_of
from ingest.language.normalize import fixed_text
from ingest.language.plain_letters import plain
from ingest.language.sentences import split_sentences
from ingest.language.units import retrieval_units
from ingest.linking.accounts import link_accounts
from ingest.linking.link import link
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE
from ingest.spans import resolve
from ingest.wording.replace import render
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.store.database import CutDocument
from retrieval.system import System
from tests.doubles import WordEncoder, entity
from tests.word_reader import word_reader

SMALL = 5_000
TIMES = 4
RATIO = 9
"""A square takes 16 times as long for four times the text."""
FLOOR = 0.03
"""Seconds; less is noise."""

TOKENS = (
    *"1 12 0 2024 . , : ; - -- / \\ ( ) [ ] { } < > ' \" ’ “ @ # $ € % & * + = _ ^ | ~ a A Aa aa".split(),
    "é", "中", "!", "?", " ", "  ", "\n", "\n\n", "\t", "Dr. ", "Mr ", "no. ", " dot a", " at ", "born ",
    "aged 4 ", "from ",
    "account ", "card ", "pin ", "password for ", "pw ", "is ", "number ", "12 May ", "http://", "www.",
    "/home/", "one ", "double ", "zero, ", "lat ", "No. 1/2, ", "Street", "Anna ", "Keller", "Keller, ",
    "Anna^Keller", "my wife ", "nurse (", "From: ", "Hi ", "allergic to ", "nuts ", "diagnosed with ", ".com",
    "asthma ", "mg ", "every ", "work as a ", "J. ", "van ", "Ltd ", "University of ", "in ", "Paris", "%41",
    "&amp;", "\\u0041", "a b c ", "eyJ", "sk-", "+44 ", "(212) ", "555-0143", "DE89 ", "keller_a", "v. ",
)  # fmt: skip
PHRASES = (
    "Dr. ", "!!!", "allergic to nuts nuts nuts nuts ", "my wife Susan ", "M a r g a K e l l e r ", "one ",
    "o o o ", "Call 415-555-0132. ", "Anna%20Keller ", "Anna^Keller ", "From: Anna Keller\n", "Cc: Ab; Cd; ",
    "Keller v. Brandt ", "Anna Keller keller_a /home/keller/x ", "a dot b at c dot d ", "anna@ex.org ",
    "oh one two three, ", "Name: Anna Keller; ", "at 12 Quill Street, Leeds LS1 4AB ", "12 May 2020, ",
)  # fmt: skip


def runs_of(tokens: tuple[str, ...], number: int, seed: int) -> list[str]:
    """Random runs of one to five tokens, always the same."""
    chosen = random.Random(seed)
    return ["".join(chosen.choices(tokens, k=chosen.randint(1, 5))) for _ in range(number)]


def repeated(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def seconds(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began


def grows(work: Callable[[str], object], piece: str, size: int = SMALL) -> bool:
    """Whether four times the text takes far more than four times as long, three times in a row."""
    for _ in range(3):
        large = seconds(work, repeated(piece, TIMES * size))
        if large < FLOOR or large < RATIO * seconds(work, repeated(piece, size)):
            return False
    return True


def named(text: str) -> list[Entity]:
    """Every word of a text as a name."""
    return [entity(match.start(), match.end(), "person full name") for match in re.finditer(r"\w+", text)]


def linked(text: str) -> list[Entity]:
    document = Document("d", text)
    return link_accounts(document, link(document, named(text)))


def rendered(text: str) -> object:
    decisions = (Decision(each, None, Action.GENERALIZE, "test") for each in named(text))
    return render(text, resolve(decisions))


WORK: dict[str, tuple[Callable[[str], object], int]] = {
    "plain": (plain, 100),
    "fixed": (fixed_text, 100),
    "view": (view_of, 100),
    "sentences": (split_sentences, 100),
    "units": (lambda text: retrieval_units(text, WordEncoder().token_spans(text), 64), 60),
    "patterns": (find_patterns, 60),
    "repeats": (lambda text: repeats(text, named(text)), 5),
    "linked": (linked, 0),
    "rendered": (rendered, 10),
    "hybrid": (lambda text: HybridDetector().detect([Document("d", text)]), 5),
}
"""What reads a text, and with how many random runs it is tried."""


@pytest.fixture(autouse=True, scope="module")
def _no_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_the_measure_tells_a_square() -> None:
    assert grows(lambda text: [text.count("\x00") for _ in range(len(text) // 2)], "a")
    assert not grows(lambda text: [text.count("\x00", place, place + 40) for place in range(len(text))], "a")


@pytest.mark.parametrize("name", WORK)
def test_time_is_linear_in_the_text(name: str) -> None:
    work, number = WORK[name]
    work("Anna Keller, 44\n")
    slow = [piece for piece in (*PHRASES, *runs_of(TOKENS, number, 20)) if grows(work, piece)]
    assert slow == []


def test_each_pattern_alone_and_many_of_one_take_linear_time() -> None:
    def alone(pattern: Pattern) -> Callable[[str], object]:
        return lambda text: list(hits(pattern, page_of(text, word_finder())))

    assert not grows(find_patterns, "Call 415-555-0132. ", 120_000)
    slow = []
    for pattern in PATTERNS:
        cues = pattern.where.near or ("1", "12 ", "2024", "4111 ")
        pieces = runs_of((*cues, *TOKENS[:55]), 3, len(pattern.regex))
        slow += [(pattern.name, piece) for piece in pieces if grows(alone(pattern), cues[0] + piece)]
    assert slow == []


SYLLABLES = "ba ke ri mo ten sal vi dor lin gra pe hu".split()
WITHOUT_MODELS = System(
    encoder=WordEncoder(),
    detector=HybridDetector(),
    risk=RiskPrior(),
    engine=Engine(WordEncoder(), 32),
    policy=Policy("lethe"),
    generator=ExtractiveGenerator(word_reader),
    scale=EMBEDDED_SCALE,
    language="any",
    passage_tokens=16,
)


def steps(work: Callable[[str], object], text: str) -> int:
    """How many lines of Python a piece of work runs: the same on every machine."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work(text)
    finally:
        sys.settrace(before)
    return count


def people(size: int) -> str:
    """Sentences about people, each of whom has another name."""
    chance = random.Random(3)

    def name() -> str:
        return "".join(chance.choices(SYLLABLES, k=3)).capitalize()

    def sentence() -> str:
        said = f"Mr {name()} {name()} of {name()} Street 4, aged 44, met Dr. {name()} on 3 May 2021"
        return f"{said} and paid {chance.randint(100, 9_999)} euros."

    return " ".join(sentence() for _ in range(size // 60))[:size]


LONG_LINES: dict[str, Callable[[int], str]] = {
    "a line": people,
    "lines": lambda size: people(size).replace(". ", ".\n"),
    "without blanks": lambda size: people(size).replace(" ", ""),
    "one word": lambda size: repeated("keller ", size),
    "one sentence": lambda size: repeated("Anna Keller met Ben Brandt on 3 May 2021. ", size),
    "digits": lambda size: repeated("1234567890", size),
    "one letter": lambda size: repeated("a", size),
}


def prepared(text: str) -> None:
    (found,) = WITHOUT_MODELS.preparing()([Document("d", text)])
    assert isinstance(found, CutDocument)


@pytest.mark.parametrize("shape", LONG_LINES)
def test_a_document_takes_work_in_proportion_to_its_length(shape: str) -> None:
    prepared(people(500))
    short, long = (steps(prepared, LONG_LINES[shape](size)) for size in (6_000, 36_000))
    assert long < 7 * short


def test_a_line_takes_no_more_work_than_its_sentences_in_lines() -> None:
    line, lines = (steps(prepared, LONG_LINES[shape](8_000)) for shape in ("a line", "lines"))
    assert line < 1.2 * lines
