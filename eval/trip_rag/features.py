"""Whether the three scores say different things: Spearman of each pair over linked entities."""

from collections.abc import Sequence

from eval.risk.comparing import estimated, spearman, value_of
from eval.trip_rag.report import Correlation
from ingest.documents import Scores

PAIRS = (("P", "K"), ("P", "D"), ("K", "D"))


def correlations(documents: Sequence[Sequence[Scores]]) -> list[Correlation]:
    """The three pairs of P, K and D, in the paper's order; none where rho is not defined.

    Scores are those of the linked entities of each document. Intervals redraw whole documents.
    """
    found = []
    for one, other in PAIRS:
        rows = [(_column(one, own), _column(other, own)) for own in documents]
        rho = estimated(spearman, rows)
        if rho.value is not None:
            n = sum(map(len, documents))
            found.append(Correlation(one=one, other=other, rho=rho.value, low=rho.low, high=rho.high, n=n))
    return found


def _column(letter: str, scores: Sequence[Scores]) -> list[float]:
    if letter == "P":
        return [each.marginal_privacy_risk for each in scores]
    if letter == "K":
        return [each.knowledge_divergence for each in scores]
    return [1 - each.topical_relevance for each in scores]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rho; None where one side has a single value, or there are fewer than two pairs."""
    return value_of(spearman, [(one, other)]) if len(one) > 1 else None
