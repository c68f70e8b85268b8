"""Policies that generalize a given share of all linked entities, so that comparisons are fair."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from math import inf

from eval.prepared import Prepared
from eval.studies.calibrate.marks import MARGIN
from ingest.deciding.baselines.per_mention import PerMention
from ingest.deciding.policy import Policy
from ingest.documents import Action, Decision
from ingest.protocols import Method


def share_taken(decided: Iterable[Sequence[Decision]]) -> float:
    """The share of linked entities without a kept mention."""
    taken = total = 0
    for decisions in decided:
        gone: dict[int, bool] = {}
        for each in decisions:
            gone[each.entity.link] = gone.get(each.entity.link, True) and each.action is not Action.KEEP
        taken += sum(gone.values())
        total += len(gone)
    return taken / max(1, total)


def at_share(ready: Prepared, policy: Policy, share: float) -> Policy:
    """The policy with the threshold at which hard rules and scores come closest to this share."""
    return policy.at(_threshold(ready, policy, share, lambda chosen: ready.by(chosen).method()))


def single_mentions(ready: Prepared, policy: Policy, share: float) -> Method:
    """Decide every mention separately, with the threshold that takes this share of linked entities."""
    system = ready.system

    def method(chosen: Policy) -> Method:
        return PerMention(ready.by(chosen).method(), system.risk)

    return method(policy.at(_threshold(ready, policy, share, method)))


def _threshold(ready: Prepared, policy: Policy, share: float, method: Callable[[Policy], Method]) -> float:
    """Bisect the gaps between priorities: a lower threshold never takes less."""
    none_taken = ready.decisions(method(policy.at(inf)))
    measured = (each.scores.priority for of_text in none_taken for each in of_text if each.scores)
    places = _between({priority for priority in measured if priority is not None})

    def taken(place: int) -> float:
        return share_taken(ready.decisions(method(policy.at(places[place]))))

    enough = min(bisect_left(range(len(places)), share, key=taken), len(places) - 1)
    nearest = min((max(0, enough - 1), enough), key=lambda place: abs(taken(place) - share))
    return places[nearest]


def _between(priorities: set[float]) -> list[float]:
    """Thresholds above, between and below the priorities, falling."""
    falling = sorted(priorities, reverse=True) or [0.0]
    middles = [(high + low) / 2 for high, low in zip(falling, falling[1:], strict=False)]
    return [falling[0] + MARGIN, *middles, falling[-1] - MARGIN]
