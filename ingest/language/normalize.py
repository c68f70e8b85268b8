"""The form in which text enters: settled once here, because later every offset counts its characters."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

import regex

# What Unicode calls default-ignorable, and the marks of interlinear annotation: they show as nothing, so a
# name that is broken up by them still reads as a name but no detector finds it.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]+"
)
_EMOJI = re.compile("[\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff]")
_JOINTS = ("\u200d", "\ufe0f\u200d")
"""What makes one picture of two, such as a woman and a laptop."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Colors and places of the cursor in what a terminal was told (ECMA-48, 5.4): they part a name from its line.
_TERMINAL = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]")
_CHANGED = re.compile(
    rf"(?P<terminal>{_TERMINAL.pattern})|(?P<line>\r\n?)|(?P<control>{_CONTROL.pattern})|(?P<half>[\ud800-\udfff])|{_INVISIBLE.pattern}"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# No language stacks more marks on a letter (Unicode Annex 15, Stream-Safe Text). Sorting them takes the
# square of their number, so a page of nothing else would hang.
MOST_MARKS = 30
_BEYOND_LATIN = re.compile(f"[\u0300-\U0010ffff]{{{MOST_MARKS + 1},}}")


def fixed_text(raw: str) -> str:
    r"""``raw`` with ``\n`` line ends, in Unicode NFC, without invisible or control characters.

    What colors a terminal is removed. A control character other than ``\n`` and ``\t`` becomes a space, half
    of a surrogate pair becomes U+FFFD; soft hyphens, zero-width and bidirectional controls, variation
    selectors and other characters that show as nothing are removed but between joined pictures, and so is
    each mark of a letter that has ``MOST_MARKS`` already. Idempotent.
    """
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub(" ", _TERMINAL.sub("", text))
    if text.isascii():
        return text
    return _composed(_LONE_SURROGATE.sub("\ufffd", _INVISIBLE.sub(_joint_or_nothing, text)))


def _composed(text: str) -> str:
    # Composing takes some marks apart, so their number is limited before and after.
    return _BEYOND_LATIN.sub(
        _with_few_marks, unicodedata.normalize("NFC", _BEYOND_LATIN.sub(_with_few_marks, text))
    )


@dataclass(frozen=True, slots=True)
class FixedText:
    """A text in its fixed form, and where each character of it stood in the text as it was sent. Private."""

    text: str = field(repr=False)
    places: Sequence[tuple[int, int]] | None = field(repr=False)
    """Half-open ranges of the sent text; None where both texts are the same."""

    @classmethod
    def of(cls, raw: str) -> "FixedText":
        """The fixed form of ``raw``."""
        text = fixed_text(raw)
        if text == raw:
            return cls(text, None)
        shown, stood = _shown(raw)
        for clusters in (_clusters(shown), shown.splitlines(keepends=True)):
            places = _places(clusters, stood, _cluster_of_each(raw))
            if "".join(map(_composed, clusters)) == text:
                break
        return cls(text, places)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range of the sent text for a range of this one: whole characters with all their marks."""
        return (start, end) if self.places is None else (self.places[start][0], self.places[end - 1][1])


def _shown(raw: str) -> tuple[str, list[int]]:
    """What shows of a text, not composed, and where each character of it stood."""
    chars: list[str] = []
    stood: list[int] = []
    done = 0
    for match in _CHANGED.finditer(raw):
        kept = _as_shown(match)
        chars += raw[done : match.start()], kept
        stood += range(done, match.start())
        stood += range(match.start(), match.start() + len(kept))
        done = match.end()
    chars.append(raw[done:])
    stood += range(done, len(raw))
    return "".join(chars), stood


def _as_shown(match: re.Match[str]) -> str:
    if match["terminal"]:
        return ""
    if match["line"]:
        return "\n"
    if match["control"]:
        return " "
    return "\ufffd" if match["half"] else _joint_or_nothing(match)


def _clusters(text: str) -> list[str]:
    return [match[0] for match in regex.finditer(r"\X", text)]


def _cluster_of_each(raw: str) -> list[tuple[int, int]]:
    """For each character the letter with marks, or the picture, that it is a part of."""
    return [match.span() for match in regex.finditer(r"\X", raw) for _ in match[0]]


def _places(
    clusters: Sequence[str], stood: Sequence[int], around: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    at = 0
    for cluster in clusters:
        place = around[stood[at]][0], around[stood[at + len(cluster) - 1]][1]
        places += [place] * len(_composed(cluster))
        at += len(cluster)
    return places


def _joint_or_nothing(invisible: re.Match[str]) -> str:
    """What joins two pictures; otherwise nothing."""
    text, start, end = invisible.string, *invisible.span()
    beside = text[start - 1 : start], text[end : end + 1]
    return invisible[0] if invisible[0] in _JOINTS and all(map(_EMOJI.fullmatch, beside)) else ""


def _with_few_marks(stretch: re.Match[str]) -> str:
    kept, marks = [], 0
    for char in stretch[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)


def control_share(raw: str) -> float:
    """The share of control characters in ``raw``, in [0, 1], white space not counted among them."""
    return len(re.findall("[\x00-\x08\x0e-\x1f\x7f-\x9f]", raw)) / max(1, len(raw))
