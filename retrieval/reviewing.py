"""Reviewing: a person masks words that sanitizing left in a stored document, there and in others.

Only what is stored is read: it is sanitized, so nothing that was taken out can come back. Nothing is learned
from a review, and documents that are ingested later are sanitized as before.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from ingest.documents import Action, Identifier, Span
from ingest.labels import VAGUE
from ingest.protocols import Encoder
from ingest.wording.mentions import bracket
from models.errors import ConfigurationError
from retrieval.collection import Collection, UnknownDocument
from retrieval.documents import Groups, Noted, Passage
from retrieval.passages import encoded, passages_of
from retrieval.store.database import REVIEW, Rewritten

MASKED = "masked in a review"
"""The reason of what a person masked."""
SHORTEST = 3
"""Letters and digits of words that are looked for elsewhere; shorter ones stand everywhere."""


@dataclass(frozen=True, slots=True)
class Mask:
    """A place of the sanitized text, and what is to stand there: "" for its kind in brackets."""

    span: Span
    instead: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The document that was looked through, how many places were masked, and in how many documents."""

    doc_id: str
    places: int
    documents: int


def review(
    collection: Collection,
    encoder: Encoder,
    doc_id: str,
    masks: Sequence[Mask],
    *,
    everywhere: bool,
    groups: Groups = None,
) -> Reviewed:
    """Mask places of a document that a reader with these groups may read, and note that it was seen.

    With ``everywhere`` the words of each mask go wherever else they stand, in small letters or capitals and
    whatever blanks are between them, in this document and in the others that the reader may read.

    Raises:
        UnknownDocument: There is none of this id, or the reader may not read it.
        ConfigurationError: A place is none, or overlaps another.
        CollectionError: Another process is writing to the collection.
    """
    with collection.writing():
        store = collection.store
        own = next(iter(store.documents_called([doc_id], groups)), None)
        if own is None:
            raise UnknownDocument("There is no such document.")
        text = _text(store.passages_of(own))
        asked = [_edit(text, store.ledger(own), mask) for mask in masks]
        edits = {own: list(asked)}
        if everywhere:
            named = {text[edit.start : edit.end].strip(): edit.words for edit in asked}
            for words, instead in named.items():
                if sum(map(str.isalnum, words)) < SHORTEST:
                    continue
                # Elsewhere a line may end between them.
                said = dict(store.saying(max(words.split(), key=len), any_case=True))
                for other in store.documents_called(list(said), groups):
                    edits.setdefault(other, []).extend(
                        _same(said[other], store.ledger(other), words, instead)
                    )
        chosen = {each: _apart(of, asked if each == own else ()) for each, of in edits.items() if of}
        rewritten = [_rewritten(collection, encoder, *each) for each in chosen.items()]
        store.rewrite(own, rewritten)
        if rewritten:
            collection.publish()
        return Reviewed(own, sum(map(len, chosen.values())), len(rewritten))


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    start: int
    end: int
    words: str = field(repr=False)


def _text(passages: Iterable[Passage]) -> str:
    return "".join(each.text for each in passages)


def _edit(text: str, ledger: Sequence[Noted], mask: Mask) -> _Edit:
    start, end = mask.span.start, mask.span.end
    if end > len(text) or not text[start:end].strip():
        raise ConfigurationError(f"masks: there are no words from {start} to {end}.")
    held = [each for each in ledger if each.start < end and start < each.end]
    # What was put in place of something goes whole.
    start = min([start, *(each.start for each in _replaced(held))])
    end = max([end, *(each.end for each in _replaced(held))])
    if mask.instead:
        return _Edit(start, end, mask.instead)
    kept = [each for each in held if each.action == Action.KEEP] or held
    return _Edit(start, end, bracket(kept[0].label if kept else VAGUE).words)


def _replaced(ledger: Sequence[Noted]) -> list[Noted]:
    return [each for each in ledger if each.action != Action.KEEP]


