"""The true edits of a text that a search may choose among: deletions, neutral wordings, rungs of ladders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.documents import Span
from ingest.spans import Replacement

Kind = Literal["sentence", "phrase", "wording", "entity"]
KINDS: tuple[Kind, ...] = ("sentence", "phrase", "wording", "entity")


@dataclass(frozen=True, slots=True)
class Edit:
    """Disjoint replacements that are made together or not at all; deletions have no words. Private."""

    kind: Kind
    replacements: tuple[Replacement, ...] = field(repr=False)


def deletion(kind: Kind, start: int, end: int) -> Edit:
    """The edit that deletes one span."""
    return Edit(kind, ((Span(start, end), ""),))


def together(edits: Iterable[Edit]) -> list[Replacement] | None:
    """The replacements of all edits in text order; None where two of them cannot both be made.

    What lies within a deletion goes with it. Other overlaps are none that both could be made of.
    """
    spans = sorted({each for edit in edits for each in edit.replacements}, key=lambda pair: _order(pair[0]))
    kept: list[Replacement] = []
    for span, words in spans:
        if kept and kept[-1][0].overlaps(span):
            last, said = kept[-1]
            if said or span.end > last.end:
                return None
            continue
        kept.append((span, words))
    return kept


def _order(span: Span) -> tuple[int, int]:
    return span.start, -span.end


def written(text: str, edits: Sequence[Edit]) -> str | None:
    """The text after all edits, None where two cannot both be made.

    What begins a sentence after a deletion gets a capital; nothing else of the text is changed.
    """
    made = together(edits)
    if made is None:
        return None
    pieces, cursor, opens = [], 0, False
    for span, words in [*made, (Span(len(text), len(text) + 1), "")]:
        for piece in (text[cursor : span.start], words):
            pieces.append(piece[:1].upper() + piece[1:] if opens else piece)
            opens = opens and not piece
        opens = opens or (not words and begins_sentence(text, span.start))
        cursor = span.end
    return "".join(pieces).strip(" ")


def begins_sentence(text: str, start: int) -> bool:
    """Whether a sentence or a line begins at ``start``."""
    before = text[:start].rstrip(" \t\"'“‘(")
    return not before or before[-1] in ".!?…:\n"
