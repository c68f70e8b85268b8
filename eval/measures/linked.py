"""Figures of a linkage attack, folded from its rows: how many were linked, and how much the links told.

The names are those of ``Row.figures``; ``eval.tasks.linkage`` writes them. A row is a document; one that
could not be sanitized has a failure and counts nowhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval.measures.uncertainty import Estimate, clustered_share, mean_of, share_of
from eval.rows import Row

RIGHT, SKIPPED, VOTES = "linked right", "skipped", "votes"
CLAIMS, KNOWN, LEFT = "claims", "claims known", "claims left"
LINKABLE = "claims linkable"
"""How many claims the sanitized document of the row has."""
DISTANCE, OVERLAP = "claim distance", "claim distance from what is known"
RATED, LEAKED = "claims rated", "claims leaked"
INVALID, MISSING = "ratings invalid", "ratings missing"
LEXICAL, EMBEDDING = "lexical distance", "embedding distance"
HIDDEN, DETAILS = "share of details hidden", "details"
WORDING, OWN_WORDING = "bigrams of the original", "bigrams of the original before rewording"
RATED_AS, LEAKED_AS = "rated: ", "leaked: "
"""Before the name of a category."""


@dataclass(frozen=True, slots=True)
class Linkage:
    """The correct linkage rate with Wilson's interval.

    ``rate`` is of all documents and counts a skipped one, for which nothing was found, as not linked: what
    the paper reports, and the most favorable reading. ``worst`` counts skipped ones as linked right;
    ``linked`` is of those that were linked to some document.
    """

    rate: Estimate
    worst: Estimate
    linked: Estimate
    skipped: int


def linkage(rows: Iterable[Row]) -> Linkage:
    """How many documents were linked to their originals."""
    attacked = [row.figures for row in rows if row.measured]
    right, skipped = (int(sum(each[name] for each in attacked)) for name in (RIGHT, SKIPPED))
    return Linkage(
        share_of(right, len(attacked)),
        share_of(right + skipped, len(attacked)),
        share_of(right, len(attacked) - skipped),
        skipped,
    )


@dataclass(frozen=True, slots=True)
class Distances:
    """The mean of a distance over linked documents, each counting the same, with a bootstrap interval.

    ``worst`` and ``best`` also count the skipped documents, and those of which a judge rated nothing, as 0
    and as 1. Documents of which the attacker knows everything that the distance is about count nowhere.
    """

    mean: Estimate
    worst: Estimate
    best: Estimate
    skipped: int


def distances(rows: Iterable[Row], figure: str = DISTANCE, seed: int = 0) -> Distances:
    """A distance from original to linked document, or the share of hidden details: higher is more private."""
    of = DETAILS if figure == HIDDEN else LEFT
    unknown = [row.figures for row in rows if row.measured and row.figures[of]]
    values = [each[figure] for each in unknown if figure in each]
    skipped = int(sum(each[SKIPPED] for each in unknown))
    unrated = len(unknown) - len(values)
    worst, best = (mean_of([*values, *[end] * unrated], seed) for end in (0.0, 1.0))
    return Distances(mean_of(values, seed), worst, best, skipped)


def leaked_claims(rows: Iterable[Row], seed: int = 0) -> Estimate:
    """The share of claims, not known before, that the linked documents tell, resampled by document."""
    return _share(rows, LEAKED, RATED, seed)


def leaked_by_category(rows: Iterable[Row], categories: Sequence[str], seed: int = 0) -> dict[str, Estimate]:
    """``leaked_claims`` of each category; nothing is measured where no claim has it."""
    measured = [row for row in rows if row.measured]
    return {name: _share(measured, LEAKED_AS + name, RATED_AS + name, seed) for name in categories}


def _share(rows: Iterable[Row], part: str, whole: str, seed: int) -> Estimate:
    pairs = [(row.figures.get(part, 0), row.figures.get(whole, 0)) for row in rows if row.measured]
    return clustered_share([int(hits) for hits, _ in pairs], [int(total) for _, total in pairs], seed)


BINS = 10


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many linked documents have each distance, split by whether the link is right.

    Ten bins of equal width from 0 to below 1, and one for exactly 1: what stands there is mostly a failure of
    the linker, not protection.
    """

    right: tuple[int, ...]
    wrong: tuple[int, ...]


def distribution(rows: Iterable[Row], figure: str = DISTANCE) -> Distribution:
    """The distances of all linked documents in bins; what is above 1 counts as 1."""
    counts = {True: [0] * (BINS + 1), False: [0] * (BINS + 1)}
    for row in rows:
        if row.measured and figure in row.figures:
            counts[bool(row.figures[RIGHT])][min(int(row.figures[figure] * BINS), BINS)] += 1
    return Distribution(tuple(counts[True]), tuple(counts[False]))
