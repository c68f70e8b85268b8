"""Policies that take a given share of all linked entities, so that what is compared takes as much."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.scored import ScoredCorpus
from eval.calibration.marks import MARGIN
from ingest.documents import Action, Decision
from ingest.policy import Policy
from ingest.sanitize import Method
from ingest.sanitizers.per_mention import PerMention, each_alone
from ingest.scoring.remembered import Remembered


def share_taken(decided: Iterable[Sequence[Decision]]) -> float:
    """Of the linked entities of all documents, the share of which no mention is kept."""
    taken = total = 0
    for decisions in decided:
        gone: dict[int, bool] = {}
        for each in decisions:
            gone[each.entity.link] = gone.get(each.entity.link, True) and each.action is not Action.KEEP
        taken += sum(gone.values())
        total += len(gone)
    return taken / max(1, total)


def at_share(scored: ScoredCorpus, policy: Policy, share: float) -> Policy:
    """The policy with the threshold at which hard rules and scores take this share, as near as can be.

    What the residual limit takes comes on top of it.
    """
    return replace(policy, tau=_threshold(scored, policy, share, scored.method))


def single_mentions(scored: ScoredCorpus, policy: Policy, share: float) -> Method:
    """Every mention decided for itself, with the threshold that takes this share of linked entities."""
    services = scored.services
    alone = [each_alone(text) for text in scored.texts]
    engine = Remembered(services.engine, list(zip(alone, services.engine.measure(alone), strict=True)))

    def method(chosen: Policy) -> Method:
        return PerMention(services.method(chosen, scored.scale, engine), services.risk)

    return method(replace(policy, tau=_threshold(scored, policy, share, method)))


def _threshold(
    scored: ScoredCorpus, policy: Policy, share: float, method: Callable[[Policy], Method]
) -> float:
    """Searched for among the places between priorities: a lower threshold never takes less."""
    bare = replace(policy, residual_limit=1.0)
    none_taken = scored.decisions(method(replace(bare, tau=float("inf"))))
    places = _between({each.scores.priority for of_text in none_taken for each in of_text if each.scores})

    def taken(place: int) -> float:
        return share_taken(scored.decisions(method(replace(bare, tau=places[place]))))

    enough = min(bisect_left(range(len(places)), share, key=taken), len(places) - 1)
    nearest = min((max(0, enough - 1), enough), key=lambda place: abs(taken(place) - share))
    return places[nearest]


def _between(priorities: set[float]) -> list[float]:
    """Above, between and below priorities, falling."""
    falling = sorted(priorities, reverse=True) or [0.0]
    middles = [(high + low) / 2 for high, low in zip(falling, falling[1:], strict=False)]
    return [falling[0] + MARGIN, *middles, falling[-1] - MARGIN]
