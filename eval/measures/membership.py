"""How well a score tells members of an index from documents outside it, folded from rows.

A score is judged by its order alone: what is at least a threshold is called a member. Equal scores fall
together, so no threshold lies between them, and the area under the curve counts a tie as half.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eval.measures.uncertainty import RESAMPLES, Drawn, Estimate, Floats, bootstrap, holding, wilson
from eval.rows import Row

MEMBER, HELD_OUT = "member", "held out"
"""The kinds of the rows."""
LIMITS = (0.01, 0.05, 0.1)
"""The rates of false positives at which the rate of true positives is read."""
CHANCE_AUC = 0.5
DIGITS = 9
"""Scores are rounded to these: the order of a sum decides between no equals."""
_PERMUTATIONS = 2_000


@dataclass(frozen=True, slots=True)
class MembershipFigures:
    """The figures of one score, with what a score that knows nothing gets.

    ``tpr`` has the rate of true positives by the highest rate of false ones that is allowed. ``accuracy`` is
    at the best threshold, which is chosen with the labels in sight: no attacker has it. ``chance_tpr`` and
    ``chance_accuracy`` are means over random labels; of the area it is 0.5. ``failed`` rows are not measured.
    """

    score: str
    members: int
    others: int
    auc: Estimate
    tpr: Mapping[float, Estimate]
    accuracy: Estimate
    chance_tpr: Mapping[float, float]
    chance_accuracy: float | None
    failed: int


def membership(rows: Iterable[Row], score: str, seed: int = 0) -> MembershipFigures:
    """The figures of a score; none if no member or no other document has it."""
    given = list(rows)
    scored = [(row.figures[score], row.kind == MEMBER) for row in given if score in row.figures]
    failed = sum(not row.measured for row in given)
    return figures_of(
        score,
        [value for value, member in scored if member],
        [v for v, member in scored if not member],
        failed,
        seed,
    )


def figures_of(
    score: str, members: Sequence[float], others: Sequence[float], failed: int = 0, seed: int = 0
) -> MembershipFigures:
    """The figures, given the scores of both groups, with bootstrap intervals over candidates."""
    sizes = len(members), len(others)
    if not all(sizes):
        nothing = dict.fromkeys(LIMITS, Estimate())
        return MembershipFigures(score, *sizes, Estimate(), nothing, Estimate(), {}, None, failed)
    # Sorted, so that intervals do not depend on the order of the rows.
    values = np.round(np.array([*sorted(members), *sorted(others)], dtype=np.float64), DIGITS)
    distinct, levels = np.unique(values, return_inverse=True)
    inside = np.arange(len(values)) < sizes[0]

    def measured(drawn: Drawn, is_member: NDArray[np.bool_]) -> Floats:
        counts = [_counts(levels[drawn], chosen, len(distinct)) for chosen in (is_member, ~is_member)]
        return _measures(*counts)

    own = np.arange(len(values))[None, :]
    value = measured(own, inside[own])[0]
    cells = 4 * len(distinct) + len(values)
    redraws = bootstrap(lambda drawn: measured(drawn, inside[drawn]), len(values), seed, RESAMPLES, cells)

    rng = np.random.default_rng(seed)

    def permuted(drawn: Drawn) -> Floats:
        labels = rng.permuted(np.broadcast_to(inside, drawn.shape), axis=1)
        return measured(np.broadcast_to(own, drawn.shape), labels)

    chance = bootstrap(permuted, len(values), seed, _PERMUTATIONS, cells).mean(axis=0).tolist()
    trials = [min(sizes), *[sizes[0]] * len(LIMITS), len(values)]
    auc, *rates, accuracy = (
        _estimate(float(value[place]), redraws[:, place], n) for place, n in enumerate(trials)
    )
    return MembershipFigures(
        score,
        *sizes,
        auc,
        dict(zip(LIMITS, rates, strict=True)),
        accuracy,
        dict(zip(LIMITS, chance[1:-1], strict=True)),
        chance[-1],
        failed,
    )


def _estimate(value: float, redraws: Floats, trials: int) -> Estimate:
    """With the bootstrap interval; with Wilson's where no resample varies, as if ``value`` were a share."""
    found = holding(value, redraws)
    if found.interval is None:
        low, high = wilson(value * trials, trials)
        found = replace(found, low=min(low, value), high=max(high, value))
    return replace(found, n=trials)


def _counts(levels: NDArray[np.int64], chosen: NDArray[np.bool_], n: int) -> Floats:
    """How many of the chosen have each level, one row per resample."""
    rows = np.repeat(np.arange(len(levels)), chosen.sum(axis=1))
    flat = np.bincount(rows * n + levels[chosen], minlength=len(levels) * n)
    counts: Floats = flat.reshape(len(levels), n).astype(np.float64)
    return counts


def _measures(members: Floats, others: Floats) -> Floats:
    """Area, rates of true positives and best accuracy, one row per resample; NaN without both groups.

    Columns of the counts are levels of the score, lowest first.
    """
    m, n = members.sum(axis=1), others.sum(axis=1)
    below = others.cumsum(axis=1) - others
    # Called members from each threshold up, and none at all.
    none = np.zeros((len(m), 1))
    true = np.concatenate([members[:, ::-1].cumsum(axis=1)[:, ::-1], none], axis=1)
    false = np.concatenate([others[:, ::-1].cumsum(axis=1)[:, ::-1], none], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = (members * (below + others / 2)).sum(axis=1) / (m * n)
        rates = [
            np.where(false <= limit * n[:, None] + 1e-9, true, 0).max(axis=1) / m + 0 * n / n
            for limit in LIMITS
        ]
        accuracy = (true + n[:, None] - false).max(axis=1) / (m + n) + 0 * (m * n) / (m * n)
    return np.stack([auc, *rates, accuracy], axis=1)
