"""The report of the study of attributes: figures by method, no word of a text."""

from pydantic import BaseModel, ConfigDict

from eval.measures.inferred import Inferred, Protection
from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance

ALL = "all"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AttackFigures(_Frozen):
    """What one attacker infers: ``by_attribute``, all of them under ``ALL``, and what is protected."""

    attacker: str
    by_attribute: dict[str, Inferred]
    protection: Protection


class MethodFigures(_Frozen):
    """A method under each attacker, what it keeps of texts, and how its loop ended.

    ``rouge``, ``bleu`` and ``cosine`` are means over documents, ``unchanged`` is a share. ``stops`` counts,
    by attribute, why loops ended, and ``rounds`` texts by the number of rewritings of an attribute, or of
    edits by the search: both empty for methods without a loop. ``truthful`` is false for a method that
    wrote false values or may have. ``judged`` has the mean scores of a language model by name, empty without
    one, and ``not_judged`` counts where it gave none: an answer could not be read, or a text was empty.
    """

    method: str
    truthful: bool
    attacks: tuple[AttackFigures, ...]
    rouge: Estimate
    bleu: Estimate
    cosine: Estimate
    unchanged: Estimate
    stops: dict[str, dict[str, int]]
    rounds: dict[int, int]
    failed: int
    judged: dict[str, Estimate] = {}
    not_judged: int = 0


class AttributesReport(_Frozen):
    """All methods on the same texts. ``usage`` is what was asked of a language model, empty without one.

    ``judges`` and ``engines`` are names, with the prompts: of those who judge, and of further methods.
    """

    provenance: Provenance
    command: str
    seed: int
    documents: int
    attributes: tuple[str, ...]
    methods: tuple[MethodFigures, ...]
    usage: dict[str, float]
    blind: str
    judges: tuple[str, ...] = ()
    engines: dict[str, str] = {}