def _same(text: str, ledger: Sequence[Noted], words: str, instead: str) -> list[_Edit]:
    """The words where they stand in a text, but for what was put in place of something."""
    replaced = sorted(_replaced(ledger), key=lambda each: each.start)
    starts = [each.start for each in replaced]
    ends = list(accumulate((each.end for each in replaced), max))
    spaced = r"\s+".join(map(re.escape, words.split()))
    found = re.finditer(rf"(?i)(?<!\w){spaced}(?!\w)", text)
    return [
        _Edit(*each.span(), instead)
        for each in found
        if bisect_left(starts, each.end()) == bisect_right(ends, each.start())
    ]


def _apart(edits: Iterable[_Edit], asked: Iterable[_Edit]) -> list[_Edit]:
    """Edits in order of which none overlaps another: those ``asked`` for, and the others where there is room.

    Raises ConfigurationError where two that were asked for overlap.
    """
    first = sorted(set(asked))
    if any(other.start < one.end for one, other in pairwise(first)):
        raise ConfigurationError("masks: two places overlap.")
    starts, chosen, free = [each.start for each in first], list(first), 0
    for edit in sorted({*edits}.difference(first)):
        behind = bisect_right(starts, edit.start)
        before, after = first[:behind][-1:], first[behind : behind + 1]
        if edit.start >= max([free, *(each.end for each in before)]) and all(
            edit.end <= each.start for each in after
        ):
            chosen.append(edit)
            free = edit.end
    return sorted(chosen)


def _edited(text: str, edits: Sequence[_Edit]) -> tuple[str, Callable[[int, bool], int]]:
    """The text, and for a place of the old one that of the new; one within an edit goes to a rim of it."""
    pieces, done, shifts = list[str](), 0, [0]
    for edit in edits:
        pieces += [text[done : edit.start], edit.words]
        done = edit.end
        shifts.append(shifts[-1] + len(edit.words) - (edit.end - edit.start))
    starts = [edit.start for edit in edits]

    def moved(place: int, ends: bool) -> int:
        passed = bisect_left(starts, place)
        if passed and place < edits[passed - 1].end:
            edit = edits[passed - 1]
            return edit.start + shifts[passed - 1] + (len(edit.words) if ends else 0)
        return place + shifts[passed]

    return "".join([*pieces, text[done:]]), moved


def _rewritten(collection: Collection, encoder: Encoder, doc_id: str, edits: Sequence[_Edit]) -> Rewritten:
    store, manifest = collection.store, collection.manifest
    text, moved = _edited(_text(store.passages_of(doc_id)), edits)
    ledger = _ledger(store.ledger(doc_id), edits, moved)
    treated = [(each.label, each.action, each.start, each.end) for each in ledger]
    cuts = passages_of(text, treated, encoder, manifest.passage_tokens)
    (vectors,) = encoded([[(each.text, each.kept) for each in cuts]], encoder, manifest.search)
    return Rewritten(doc_id, cuts, vectors, ledger)


def _ledger(
    ledger: Sequence[Noted], edits: Sequence[_Edit], moved: Callable[[int, bool], int]
) -> list[Noted]:
    made, held = list[Noted](), set[_Edit]()
    starts, ends = [edit.start for edit in edits], [edit.end for edit in edits]
    for row in ledger:
        over = edits[bisect_right(ends, row.start) : bisect_left(starts, row.end)]
        held |= set(over)
        row = row._replace(start=moved(row.start, False), end=moved(row.end, row.start < row.end))
        if over and row.action == Action.KEEP:
            row = row._replace(action=str(Action.GENERALIZE), reason=MASKED)
        made.append(row)
    for edit in edits:
        if edit not in held:
            start, end = moved(edit.start, False), moved(edit.end, True)
            found = (VAGUE, str(Identifier.QUASI), 1.0, REVIEW, -1)
            made.append(Noted(start, end, *found, None, None, None, None, str(Action.GENERALIZE), MASKED))
    return made
