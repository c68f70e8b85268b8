"""The tables and figures of TRIP-RAG on one corpus."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from app.bench.methods import (
    ABLATIONS,
    BUDGETS,
    GRID,
    ORIGIN,
    SHARES,
    TRIP,
    ablations,
    grid,
    methods,
    strengths,
)
from app.bench.options import Options
from app.bench.parts import Parts
from app.bench.planting import planted_figures
from app.bench.running import Running, ground_of
from app.calibrating import COUNTED, leak_curve
from app.compose import Services
from app.corpus import Corpus, Phases, detected, sensitive_in, untold
from app.provenance import commit_here, provenance_of, reference_of
from app.scored import ScoredCorpus, scored_corpus
from app.settings_report import settings_digest
from eval.calibration.halves import check_on_halves
from eval.corpora.bench_corpus import BenchCorpus
from eval.measures.answers import sacrebleu_signature
from eval.measures.leakage import SensitiveIndex
from eval.trip_rag.features import correlations, rank_correlation
from eval.trip_rag.frontier import Point, areas_of, dominated_by
from eval.trip_rag.report import (
    CorpusCard,
    Frontier,
    GridCell,
    MethodFigures,
    PromiseFigures,
    TripRagReport,
)
from ingest.documents import Scores
from ingest.protocols import Encoder
from models.errors import LetheError

PROMISED, CONFIDENCE = (0.05, 0.1, 0.2), 0.9
"""Leakages that are promised, and how sure it has to be."""
LETHE = frozenset((TRIP, "scores alone"))
"""Whose points are Lethe's curve: the default policy and the same scores without its rules."""


def trip_rag(
    services: Services,
    bench: BenchCorpus,
    options: Options,
    told: Phases = untold,
    *,
    further: Sequence[Encoder] = (),
    folder: Path | None = None,
) -> TripRagReport:
    """Measure every method on one corpus.

    ``further`` encoders only retrieve. What was measured is kept in ``folder`` part by part, and a run that
    was ended goes on there.

    Raises:
        LetheError: The corpus has no questions, or nothing sensitive; or the folder has parts of another run.
    """
    if not bench.questions:
        raise LetheError(f"{bench.name} has no questions: more documents, or longer ones, would give some.")
    parts = Parts(_run_digest(services, bench, options, further), folder)
    corpus = Corpus(bench.documents, detected(services, bench.documents, told), bench.gold)
    scored = scored_corpus(services, corpus, told)
    ground = ground_of(services, scored, bench, sensitive_in(corpus), further)
    compared, absent = methods(scored, ground.encoders[0], options.seed)
    running = Running(ground, options, parts, _planned(options, len(compared)), told)
    measured = [running.method(each) for each in compared]
    figures = [part.figures[0] for part in measured]
    kept = next(each.kept.share for each in figures if each.method == TRIP)
    share = 1 - (kept or 0.0)
    ablated = [running.variant("ablation", each) for each in ablations(scored, share)]
    swept: list[MethodFigures] = []
    cells: list[GridCell] = []
    if options.thorough:
        strong = strengths(scored, ground.encoders[0], options.seed)
        swept = [running.variant("strength", each) for each in strong]
        cells = [
            _cell(*weights, running.variant("grid", each)) for weights, each in grid(scored, share).items()
        ]
    return TripRagReport(
        corpus=_card(services, corpus, bench, ground.sensitive),
        provenance=provenance_of(services, {"scale": scored.scale.source}),
        seed=options.seed,
        generator=running.generator.name,
        sacrebleu_signature=sacrebleu_signature(),
        methods=tuple(figures),
        encoders=tuple(each for part in measured for each in part.figures[1:]),
        ablations=tuple(ablated),
        sweep=tuple(swept),
        frontier=frontier_of([*figures, *swept]),
        attacks=tuple(each for part in measured for each in part.attacks),
        guesses=tuple(each for part in measured for each in part.guesses),
        canaries=tuple(planted_figures(ground, options.seed, running.part, told) if options.thorough else ()),
        correlations=tuple(correlations(_scores(scored))),
        grid=tuple(cells),
        grid_spearman=_weights_against_recall(cells),
        promises=tuple(_promises(scored, options, told)),
        absent=absent,
        rows=tuple(row for part in measured for row in part.rows),
    )


