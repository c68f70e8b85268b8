"""Policies that generalize a given share of all linked entities, so that comparisons are fair."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from eval.prepared import Prepared
from eval.studies.calibrate.marks import MARGIN
from ingest.deciding.baselines.per_mention import PerMention, each_alone
from ingest.deciding.policy import Policy
from ingest.documents import Action, Decision
from ingest.protocols import Method
from ingest.scoring.remembered import Remembered


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
    """The policy with the threshold at which hard rules and scores come closest to this share.

    The residual limit adds to it.
    """
    return replace(policy, tau=_threshold(ready, policy, share, lambda chosen: ready.by(chosen).method()))


def single_mentions(ready: Prepared, policy: Policy, share: float) -> Method:
    """Decide every mention separately, with the threshold that takes this share of linked entities."""
    alone = [each_alone(text) for text in ready.texts]
    system = ready.system
    engine = Remembered(system.engine, list(zip(alone, system.engine.measure(alone), strict=True)))

    def method(chosen: Policy) -> Method:
        return PerMention(replace(system, policy=chosen, engine=engine).method(), system.risk)

    return method(replace(policy, tau=_threshold(ready, policy, share, method)))


def _threshold(ready: Prepared, policy: Policy, share: float, method: Callable[[Policy], Method]) -> float:
    """Bisect the gaps between priorities: a lower threshold never takes less."""
    bare = replace(policy, residual_limit=1.0)
    none_taken = ready.decisions(method(replace(bare, tau=float("inf"))))
    measured = (each.scores.priority for of_text in none_taken for each in of_text if each.scores)
    places = _between({priority for priority in measured if priority is not None})

    def taken(place: int) -> float:
        return share_taken(ready.decisions(method(replace(bare, tau=places[place]))))

    enough = min(bisect_left(range(len(places)), share, key=taken), len(places) - 1)
    nearest = min((max(0, enough - 1), enough), key=lambda place: abs(taken(place) - share))
    return places[nearest]


def _between(priorities: set[float]) -> list[float]:
    """Thresholds above, between and below the priorities, falling."""
    falling = sorted(priorities, reverse=True) or [0.0]
    middles = [(high + low) / 2 for high, low in zip(falling, falling[1:], strict=False)]
    return [falling[0] + MARGIN, *middles, falling[-1] - MARGIN]
