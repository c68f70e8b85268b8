"""Every method that the benchmark compares, as a variant of one system."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from math import inf
from random import Random

from eval.prepared import Prepared
from eval.studies.calibrate import MARGIN
from ingest.deciding.baselines.controls import Control, Matched
from ingest.deciding.baselines.extract import Extract
from ingest.deciding.baselines.lprag import Lprag, Mode
from ingest.deciding.baselines.per_mention import PerMention
from ingest.deciding.baselines.uniform import REDACT
from ingest.deciding.baselines.within_rules import (
    LOWEST_WITHIN,
    RANDOM_WITHIN,
    RULES_ALONE,
    Named,
    WithinRules,
    rules_alone,
)
from ingest.deciding.policy import Policy, PolicyName
from ingest.documents import Action, Decision
from ingest.protocols import Encoder, Method
from ingest.sanitize import DecidingSanitizer, Rewriter
from ingest.scoring.scale import Weights
from models.errors import LetheError
from retrieval.system import System

TRIP: PolicyName = "trip"
LETHE: PolicyName = "lethe"
ORIGIN: PolicyName = "origin"
REDACTED: PolicyName = "redact"
RANDOM, MATCHED = "random", "random, frequency-matched"
"""Among all entities, beside scores alone: a method with hard rules would win by these."""
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Strengths of methods that generalize a share of linked entities."""
BUDGETS = (0.5, 2.0, 10.0, 20.0, 50.0)
"""Strengths of lprag, per document."""
GRID = (0.2, 0.4, 0.5, 0.6, 0.8, 1.0)
"""TRIP-RAG's weights: 6 of beta by 6 of gamma, alpha being 1."""


@dataclass(frozen=True, slots=True)
class ComparedMethod:
    """One method, or one strength of it, under its name in tables."""

    name: str
    system: System
    strength: float | None = None


def methods(
    ready: Prepared, encoder: Encoder, seed: int, dp_barts: Sequence[Rewriter] = ()
) -> tuple[list[ComparedMethod], dict[str, str]]:
    """The methods at their defaults, and those that cannot run here with the reason.

    The controls use the rules, scores and words of the system's own policy, trip or lethe. ``dp_barts`` are
    DP-BART at some budgets.
    """
    system = ready.system
    trip = system.method()

    def rules() -> Method:
        return Named(ready.by(rules_alone(system.policy)).method(), RULES_ALONE)

    def by_policy(name: PolicyName) -> ComparedMethod:
        return ComparedMethod(name, ready.by(replace(system.policy, name=name)))

    def by_method(name: str, method: Callable[[], Method]) -> ComparedMethod:
        return ComparedMethod(name, ready.carrying_out(method))

    found = [
        by_policy(ORIGIN),
        by_policy(REDACTED),
        by_policy("suppress"),
        by_policy("entity-type"),
        ComparedMethod(system.policy.name, system),
        by_policy(LETHE if system.policy.name == TRIP else TRIP),
        by_method(RULES_ALONE, rules),
        by_method(RANDOM_WITHIN, lambda: WithinRules(trip, rules(), "random", seed)),
        by_method(LOWEST_WITHIN, lambda: WithinRules(trip, rules(), "lowest divergence")),
        by_method("lprag", lambda: Lprag(encoder, "ldp", rng=Random(seed))),
        by_method("lprag-compat", lambda: Lprag(encoder, "compat", rng=Random(seed))),
        ComparedMethod("extract", ready.rewriting(Extract(encoder))),
        *(ComparedMethod(each.name, ready.rewriting(each)) for each in dp_barts),
    ]
    absent: dict[str, str] = {}
    if not dp_barts:
        absent["dp-bart"] = "needs a BART: name its folder with --dp-bart"
    if system.language_model is None:
        absent["paraphrase"] = "needs a language model: set generator.kind, or name a file with --gguf"
    else:
        from ingest.deciding.baselines.paraphrase import Paraphrase

        found.append(ComparedMethod("paraphrase", ready.rewriting(Paraphrase(system.language_model))))
    try:
        from ingest.detection.presidio import presidio_detector

        stock = presidio_detector()
        presidio = replace(
            system, sanitizing=lambda each: DecidingSanitizer(stock, REDACT, each.risk), detector=stock
        )
        found.append(ComparedMethod("presidio", presidio))
    except LetheError as error:
        absent["presidio"] = str(error)
    return found, absent


