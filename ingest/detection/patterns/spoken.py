"""Numbers spoken digit by digit: oh seven seven double three, nine four one."""

import re
from collections.abc import Callable

from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import Pattern
from ingest.detection.patterns.words import DIGIT_WORDS

_ZEROS = ("oh", "o", "nought", "nil")
_DIGIT = (
    rf"(?:(?:double|triple|treble)[ -])?(?:{'|'.join((*DIGIT_WORDS, *_ZEROS))})(?:[ -]hundred)?(?![^\W_])"
)
_JOINT = r"(?:[ \t,.…;-]{1,5}\n?(?:(?:uh|um|er|erm|then|dash|hyphen|space)[ ,]{1,2})?|\n)"
_HINTS = (*DIGIT_WORDS, *_ZEROS[:-1], "double", "triple", "treble")
_FEWEST = 7
"""Minimum digits of a telephone number."""
_TIMES = {"double": 2, "triple": 3, "treble": 3}
_WORD = re.compile(r"[a-z]+")

_RUN = rf"(?i:{_DIGIT}(?:{_JOINT}{_DIGIT}){{3,40}}+)(?!-[^\W_])"
"""Four or more digit words."""


def spoken_digits(said: str) -> list[int]:
    """The digits that the words name, repetitions expanded."""
    digits: list[int] = []
    times = 1
    for word in _WORD.findall(said.lower()):
        if word in _TIMES:
            times = _TIMES[word]
        elif word in DIGIT_WORDS or word in _ZEROS:
            digits += [DIGIT_WORDS.index(word) if word in DIGIT_WORDS else 0] * times
            times = 1
        elif word == "hundred":
            digits += [0, 0]
    return digits


def _is_number(said: str) -> bool:
    words = _WORD.findall(said.lower())
    amounts = 2 * words.count("hundred") > len(words) - words.count("hundred")
    return len(spoken_digits(said)) >= _FEWEST and not amounts and not _is_counting(said)


def _is_no_counting(said: str) -> bool:
    return not _is_counting(said)


def _is_counting(said: str) -> bool:
    """Whether the digits count up or down, possibly restarting at one."""
    digits = spoken_digits(said)
    up = all(one == 1 or one == last + 1 for last, one in zip(digits, digits[1:], strict=False))
    down = all(one == last - 1 for last, one in zip(digits, digits[1:], strict=False))
    return up or down


_LINK = (
    r"[\s:,.'-]{0,4}(?:(?:number|no|code|card|is|was|it's|its|are|ends|ending|in|on|at|me|the|my|of|for|to|as)"
    r"(?![^\W_])[\s:,.'-]{0,4}){0,5}+"
)

# Name, label, cues, hints, check: the cue word before the number gives its label.
_CUED: tuple[tuple[str, str, str, tuple[str, ...], Callable[[str], bool] | None], ...] = (
    ("social", "social security number", r"social(?:[ ]security)?|ssn", hints("social|ssn"), None),
    (
        "nhs",
        "health insurance number",
        r"nhs|medicare|health[ ]insurance",
        hints("nhs|medicare|health"),
        None,
    ),
    ("mrn", "medical record number", r"mrn|medical[ ]record|chart", hints("mrn|medical|chart"), None),
    (
        "pin",
        "PIN code",
        r"pin|pass[ -]?code|(?:access|door|entry|gate|alarm|security|unlock)[ ]code",
        hints("pin|pass|access|door|entry|gate|alarm|security|unlock"),
        None,
    ),
    ("account", "bank account number", r"(?:bank[ ])?account|sort[ ]code", hints("bank|account|sort"), None),
    ("card", "credit card number", r"(?:credit|debit|bank)[ ]card", hints("credit|debit|bank"), None),
    ("passport", "passport number", r"passport", ("passport",), None),
    (
        "phone",
        "phone number",
        r"ext(?:ension)?|phone|telephone|mobile|cell|call|ring|text|dial|fax|pager|bleep",
        hints("ext|phone|telephone|mobile|cell|call|ring|text|dial|fax|pager|bleep"),
        _is_no_counting,
    ),
    (
        "reference",
        "reference number",
        r"reference|ref|case|claim|policy|ticket|order|confirmation|booking|member(?:ship)?|number",
        hints("ref|case|claim|policy|ticket|order|confirmation|booking|member|number"),
        _is_no_counting,
    ),
)

PATTERNS: tuple[Pattern, ...] = (
    *(
        Pattern(
            f"spoken-{name}",
            label,
            rf"(?<![^\W_])(?i:{cues})(?![^\W\d_])(?i:{_LINK})(?P<id>{_RUN})",
            0.85,
            Where(near, 16, 400),
            check,
        )
        for name, label, cues, near, check in _CUED
    ),
    Pattern(
        "spoken",
        "phone number",
        rf"(?<![\w-]){_RUN}",
        0.8,
        Where(_HINTS, 12, 60),
        _is_number,
    ),
)
