"""All text here is invented."""

import re
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from ingest.language.normalize import MOST_MARKS, FixedText, control_share, fixed_text

HIDDEN = "\u00ad\u034f\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufe0f\ufeff\U000e0041"
AWKWARD = st.text(st.sampled_from("a\r\n\t\0\x85\x9fé e\u0301\u0323\u1100\u1161\u2028\ud800\udc00" + HIDDEN))


@pytest.mark.parametrize(
    ("raw", "fixed"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("a\0b\x07c\x0cd\x85e", "a b c d e"),
        ("tab\tstays", "tab\tstays"),
        ("Jose\u0301", "José"),
        ("Mu\u00adster\u200bmann", "Mustermann"),
        ("\ufeffstart", "start"),
        ("left\u202eright", "leftright"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("m\u200b\u0301", "ḿ"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("\u2764\ufe0f and \U0001f469\u200d, a\u200d\U0001f469", "\u2764 and \U0001f469, a\U0001f469"),
    ],
)
def test_what_becomes_of_awkward_characters(raw: str, fixed: str) -> None:
    assert fixed_text(raw) == fixed


PICTURE = "[\u2190-\u303d\U0001f000-\U0001faff]"
JOINED = re.compile(f"(?<={PICTURE})\ufe0f?\u200d(?={PICTURE})")
"""What joins two pictures."""


@given(st.text(st.characters()) | AWKWARD)
def test_every_character_comes_from_whole_letters_of_the_text_as_sent(raw: str) -> None:
    fixed = FixedText.of(raw)
    edges = {0, len(raw), *(match.start() for match in regex.finditer(r"\X", raw))}
    assert fixed.text == fixed_text(raw)
    ranges = [fixed.original(at, at + 1) for at in range(len(fixed.text))]
    assert ranges == sorted(ranges) and all({*each} <= edges or fixed.text == raw for each in ranges)
    shown = {place for start, end in ranges for place in range(start, end)}
    hidden = fixed_text("".join(char for at, char in enumerate(raw) if at not in shown))
    assert hidden.strip("\u0301\u0323") == ""


def test_ranges_hold_the_marks_and_hidden_characters_within() -> None:
    raw = "x Jose\u0301 Mu\u00adster\r\ny"
    fixed = FixedText.of(raw)
    start, end = fixed.text.index("José"), fixed.text.index("\n")
    assert raw[slice(*fixed.original(start, end))] == "Jose\u0301 Mu\u00adster"


@given(st.text(st.characters()) | AWKWARD)
def test_the_result_can_be_stored_hides_nothing_and_stays_in_a_second_pass(raw: str) -> None:
    fixed = fixed_text(raw)
    assert fixed_text(fixed) == fixed
    assert fixed.encode().decode() == fixed
    assert unicodedata.is_normalized("NFC", fixed)
    assert not set(JOINED.sub("", fixed)) & set(HIDDEN)
    assert all(unicodedata.category(c) != "Cc" or c in "\n\t" for c in fixed)


@given(st.text(st.characters(max_codepoint=126)).filter(lambda text: not {"\r", "\x1b"} & {*text}))
def test_ascii_keeps_its_length(raw: str) -> None:
    assert len(fixed_text(raw)) == len(raw)


@given(st.text("a\u0301\u0323\u0344\u0f73\u1e69", min_size=40))
def test_a_pile_of_marks_is_limited(raw: str) -> None:
    fixed = fixed_text("a" + raw * 3)
    assert fixed_text(fixed) == fixed
    assert unicodedata.is_normalized("NFC", fixed)
    runs = "".join("m" if unicodedata.combining(char) else " " for char in fixed).split()
    assert all(len(run) <= MOST_MARKS for run in runs)


def test_colors_of_a_terminal_part_no_name_from_its_line() -> None:
    raw = "\x1b[31mKeller\x1b[0m met \x9b1;34mAnna\x9b0m \x1bWeber [0m"
    fixed = FixedText.of(raw)
    assert fixed.text == "Keller met Anna  Weber [0m"
    for name in ("Keller", "Anna", "Weber"):
        start = fixed.text.index(name)
        assert raw[slice(*fixed.original(start, start + len(name)))] == name


def test_thirty_marks_stay_and_control_characters_are_counted() -> None:
    assert fixed_text("q" + "\u0323" * 30 + "u") == "q" + "\u0323" * 30 + "u"
    assert fixed_text("q" + "\u0323" * 31 + "u") == "q" + "\u0323" * 30 + "u"
    assert (control_share(""), control_share("\n\t\r abc"), control_share("ab\x01\x02")) == (0, 0, 0.5)
