"""The form in which text enters: settled once here, because later every offset counts its characters."""

import re
import unicodedata

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
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# No language stacks more marks on a letter (Unicode Annex 15, Stream-Safe Text). Sorting them takes the
# square of their number, so a page of nothing else would hang.
MOST_MARKS = 30
_BEYOND_LATIN = re.compile(f"[\u0300-\U0010ffff]{{{MOST_MARKS + 1},}}")


def fixed_text(raw: str) -> str:
    r"""``raw`` with ``\n`` line ends, in Unicode NFC, without invisible or control characters.

    A control character other than ``\n`` and ``\t`` becomes a space, half of a surrogate pair becomes U+FFFD;
    soft hyphens, zero-width and bidirectional controls, variation selectors and other characters that show
    as nothing are removed but between joined pictures, and so is each mark of a letter that has
    ``MOST_MARKS`` already. Idempotent.
    """
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub(" ", text)
    if text.isascii():
        return text
    text = _LONE_SURROGATE.sub("\ufffd", _INVISIBLE.sub(_joint_or_nothing, text))
    # Composing takes some marks apart, so their number is limited before and after.
    return _BEYOND_LATIN.sub(
        _with_few_marks, unicodedata.normalize("NFC", _BEYOND_LATIN.sub(_with_few_marks, text))
    )


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