def ablations(ready: Prepared, share: float) -> list[ComparedMethod]:
    """TRIP-RAG's dimensions and our additions, one removed at a time.

    Variants with other weights get a threshold at which the scores alone take ``share`` of the linked
    entities, without hard rules: otherwise a variant would win by taking more or less.
    """
    policy = ready.system.policy
    alone, weights = scores_alone(policy), policy.weights

    def weighted(name: str, changed: Weights) -> ComparedMethod:
        return ComparedMethod(name, _at_share(ready, replace(alone, weights=changed), share))

    return [
        ComparedMethod("without direct limit", ready.by(alone)),
        weighted("scores alone", weights),
        weighted("privacy only", replace(weights, beta=0.0, gamma=0.0)),
        weighted("without topic", replace(weights, gamma=0.0)),
        weighted("without knowledge", replace(weights, beta=0.0)),
        weighted("difference of absolute risks", replace(weights, marginal="difference")),
        ComparedMethod("single mentions", ready.carrying_out(lambda: single_mentions(ready, alone, share))),
    ]


def scores_alone(policy: Policy) -> Policy:
    """TRIP-RAG without the rule of ours that can be switched off: the paper's equation 7."""
    return replace(policy, name=TRIP, direct_limit=1.0)


def strengths(ready: Prepared, encoder: Encoder, seed: int) -> list[ComparedMethod]:
    """Every method with a strength, over its range: the points of the frontier.

    The strength of priority-based methods is the share of linked entities that hard rules and scores take;
    shares that the hard rules exceed are left out. That of lprag is its budget.
    """
    policy = ready.system.policy
    alone = scores_alone(policy)
    by_scores = {
        TRIP: replace(policy, name=TRIP),
        LETHE: replace(policy, name=LETHE),
        "scores alone": alone,
        "privacy only": replace(alone, weights=Weights(1.0, 0.0, 0.0, policy.weights.marginal)),
    }
    found = [
        ComparedMethod(name, ready.by(chosen), share)
        for name, each in by_scores.items()
        for chosen, share in _at_shares(ready, each)
    ]

    def drawn(chosen: Policy, how: Matched) -> Method:
        return Control(ready.by(chosen).method(), how, seed)

    def lprag(budget: float, mode: Mode) -> Method:
        return Lprag(encoder, mode, epsilon=budget, rng=Random(seed))

    for chosen, share in _at_shares(ready, alone):
        found.append(ComparedMethod(RANDOM, ready.carrying_out(partial(drawn, chosen, "number")), share))
        found.append(ComparedMethod(MATCHED, ready.carrying_out(partial(drawn, chosen, "frequency")), share))
    for budget in BUDGETS:
        found.append(ComparedMethod("lprag", ready.carrying_out(partial(lprag, budget, "ldp")), budget))
        found.append(
            ComparedMethod("lprag-compat", ready.carrying_out(partial(lprag, budget, "compat")), budget)
        )
    return found


def _at_shares(ready: Prepared, policy: Policy) -> list[tuple[Policy, float]]:
    """Policies at the feasible shares, with the shares taken, each once."""
    found: dict[float, Policy] = {}
    for share in SHARES:
        chosen = at_share(ready, policy, share)
        found.setdefault(round(share_taken(ready.decisions(ready.by(chosen).method())), 3), chosen)
    return [(chosen, taken) for taken, chosen in found.items()]


def grid(ready: Prepared, share: float) -> Mapping[tuple[float, float], ComparedMethod]:
    """The paper's weights by beta and gamma, each with the threshold that takes the same share.

    Without hard rules, as these would decide most, whatever the weights are.
    """
    policy = scores_alone(ready.system.policy)
    found = {}
    for beta, gamma in product(GRID, GRID):
        weights = Weights(1.0, beta, gamma, policy.weights.marginal)
        system = _at_share(ready, replace(policy, weights=weights), share)
        found[beta, gamma] = ComparedMethod(f"beta {beta:g}, gamma {gamma:g}", system)
    return found


def _at_share(ready: Prepared, policy: Policy, share: float) -> System:
    """A system whose threshold is searched for on first use."""
    return ready.carrying_out(lambda: ready.by(at_share(ready, policy, share)).method())


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

    def method(chosen: Policy) -> Method:
        return PerMention(ready.by(chosen).method(), ready.system.risk)

    return method(policy.at(_threshold(ready, policy, share, method)))


def _threshold(ready: Prepared, policy: Policy, share: float, method: Callable[[Policy], Method]) -> float:
    """Bisect the gaps between priorities: a lower threshold never takes less."""
    none_taken = ready.decisions(method(policy.at(inf)))
    measured = (each.scores.priority for of_text in none_taken for each in of_text if each.scores)
    falling = sorted({priority for priority in measured if priority is not None}, reverse=True) or [0.0]
    middles = [(high + low) / 2 for high, low in pairwise(falling)]
    places = [falling[0] + MARGIN, *middles, falling[-1] - MARGIN]

    def taken(place: int) -> float:
        return share_taken(ready.decisions(method(policy.at(places[place]))))

    enough = min(bisect_left(range(len(places)), share, key=taken), len(places) - 1)
    nearest = min((max(0, enough - 1), enough), key=lambda place: abs(taken(place) - share))
    return places[nearest]
