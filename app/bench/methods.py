"""Every method that the benchmark compares, made from the same scored corpus."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from app.bench.shares import at_share, share_taken, single_mentions
from app.scored import ScoredCorpus
from ingest.policy import Policy, PolicyName
from ingest.protocols import Encoder, Sanitizer
from ingest.sanitize import DecidingSanitizer, RewritingSanitizer
from ingest.sanitizers.controls import Control, Matched
from ingest.sanitizers.extract import Extract
from ingest.sanitizers.lprag import Lprag, Mode
from ingest.sanitizers.uniform import REDACT
from ingest.scoring.raw import Weights
from models.errors import LetheError

TRIP, ORIGIN, REDACTED = "trip", "origin", "redact"
RANDOM, MATCHED = "random", "random, frequency-matched"
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Strengths of what takes a share of all linked entities."""
BUDGETS = (0.5, 2.0, 10.0, 20.0, 50.0)
"""Strengths of lprag, per document."""
GRID = (0.2, 0.4, 0.5, 0.6, 0.8, 1.0)
"""TRIP-RAG's weights: 6 of beta by 6 of gamma, alpha being 1."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One method, or one strength of it, under the name that tables have for it."""

    name: str
    make: Callable[[], Sanitizer]
    strength: float | None = None


def methods(scored: ScoredCorpus, encoder: Encoder, seed: int) -> tuple[list[Compared], dict[str, str]]:
    """The methods at their defaults, and those that cannot run here with the reason."""
    services, policy = scored.services, scored.services.policy
    trip = scored.method(policy)

    def by_policy(name: PolicyName) -> Callable[[], Sanitizer]:
        return lambda: scored.sanitizer(scored.method(replace(policy, name=name)))

    found = [
        Compared(ORIGIN, by_policy("origin")),
        Compared(REDACTED, by_policy("redact")),
        Compared("suppress", by_policy("suppress")),
        Compared("entity-type", by_policy("entity-type")),
        Compared(TRIP, lambda: scored.sanitizer(trip)),
        Compared(RANDOM, lambda: scored.sanitizer(Control(trip, "number", seed))),
        Compared(MATCHED, lambda: scored.sanitizer(Control(trip, "frequency", seed))),
        Compared("lprag", lambda: scored.sanitizer(Lprag(encoder, "ldp", rng=Random(seed)))),
        Compared("lprag-compat", lambda: scored.sanitizer(Lprag(encoder, "compat", rng=Random(seed)))),
        Compared("extract", lambda: RewritingSanitizer(services.detector, Extract(encoder), services.risk)),
    ]
    absent: dict[str, str] = {}
    model = services.language_model
    if model is None:
        absent["paraphrase"] = "needs a language model: set generator.kind, or name a file with --gguf"
    else:
        from ingest.sanitizers.paraphrase import Paraphrase

        rewriter = Paraphrase(model)
        found.append(
            Compared("paraphrase", lambda: RewritingSanitizer(services.detector, rewriter, services.risk))
        )
    try:
        from ingest.sanitizers.presidio import presidio_detector

        detector = presidio_detector()
        found.append(Compared("presidio", lambda: DecidingSanitizer(detector, REDACT, services.risk)))
    except LetheError as error:
        absent["presidio"] = str(error)
    return found, absent


def ablations(scored: ScoredCorpus, share: float) -> list[Compared]:
    """TRIP-RAG's dimensions and our departures from it, one taken away at a time.

    Where the weights change, thresholds are moved so that the scores alone take ``share`` of the linked
    entities, hard rules and residual limit being off: otherwise a variant would win by taking more or less.
    """
    policy = scored.services.policy
    alone = scores_alone(policy)

    weights = policy.weights

    def weighted(name: str, changed: Weights) -> Compared:
        chosen = replace(alone, weights=changed)
        return Compared(name, lambda: scored.sanitizer(scored.method(at_share(scored, chosen, share))))

    def single() -> Sanitizer:
        return scored.sanitizer(single_mentions(scored, alone, share))

    def without(name: str, changed: Policy) -> Compared:
        return Compared(name, lambda: scored.sanitizer(scored.method(changed)))

    return [
        without("without residual limit", replace(policy, residual_limit=1.0)),
        without("without quasi limit", replace(policy, quasi_limit=1.0)),
        without("without either", replace(policy, quasi_limit=1.0, residual_limit=1.0)),
        weighted("scores alone", weights),
        weighted("privacy only", replace(weights, beta=0.0, gamma=0.0)),
        weighted("without topic", replace(weights, gamma=0.0)),
        weighted("without knowledge", replace(weights, beta=0.0)),
        weighted("difference of absolute risks", replace(weights, marginal="difference")),
        Compared("single mentions", single),
    ]


