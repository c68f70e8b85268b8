"""Residual risk: what is left after the threshold must stay below the policy's limit.

This is the constraint of TRIP-RAG's problem statement (section 3.1), which its method drops. It holds for
each retrieval unit: that is what somebody who asks is shown, and what privacy-risk models learn from and
are calibrated on. Hazards add up, so that a limit on whole documents would strip whatever is long.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Hazards, RiskModel
from ingest.scoring.raw import absolute_risk

_NO_UTILITY = 1e-6


def beyond_limit(
    left_without: Callable[[Collection[int]], AnnotatedText],
    utilities: Mapping[int, float],
    risk: RiskModel,
    limit: float,
    units_of: Callable[[str], Sequence[Span]],
) -> set[int]:
    """Links to generalize as well, so that f(U) is at most ``limit`` for each unit U of what is left.

    ``left_without`` gives the sanitized text without these links as well, ``units_of`` cuts a text into its
    units. Where generalizing cannot achieve the limit, all links of the unit go. In a unit those with the
    best ratio of hazard removed to utility lost come first; a link goes from the whole text. Marginal
    hazards depend on what else is there, so they are measured again after each round; a round takes just
    as many as would do if they added up.
    """
    if limit >= 1.0:
        return set()
    more: set[int] = set()
    while True:
        left = left_without(more)
        taken = set[int]()
        for hazards in risk.hazards(left.pieces(units_of(left.text))):
            taken |= _to_take(hazards, taken, utilities, limit)
        if not taken:
            return more
        more |= taken


def _to_take(
    hazards: Hazards, taken: Collection[int], utilities: Mapping[int, float], limit: float
) -> set[int]:
    """Of one unit, besides what is ``taken`` in others already."""
    marginals = {number: gain for number, gain in hazards.marginals.items() if gain > 0}
    hazard = hazards.total - sum(gain for number, gain in marginals.items() if number in taken)
    chosen = set[int]()
    for number in sorted(marginals, key=lambda n: (-_ratio(marginals[n], utilities[n]), n)):
        if absolute_risk(hazard) <= limit:
            break
        if number not in taken:
            chosen.add(number)
            hazard -= marginals[number]
    return chosen


def _ratio(hazard: float, utility: float) -> float:
    return hazard / max(utility, _NO_UTILITY)
