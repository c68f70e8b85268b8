"""Whether thresholds that are promised on half of the documents hold on the other half."""

from collections.abc import Sequence

from app.bench.methods import TRIP, scores_alone
from app.calibrating import COUNTED, LeakCurve, leak_curves
from app.corpus import Phases
from app.scored import ScoredCorpus
from eval.calibration.halves import check_on_halves
from eval.trip_rag.report import PromiseFigures

CONFIDENCE = 0.9
OF_IDENTIFIERS, OF_ALL = (0.05, 0.1, 0.2), (0.3, 0.5)
"""Leakages that are promised."""


def promises(scored: ScoredCorpus, seed: int, told: Phases) -> list[PromiseFigures]:
    """Of the default policy, and of its scores alone.

    The rules of the default take identifiers at every threshold, so that a promise about these tests next to
    nothing: what scores alone leak of them, and what is left of all sensitive entities, depends on it.
    """
    if len(scored.texts) < 2:
        return []
    default = scored.services.policy
    found: list[PromiseFigures] = []
    for name, policy in ((TRIP, default), ("scores alone", scores_alone(default))):
        identifiers, everything = leak_curves(scored, policy, [COUNTED["identifiers"], COUNTED["all"]], told)
        found += _checked(name, "identifiers", identifiers, OF_IDENTIFIERS, seed)
        found += _checked(name, "all", everything, OF_ALL, seed)
    return found


def _checked(
    policy: str, counted: str, curve: LeakCurve, limits: Sequence[float], seed: int
) -> list[PromiseFigures]:
    found: list[PromiseFigures] = []
    if len(curve.losses) < 2:
        return found
    for limit in limits:
        check = check_on_halves(curve.taus, curve.losses, limit, CONFIDENCE, seed=seed)
        figures = PromiseFigures(
            policy=policy,
            counted=counted,
            max_leak=limit,
            confidence=CONFIDENCE,
            documents=check.documents,
            splits=check.splits,
            promised=check.promised,
            violated=check.violated,
        )
        found.append(figures)
    return found
