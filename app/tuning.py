"""The search over TRIP-RAG's weights and thresholds on one corpus."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product

from app.bench.methods import GRID
from app.bench.shares import at_share
from app.compose import Services
from app.corpus import Corpus, Phases, detected, sensitive_in, untold
from app.provenance import provenance_of, reference_of
from app.scored import ScoredCorpus, scored_corpus
from app.tuning_measured import Candidate, Halved, Measuring
from eval.corpora.bench_corpus import BenchCorpus
from eval.measures.leakage import SensitiveIndex
from eval.trip_rag.tuning import Cell, CheckedCell, Half, TuningReport, halves, pareto_set
from ingest.documents import Decision
from ingest.policy import Policy
from ingest.scoring.raw import Weights
from models.errors import ConfigurationError, LetheError

SHARES = (0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True, slots=True)
class Search:
    """What is tried: weights of knowledge and of topic, each also 0, by shares of entities to generalize.

    The weight of privacy is the policy's. Weights are 0 or more; shares lie in (0, 1].
    """

    betas: Sequence[float] = GRID
    gammas: Sequence[float] = GRID
    shares: Sequence[float] = SHARES
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("betas", "gammas"):
            for value in getattr(self, name):
                if not 0 <= value < math.inf:
                    raise ConfigurationError(f"--{name} holds {value:g}: give weights of 0 or more.")
        for value in self.shares:
            if not 0 < value <= 1:
                raise ConfigurationError(f"--shares holds {value:g}: give shares above 0 and up to 1.")
        if not self.shares:
            raise ConfigurationError("--shares holds nothing: give one share above 0 and up to 1, or more.")

    def settings(self) -> list[tuple[float, float, float]]:
        """Beta, gamma and share of every cell, rising, each once."""
        betas, gammas = sorted({0.0, *self.betas}), sorted({0.0, *self.gammas})
        return list(product(betas, gammas, sorted(set(self.shares))))


def tune(services: Services, bench: BenchCorpus, search: Search, told: Phases = untold) -> TuningReport:
    """Score the corpus once, measure every cell that decides differently, and choose on half of it.

    Raises:
        LetheError: The corpus has too few questions or nothing sensitive in one half, or a document of it
            cannot be sanitized.
    """
    parts = halves(bench.documents, bench.questions, search.seed)
    _check_questions(bench, parts)
    corpus = Corpus(bench.documents, detected(services, bench.documents, told), bench.gold)
    sensitive = sensitive_in(corpus)
    _check_sensitive(sensitive, parts)
    scored = scored_corpus(services, corpus, told)
    current, candidates = _candidates(scored, parts[0], search, told)
    measuring = Measuring(services, scored, bench, sensitive, parts, search.seed)
    figures = measuring.all([current, *candidates], told)
    times = Counter(each.decisions for each in candidates)
    cells = [_cell(each, figures) for each in candidates]

    def checked(cell: Cell, others: int) -> CheckedCell:
        held_out = figures[cell.decisions][1]
        return CheckedCell(**dict(cell), held_out=held_out, alike=others)

    return TuningReport(
        corpus=bench.name,
        documents=len(bench.documents),
        questions=len(bench.questions),
        split=bench.split,
        sensitive_entities=len(sensitive),
        reference=reference_of(services, corpus),
        generator=measuring.generator.name,
        seed=search.seed,
        provenance=provenance_of(services, {"scale": scored.scale.source}),
        scale=scored.scale.percentiles,
        engine=scored.services.engine.name,
        measured=len(figures),
        current=checked(_cell(current, figures), times[current.decisions]),
        pareto=tuple(checked(cell, times[cell.decisions] - 1) for cell in pareto_set(cells)),
        cells=tuple(cells),
    )


def _check_questions(bench: BenchCorpus, parts: Sequence[Half]) -> None:
    if not bench.questions:
        raise LetheError(f"{bench.name} has no questions: more documents, or longer ones, would give some.")
    if not all(half.questions for half in parts):
        raise LetheError(
            f"All {len(bench.questions)} questions of {bench.name} are about one document, and choosing and "
            "checking take two: give more documents."
        )


def _check_sensitive(sensitive: SensitiveIndex, parts: Sequence[Half]) -> None:
    there = [len(sensitive.behind(half.documents)) for half in parts]
    if not all(there):
        raise LetheError(
            f"Nothing sensitive stands in one half of the documents ({there[0]} entities in the first, "
            f"{there[1]} in the second): give more documents, or another --seed."
        )


def _candidates(
    scored: ScoredCorpus, first: Half, search: Search, told: Phases
) -> tuple[Candidate, list[Candidate]]:
    """The policy in force, and one for each cell, whose threshold only the first half has a say in."""
    policy, settings = scored.services.policy, search.settings()
    own = [place for place, each in enumerate(scored.corpus.documents) if each.doc_id in first.documents]
    half, found = scored.only(own), []
    for number, (beta, gamma, share) in enumerate(settings):
        told("deciding", number, len(settings))
        weights = Weights(policy.weights.alpha, beta, gamma, policy.weights.marginal)
        chosen = at_share(half, replace(policy, weights=weights), share)
        found.append(Candidate(share, chosen, _decided(scored, chosen)))
    told("deciding", len(settings), len(settings))
    return Candidate(None, policy, _decided(scored, policy)), found


def _decided(scored: ScoredCorpus, policy: Policy) -> str:
    return digest_of(scored.decisions(scored.method(policy)))


def digest_of(decided: Sequence[Sequence[Decision]]) -> str:
    """A digest of what is done with every mention of every document; not of the reasons."""
    found = blake2b(digest_size=8)
    for decisions in decided:
        found.update(",".join(each.action for each in decisions).encode() + b"\n")
    return found.hexdigest()


def _cell(candidate: Candidate, figures: Mapping[str, Halved]) -> Cell:
    policy = candidate.policy
    return Cell(
        share=candidate.share,
        tau=policy.tau,
        beta=policy.weights.beta,
        gamma=policy.weights.gamma,
        decisions=candidate.decisions,
        chosen_on=figures[candidate.decisions][0],
    )
