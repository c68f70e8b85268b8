"""Whether thresholds promised on half of the documents hold on the held-out half."""

from collections.abc import Sequence

from eval.prepared import Prepared
from eval.progress import Progress
from eval.studies.calibrate.halves import check_on_halves
from eval.studies.calibrate.thresholds import COUNTED, LeakCurve, leak_curves
from eval.studies.compare.methods import scores_alone
from eval.studies.compare.report import PromiseFigures

CONFIDENCE = 0.9
OF_IDENTIFIERS, OF_ALL = (0.05, 0.1, 0.2), (0.3, 0.5)
"""The promised leakages."""


def promises(ready: Prepared, seed: int, progress: Progress) -> list[PromiseFigures]:
    """Promises of the default policy and of its scores alone.

    The rules of the default generalize identifiers at every threshold, so a promise about these is an easy
    test. Scores alone, and all sensitive entities, depend on the threshold.
    """
    if len(ready.texts) < 2:
        return []
    default = ready.system.policy
    found: list[PromiseFigures] = []
    for name, policy in (("trip", default), ("scores alone", scores_alone(default))):
        identifiers, everything = leak_curves(
            ready, policy, [COUNTED["identifiers"], COUNTED["all"]], progress
        )
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
