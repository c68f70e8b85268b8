"""The page of the TRIP-RAG benchmark: what it says, what it must not, and what it needs. All data is invented."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.intervals import Estimate, Share, clustered_share, share_of
from eval.report import Provenance
from eval.trip_rag import published
from eval.trip_rag.cells import PUBLISHED, estimate_html, published_html, share_html, table
from eval.trip_rag.grid_plots import heat_map, weight_bars
from eval.trip_rag.page import trip_rag_page
from eval.trip_rag.page_tradeoff import curves_of
from eval.trip_rag.plot_labels import Placer
from eval.trip_rag.plots import Curve, Dot, axis_of, mark, scatter
from eval.trip_rag.report import (
    AttackFigures,
    Correlation,
    CorpusCard,
    Frontier,
    GridCell,
    GuessFigures,
    MethodFigures,
    TripRagReport,
)

HOSTILE = '<script>alert("x")</script>'
ENCODER = "all-MiniLM-L6-v2"
METHODS = {
    "origin": (1.0, 1.0),
    "redact": (0.42, 0.04),
    "suppress": (0.39, 0.04),
    "entity-type": (0.44, 0.05),
    "trip": (0.71, 0.07),
    "random": (0.63, 0.42),
    "random, frequency-matched": (0.6, 0.44),
    "lprag": (0.36, 0.12),
    "lprag-compat": (0.37, 0.14),
    "extract": (0.55, 0.49),
    "presidio": (0.57, 0.31),
}
VARIANTS = (
    "without residual limit", "scores alone", "privacy only", "without topic", "without knowledge",
    "difference of absolute risks", "single mentions",
)  # fmt: skip
WEIGHTS = (0.2, 0.4, 0.5, 0.6, 0.8, 1.0)
VICTIMS = (
    ("extraction (health, untargeted)", "verbatim (worst case)", 5),
    ("extraction (health, untargeted)", "verbatim (worst case)", 2),
    ("anchor-health", "verbatim (worst case)", 1),
    ("extraction (health, untargeted)", "extractive", 5),
)
VOID = {"meta", "rect", "line", "path", "br", "polyline", "colgroup"}


def mean(value: float, n: int = 400) -> Estimate:
    return Estimate(n, value, max(0.0, value - 0.03), min(1.0, value + 0.03))


def found(value: float, n: int = 2_000) -> Share:
    hits = round(n * min(1.0, max(0.0, value)))
    return share_of(hits, n)


def figures(method: str, use: float, leakage: float, strength: float | None = None) -> MethodFigures:
    return MethodFigures(
        method=method,
        encoder=ENCODER,
        strength=strength,
        recall_overlap={1: mean(use), 5: mean(min(1.0, use + 0.05)), 10: mean(min(1.0, use + 0.08))},
        found={k: found(use * 0.9, 400) for k in (1, 5, 10)},
        bleu1=mean(0.08 + use / 20),
        sacrebleu=mean(0.03 + use / 30),
        rouge_l=mean(0.1 + use / 10),
        disclosed=found(min(1.0, leakage + 0.2)),
        identifiers=found(leakage, 900),
        kept=found(0.6),
        documents_failed=1 if method == "presidio" else 0,
    )


def attack(method: str, leakage: float, victim: tuple[str, str, int]) -> AttackFigures:
    name, generator, k = victim
    return AttackFigures(
        method=method,
        attack=name,
        generator=generator,
        k=k,
        prompts=500,
        failed=0,
        all_entities=found(leakage * 0.9),
        identifiers=clustered_share([round(20 * leakage)] * 40, [20] * 40),
        prompts_leaking=found(leakage, 500),
        repeat_prompts=found(1.0, 500),
        repeat_passages=found(0.9, 300),
        rouge_recall_prompts=found(0.5, 500),
        rouge_f_prompts=found(0.2, 500),
    )


def guesses(method: str) -> GuessFigures:
    return GuessFigures(
        method=method,
        documents=60,
        slots=812,
        top1=found(0.12, 812),
        top5=found(0.31, 812),
        prior_top1=found(0.11, 812),
        prior_top5=found(0.29, 812),
        chance_top1=0.021,
        rouge_l=mean(0.9, 60),
        rebuilt_rouge_l=mean(0.91, 60),
        entities_left=found(0.1),
        entities_recovered=found(0.19),
    )


def swept() -> list[MethodFigures]:
    """Strengths as a benchmark has them: four methods by ten shares, one by seven budgets."""
    draw, points = Random(4), []
    for number in range(1, 11):
        share = number / 10
        for name, loss, left in (
            ("trip", 0.6, 0.12), ("scores alone", 0.6, 0.3), ("privacy only", 0.66, 0.35), ("random", 0.6, 1.0),
        ):  # fmt: skip
            use = 1 - loss * share + draw.uniform(-0.01, 0.01)
            points.append(figures(name, use, left * (1 - share) + 0.03, share))
    for place, budget in enumerate((0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)):
        points.append(figures("lprag", 0.3 + 0.03 * place, 0.08 + 0.03 * place, budget))
    return points


def whole_report(corpus: str = "invented notes") -> TripRagReport:
    """Everything that a long run has, with invented figures."""
    return TripRagReport(
        corpus=CorpusCard(
            name=corpus,
            documents=1_200,
            characters=1_234_567,
            questions=400,
            split="all documents searched, 1% asked about",
            source=f"written for a test {HOSTILE}",
            license="CC0",
            reference="gold annotations",
            sensitive_entities=7_654,
        ),
        provenance=Provenance(
            date="2030-01-01T00:00:00+00:00",
            hardware="an invented machine",
            versions={"python": "3.11.0"},
            settings={"policy": HOSTILE, "tau": "0.5"},
            commit="0123abc",
        ),
        seed=11,
        generator="extractive",
        sacrebleu_signature="nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0",
        methods=tuple(figures(name, *values) for name, values in METHODS.items()),
        ablations=tuple(figures(name, 0.6 + n / 50, 0.1 + n / 40) for n, name in enumerate(VARIANTS)),
        sweep=tuple(swept()),
        frontier=Frontier(dominated=31, points=37, areas={"trip": 0.853, "random": 0.512, "lprag": 0.411}),
        attacks=tuple(
            attack(name, leakage / (2 if victim[2] == 1 else 1), victim)
            for name, (_, leakage) in METHODS.items()
            for victim in VICTIMS
        ),
        guesses=(guesses("redact"), guesses("trip")),
        correlations=tuple(
            Correlation(one=one, other=other, rho=rho, n=5_432)
            for (one, other), rho in zip(published.CORRELATIONS, (0.21, -0.05, 0.38), strict=True)
        ),
        grid=tuple(
            GridCell(
                beta=beta,
                gamma=gamma,
                recall_overlap={1: 0.5 + beta / 8 + gamma / 9, 5: 0.6 + beta / 8, 10: 0.7},
                bleu1=0.1 + gamma / 50,
                rouge_l=0.15 + beta / 60,
                identifiers=0.05 + beta / 100,
            )
            for beta in WEIGHTS
            for gamma in WEIGHTS
        ),
        grid_spearman={"beta": 0.61, "gamma": 0.72},
        absent={"paraphrase": f"needs a language model {HOSTILE}"},
        rows=(),
    )


def quick_report() -> TripRagReport:
    """What a quick run has: no sweep, no grid; and nothing else that may be missing."""
    return whole_report().model_copy(
        update={
            "sweep": (), "grid": (), "grid_spearman": {}, "ablations": (), "attacks": (), "guesses": (),
            "correlations": (), "absent": {}, "frontier": Frontier(dominated=0, points=0, areas={}),
        }
    )  # fmt: skip
