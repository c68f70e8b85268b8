"""k-anonymity in a population (Samarati and Sweeney 1998), folded from rows.

k of a document is the number of people whom everything fits that it says of its person, the person included.
``eval.tasks.anonymity`` writes the rows.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from eval.measures.uncertainty import Estimate, mean_of, share_of
from eval.rows import Row

FACTS = "facts said of the person"
FEW = 5
"""Below this k a person counts as hardly hidden."""
EDGES = (1, 2, 5, 20, 100, 1_000, 10_000)
"""Where the bins of the histogram begin; the last has no end."""


def among(size: int) -> str:
    """The name of the figure that holds k in a population of a size."""
    return f"k among {size}"


@dataclass(frozen=True, slots=True)
class Anonymity:
    """The shares of documents with k = 1 and k below 5 in a population of ``size``, with Wilson's interval.

    ``histogram`` counts the documents by k, in the bins that begin at ``EDGES``. ``named`` is the mean of
    1 / k, the chance of naming the person by drawing among those who fit; ``by_chance`` that of drawing among
    all. ``facts`` is the mean number of facts said, of seven.
    """

    size: int
    unique: Estimate
    few: Estimate
    named: Estimate
    by_chance: float
    facts: Estimate
    histogram: tuple[int, ...]


def anonymity_in(rows: Iterable[Row], size: int, seed: int = 0) -> Anonymity:
    """The rows folded for one size of the population."""
    figures = [row.figures for row in rows if row.measured]
    every = [int(each[among(size)]) for each in figures]
    counts = Counter(sum(k >= edge for edge in EDGES) - 1 for k in every)
    return Anonymity(
        size=size,
        unique=share_of(sum(k == 1 for k in every), len(every)),
        few=share_of(sum(k < FEW for k in every), len(every)),
        named=mean_of([1 / k for k in every], seed),
        by_chance=1 / (size + 1),
        facts=mean_of([each[FACTS] for each in figures], seed),
        histogram=tuple(counts[place] for place in range(len(EDGES))),
    )
