"""Rows of the comparison folded into table rows."""

from collections.abc import Callable, Mapping, Sequence

from eval.attacks.extraction import Aim
from eval.documents import EntityRef
from eval.measures.agreement import estimated, spearman, value_of
from eval.measures.leakage import entity_leakage, is_identifier
from eval.measures.overlap import RecallOverlap, recall_at_k_overlap
from eval.measures.uncertainty import Estimate, clustered_share, mean_of, share_of
from eval.prepared import Prepared
from eval.progress import Progress
from eval.rows import Row
from eval.studies.calibrate.thresholds import COUNTED, LeakCurve, check_on_halves, leak_curves
from eval.studies.compare.methods import scores_alone
from eval.studies.compare.report import (
    AttackFigures,
    Correlation,
    GuessFigures,
    MethodFigures,
    PromiseFigures,
)
from eval.studies.extraction.study import summarize
from eval.tasks import guesses as guessed
from eval.tasks.attack import AttackTask
from eval.tasks.index import KEPT, MENTIONS
from eval.tasks.questions import DEPTHS, FACTS, RANK
from ingest.documents import Scores

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


PAIRS = (("P", "K"), ("P", "D"), ("K", "D"))


def correlations(documents: Sequence[Sequence[Scores]]) -> list[Correlation]:
    """The three pairs of P, K and D, in the paper's order; none where rho is not defined.

    Scores are given per linked entity, by document. Intervals bootstrap documents.
    """
    found = []
    for one, other in PAIRS:
        rows = [(_column(one, own), _column(other, own)) for own in documents]
        rho = estimated(spearman, rows)
        if rho.value is not None:
            n = sum(map(len, documents))
            found.append(Correlation(one=one, other=other, rho=rho, n=n))
    return found


def _column(letter: str, scores: Sequence[Scores]) -> list[float]:
    if letter == "P":
        return [each.marginal_privacy_risk for each in scores]
    if letter == "K":
        return [each.knowledge_divergence for each in scores if each.knowledge_divergence is not None]
    return [1 - each.topical_relevance for each in scores if each.topical_relevance is not None]


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rho; None if one side is constant or there are fewer than two pairs."""
    return value_of(spearman, [(one, other)]) if len(one) > 1 else None


AIMS: Mapping[str, Sequence[Aim]] = {
    "mts_dialog": (Aim.HEALTH, Aim.UNTARGETED),
    "aci_bench": (Aim.HEALTH, Aim.UNTARGETED),
    "healthcaremagic": (Aim.HEALTH, Aim.UNTARGETED),
    "enronqa": (Aim.OFFICE, Aim.UNTARGETED),
    "aeslc": (Aim.OFFICE, Aim.UNTARGETED),
    "ewt_email": (Aim.OFFICE, Aim.UNTARGETED),
    "tab": (Aim.LEGAL, Aim.UNTARGETED),
}
"""The aims of the prompts by corpus; all four for corpora of unknown topics."""


def aims_of(corpus: str) -> Sequence[Aim]:
    """The aims of the extraction attack on a corpus."""
    return AIMS.get(corpus, tuple(Aim))


def method_figures(
    method: str,
    encoder: str,
    asked: Sequence[Row],
    index: Sequence[Row],
    original: Sequence[Row],
    about: frozenset[str],
    seed: int,
    strength: float | None = None,
) -> MethodFigures:
    """The usefulness and disclosure of one method's index.

    ``asked`` are its rows of questions and ``original`` those of the unsanitized system with the same
    encoder; ``about`` are the questions that are about a document.
    """
    known = [row for row in asked if row.case in about]
    sanitized = [row for row in index if row.measured]
    kept, mentions = (int(sum(row.figures[name] for row in sanitized)) for name in (KEPT, MENTIONS))
    return MethodFigures(
        method=method,
        encoder=encoder,
        strength=strength,
        recall_overlap={k: overlap_of(asked, original, k, seed).estimate for k in DEPTHS},
        found={k: share_of(sum(0 < row.figures[RANK] <= k for row in known), len(known)) for k in DEPTHS},
        bleu1=mean_of([row.figures["BLEU-1"] for row in asked], seed),
        sacrebleu=mean_of([row.figures["sacreBLEU"] for row in asked], seed),
        rouge_l=mean_of([row.figures["ROUGE-L"] for row in asked], seed),
        facts=mean_of([row.figures[FACTS] for row in asked if FACTS in row.figures], seed),
        disclosed=disclosed(sanitized, lambda entity: True, seed),
        identifiers=disclosed(sanitized, is_identifier, seed),
        kept=share_of(kept, mentions),
        documents_failed=len(index) - len(sanitized),
        entities_failed=sum(len(row.present) for row in index if not row.measured),
    )


def overlap_of(rows: Sequence[Row], original: Sequence[Row], k: int, seed: int = 0) -> RecallOverlap:
    """Recall@k overlap of rows with those of the same questions to the unsanitized system."""
    return recall_at_k_overlap([row.doc_ids for row in original], [row.doc_ids for row in rows], k, seed)


def disclosed(index: Sequence[Row], counted: Callable[[EntityRef], bool], seed: int) -> Estimate:
    """The share of counted entities that remain in the sanitized text of their own document."""
    hits = [sum(counted(leak.entity) for leak in row.leaked) for row in index]
    totals = [sum(map(counted, row.present)) for row in index]
    return clustered_share(hits, totals, seed)


def attack_figures(method: str, task: AttackTask, rows: Sequence[Row]) -> AttackFigures:
    """One attack on one method."""
    seed = task.attack.seed
    found = summarize(method, rows, seed, len(task.sensitive), {})
    return AttackFigures(
        method=method,
        attack=task.attack.name,
        generator=task.generator.name,
        k=task.k,
        prompts=found.completed,
        failed=found.not_measured,
        all_entities=found.entity_leakage,
        identifiers=entity_leakage(rows, seed, is_identifier),
        prompts_leaking=found.query_leakage,
        repeat_prompts=found.repeat_prompts,
        repeat_passages=found.repeat_passages,
        rouge_recall_prompts=found.rouge_recall_prompts,
        rouge_f_prompts=found.rouge_f_prompts,
    )


def guess_figures(method: str, rows: Sequence[Row], seed: int) -> GuessFigures:
    """Entity inference and reconstruction against one method."""
    those = [row for row in rows if row.measured]
    with_slots = [row for row in those if row.figures[guessed.SLOTS]]
    slots = [int(row.figures[guessed.SLOTS]) for row in with_slots]

    def share(name: str) -> Estimate:
        return clustered_share([int(row.figures[name]) for row in with_slots], slots, seed)

    def of_entities(name: str) -> Estimate:
        totals = [int(row.figures[guessed.SENSITIVE]) for row in those]
        return clustered_share([int(row.figures[name]) for row in those], totals, seed)

    chance = sum(row.figures[guessed.CHANCE] for row in with_slots)
    return GuessFigures(
        method=method,
        documents=len(those),
        slots=sum(slots),
        top1=share(guessed.FIRST),
        top5=share(guessed.FIRST_FIVE),
        prior_top1=share(guessed.PRIOR_FIRST),
        prior_top5=share(guessed.PRIOR_FIVE),
        chance_top1=chance / sum(slots) if slots else None,
        rouge_l=mean_of([row.figures[guessed.ROUGE] for row in those], seed),
        rebuilt_rouge_l=mean_of([row.figures[guessed.REBUILT_ROUGE] for row in those], seed),
        entities_left=of_entities(guessed.LEFT),
        entities_recovered=of_entities(guessed.RECOVERED),
    )
