"""Whether the three scores say different things: Spearman of each pair over linked entities."""

from collections.abc import Sequence

import numpy as np

from eval.risk.comparing import spearman
from eval.trip_rag.report import Correlation
from ingest.documents import Scores


def correlations(scores: Sequence[Scores]) -> list[Correlation]:
    """The three pairs of P, K and D, in the paper's order; none where rho is not defined."""
    columns = {
        "P": [each.marginal_privacy_risk for each in scores],
        "K": [each.knowledge_divergence for each in scores],
        "D": [1 - each.topical_relevance for each in scores],
    }
    found = []
    for one, other in (("P", "K"), ("P", "D"), ("K", "D")):
        rho = rank_correlation(columns[one], columns[other])
        if rho is not None:
            found.append(Correlation(one=one, other=other, rho=rho, n=len(scores)))
    return found


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rho; None where one side has a single value, or there are fewer than two pairs."""
    if len(one) < 2:
        return None
    first, second = np.array([one, other], dtype=np.float64)
    (rho,) = spearman(first, second, np.ones((1, len(first)))).tolist()
    return None if np.isnan(rho) else float(rho)
