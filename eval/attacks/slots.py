"""The slots of a sanitized document, and the candidates for their originals.

The white-box attacker has the sanitized text with the place of every slot. The attacker can run the detector
too, and so distinguish mentions that were kept on purpose from those that were missed.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eval.measures.leakage import normalized
from ingest.documents import Action, Decision, Document, SanitizedDocument
from models.errors import LetheError

WINDOW = 150
"""Characters of context on either side of a slot; twice as many were no better."""


class OriginalsMissing(LetheError):
    """Guesses can be scored only if the original document is known."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A decision in a sanitized document, with its original text and its context now.

    ``place`` is half-open and counts characters of the sanitized text.
    """

    doc_id: str
    decision: Decision = field(repr=False)
    place: tuple[int, int]
    original: str = field(repr=False)
    words: str = field(repr=False)
    """What stands there now; empty if it was suppressed."""
    surroundings: str = field(repr=False)

    @property
    def normal(self) -> str:
        """The normalized original."""
        return normalized(self.original)

    @property
    def label(self) -> str:
        """The label of the original."""
        return self.decision.entity.label

    @property
    def kept(self) -> bool:
        """Whether the original is still there."""
        return self.decision.action is Action.KEEP


def slots_of(documents: Iterable[Document], sanitized: Sequence[SanitizedDocument]) -> list[list[Slot]]:
    """The slots of each sanitized document, in order.

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
            sanitized.text[place[0] : place[1]],
            _around(sanitized.text, place),
        )
        for decision, place in zip(sanitized.decisions, sanitized.places, strict=True)
    ]


def _around(text: str, place: tuple[int, int]) -> str:
    start, end = place
    return f"{text[max(0, start - WINDOW) : start]} {text[end : end + WINDOW]}"


def overlooked_text(sanitized: SanitizedDocument) -> str:
    """The normalized text without kept mentions and replacements: copies in the rest were missed."""
    pieces, cursor = [], 0
    for start, end in sorted(sanitized.places):
        pieces.append(sanitized.text[cursor : max(cursor, start)])
        cursor = max(cursor, end)
    # The bar keeps words on both sides of a gap from matching as one phrase.
    return normalized(" | ".join([*pieces, sanitized.text[cursor:]]))


class Candidates:
    """The attacker's knowledge: all originals of each label with their frequencies.

    Places are unknown. Spellings with the same ``normalized`` form are one candidate.
    """

    __slots__ = ("_spelled", "mentions")

    def __init__(self, slots: Iterable[Slot]) -> None:
        spelled: dict[str, dict[str, str]] = {}
        self.mentions: Counter[tuple[str, str]] = Counter()
        for slot in slots:
            spelled.setdefault(slot.label, {}).setdefault(slot.normal, slot.original)
            self.mentions[slot.label, slot.normal] += 1
        # Sorted, so that the order of the documents has no effect.
        self._spelled = {label: dict(sorted(texts.items())) for label, texts in spelled.items()}

    def spelled(self, label: str) -> Mapping[str, str]:
        """The first spelling of each candidate of a label, by its normalized form."""
        return self._spelled[label]

    def pool(self, slot: Slot, most: int, rng: random.Random) -> list[str]:
        """At most ``most`` candidates of the slot's label in random order, the truth among them."""
        truth = slot.normal
        others = [normal for normal in self._spelled[slot.label] if normal != truth]
        pool = [truth, *rng.sample(others, min(most - 1, len(others)))]
        rng.shuffle(pool)
        return pool
