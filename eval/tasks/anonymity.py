"""Re-identification in a population: how many people fit what a sanitized document says of its person.

k-anonymity (Samarati and Sweeney 1998): k of a document is the number of people whom everything fits that it
says of its person, the person included.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from eval.attacks.said_of_person import anonymity, new_population, said_of_person
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.uncertainty import Estimate, mean_of, share_of
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document
from models.errors import ConfigurationError

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


SIZES = (1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class AnonymityTask:
    """One row per document: k in the first members of one invented population, for each of ``sizes``."""

    documents: Sequence[Document] = field(repr=False)
    sizes: Sequence[int] = SIZES
    seed: int = 0

    sensitive = NOTHING_SENSITIVE

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ConfigurationError(
                "A size of the population is missing or below 1: give at least 1 member."
            )

    @property
    def name(self) -> str:
        """The sizes, and the seed of the population."""
        return f"singling out among {', '.join(map(str, self.sizes))}, seed {self.seed}"

    @property
    def cases(self) -> Sequence[str]:
        """The ids of the documents."""
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """The k of each document at every size, and how many facts it says."""
        progress(f"singling out in {kept.system}", 0, None)
        wanted = set(cases)
        said = {each.doc_id: said_of_person(each.text) for each in kept.documents if each.doc_id in wanted}
        population = new_population(max(self.sizes), self.seed)
        found = dict(zip(said, anonymity(population, list(said.values()), self.sizes), strict=True))
        for case in cases:
            figures = None
            if case in said:
                figures = {FACTS: float(said[case].facts)}
                figures |= {among(size): float(k) for size, k in zip(self.sizes, found[case], strict=True)}
            yield kept.row(self.name, case, figures)
