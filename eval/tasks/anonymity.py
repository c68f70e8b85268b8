"""Re-identification in a population: how many people fit what a sanitized document says of its person.

k-anonymity (Samarati and Sweeney 1998): k of a document is the number of people whom everything fits that it
says of its person, the person included.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from eval.attacks.said_of_person import anonymity, new_population, said_of_person
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.measures.uncertainty import Estimate, share_of
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Document
from models.errors import ConfigurationError

FACTS = "facts said of the person"
FEW = 5
"""Below this k a person counts as hardly hidden."""


def among(size: int) -> str:
    """The name of the figure that holds k in a population of a size."""
    return f"k among {size}"


def hardly_hidden(rows: Iterable[Row], size: int) -> Estimate:
    """The share of documents with k below ``FEW`` in a population of a size, with Wilson's interval."""
    every = [row.figures[among(size)] for row in rows if row.measured]
    return share_of(sum(k < FEW for k in every), len(every))


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
        return f"singling out among {', '.join(map(str, self.sizes))}, seed {self.seed}"

    @property
    def cases(self) -> Sequence[str]:
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
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
