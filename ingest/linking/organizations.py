"""Link mentions of the same organization, with or without legal form, and acronyms after the name."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Span
from ingest.language.naming import folded_word, words_of
from ingest.language.vocabulary import fold

_DOTTED = re.compile(r"(?<![^\W_])(?:[^\W\d_]\.){2,10}")
_AND = re.compile(r"[&+]")
_IN_BRACKETS = re.compile(
    r"\s{0,2}[(\[]\s?(?:(?:the|or|hereinafter|hereafter)\s)?[\"“„'‘]?([^()\[\]\n\"“”„]{2,80}?)[\"”“'’]?\s?[)\],;]"
)
_MORE = 100
"""Maximum length, in characters, of a bracket after a name that holds its other name."""
_LEGAL = {
    **{word: word for word in ("ltd", "inc", "llc", "llp", "lp", "plc", "co", "corp", "pty", "gmbh", "ag")},
    **{word: word for word in ("kg", "kgaa", "ug", "ohg", "se", "ev", "sa", "sas", "sarl", "srl")},
    **{word: word for word in ("bv", "nv", "oy", "oyj", "ab", "asa", "aps", "sro", "kft")},
    **{"limited": "ltd", "incorporated": "inc", "company": "co", "corporation": "corp"},
}


@dataclass(frozen=True, slots=True)
class Organization:
    """The folded words of a name, and its legal form separately. Private."""

    words: tuple[str, ...] = field(repr=False)
    legal: tuple[str, ...] = field(default=(), repr=False)


def organization_of(said: str) -> Organization:
    """Parse a name; a mention without letters or digits is its own word."""
    written = [folded_word(word) for word in words_of(_undotted(_AND.sub(" and ", said)))]
    if len(written) > 1 and written[0] == "the":
        del written[0]
    end = len(written)
    while end > 0 and (written[end - 1] in _LEGAL or (end < len(written) and written[end - 1] == "and")):
        end -= 1
    if end == 0:
        return Organization(tuple(written) or (said.casefold(),))
    legal = tuple(_LEGAL[word] for word in written[end:] if word in _LEGAL)
    return Organization(tuple(written[:end]), legal)


def _undotted(said: str) -> str:
    """S.A. is SA."""
    return _DOTTED.sub(lambda dotted: dotted[0].replace(".", ""), said)


def organizations(text: str, spans: Sequence[Span]) -> list[Organization]:
    """For each mention the fullest name of the same organization.

    A name without legal form joins the one name with it; if there are two, Keller Ltd and Keller Inc, it
    stays separate. A short form joins the name that it follows in brackets, and none if it follows two.
    """
    named = [without_bracket(text[span.start : span.end]) for span in spans]
    bodies = [organization_of(said) for said, _ in named]
    fuller: dict[tuple[str, ...], set[Organization]] = {}
    for body in bodies:
        if body.legal:
            fuller.setdefault(body.words, set()).add(body)
    short: dict[tuple[str, ...], set[Organization]] = {}
    for span, (said, inside), body in zip(spans, named, bodies, strict=True):
        behind = inside or _behind(text, span.end)
        if _shortens(behind, said):
            short.setdefault(organization_of(behind).words, set()).add(_only(body, fuller))
        elif _shortens(said, behind):
            short.setdefault(body.words, set()).add(_only(organization_of(behind), fuller))
    return [_only(body, fuller, short) for body in bodies]


def _only(body: Organization, *fuller: Mapping[tuple[str, ...], Collection[Organization]]) -> Organization:
    """The only fuller name that matches, or the name itself."""
    found = {other for names in fuller for other in names.get(body.words, ())}
    return found.pop() if not body.legal and len(found) == 1 else body


def without_bracket(said: str) -> tuple[str, str]:
    """A mention, and the content of a bracket at its end: "World Health Organization (WHO)"."""
    name, opening, rest = said.rpartition("(")
    if not opening or not name.strip() or not rest.endswith(")"):
        return said, ""
    return name, rest[:-1]


def _behind(text: str, end: int) -> str:
    """The content of a bracket directly after a mention."""
    bracket = _IN_BRACKETS.match(text[end : end + _MORE])
    return bracket.group(1) if bracket else ""


def _shortens(short: str, long: str) -> bool:
    """Whether one is short for the other: WHO for World Health Organization, Keller for Keller & Sons."""
    letters = [word for word in (fold(word) for word in words_of(long)) if word]
    one = words_of(_undotted(short))
    if len(one) != 1 or len(letters) < 2 or len(one[0]) < 2:
        return False
    word = fold(one[0])
    if word == letters[0]:
        return True
    rest = iter("".join(letters))
    capitals = sum(letter.isupper() for letter in one[0])
    return capitals > 1 and word[0] == letters[0][0] and all(letter in rest for letter in word)