def scores_alone(policy: Policy) -> Policy:
    """The policy without the rules of ours that can be switched off: the paper's equation 7."""
    return replace(policy, direct_limit=1.0, quasi_limit=1.0, residual_limit=1.0)


def strengths(scored: ScoredCorpus, encoder: Encoder, seed: int) -> list[Compared]:
    """Every method that has a strength, over its range: the points of the frontier.

    The strength of what goes by priorities is the share of linked entities that hard rules and scores take;
    shares that the hard rules exceed are left out. That of lprag is its budget.
    """
    policy = scored.services.policy
    alone = scores_alone(policy)
    by_scores = {
        TRIP: policy,
        "scores alone": alone,
        "privacy only": replace(alone, weights=Weights(1.0, 0.0, 0.0, policy.weights.marginal)),
    }
    found = [
        Compared(name, partial(_decided, scored, chosen), share)
        for name, each in by_scores.items()
        for chosen, share in _at_shares(scored, each)
    ]
    for chosen, share in _at_shares(scored, alone):
        found.append(Compared(RANDOM, partial(_drawn, scored, chosen, "number", seed), share))
        found.append(Compared(MATCHED, partial(_drawn, scored, chosen, "frequency", seed), share))
    for budget in BUDGETS:
        found.append(Compared("lprag", partial(_lprag, scored, encoder, "ldp", budget, seed), budget))
        compat = partial(_lprag, scored, encoder, "compat", budget, seed)
        found.append(Compared("lprag-compat", compat, budget))
    return found


def _at_shares(scored: ScoredCorpus, policy: Policy) -> list[tuple[Policy, float]]:
    """Policies at the shares that they can take, with what they take, each once."""
    found: dict[float, Policy] = {}
    for share in SHARES:
        chosen = at_share(scored, policy, share)
        taken = share_taken(scored.decisions(scored.method(replace(chosen, residual_limit=1.0))))
        found.setdefault(round(taken, 3), chosen)
    return [(chosen, taken) for taken, chosen in found.items()]


def _decided(scored: ScoredCorpus, policy: Policy) -> Sanitizer:
    return scored.sanitizer(scored.method(policy))


def _drawn(scored: ScoredCorpus, policy: Policy, how: Matched, seed: int) -> Sanitizer:
    return scored.sanitizer(Control(scored.method(policy), how, seed))


def _lprag(scored: ScoredCorpus, encoder: Encoder, mode: Mode, budget: float, seed: int) -> Sanitizer:
    return scored.sanitizer(Lprag(encoder, mode, epsilon=budget, rng=Random(seed)))


def grid(scored: ScoredCorpus, share: float) -> Mapping[tuple[float, float], Compared]:
    """The paper's weights by beta and gamma, each with the threshold that takes the same share."""
    policy = scored.services.policy
    found = {}
    for beta in GRID:
        for gamma in GRID:
            weights = Weights(1.0, beta, gamma, policy.weights.marginal)
            chosen = replace(policy, weights=weights)
            make = partial(_at_share, scored, chosen, share)
            found[beta, gamma] = Compared(f"beta {beta:g}, gamma {gamma:g}", make)
    return found


def _at_share(scored: ScoredCorpus, policy: Policy, share: float) -> Sanitizer:
    return _decided(scored, at_share(scored, policy, share))
