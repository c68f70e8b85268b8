"""What only frames a text, by its form: headings, mail headers, greetings, signatures; and lines of lists."""

import re
from collections.abc import Iterator, Sequence

from ingest.language.sentences import WRAPPED_LINE
from retrieval.quoting.words import STOP_WORDS

HEADING_WORDS = 9
"""A line with at most this many words and no closing punctuation is a heading."""
SHOUTED = 6
"""One word in capitals with so many letters makes a heading of the line it opens, or two with four."""
LIST_LINES = 3
"""Fewer lines are no list, unless they are marked."""

_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"[^\W_][^:?!\n]{0,40}:(?=\s|$)")
_HEADER = re.compile(r"(?:from|to|cc|bcc|date|sent|subject|re|fwd?|reply-to|attachments?)\s*:", re.IGNORECASE)
_PARTIES = re.compile(r"between\b[^.!?]*\band\b", re.IGNORECASE)
_GREETING = re.compile(
    r"(?:dear|hello|hi|hey|good (?:morning|afternoon|evening))\b[^.!?]{0,40}[,.!:]?$", re.IGNORECASE
)
_SIGN_OFF = re.compile(
    r"(?:(?:(?:kind|best|warm|with (?:kind|best)) )?(?:regards|wishes|greetings)(?:[,.!].{0,160})?"
    r"|yours (?:sincerely|faithfully|truly)(?:[,.!].{0,160})?"
    r"|best,?|thanks(?: a lot)?[,.!]?|cheers,?|sincerely,?)$",
    re.IGNORECASE,
)
_STAGE_DIRECTION = re.compile(r"\([^()]{1,40}\)$")
_CLOSED = re.compile(r"[.!?:;…。！？][\"')\]”’»]*$")
_ENDS = re.compile(r"[.!?…。！？][\"')\]”’»]*(?:$|\s+[^\Wa-z_])")
_FINITE = re.compile(
    r"\b(?:am|is|are|was|were|has|have|had|does|do|did|will|would|can|could|may|might|must|shall|should"
    r"|cannot)\b|n't\b|\b(?:i|we|he|she|it|they|you|there|that|who|nobody|nothing)(?:'\w+|\s+(?!and\b|or\b)[a-z]+)",
    re.IGNORECASE,
)


def frames(text: str, item: bool) -> bool:
    """Whether ``text``, one of ``split_sentences``, says nothing by itself; an ``item`` is no heading."""
    if _HEADER.match(text) or _GREETING.match(text) or signs_off(text) or stage_direction(text):
        return True
    words = _WORD.findall(text)
    if item or not words or _LABEL.match(text):
        return not words
    if _PARTIES.match(text) and not closed(text) and not has_verb(text):
        return True
    if len(words) > HEADING_WORDS:
        return False
    opening = text[:1].isupper() and not any(char.isdigit() for char in text) and not closed(text)
    return opening or _shouted(text, words)


def _shouted(text: str, words: Sequence[str]) -> bool:
    capitals = [len(word) if word.isupper() else 0 for word in words]
    return (len(words) > 1 and min(capitals[:2]) > 3) or (capitals[0] >= SHOUTED and not closed(text))


def closed(text: str) -> bool:
    """Whether it ends with a mark of punctuation that ends or joins sentences."""
    return _CLOSED.search(text) is not None


def signs_off(text: str) -> bool:
    """Whether it closes a letter, perhaps with the sender's name and address."""
    return _SIGN_OFF.match(text) is not None and not has_verb(text)


def signature(text: str) -> bool:
    """Whether a line that follows the closing of a letter belongs to it."""
    return not closed(text) and not has_verb(text)


def stage_direction(text: str) -> bool:
    """Whether it is a short remark in brackets, as who speaks, or when."""
    return _STAGE_DIRECTION.match(text) is not None


def has_verb(text: str) -> bool:
    """Whether it has a verb that shows as one: an auxiliary, or a word after a pronoun."""
    return _FINITE.search(text) is not None


def is_sentence(text: str) -> bool:
    """Whether it is whole: closed, with a verb."""
    return closed(text) and has_verb(text)


def blocks_of(paragraph: str) -> Iterator[tuple[str, bool]]:
    """The paragraph, or its lines if they are a list without marks; with whether it is a line of a list."""
    lines = [line for line in paragraph.splitlines() if line.strip()]
    if not _is_list(lines):
        yield paragraph, False
        return
    for line in lines:
        yield line, line[:1].isspace() or line[:1].islower()


def _is_list(lines: Sequence[str]) -> bool:
    """No sentence ends but with the last line, no line ends within a phrase, and most were ended on purpose.

    A line was ended on purpose if the next word would have fitted into the longest one.
    """
    if len(lines) < LIST_LINES or any(_ENDS.search(line) for line in lines[:-1]):
        return False
    indented = all(line[:1].isspace() for line in lines[1:])
    if _ENDS.search(lines[-1]) and not indented:
        return False
    if any(line.split()[-1].casefold() in STOP_WORDS for line in lines):
        return False
    width = max(WRAPPED_LINE, *map(len, lines))
    following = (line.split()[0] for line in lines[1:])
    ended = sum(len(line) + 1 + len(word) <= width for line, word in zip(lines, following, strict=False))
    return 2 * ended >= len(lines) - 1
