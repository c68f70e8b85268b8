"""What an attacker sees where something was taken from a document, and what it may have been.

The white-box attacker has the sanitized text with the place of everything that was taken from it. He can
run the detector himself, so that he tells what was knowingly kept from what was overlooked.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eval.measures.leakage import normalized
from ingest.documents import Action, Decision, Document, SanitizedDocument
from models.errors import LetheError

WINDOW = 150
"""How many characters on either side of a place are its surroundings; twice as many were no better."""


class OriginalsMissing(LetheError):
    """Guesses can be marked only where the original document is known."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A decision in a sanitized document: what stood there, and what stands around it now.

    ``place`` is half-open and counts characters of the sanitized text.
    """

    doc_id: str
    decision: Decision = field(repr=False)
    place: tuple[int, int]
    original: str = field(repr=False)
    surroundings: str = field(repr=False)

    @property
    def normal(self) -> str:
        """The original as it is compared."""
        return normalized(self.original)

    @property
    def label(self) -> str:
        """The label of what stood there."""
        return self.decision.entity.label

    @property
    def kept(self) -> bool:
        """Whether the original still stands there."""
        return self.decision.action is Action.KEEP


def slots_of(documents: Iterable[Document], sanitized: Sequence[SanitizedDocument]) -> list[list[Slot]]:
    """The slots of each sanitized document, in its order.

    Raises:
        OriginalsMissing: one of the sanitized documents has no original.
    """
    originals = {document.doc_id: document.text for document in documents}
    missing = [each.doc_id for each in sanitized if each.doc_id not in originals]
    if missing:
        raise OriginalsMissing(
            f"{len(missing)} of {len(sanitized)} sanitized documents have no original, the first is "
            f"{missing[0]}: give the documents that were sanitized"
        )
    return [_slots(originals[each.doc_id], each) for each in sanitized]


def _slots(original: str, sanitized: SanitizedDocument) -> list[Slot]:
    return [
        Slot(
            sanitized.doc_id,
            decision,
            place,
            original[decision.entity.span.start : decision.entity.span.end],
            _around(sanitized.text, place),
        )
        for decision, place in zip(sanitized.decisions, sanitized.places, strict=True)
    ]


def _around(text: str, place: tuple[int, int]) -> str:
    start, end = place
    return f"{text[max(0, start - WINDOW) : start]} {text[end : end + WINDOW]}"


def overlooked_text(sanitized: SanitizedDocument) -> str:
    """The normalized text without what was knowingly kept or put in: copies left there were overlooked."""
    pieces, cursor = [], 0
    for start, end in sorted(sanitized.places):
        pieces.append(sanitized.text[cursor : max(cursor, start)])
        cursor = max(cursor, end)
    # The bar keeps the words on both sides of a gap from being read as one phrase.
    return normalized(" | ".join([*pieces, sanitized.text[cursor:]]))


class Candidates:
    """What the attacker knows: everything that was ever said under a label, and how often.

    He knows none of the places. Spellings that are ``normalized`` to the same are one candidate.
    """

    __slots__ = ("_spelled", "mentions")

    def __init__(self, slots: Iterable[Slot]) -> None:
        spelled: dict[str, dict[str, str]] = {}
        self.mentions: Counter[tuple[str, str]] = Counter()
        for slot in slots:
            spelled.setdefault(slot.label, {}).setdefault(slot.normal, slot.original)
            self.mentions[slot.label, slot.normal] += 1
        # In an order that the order of the documents cannot change.
        self._spelled = {label: dict(sorted(texts.items())) for label, texts in spelled.items()}

    def spelled(self, label: str) -> Mapping[str, str]:
        """The first spelling of each candidate of a label, by what it is normalized to."""
        return self._spelled[label]

    def pool(self, slot: Slot, most: int, rng: random.Random) -> list[str]:
        """At most ``most`` candidates of the slot's label in random order, the truth among them."""
        others = [normal for normal in self._spelled[slot.label] if normal != slot.normal]
        pool = [slot.normal, *rng.sample(others, min(most - 1, len(others)))]
        rng.shuffle(pool)
        return pool
