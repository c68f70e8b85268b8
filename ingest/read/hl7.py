"""HL7 version 2: the messages of a file, their segments as lines."""

import re
from collections.abc import Sequence

# What frames a message on a wire: a vertical tab before it, a file separator and a carriage return behind it.
_FRAME = re.compile("[\x0b\x1c]")
_MESSAGE = re.compile(r"^MSH(?=[^\w\s])", re.MULTILINE)


def is_hl7(text: str) -> bool:
    """Whether a text begins as a message does."""
    return text.lstrip("\x0b").startswith("MSH|")


def hl7_messages(text: str) -> Sequence[str]:
    """The messages, each with its segments as they are written, a line each; one for a text that has none.

    What stands before the first message, the head of a batch, goes with it.
    """
    lined = _FRAME.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    starts = [match.start() for match in _MESSAGE.finditer(lined)][1:]
    return [lined[start:end] for start, end in zip([0, *starts], [*starts, len(lined)], strict=True)]
