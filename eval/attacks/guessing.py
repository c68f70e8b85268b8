"""Entity inference: guessing the originals of replaced slots.

A white-box attack on an index: for every slot of a sanitized document the attacker ranks a pool of
candidates. The threat model is generous: the attacker knows the place and label of every slot, including
suppressed ones, and for each label all originals of the corpus with their frequencies, but not where each
belongs.

A candidate that the document still shows elsewhere ranks first. The others are ranked by a sum of five
scores: whether the words in the slot are a rung of the candidate's own ladder, since the attacker knows the
method; the similarity of the candidate to these words, and to the context of the slot; the similarity of that
context to contexts in which other documents show the candidate; and its frequency. Encoding the candidate
alone works as well as filling it into the sentence, at a fraction of the time.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from eval.attacks.slots import Candidates, Slot, overlooked_text, slots_of
from eval.measures.leakage import is_measurable, stands_in
from eval.targets import having_read
from ingest.documents import Document, Identifier, SanitizedDocument
from ingest.ladders.mentions import names_only_a_kind
from ingest.ladders.wording import rungs_of
from ingest.language.vocabulary import fold
from ingest.protocols import Encoder
from models.errors import ConfigurationError

POOL = 50
PRIOR_WEIGHT = 0.2
"""The weight of the log frequency of a candidate."""
SHOWN_WEIGHT = 0.25
"""The weight of the highest cosine with a context that shows the candidate in clear."""
WORDS_WEIGHT = 0.5
"""The weight of the cosine with the words in the slot."""
RUNG_WEIGHT = 1.0
"""The bonus of a candidate of whose ladder the words are a rung."""


@dataclass(frozen=True, slots=True, repr=False)
class IndexAttack:
    """What an attack on an index declares: goal, threat model and reference."""

    name: str
    goal: str
    threat_model: str
    reference: str


ENTITY_INFERENCE = IndexAttack(
    name="entity inference",
    goal="Guess what stood in each slot of a sanitized document.",
    threat_model=(
        "A reader of the index on an untrusted server: sees each sanitized text with the place and label of "
        "every slot, knows the method, and knows all originals of a label and how often each was said, but "
        "not where."
    ),
    reference=(
        "Zhu et al., Not All Entities are Created Equal, section 3.2, first objective of the attacker; "
        "the ranking is ours"
    ),
)


@dataclass(frozen=True, slots=True)
class Guess:
    """The outcome for one slot, the ``number``-th decision of its document; holds no text.

    ``rank`` counts from 1 and is that of the truth among ``pool_size`` candidates; ``prior_rank`` ranks by
    frequency alone. Both are 1 where the original is still there. ``best`` is the candidate ranked first.
    """

    doc_id: str
    number: int
    label: str
    identifier: Identifier
    kept: bool
    pool_size: int
    rank: int
    prior_rank: int
    best: str = field(repr=False)

    def chance(self, top: int) -> float:
        """The probability that a random order has the truth among the first ``top``."""
        return 1.0 if self.kept else min(1.0, top / self.pool_size)


def guess_slots(
    documents: Iterable[Document],
    sanitized: Sequence[SanitizedDocument],
    encoder: Encoder,
    *,
    pool: int = POOL,
    seed: int = 0,
) -> list[Guess]:
    """One guess for each slot of each sanitized document, in order.

    A pool holds at most ``pool`` different candidates of the slot's label, the truth among them, the
    others drawn by ``seed``, the document's id and the slot's number. Equal scores are ordered at random.

    Raises:
        ConfigurationError: the pool has fewer than 2 candidates.
        OriginalsMissing: one of the sanitized documents has no original.
    """
    if pool < 2:
        raise ConfigurationError(f"a pool of {pool} leaves nothing to guess: ask for at least 2 candidates")
    slots = slots_of(documents, sanitized)
    every = [slot for those in slots for slot in those]
    guesser = _Guesser(every, encoder)
    guesses = []
    for document, those in zip(sanitized, slots, strict=True):
        overlooked = _overlooked_in(document)
        for number, slot in enumerate(those):
            rng = random.Random(f"{seed} {slot.doc_id} {number}")
            guesses.append(guesser.guess(slot, number, guesser.known.pool(slot, pool, rng), overlooked))
    return guesses


def _overlooked_in(document: SanitizedDocument) -> Callable[[str], bool]:
    """Whether a candidate stands in the rest of a document; each is looked for once."""
    rest = overlooked_text(document)
    return cache(lambda normal: is_measurable(normal) and stands_in(normal, rest))


class _Guesser:
    """Ranks candidates; all texts are encoded beforehand, in batches."""

    def __init__(self, slots: Sequence[Slot], encoder: Encoder) -> None:
        # By text, so that the spelling of a candidate does not depend on the order of the documents.
        self.known = Candidates(sorted(slots, key=lambda slot: slot.original))
        hidden = {slot.label for slot in slots if not slot.kept}
        asked = [slot for slot in slots if slot.label in hidden]
        spellings = [text for label in sorted(hidden) for text in self.known.spelled(label).values()]
        self._encoder = having_read(
            encoder, [*spellings, *(text for slot in asked for text in (slot.surroundings, slot.words))]
        )
        self._shown: dict[tuple[str, str], list[Slot]] = {}
        for slot in asked:
            if slot.kept:
                self._shown.setdefault((slot.label, slot.normal), []).append(slot)

    def guess(self, slot: Slot, number: int, pool: Sequence[str], overlooked: Callable[[str], bool]) -> Guess:
        """The rank of the truth in a shuffled pool."""
        mentions = np.array([self.known.mentions[slot.label, normal] for normal in pool], np.float64)
        if slot.kept:
            rank, prior_rank, best = 1, 1, slot.normal
        else:
            found = [overlooked(normal) for normal in pool]
            order = np.lexsort((-self._scores(slot, pool, mentions), ~np.array(found)))
            truth = pool.index(slot.normal)
            rank, best = _rank(order, truth), pool[int(order[0])]
            prior_rank = _rank(np.argsort(-mentions, kind="stable"), truth)
        return Guess(
            doc_id=slot.doc_id,
            number=number,
            label=slot.label,
            identifier=slot.decision.entity.identifier,
            kept=slot.kept,
            pool_size=len(pool),
            rank=rank,
            prior_rank=prior_rank,
            best=slot.original if slot.kept else self.known.spelled(slot.label)[best],
        )

    def _scores(self, slot: Slot, pool: Sequence[str], mentions: NDArray[np.float64]) -> NDArray[np.float64]:
        spelled = self.known.spelled(slot.label)
        around, words = self._encoder.encode([slot.surroundings, slot.words])
        vectors = self._encoder.encode([spelled[normal] for normal in pool])
        said = fold(slot.words)
        rung = np.array(
            [any(each in said for each in _rungs(spelled[normal], slot.label)) for normal in pool]
        )
        near = [self._shown_near(slot, normal, around) for normal in pool]
        known = [value for value in near if value is not None]
        # A candidate shown nowhere gets no bonus and no penalty.
        neutral = sum(known) / len(known) if known else 0.0
        shown = np.array([neutral if value is None else value for value in near])
        scores: NDArray[np.float64] = (
            vectors @ around + SHOWN_WEIGHT * shown + PRIOR_WEIGHT * np.log(mentions)
        )
        if slot.words:
            scores = scores + WORDS_WEIGHT * (vectors @ words) + RUNG_WEIGHT * rung
        return scores

    def _shown_near(self, slot: Slot, normal: str, around: NDArray[np.float32]) -> float | None:
        """The similarity of the slot to contexts of the candidate in other documents; None without any."""
        shown = [
            other.surroundings
            for other in self._shown.get((slot.label, normal), ())
            if other.doc_id != slot.doc_id
        ]
        return float((self._encoder.encode(shown) @ around).max()) if shown else None


@cache
def _rungs(original: str, label: str) -> list[str]:
    """The rungs of a candidate that say more than a kind, folded and without an article."""
    found = (rung.words for rung in rungs_of(original, label))
    return [fold(words).removeprefix("the ") for words in found if not names_only_a_kind(words, label)]


def _rank(order: NDArray[np.intp], truth: int) -> int:
    return int(np.flatnonzero(order == truth)[0]) + 1
