"""Figures of linking documents about the same person, folded from rows: how often a twin ranks first.

The names are those of ``Row.figures``; ``eval.tasks.same_person`` writes them. A row is a document of a
person of whom there are others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.measures.uncertainty import Estimate, clustered_share
from eval.rows import Row

PERSON, RANK, TWINS, OTHERS = "number of the person", "rank of the best twin", "twins", "other documents"
CHANCE, CHANCE_FIVE = "twin first by chance", "twin among the first five by chance"
ALIAS = "shares an alias with a twin"


@dataclass(frozen=True, slots=True)
class SamePersonFigures:
    """Shares of documents with a twin ranked first or among the first five; intervals over persons.

    The chances are those of a random order, None without documents. ``alias`` is the share of documents that
    show an alias which a twin shows too.
    """

    first: Estimate
    first_five: Estimate
    chance_first: float | None
    chance_first_five: float | None
    alias: Estimate


def same_person(rows: Iterable[Row], seed: int = 0) -> SamePersonFigures:
    """The rows folded; those that were not measured count nowhere."""
    figures = [row.figures for row in rows if row.measured]
    return SamePersonFigures(
        first=_share(figures, lambda each: each[RANK] <= 1, seed),
        first_five=_share(figures, lambda each: each[RANK] <= 5, seed),
        chance_first=_mean(figures, CHANCE),
        chance_first_five=_mean(figures, CHANCE_FIVE),
        alias=_share(figures, lambda each: each[ALIAS] > 0, seed),
    )


def _share(
    figures: Sequence[Mapping[str, float]], right: Callable[[Mapping[str, float]], bool], seed: int
) -> Estimate:
    totals = Counter(each[PERSON] for each in figures)
    hits = Counter(each[PERSON] for each in figures if right(each))
    return clustered_share([hits[person] for person in totals], list(totals.values()), seed)


def _mean(figures: Sequence[Mapping[str, float]], name: str) -> float | None:
    return sum(each[name] for each in figures) / len(figures) if figures else None
