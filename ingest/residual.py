"""Residual risk: what is left after the threshold must stay below the policy's limit.

This is the constraint of TRIP-RAG's problem statement (section 3.1), which its method drops.
"""

import math
from collections.abc import Collection, Mapping

from ingest.annotated import AnnotatedText
from ingest.protocols import RiskModel
from ingest.scoring.raw import absolute_risk, descriptor_of

_NO_UTILITY = 1e-6


def beyond_limit(
    text: AnnotatedText,
    generalized: Collection[int],
    utilities: Mapping[int, float],
    risk: RiskModel,
    limit: float,
) -> set[int]:
    """Links to generalize as well, so that f(T*) is at most ``limit`` if generalizing can achieve it.

    Those with the best ratio of hazard removed to utility lost come first. Marginal hazards depend on what
    else is there, so they are measured again after each round; a round takes just as many as would do if
    they added up.
    """
    if limit >= 1.0:
        return set()
    allowed = -math.log1p(-limit)
    more: set[int] = set()
    while True:
        left = text.without({*generalized, *more}, descriptor_of)
        (hazards,) = risk.hazards([left])
        hazard = hazards.total
        marginals = {number: gain for number, gain in hazards.marginals.items() if gain > 0}
        if absolute_risk(hazard) <= limit or not marginals:
            return more
        for number in sorted(marginals, key=lambda n: (-_ratio(marginals[n], utilities[n]), n)):
            more.add(number)
            hazard -= marginals[number]
            if hazard <= allowed:
                break


def _ratio(hazard: float, utility: float) -> float:
    return hazard / max(utility, _NO_UTILITY)
