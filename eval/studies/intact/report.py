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
    """

    n: int
    rungs: dict[int, int] = {}
    fallback: Estimate
    truthful: Estimate
    less_specific: Estimate
    both: Estimate
    guesses: GuessFigures


class MethodFigures(_Frozen):
    """A method's figures; ``kinds`` are by the annotators' types, with all but persons and codes as ``all``.

    ``similarity`` is the mean cosine of the originals with what replaced them. ``trir_minus_suppression`` is
    paired by document.
    """

    method: str
    failed: int
    tps: Estimate
    tpi: Estimate
    similarity: Estimate
    trir: Estimate | None
    trir_minus_suppression: Estimate | None
    kinds: dict[str, KindFigures]


class IntactReport(_Frozen):
    """All methods on the same cases; ``absent`` says why others were not measured.

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
    validation: Validation | None
    absent: dict[str, str]
