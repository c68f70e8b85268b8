"""The report of INTACT's comparison: figures by method and kind, no word of a corpus."""

from pydantic import BaseModel, ConfigDict

from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance
from eval.studies.intact.validation import Validation


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GuessFigures(_Frozen):
    """Shares of the spans of a kind that a pool attacker ranks first, and among the first five.

    ``prior_five`` ranks by frequency alone, ``chance_five`` is that of blind drawing.
    """

    n: int
    first: Estimate
    five: Estimate
    prior_five: Estimate
    chance_five: float | None


class KindFigures(_Frozen):
    """What a method does to the spans of a kind of the annotators.

    ``rungs`` counts spans by the number of the candidate that was taken, from 1, the most specific; those
    without a ladder are not counted. ``fallback`` is the share with words that name the kind alone,
    ``truthful`` and the others are shares by the automatic check, of cases that its rules were not chosen on.
    ``similarity`` is the mean cosine of changed words with what replaced them.
    """

    n: int
    rungs: dict[int, int] = {}
    fallback: Estimate
    truthful: Estimate
    less_specific: Estimate
    both: Estimate
    guesses: GuessFigures
    similarity: Estimate | None = None


class ClusterFigures(_Frozen):
    """NMI with the clusters of the originals: mean and standard deviation over pairs of runs on ``n`` texts.

    ``ceiling`` is that of the originals with themselves, ``chance`` that of shuffled labels.
    """

    n: int
    kept: tuple[float, float]
    ceiling: tuple[float, float]
    chance: tuple[float, float]


class MethodFigures(_Frozen):
    """A method's figures; ``kinds`` are by the annotators' types, with all but persons and codes as ``all``.

    ``similarity`` is the mean cosine of the originals with what replaced them. ``trir_minus_suppression`` is
    paired by document. ``nmi`` is by engine.
    """

    method: str
    failed: int
    tps: Estimate
    tpi: Estimate
    similarity: Estimate
    nmi: dict[str, ClusterFigures] = {}
    trir: Estimate | None
    trir_minus_suppression: Estimate | None
    kinds: dict[str, KindFigures]


class OrderFact(_Frozen):
    """A published order of two methods, and the difference here, higher minus lower.

    Intervals are over cases, those of NMI over pairs of runs.
    """

    measure: str
    lower: str
    higher: str
    difference: Estimate


class MaskedFigures(_Frozen):
    """Recall and precision of what was masked, as ``eval.measures.masked`` counts them."""

    direct: Estimate
    quasi: Estimate
    entities: Estimate
    mentions: Estimate
    tokens: Estimate
    token_precision: Estimate
    mention_precision: Estimate
    weighted_precision: Estimate


class BenchmarkRow(_Frozen):
    """A method of the benchmark's table; ``spans`` says where it takes its spans from."""

    method: str
    spans: str
    failed: int
    masked: MaskedFigures
    tps: Estimate
    tpi: Estimate
    nmi: dict[str, ClusterFigures]
    trir: Estimate | None
    trir_minus_suppression: Estimate | None


class BenchmarkFigures(_Frozen):
    """The table: texts of ``compared`` cases, and what was masked in ``marked`` ones."""

    compared: int
    marked: int
    individuals: int
    engines: dict[str, str]
    rows: tuple[BenchmarkRow, ...]


class IntactReport(_Frozen):
    """All methods on the same cases; ``absent`` says why others were not measured.

    ``order`` compares with the published order of methods. ``benchmark`` is the table with detection, on
    other cases; None where no case is known to be held out.

    ``individuals`` is how many backgrounds the re-identification attack chooses from. ``validation`` compares
    the check of truth with people; None without their judgements.
    """

    provenance: Provenance
    command: str
    seed: int
    limit: float
    cases: int
    individuals: int
    engines: dict[str, str]
    methods: tuple[MethodFigures, ...]
    order: tuple[OrderFact, ...] = ()
    benchmark: BenchmarkFigures | None = None
    validation: Validation | None
    absent: dict[str, str]
