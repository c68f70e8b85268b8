"""What the benchmark of a corpus found: rows first, everything else derived. No word of a document."""

from pydantic import BaseModel, ConfigDict, Field

from eval.measures.contrasts import Figure
from eval.measures.intervals import Estimate, Share
from eval.report import Provenance


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorpusCard(_Frozen):
    """What was asked of what. ``reference`` says where the sensitive entities come from."""

    name: str
    documents: int
    characters: int
    questions: int
    split: str
    source: str
    license: str
    reference: str
    sensitive_entities: int


class AnswerRow(_Frozen):
    """One question to one arm. ``found_at`` is the rank, from 1, of the document asked about, 0 if absent.

    ``part`` is the part of the run: a method at its default, an ablation, a strength or a pair of weights.
    ``doc_ids`` are the documents behind the first passages, best first, with repetitions.
    """

    part: str
    method: str
    encoder: str
    question_id: str
    doc_ids: tuple[str, ...]
    found_at: int
    bleu1: float
    sacrebleu: float
    rouge_l: float


class AttackRow(_Frozen):
    """One prompt of one attack on one method, without a word of it; a canary is a prompt too.

    ``attempt`` counts the prompts from 0 and ``prompt_kind`` names the list of their wording, or the kind of
    the canary. ``doc_ids`` are the documents behind the passages, best first, with repetitions. ``present``
    counts the sensitive entities behind them, ``leaked`` those that came out, ``prompted`` those of them that
    the prompt had named; of both, ``..._identifiers`` identify. ``repeats`` says that a passage was copied,
    ``rouge_recall_above`` and ``rouge_f_above`` that this ROUGE-L with a passage is above 0.5. What was not
    ``measured`` has a ``failure``, and its counts mean nothing.
    """

    method: str
    attack: str
    generator: str
    k: int
    attempt: int
    prompt_kind: str
    measured: bool
    failure: str
    engine: str
    output_characters: int
    doc_ids: tuple[str, ...]
    present: int
    present_identifiers: int
    leaked: int
    leaked_identifiers: int
    prompted: int
    repeats: bool
    rouge_recall_above: bool
    rouge_f_above: bool


class MethodFigures(_Frozen):
    """One method with one encoder: usefulness, and what a reader of the whole index finds.

    ``recall_overlap`` is by k; ``found`` the share of questions whose document is among the first k.
    ``disclosed`` counts the sensitive entities of a document that stand in its sanitized text,
    ``identifiers`` those of them that identify; ``entities_failed`` stand in the ``documents_failed``, in
    neither share, for they are not measured. ``strength`` is what was swept, None for a default.
    """

    method: str
    encoder: str
    strength: float | None
    recall_overlap: dict[int, Estimate]
    found: dict[int, Share]
    bleu1: Estimate
    sacrebleu: Estimate
    rouge_l: Estimate
    disclosed: Share
    identifiers: Share
    kept: Share
    documents_failed: int
    entities_failed: int = 0


def whole(figures: MethodFigures) -> bool:
    """Whether every document was sanitized: one without its worst documents looks safer than it is."""
    return figures.documents_failed == 0


class AttackFigures(_Frozen):
    """One attack on one method. ``generator`` names the victim's; leakage counts as the audit does."""

    method: str
    attack: str
    generator: str
    k: int
    prompts: int
    failed: int
    all_entities: Share
    identifiers: Share
    prompts_leaking: Share
    repeat_prompts: Share
    repeat_passages: Share
    rouge_recall_prompts: Share
    rouge_f_prompts: Share


class GuessFigures(_Frozen):
    """Entity inference: how often the original of a replaced slot is the first, or among the first five.

    ``rouge_l`` compares originals with what the method wrote, ``rebuilt_rouge_l`` with the guesses put in;
    ``entities_left`` stand in what the method wrote, ``entities_recovered`` in the rebuilt text.
    """

    method: str
    documents: int
    slots: int
    top1: Share
    top5: Share
    prior_top1: Share
    prior_top5: Share
    chance_top1: float | None
    rouge_l: Estimate
    rebuilt_rouge_l: Estimate
    entities_left: Share
    entities_recovered: Share


class CanaryFigures(_Frozen):
    """How much of what was planted came out of a method's index, by kind: the share of canaries of a label.

    ``documents`` are those in which a canary was planted, and the index holds only them. The canaries of the
    ``documents_failed`` are not measured.
    """

    method: str
    k: int
    documents: int
    recall: dict[str, Share]
    documents_failed: int = 0


class Correlation(_Frozen):
    """Spearman's rho of two features over ``n`` linked entities, with its interval over documents.

    There is none where there is no second document to draw.
    """

    one: str
    other: str
    rho: float
    low: float | None
    high: float | None
    n: int


class GridCell(_Frozen):
    """One pair of weights: usefulness and leakage."""

    beta: float
    gamma: float
    figures: MethodFigures


class Frontier(_Frozen):
    """How much of the baselines' trade-offs the method's curve dominates, and the area under each curve.

    ``by_trip`` of ``points`` are dominated by the default policy's own curve, ``dominated`` by it or that of
    its scores alone; ``share`` is that of these, None without points. ``areas`` are of the best Recall@1
    overlap that a method has at or below each leakage, over the leakages from 0 to that of the unsanitized
    index, as a share of the largest area that could be. Intervals redraw questions, the same for all points;
    leakages stay as they were measured.
    """

    dominated: int
    by_trip: int
    points: int
    share: Figure | None
    areas: dict[str, Figure]


NOTHING_COMPARED = Frontier(dominated=0, by_trip=0, points=0, share=None, areas={})


class Summary(_Frozen):
    """The default policy beside Redact and beside no sanitizing at all.

    Each None where one of its parts was not measured, all of them where a document failed in one.
    ``recall_ratio`` is Recall@1 overlap over Redact's; ``identifier_excess`` the leakage of identifiers under
    extraction from the verbatim victim, minus Redact's; ``leakage_change`` that of all sensitive entities,
    relative to no sanitizing; ``rouge_change`` ROUGE-L of answers relative to Redact's; ``dominated`` the
    share of the baselines' points that Lethe's curve dominates by the identifiers that stand in the index,
    ``dominated_all`` by all sensitive entities.
    """

    recall: Figure | None = None
    recall_ratio: Figure | None = None
    identifier_excess: Figure | None = None
    leakage_change: Figure | None = None
    rouge_change: Figure | None = None
    dominated: Figure | None = None
    dominated_all: Figure | None = None


class PromiseFigures(_Frozen):
    """Thresholds promised on one half of the documents and measured on the other, over random splits.

    ``policy`` is ``trip``, or ``scores alone`` without its limits on names, quasi-identifiers and passages
    (rigid identifiers and what repeats them always go). ``counted`` says whose leakage was promised: of
    ``identifiers``, or of ``all`` sensitive entities. ``documents`` are those that have such: what each of
    them leaks on average is promised.
    """

    policy: str
    counted: str
    max_leak: float
    confidence: float
    documents: int
    splits: int
    promised: int
    violated: int


class TripRagReport(_Frozen):
    """The benchmark of one corpus. ``absent`` are methods that could not run, with the reason.

    ``command`` are the words after ``lethe bench trip-rag`` that make it again, "" where they were not kept.
    The frontiers and the summary follow from the rest (``eval.trip_rag.comparing``).
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
    rows: tuple[AnswerRow, ...] = Field(repr=False)