def _planned(options: Options, compared: int) -> int:
    """How many parts a run has."""
    if not options.thorough:
        return compared + ABLATIONS
    return 2 * compared + ABLATIONS + 4 * len(SHARES) + len(BUDGETS) + len(GRID) ** 2


def _run_digest(services: Services, bench: BenchCorpus, options: Options, further: Sequence[Encoder]) -> str:
    """Differs where anything differs that the figures depend on."""
    found = blake2b(digest_size=16)
    model = services.settings.generator.model_dump(mode="json", exclude={"api_key"})
    encoders = [services.encoder.name, *(each.name for each in further)]
    made_with = (
        settings_digest(services.settings),
        model,
        encoders,
        options,
        commit_here(),
        version("lethe"),
    )
    found.update(repr(made_with).encode())
    for document in bench.documents:
        found.update(repr((document.doc_id, document.text)).encode())
    for question in bench.questions:
        found.update(repr((question.question_id, question.text, question.answer, question.about)).encode())
    return found.hexdigest()


def frontier_of(figures: Iterable[MethodFigures]) -> Frontier:
    """Leakage of identifiers against Recall@1 overlap: whose points lie where."""
    curves: dict[str, list[Point]] = {}
    for each in figures:
        recall = each.recall_overlap[1].mean
        if each.identifiers.share is not None and recall is not None:
            curves.setdefault(each.method, []).append((each.identifiers.share, recall))
    most = max((leakage for leakage, _ in curves.get(ORIGIN, [])), default=0.0)
    ours = [point for name in LETHE for point in curves.get(name, [])]
    theirs = [point for name, curve in curves.items() if name not in LETHE | {ORIGIN} for point in curve]
    areas = areas_of({name: curve for name, curve in curves.items() if name != ORIGIN}, most) if most else {}
    return Frontier(dominated=dominated_by(ours, theirs), points=len(theirs), areas=areas)


def _promises(scored: ScoredCorpus, options: Options, told: Phases) -> list[PromiseFigures]:
    """Whether thresholds that are promised on half of the documents hold on the other."""
    if not options.thorough or len(scored.texts) < 2:
        return []
    curve = leak_curve(scored, scored.services.policy, COUNTED["identifiers"], told)
    found = []
    for max_leak in PROMISED:
        check = check_on_halves(curve.taus, curve.losses, max_leak, CONFIDENCE, seed=options.seed)
        found.append(
            PromiseFigures(
                max_leak=max_leak,
                confidence=CONFIDENCE,
                documents=check.documents,
                splits=check.splits,
                promised=check.promised,
                violated=check.violated,
            )
        )
    return found


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


def _scores(scored: ScoredCorpus) -> list[Scores]:
    """Those of every linked entity."""
    found = []
    for decisions in scored.decisions(scored.method(scored.services.policy)):
        links = {each.entity.link: each.scores for each in decisions}
        found += [scores for scores in links.values() if scores is not None]
    return found


def _cell(beta: float, gamma: float, figures: MethodFigures) -> GridCell:
    return GridCell(
        beta=beta,
        gamma=gamma,
        recall_overlap={k: each.mean or 0.0 for k, each in figures.recall_overlap.items()},
        bleu1=figures.bleu1.mean or 0.0,
        rouge_l=figures.rouge_l.mean or 0.0,
        identifiers=figures.identifiers.share or 0.0,
    )


def _weights_against_recall(cells: Sequence[GridCell]) -> dict[str, float]:
    recall = [cell.recall_overlap[5] for cell in cells]
    found = {
        "beta": rank_correlation([cell.beta for cell in cells], recall),
        "gamma": rank_correlation([cell.gamma for cell in cells], recall),
    }
    return {name: rho for name, rho in found.items() if rho is not None}
