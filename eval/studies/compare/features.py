"""Whether the three scores differ: Spearman of each pair over linked entities."""

from collections.abc import Sequence

from eval.measures.agreement import estimated, spearman, value_of
from eval.studies.compare.report import Correlation
from ingest.documents import Scores

PAIRS = (("P", "K"), ("P", "D"), ("K", "D"))


def correlations(documents: Sequence[Sequence[Scores]]) -> list[Correlation]:
    """The three pairs of P, K and D, in the paper's order; none where rho is not defined.

    Scores are given per linked entity, by document. Intervals bootstrap documents.
    """
    found = []
    for one, other in PAIRS:
        rows = [(_column(one, own), _column(other, own)) for own in documents]
        rho = estimated(spearman, rows)
        if rho.value is not None:
            n = sum(map(len, documents))
            found.append(Correlation(one=one, other=other, rho=rho, n=n))
    return found


def _column(letter: str, scores: Sequence[Scores]) -> list[float]:
    if letter == "P":
        return [each.marginal_privacy_risk for each in scores]
    if letter == "K":
        return [each.knowledge_divergence for each in scores if each.knowledge_divergence is not None]
    return [1 - each.topical_relevance for each in scores if each.topical_relevance is not None]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rho; None if one side is constant or there are fewer than two pairs."""
    return value_of(spearman, [(one, other)]) if len(one) > 1 else None
