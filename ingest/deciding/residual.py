"""Residual risk: after the threshold, the remaining risk must stay below the policy's limit.

This is the constraint of TRIP-RAG's problem statement (section 3.1), which its method omits. It applies per
retrieval unit: users see units, and privacy-risk models are trained and calibrated on texts of that size.
Hazards add up, so a limit per document would strip long documents.
"""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Applied, Hazards, RiskModel
from ingest.scoring.raw import absolute_risk

_NO_UTILITY = 1e-6

R = TypeVar("R")
Asking = Generator[Sequence[AnnotatedText], Sequence[Hazards], R]
"""A decision that yields the texts whose hazards it needs, is sent them, and returns its result."""


def in_step(asking: Sequence[Asking[R]], risk: RiskModel) -> list[R]:
    """The results of several decisions; what all of them ask at a time is measured in one call."""
    found: dict[int, R] = {}
    answers: dict[int, Sequence[Hazards] | None] = dict.fromkeys(range(len(asking)))
    while answers:
        asked: dict[int, Sequence[AnnotatedText]] = {}
        for number, answer in answers.items():
            try:
                # The first answer is None: it starts the decision.
                asked[number] = asking[number].send(answer)  # type: ignore[arg-type]
            except StopIteration as done:
                found[number] = done.value
        texts = [text for of_one in asked.values() for text in of_one]
        measured = iter(risk.hazards(texts) if texts else ())
        answers = {number: [next(measured) for _ in of_one] for number, of_one in asked.items()}
    return [found[number] for number in range(len(asking))]


def of_units(
    left: AnnotatedText, risk: RiskModel, units_of: Callable[[str], Sequence[Span]]
) -> list[Hazards]:
    """The hazards of each unit of the residual text."""
    return risk.hazards(left.pieces(units_of(left.text)))


def beyond_limit(
    applied_without: Callable[[Collection[int]], Applied],
    utilities: Callable[[], Mapping[int, float]],
    limit: float,
    units_of: Callable[[str], Sequence[Span]],
) -> Asking[tuple[set[int], Applied | None]]:
    """Further links to generalize, so that f(U) is at most ``limit`` for each unit U of the residual text.

    Also returns the resulting text, measured; None without a limit.

    ``applied_without`` gives the sanitized text without these links too, ``units_of`` splits a text into
    units. ``utilities`` is called if a unit exceeds the limit; links missing from it are always kept. If
    generalizing cannot reach the limit, all other links of the unit are generalized. Links with the best
    ratio of removed hazard to lost utility go first; a link is removed from the whole text. Marginal hazards
    depend on the other entities, so they are measured again after each round; a round takes as many links as
    needed if hazards were additive.
    """
    if limit >= 1.0:
        return set(), None
    more: set[int] = set()
    known: dict[bytes, Hazards] = {}
    while True:
        applied = applied_without(more)
        pieces = applied.residual.pieces(units_of(applied.residual.text))
        # A round changes a few passages of a long text; only those are measured again.
        digests = [piece.digest() for piece in pieces]
        fresh = {digest: piece for digest, piece in zip(digests, pieces, strict=True) if digest not in known}
        known |= zip(fresh, (yield list(fresh.values())), strict=True)
        passages = [known[digest] for digest in digests]
        taken = set[int]()
        for hazards in passages:
            if absolute_risk(hazards.total) > limit:
                taken |= _to_take(hazards, taken, utilities(), limit)
        if not taken:
            return more, replace(applied, passages=passages)
        more |= taken


def _to_take(
    hazards: Hazards, taken: Collection[int], utilities: Mapping[int, float], limit: float
) -> set[int]:
    """The links to take from one unit, besides those already ``taken`` in others."""
    marginals = {number: gain for number, gain in hazards.marginals.items() if gain > 0}
    hazard = hazards.total - sum(gain for number, gain in marginals.items() if number in taken)
    chosen = set[int]()
    for number in sorted(
        marginals.keys() & utilities.keys(), key=lambda n: (-_ratio(marginals[n], utilities[n]), n)
    ):
        if absolute_risk(hazard) <= limit:
            break
        if number not in taken:
            chosen.add(number)
            hazard -= marginals[number]
    return chosen


def _ratio(hazard: float, utility: float) -> float:
    return hazard / max(utility, _NO_UTILITY)
