"""Figures of stored vectors, folded from rows: the share of passages whose vector is not that of their text.

The names are those of ``Row.figures``; ``eval.tasks.vectors`` writes them. A row is a document. Chance finds
nothing: a vector that is made of its text alone is never flagged.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from eval.measures.uncertainty import Estimate, clustered_share
from eval.rows import Row

PASSAGES, FLAGGED, NEARER = "passages", "vectors not of their text", "vectors nearer to the original"
INVERTED, BY_TEXT = "vectors that find their original", "texts that find their original"
LOWEST = "lowest cosine with the vector of the text"


@dataclass(frozen=True, slots=True)
class VectorFigures:
    """Shares of passages, intervals over documents. ``nearer`` are among the flagged.

    ``inverted`` have a vector whose nearest neighbour among original passages is of their own document, and
    ``by_text`` are those of which this holds for the vector of their text. ``lowest`` is the lowest cosine of
    a stored vector with that of its text, None without passages.
    """

    flagged: Estimate
    nearer: Estimate
    inverted: Estimate
    by_text: Estimate
    lowest: float | None


def vector_figures(rows: Iterable[Row], seed: int = 0) -> VectorFigures:
    """The rows folded; those that were not measured count nowhere."""
    figures = [row.figures for row in rows if row.measured]
    passages = [int(each[PASSAGES]) for each in figures]

    def share(name: str) -> Estimate:
        return clustered_share([int(each.get(name, 0)) for each in figures], passages, seed)

    lowest = min((each[LOWEST] for each in figures if LOWEST in each), default=None)
    return VectorFigures(share(FLAGGED), share(NEARER), share(INVERTED), share(BY_TEXT), lowest)
