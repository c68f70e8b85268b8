"""Letters and digits in fancy dress, each read as the plain one that it shows: ①, 𝐌, Ⓜ, ᴍ, full-width Ｍ.

So are Cyrillic and Greek letters that look like Latin ones, where a word mixes them with these.

One character stands for one, so every offset in the plain text is one in the text as it was read.
"""

import re
import unicodedata

from ingest.language.json_text import json_values

_IN_BRACKETS = re.compile(r"\((.)\)")
_NAMED = re.compile(
    r"NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER ([A-Z])|LATIN LETTER SMALL CAPITAL ([A-Z])"
)
_LOOK_ALIKES = str.maketrans(
    "АВЕЁІЇЈКМНОРСТУХЅԚԜҮаеёіїјкмнорстухѕԛԝүһԁΑΒΕΖΗΙΚΜΝΟΡΤΥΧΪαικνορτυχϲϳ",
    "ABEEIIJKMHOPCTYXSQWYaeeiijkmhopctyxsqwyhdABEZHIKMNOPTYXIaikvoptuxcj",
)
"""Cyrillic and Greek letters, and the Latin ones for which they are taken."""
_BEYOND_LATIN = re.compile("[\u0370-\u052f]")
_WORD = re.compile(r"[^\W_]+")
_ESCAPE = re.compile(r"\\[nrt](?=[A-Z][a-z])")
"""A line break as a string in code writes it, which would hide the name behind it."""
_ESCAPE_IN_JSON = re.compile(r"\\.")
_BREAKS = frozenset(("\\n", "\\r", "\\t"))
_LATIN = re.compile("[A-Za-z]")
_LAST_OF_LATIN_1 = "\u00ff"
"""Up to it stand º, ª and µ, which people type and patterns know."""


class _Plain(dict[int, int]):
    """Code point to that of its plain form, worked out when first met."""

    def __missing__(self, point: int) -> int:
        self[point] = plain = ord(plain_character(chr(point)))
        return plain


_PLAIN = _Plain()


def plain(text: str) -> str:
    """``text`` with every letter, digit, blank and ASCII sign in its plain form; as long as the original.

    Dashes, quotation marks and the no-break space stay as they are: they are not in disguise.
    """
    text = unescaped(text)
    return text if text.isascii() else _in_latin(text.translate(_PLAIN))


def unescaped(text: str) -> str:
    """The text with line breaks for those that it writes as in code; as long as the original."""
    if "\\" not in text:
        return text
    parts, at = list[str](), 0
    for value in json_values(text):
        # In a string of JSON it cannot be anything else.
        if value.span and not value.bare:
            first, last = value.span.start, value.span.end
            parts += text[at:first], _ESCAPE_IN_JSON.sub(_broken, text[first:last])
            at = last
    return _ESCAPE.sub(" \n", "".join(parts) + text[at:])


def _broken(escape: re.Match[str]) -> str:
    return " \n" if escape[0] in _BREAKS else escape[0]


def _in_latin(text: str) -> str:
    """Look-alikes as Latin letters, where these stand in the word or in all the rest of the text."""
    shown = text.translate(_LOOK_ALIKES)
    if shown == text:
        return text
    if _LATIN.search(text) and not _BEYOND_LATIN.search(shown):
        return shown
    return _WORD.sub(lambda word: shown[slice(*word.span())] if _LATIN.search(word[0]) else word[0], text)


def plain_character(char: str) -> str:
    """The one letter, digit, blank or ASCII sign that ``char`` shows in another form, or ``char`` itself."""
    digit = unicodedata.digit(char, None)
    if digit is not None:
        return str(digit)
    if char <= _LAST_OF_LATIN_1:
        return char
    if named := _NAMED.fullmatch(unicodedata.name(char, "")):
        return named[1] or named[2]
    form = unicodedata.normalize("NFKC", char)
    form = _IN_BRACKETS.sub(r"\1", form)
    return form if len(form) == 1 and (form.isalnum() or form.isascii()) else char
