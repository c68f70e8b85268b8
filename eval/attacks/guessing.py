"""Entity inference: guessing the originals of replaced slots; and documents with the guesses put in.

A white-box attack on an index: a reader on an untrusted server sees each sanitized text with the place and
label of every slot, suppressed ones too, and ranks a pool of candidates for each. The attacker knows the
method, and for each label all originals of the corpus and how often each was said, but not where; and has
learned from slots of other documents, whose originals are known, how much each clue tells.

Candidates are ranked by their probability: their frequency times what the clues say
(``eval.attacks.posterior``). Where clues did not help on other documents, by frequency alone.

After Zhu et al., Not All Entities are Created Equal, section 3.2, both objectives of the attacker; the
ranking, and putting the best guesses in, are ours.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from eval.attacks.posterior import (
    Candidates,
    Clues,
    Known,
    OriginalsMissing,
    Slot,
    overlooked_text,
    slots_of,
    weights_by_group,
    weights_of,
)
from eval.measures.leakage import SensitiveIndex, is_measurable, stands_in
from eval.measures.overlap import rouge_l, stems
from eval.measures.uncertainty import Estimate, clustered_share
from ingest.documents import Document, Identifier, SanitizedDocument
from ingest.protocols import Encoder
from models.errors import ConfigurationError

POOL = 50
LEARNED_SLOTS = 1_000
"""At most so many slots are learned from; each with at most ``POOL`` candidates."""
FOLDS = 5
"""Groups of documents; what is learned for one comes from the others. Fewer documents are each a group."""
_AT_ONCE = 256


@dataclass(frozen=True, slots=True, repr=False)
class IndexAttack:
    """What an attack on an index declares: goal, threat model and reference."""

    name: str
    goal: str
    threat_model: str
    reference: str


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
    asked = [
        _Asked(slot, number, f"{seed} {slot.doc_id} {number}")
        for slots in slots_of(documents, sanitized)
        for number, slot in enumerate(slots)
    ]
    guesser = _Guesser(asked, sanitized, encoder, pool, seed)
    return [guesser.guess(each) for each in asked]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A slot, its number in its document, and what seeds its draws."""

    slot: Slot
    number: int
    seed: str = field(repr=False)


class _Guesser:
    """Ranks candidates, in the same way whatever the order of the documents."""

    def __init__(
        self,
        asked: Sequence[_Asked],
        sanitized: Sequence[SanitizedDocument],
        encoder: Encoder,
        pool: int,
        seed: int,
    ) -> None:
        self._pool = pool
        # By text, so that the spelling of a candidate does not depend on the order of the documents.
        self._known = Candidates(sorted((each.slot for each in asked), key=lambda slot: slot.original))
        self._normals = {
            label: list(self._known.spelled(label)) for label in {each.slot.label for each in asked}
        }
        self._places = {
            label: {normal: place for place, normal in enumerate(normals)}
            for label, normals in self._normals.items()
        }
        self._logs = {
            label: np.log([self._known.mentions[label, normal] for normal in normals])
            for label, normals in self._normals.items()
        }
        rest = {each.doc_id: overlooked_text(each) for each in sanitized}
        overlooked = cache(lambda doc_id, normal: is_measurable(normal) and stands_in(normal, rest[doc_id]))
        self._clues = Clues([each.slot for each in asked], self._known, encoder, overlooked)
        hidden = sorted(
            (each for each in asked if not each.slot.kept), key=lambda each: (each.slot.doc_id, each.number)
        )
        doc_ids = sorted({each.slot.doc_id for each in hidden})
        shuffled = random.Random(f"{seed} groups").sample(doc_ids, len(doc_ids))
        self._groups = {doc_id: place % FOLDS for place, doc_id in enumerate(shuffled)}
        self._weights = self._learned(hidden, seed)
        self._ranked = dict[tuple[str, int], tuple[int, int, int, str]]()
        for first in range(0, len(hidden), _AT_ONCE):
            self._rank(hidden[first : first + _AT_ONCE])

    def guess(self, asked: _Asked) -> Guess:
        slot = asked.slot
        size, rank, prior_rank, best = self._ranked.get(
            (slot.doc_id, asked.number),
            (min(self._pool, len(self._normals[slot.label])), 1, 1, slot.original),
        )
        return Guess(
            doc_id=slot.doc_id,
            number=asked.number,
            label=slot.label,
            identifier=slot.decision.entity.identifier,
            kept=slot.kept,
            pool_size=size,
            rank=rank,
            prior_rank=prior_rank,
            best=best,
        )

    def _learned(self, hidden: Sequence[_Asked], seed: int) -> dict[int, NDArray[np.float64]]:
        """The weights for each group of documents."""
        some = random.Random(f"{seed} learned").sample(hidden, min(len(hidden), LEARNED_SLOTS))
        pools = [self._drawn(each, POOL, truth_first=True) for each in some]
        clues = self._clues.of([each.slot for each in some], pools)
        logs = [self._logs[each.slot.label][pool] for each, pool in zip(some, pools, strict=True)]
        doc_ids = [each.slot.doc_id for each in some]
        groups = np.array([self._groups[doc_id] for doc_id in doc_ids], np.int64)
        found = weights_by_group(Known.of(logs, clues), doc_ids, groups)
        nothing = weights_of(Known.of([], []))
        return {group: found.get(group, nothing) for group in self._groups.values()}

    def _rank(self, some: Sequence[_Asked]) -> None:
        pools = [self._drawn(each, self._pool) for each in some]
        clues = self._clues.of([each.slot for each in some], pools)
        for each, pool, told in zip(some, pools, clues, strict=True):
            slot, logs = each.slot, self._logs[each.slot.label][pool]
            scores = logs + told @ self._weights[self._groups[slot.doc_id]]
            truth = self._places[slot.label][slot.normal]
            order, prior = (pool[np.argsort(-by, kind="stable")].tolist() for by in (scores.round(9), logs))
            best = self._known.spelled(slot.label)[self._normals[slot.label][order[0]]]
            ranks = order.index(truth) + 1, prior.index(truth) + 1
            self._ranked[slot.doc_id, each.number] = len(pool), *ranks, best

    def _drawn(self, asked: _Asked, most: int, *, truth_first: bool = False) -> NDArray[np.int64]:
        """The places of the candidates of a pool, in random order."""
        slot = asked.slot
        pool = self._known.pool(slot, most, random.Random(asked.seed))
        if truth_first:
            pool = [slot.normal, *(normal for normal in pool if normal != slot.normal)]
        return np.array([self._places[slot.label][normal] for normal in pool], np.int64)


