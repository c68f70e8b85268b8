"""All phrase lists in one pass over a text.

The lists form a table from the first word of a phrase to the phrases that start with it, so that a word that
starts none costs one look-up.
"""

from dataclasses import dataclass
from functools import cache

from ingest.documents import Span
from ingest.language.tokens import Tokens
from ingest.language.vocabulary import WORD, entries, plurals

SINGULAR = (
    "cities",
    "countries",
    "states",
    "places",
    "languages",
    "marital_statuses",
    "genders",
    "organizations",
    "public_bodies",
    "medical_tests",
    "departments",
    "allergens",
)
PLURAL = (
    "demonyms",
    "ethnicities",
    "religions",
    "jobs",
    "jobs_weak",
    "symptoms",
    "diseases",
    "medications",
    "procedures",
)

Table = dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]
"""First word -> the words after it and the lists that hold the phrase, longest phrase first."""


@dataclass(frozen=True, slots=True)
class Match:
    """The words ``first`` to ``end`` (not included) are an entry of the list ``kind``."""

    first: int
    end: int
    kind: str

    def span(self, tokens: Tokens) -> Span:
        """The characters of the match."""
        return tokens.span(self.first, self.end)


@cache
def table() -> Table:
    """The table of all phrase lists."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for name in (*SINGULAR, *PLURAL):
        for entry in entries(name):
            phrase = tuple(WORD.findall(entry))
            for form in plurals(phrase) if name in PLURAL else (phrase,):
                known = kinds.setdefault(form, [])
                if name not in known:
                    known.append(name)
    result: Table = {}
    for form, names in kinds.items():
        result.setdefault(form[0], []).append((form[1:], tuple(names)))
    for phrases in result.values():
        phrases.sort(key=lambda phrase: (-len(phrase[0]), phrase[0]))
    return result


def _fits(tokens: Tokens, start: int, rest: tuple[str, ...]) -> bool:
    folded = tokens.folded
    if start + len(rest) > len(folded):
        return False
    return all(
        folded[start + offset] == word and tokens.joined(start + offset) for offset, word in enumerate(rest)
    )


def scan(tokens: Tokens) -> dict[str, list[Match]]:
    """The matches of every list, by list; per list only the longest match at a position."""
    phrases_of = table()
    found: dict[str, list[Match]] = {}
    for index, word in enumerate(tokens.folded):
        phrases = phrases_of.get(word)
        if phrases is None:
            continue
        seen: set[str] = set()
        for rest, kinds in phrases:
            if not _fits(tokens, index + 1, rest):
                continue
            for kind in kinds:
                if kind not in seen:
                    seen.add(kind)
                    found.setdefault(kind, []).append(Match(index, index + 1 + len(rest), kind))
    return found
