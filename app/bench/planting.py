"""Canaries: what was planted in documents, and how much of it each method's index gives away."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial

from app.arms import in_memory
from app.bench.methods import Compared, methods
from app.bench.parts import Part
from app.bench.running import DEPTH, Ground
from app.corpus import Corpus, Phases, detected
from app.scored import ScoredCorpus, scored_corpus
from eval.attacks.canaries import CanaryAttack, Planted, canary_recall, plant
from eval.extraction_audit import attack_targets
from eval.measures.leakage import SensitiveIndex
from eval.targets import RagTarget
from eval.trip_rag.attacking import attack_row
from eval.trip_rag.report import CanaryFigures
from ingest.documents import Document
from retrieval.generators.verbatim import VerbatimGenerator

MOST_CANARIES = 90
"""A third of them of each kind; every document that gets one is scored again."""


def planted_figures(
    ground: Ground, seed: int, part_of: Callable[[str, Callable[[], Part]], Part], told: Phases
) -> list[CanaryFigures]:
    """The share of canaries that comes out of each method's index of the documents that have one.

    The victim repeats whatever it is given, so no generator gives away more. ``part_of`` is
    ``Running.part``.
    """
    planted = _planted(ground.bench.documents, seed)

    @cache
    def on_planted() -> Mapping[str, Compared]:
        scored = _scored(ground, planted, told)
        return {each.name: each for each in methods(scored, ground.encoders[0], seed)[0]}

    def measure(name: str) -> Part:
        return measured(ground, planted, on_planted()[name], told)

    names = [each.name for each in methods(ground.scored, ground.encoders[0], seed)[0]]
    by_name = [part_of(f"canaries {name}", partial(measure, name)) for name in names]
    return [figures for part in by_name for figures in part.canaries]


def _planted(documents: Sequence[Document], seed: int) -> Planted:
    """The documents with a canary, without the others."""
    planted = plant(documents, min(MOST_CANARIES, len(documents)), seed)
    chosen = {canary.doc_id for canary in planted.canaries}
    return replace(planted, documents=[each for each in planted.documents if each.doc_id in chosen])


def _scored(ground: Ground, planted: Planted, told: Phases) -> ScoredCorpus:
    """With the scale of the corpus that the canaries went into."""
    corpus = Corpus(planted.documents, detected(ground.services, planted.documents, told))
    return replace(scored_corpus(ground.services, corpus, told), scale=ground.scored.scale)


def measured(ground: Ground, planted: Planted, compared: Compared, told: Phases) -> Part:
    """What comes out of one method's index of the planted documents, those left out that it failed on."""
    with ExitStack() as stack:
        arm = in_memory(
            planted.documents,
            compared.make(),
            ground.encoders[0],
            ground.services.settings.retrieval.passage_tokens,
            stack,
            partial(told, f"canaries in {compared.name}"),
        )
        target = RagTarget(arm.retriever, VerbatimGenerator(), DEPTH)
        rows = attack_targets({"": target}, CanaryAttack(planted), SensitiveIndex(planted.canaries))[""]
    kept = {document.doc_id for document in arm.documents}
    # A document that could not be sanitized keeps its canary to itself, which is not to say that it is safe.
    asked = [row for row in rows if planted.canaries[row.attempt].doc_id in kept]
    figures = CanaryFigures(
        method=compared.name,
        k=DEPTH,
        documents=len(planted.documents),
        recall=canary_recall(planted, asked),
        documents_failed=arm.failed,
    )
    attempts = tuple(attack_row(compared.name, target, row) for row in asked)
    return Part(key=f"canaries {compared.name}", figures=(), canaries=(figures,), attempts=attempts)