@dataclass(frozen=True, slots=True)
class GuessShares:
    """Shares of slots with the truth ranked first, or among the first five; intervals over documents.

    ``prior`` always guesses what was said most often; ``chance`` is the expectation of blind drawing, in
    [0, 1], None without slots. Where the original still stands, all three have it.
    """

    first: Estimate
    first_five: Estimate
    prior_first: Estimate
    prior_first_five: Estimate
    chance_first: float | None
    chance_first_five: float | None


def guess_shares(guesses: Sequence[Guess], seed: int = 0) -> GuessShares:
    """The shares of all slots given; leave out those that are ``kept`` to see the guessing alone."""
    totals = Counter(guess.doc_id for guess in guesses)

    def share(right: Sequence[bool]) -> Estimate:
        hits = Counter(guess.doc_id for guess, hit in zip(guesses, right, strict=True) if hit)
        return clustered_share([hits[doc_id] for doc_id in totals], list(totals.values()), seed)

    def chance(top: int) -> float | None:
        return sum(guess.chance(top) for guess in guesses) / len(guesses) if guesses else None

    return GuessShares(
        first=share([guess.rank <= 1 for guess in guesses]),
        first_five=share([guess.rank <= 5 for guess in guesses]),
        prior_first=share([guess.prior_rank <= 1 for guess in guesses]),
        prior_first_five=share([guess.prior_rank <= 5 for guess in guesses]),
        chance_first=chance(1),
        chance_first_five=chance(5),
    )


_OPENING = "([{\"'“‘«"
"""Marks that no blank follows."""


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """One document before and after the guesses were put in.

    ROUGE-L F values are in [0, 1]; the original is the reference. Of the ``sensitive`` entities of the
    original, ``left`` are in the sanitized text and ``recovered`` in the reconstructed ``text``.
    """

    doc_id: str
    sanitized_rouge: float
    rouge: float
    sensitive: int
    left: int
    recovered: int
    text: str = field(repr=False)


def reconstruct(
    documents: Iterable[Document],
    sanitized: Sequence[SanitizedDocument],
    guesses: Iterable[Guess],
    sensitive: SensitiveIndex,
) -> list[Reconstruction]:
    """One row for each sanitized document, in order: how much the guesses in its replaced slots restore.

    Raises:
        OriginalsMissing: one of the sanitized documents has no original.
    """
    originals = {document.doc_id: document.text for document in documents}
    best: dict[str, dict[int, str]] = {}
    for guess in guesses:
        best.setdefault(guess.doc_id, {})[guess.number] = "" if guess.kept else guess.best
    rows = []
    for each in sanitized:
        if each.doc_id not in originals:
            raise OriginalsMissing(
                f"document {each.doc_id} has no original: give the documents that were sanitized"
            )
        filled = filled_in(each, best.get(each.doc_id, {}))
        reference = stems(originals[each.doc_id])
        rows.append(
            Reconstruction(
                doc_id=each.doc_id,
                sanitized_rouge=rouge_l(reference, stems(each.text)).f,
                rouge=rouge_l(reference, stems(filled)).f,
                sensitive=len(sensitive.behind([each.doc_id])),
                left=len(sensitive.leaked([each.doc_id], each.text, "")),
                recovered=len(sensitive.leaked([each.doc_id], filled, "")),
                text=filled,
            )
        )
    return rows


def filled_in(sanitized: SanitizedDocument, words: dict[int, str]) -> str:
    """The sanitized text with ``words`` in its slots, by the number of the decision.

    A slot without words stays as it is. A blank is added before the words of a suppressed slot; articles stay
    as the sanitizer left them.
    """
    places = sorted((sanitized.places[number], number) for number, said in words.items() if said)
    text, cursor = "", 0
    for (start, end), number in places:
        text += sanitized.text[cursor:start]
        if start == end and text and not (text[-1].isspace() or text[-1] in _OPENING):
            text += " "
        text += words[number]
        cursor = end
    return text + sanitized.text[cursor:]
