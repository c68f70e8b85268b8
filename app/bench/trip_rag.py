"""The tables and figures of TRIP-RAG on one corpus."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.bench.methods import GRID, ablations, grid, methods, strengths
from app.bench.options import Options
from app.bench.parts import Part, Parts
from app.bench.planting import planted_figures
from app.bench.promises import promises
from app.bench.public_ids import under_public_ids
from app.bench.run_digest import run_digest
from app.bench.running import Running, ground_of
from app.bench.shares import share_taken
from app.compose import Services
from app.corpus import Corpus, Phases, detected, sensitive_in, untold
from app.provenance import commit_here, provenance_of, reference_of
from app.scored import ScoredCorpus, scored_corpus
from eval.corpora.bench_corpus import BenchCorpus
from eval.measures.answers import sacrebleu_signature
from eval.measures.leakage import SensitiveIndex
from eval.trip_rag.comparing import ABLATION, STRENGTH, WEIGHTED, with_comparisons
from eval.trip_rag.features import correlations, rank_correlation
from eval.trip_rag.files import write_attempts
from eval.trip_rag.report import CorpusCard, GridCell, TripRagReport
from ingest.documents import Scores
from ingest.protocols import Encoder
from models.errors import ConfigurationError, LetheError


def trip_rag(
    services: Services,
    bench: BenchCorpus,
    options: Options,
    told: Phases = untold,
    *,
    further: Sequence[Encoder] = (),
    folder: Path | None = None,
) -> TripRagReport:
    """Measure every method on one corpus, which is told of under public ids.

    ``further`` encoders only retrieve. What was measured is kept in ``folder`` part by part, and a run that
    was ended goes on there; ``attacks.jsonl`` there has a line for each prompt of each attack in the end.

    Raises:
        ConfigurationError: Two encoders have one name.
        LetheError: The corpus has no questions, or nothing sensitive; or the folder has parts of another run
            or those of a process that is under way.
    """
    if not bench.questions:
        raise LetheError(f"{bench.name} has no questions: more documents, or longer ones, would give some.")
    names = _distinct([services.encoder.name, *(each.name for each in further)])
    commit, public = commit_here(), under_public_ids(services, bench)
    with Parts(run_digest(services, public, options, names), folder) as parts:
        report = _report(services, public, options, told, further, parts, commit)
        if folder is not None:
            write_attempts(parts.attempts(), folder)
    return report


def _distinct(encoders: Sequence[str]) -> Sequence[str]:
    """The names, if they tell the encoders apart."""
    twice = [name for name, times in Counter(encoders).items() if times > 1]
    if twice:
        raise ConfigurationError(
            f"Two encoders are named {twice[0]}, and figures are told apart by that name: name each in "
            "--encoders once and the one of the settings not at all, or give one of two folders another name."
        )
    return encoders


def _report(
    services: Services,
    bench: BenchCorpus,
    options: Options,
    told: Phases,
    further: Sequence[Encoder],
    parts: Parts,
    commit: str | None,
) -> TripRagReport:
    corpus = Corpus(bench.documents, detected(services, bench.documents, told), bench.gold)
    scored = scored_corpus(services, corpus, told)
    ground = ground_of(services, scored, bench, sensitive_in(corpus), further)
    compared, absent = methods(scored, ground.encoders[0], options.seed)
    strong = strengths(scored, ground.encoders[0], options.seed) if options.thorough else []
    share = share_taken(scored.decisions(scored.method(services.policy)))
    variants = ablations(scored, share)
    planned = len(compared) + len(variants)
    if options.thorough:
        planned += len(compared) + len(strong) + len(GRID) ** 2
    running = Running(ground, options, parts, planned, told)
    measured = [running.method(each) for each in compared]
    ablated = [running.variant(ABLATION, each) for each in variants]
    swept: list[Part] = []
    weighted: dict[tuple[float, float], Part] = {}
    if options.thorough:
        swept = [running.variant(STRENGTH, each) for each in strong]
        bare = scored.method(replace(services.policy, residual_limit=1.0))
        by_scores = share_taken(scored.decisions(bare))
        pairs = grid(scored, by_scores).items()
        weighted = {weights: running.variant(WEIGHTED, each) for weights, each in pairs}
    cells = [
        GridCell(beta=beta, gamma=gamma, figures=part.figures[0]) for (beta, gamma), part in weighted.items()
    ]
    report = TripRagReport(
        corpus=_card(services, corpus, bench, ground.sensitive),
        provenance=provenance_of(services, {"scale": scored.scale.source}, commit),
        seed=options.seed,
        generator=running.generator.name,
        sacrebleu_signature=sacrebleu_signature(),
        methods=tuple(part.figures[0] for part in measured),
        encoders=tuple(each for part in measured for each in part.figures[1:]),
        ablations=tuple(part.figures[0] for part in ablated),
        sweep=tuple(part.figures[0] for part in swept),
        attacks=tuple(each for part in measured for each in part.attacks),
        guesses=tuple(each for part in measured for each in part.guesses),
        canaries=tuple(planted_figures(ground, options.seed, running.part, told) if options.thorough else ()),
        correlations=tuple(correlations(_scores(scored))),
        grid=tuple(cells),
        grid_spearman=_weights_against_recall(cells),
        promises=tuple(promises(scored, options.seed, told) if options.thorough else ()),
        absent=absent,
        rows=tuple(row for part in (*measured, *ablated, *swept, *weighted.values()) for row in part.rows),
    )
    return with_comparisons(report)


def _card(services: Services, corpus: Corpus, bench: BenchCorpus, sensitive: SensitiveIndex) -> CorpusCard:
    return CorpusCard(
        name=bench.name,
        documents=len(bench.documents),
        characters=sum(len(document.text) for document in bench.documents),
        questions=len(bench.questions),
        split=bench.split,
        source=bench.source,
        license=bench.license,
        reference=reference_of(services, corpus),
        sensitive_entities=len(sensitive),
    )


def _scores(scored: ScoredCorpus) -> list[list[Scores]]:
    """Those of every linked entity, by document."""
    found = []
    for decisions in scored.decisions(scored.method(scored.services.policy)):
        links = {each.entity.link: each.scores for each in decisions}
        found.append([scores for scores in links.values() if scores is not None])
    return found


def _weights_against_recall(cells: Sequence[GridCell]) -> dict[str, float]:
    measured = [(cell, cell.figures.recall_overlap[5].mean) for cell in cells]
    recalls = [recall for _, recall in measured if recall is not None]
    there = [cell for cell, recall in measured if recall is not None]
    found = {
        "beta": rank_correlation([cell.beta for cell in there], recalls),
        "gamma": rank_correlation([cell.gamma for cell in there], recalls),
    }
    return {name: rho for name, rho in found.items() if rho is not None}
