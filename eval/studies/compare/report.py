"""The report of a comparison: rows first, everything else derived. It quotes no document."""

from pydantic import Field

from eval.measures.uncertainty import Estimate
from eval.provenance import Frozen, Provenance
from eval.rows import Row


class CorpusCard(Frozen):
    """The size and origin of a corpus. ``reference`` says where the sensitive entities come from."""

    name: str
    documents: int
    characters: int
    questions: int
    split: str
    source: str
    license: str
    reference: str
    sensitive_entities: int


class MethodFigures(Frozen):
    """One method with one encoder: usefulness, and what an index reader finds.

    ``recall_overlap`` is by k; ``found`` the share of questions whose document is among the first k;
    ``facts`` the share of answerable facts that answers state (``eval.measures.leakage``). ``disclosed``
    counts the sensitive entities that remain in the sanitized text of their document, ``identifiers`` those
    of them that identify. ``entities_failed`` are those of the ``documents_failed``; they are not measured
    and in neither share. ``strength`` is the swept value, None for a default.
    """

    method: str
    encoder: str
    strength: float | None
    recall_overlap: dict[int, Estimate]
    found: dict[int, Estimate]
    bleu1: Estimate
    sacrebleu: Estimate
    rouge_l: Estimate
    facts: Estimate = Estimate()
    disclosed: Estimate
    identifiers: Estimate
    kept: Estimate
    documents_failed: int
    entities_failed: int = 0


def whole(figures: MethodFigures) -> bool:
    """Whether every document was sanitized: an arm without its worst documents looks safer than it is."""
    return figures.documents_failed == 0


class AttackFigures(Frozen):
    """One attack on one method. ``generator`` names the victim's; leakage counts as the audit does."""

    method: str
    attack: str
    generator: str
    k: int
    prompts: int
    failed: int
    all_entities: Estimate
    identifiers: Estimate
    prompts_leaking: Estimate
    repeat_prompts: Estimate
    repeat_passages: Estimate
    rouge_recall_prompts: Estimate
    rouge_f_prompts: Estimate


class GuessFigures(Frozen):
    """Entity inference: how often the original of a replaced slot is ranked first, or among the first five.

    ``rouge_l`` compares originals with the sanitized text, ``rebuilt_rouge_l`` with the reconstruction;
    ``entities_left`` are in the sanitized text, ``entities_recovered`` in the reconstruction.
    """

    method: str
    documents: int
    slots: int
    top1: Estimate
    top5: Estimate
    prior_top1: Estimate
    prior_top5: Estimate
    chance_top1: float | None
    rouge_l: Estimate
    rebuilt_rouge_l: Estimate
    entities_left: Estimate
    entities_recovered: Estimate


class CanaryFigures(Frozen):
    """The share of canaries extracted from a method's index, by label.

    The index holds only the ``documents`` with a canary. Canaries of the ``documents_failed`` are not
    measured.
    """

    method: str
    k: int
    documents: int
    recall: dict[str, Estimate]
    documents_failed: int = 0


class Correlation(Frozen):
    """Spearman's rho of two features over ``n`` linked entities, with its interval over documents."""

    one: str
    other: str
    rho: Estimate
    n: int


class GridCell(Frozen):
    """One pair of weights: usefulness and leakage."""

    beta: float
    gamma: float
    figures: MethodFigures


class Frontier(Frozen):
    """The share of baseline points that Lethe's curve dominates, and the area under each curve.

    ``by_trip`` of ``points`` are dominated by the curve of the default policy, ``dominated`` by it or by the
    curve of its scores alone; ``share`` is their share. ``areas`` are means of the best Recall@1 overlap of a
    method at or below each leakage, from 0 to that of the unsanitized index, as a share of the maximum.
    Intervals bootstrap questions, paired across points; leakages are fixed at their measured values.
    """

    dominated: int
    by_trip: int
    points: int
    share: Estimate
    areas: dict[str, Estimate]


NOTHING_COMPARED = Frontier(dominated=0, by_trip=0, points=0, share=Estimate(), areas={})


class Summary(Frozen):
    """The default policy against Redact and against no sanitizing.

    A figure has no value if a part of it was not measured, and none has if a document failed in an arm.
    ``recall_ratio`` is Recall@1 overlap over Redact's; ``identifier_excess`` the leakage of identifiers under
    extraction from the verbatim victim, minus Redact's; ``leakage_change`` that of all sensitive entities,
    relative to no sanitizing; ``rouge_change`` ROUGE-L of answers relative to Redact's; ``dominated`` the
    share of the baselines' points that Lethe's curve dominates by the identifiers that stand in the index,
    ``dominated_all`` by all sensitive entities.
    """

    recall: Estimate = Estimate()
    recall_ratio: Estimate = Estimate()
    identifier_excess: Estimate = Estimate()
    leakage_change: Estimate = Estimate()
    rouge_change: Estimate = Estimate()
    dominated: Estimate = Estimate()
    dominated_all: Estimate = Estimate()


class PromiseFigures(Frozen):
    """Thresholds promised on half of the documents and measured on the held-out half, over splits.

    ``policy`` is ``trip``, or ``scores alone`` without its limits on names, quasi-identifiers and passages
    (rigid identifiers and their repetitions are always generalized). ``counted`` is the promised leakage: of
    ``identifiers``, or of ``all`` sensitive entities. ``documents`` counts the documents with such entities;
    the promise is about their mean leakage.
    """

    policy: str
    counted: str
    max_leak: float
    confidence: float
    documents: int
    splits: int
    promised: int
    violated: int


class TripRagReport(Frozen):
    """The benchmark of one corpus. ``absent`` are methods that could not run, with the reason.

    ``command`` has the arguments of ``lethe bench trip-rag`` that reproduce it, "" if not recorded. The
    frontiers and the summary follow from the rest (``eval.studies.compare.figures``).
    """

    corpus: CorpusCard
    provenance: Provenance
    command: str = Field(default="", repr=False)
    seed: int
    generator: str
    sacrebleu_signature: str
    methods: tuple[MethodFigures, ...]
    encoders: tuple[MethodFigures, ...] = ()
    """The same methods with further encoders."""
    ablations: tuple[MethodFigures, ...]
    sweep: tuple[MethodFigures, ...] = Field(repr=False)
    frontier: Frontier = NOTHING_COMPARED
    """By the leakage of identifiers; ``frontier_all`` by that of all sensitive entities."""
    frontier_all: Frontier = NOTHING_COMPARED
    summary: Summary = Summary()
    attacks: tuple[AttackFigures, ...]
    guesses: tuple[GuessFigures, ...]
    canaries: tuple[CanaryFigures, ...] = ()
    correlations: tuple[Correlation, ...]
    grid: tuple[GridCell, ...] = Field(repr=False)
    grid_spearman: dict[str, float]
    """Spearman of each weight with Recall@5 over the grid."""
    promises: tuple[PromiseFigures, ...] = ()
    absent: dict[str, str]
    rows: tuple[Row, ...] = Field(repr=False)
