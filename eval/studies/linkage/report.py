"""The report of the linkage study: figures by method and attack, no word of a corpus."""

from pydantic import BaseModel, ConfigDict

from eval.measures.linked import Distances, Distribution, Linkage
from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance
from eval.studies.linkage.attacks import Attack


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Outcome(_Frozen):
    """What one attack found under one method.

    ``overlap`` is the distance of the claims that are left from those that are known, without any document:
    what the attacker can say without a link. ``wording`` is the share of the bigrams of the known claims that
    the original has.
    """

    method: str
    linkage: Linkage
    distance: Distances
    lexical: Distances
    leaked: Estimate
    overlap: Estimate
    wording: Estimate


class AttackFigures(_Frozen):
    """One attack under all methods; ``part`` is the part in which it differs from the main one."""

    part: str
    attack: Attack
    outcomes: tuple[Outcome, ...]


class MethodFigures(_Frozen):
    """A method under the main attack, and what it leaves of use.

    ``rate_minus_redact`` and ``facts_over_redact`` are paired by document. ``mauve`` is smoothed.
    ``accuracy`` is the share of exam questions answered right, ``classes`` the utility of label counts, None
    where the corpus has none. ``coherence`` is what a language model gives, from 1 to 5, but for
    ``not_judged`` texts, empty ones and those of which no answer could be read; None where none was asked.
    """

    method: str
    failed: int
    main: Outcome
    rate_minus_redact: Estimate
    embedding: Distances
    hidden: Distances
    categories: dict[str, Estimate]
    distribution: Distribution
    ratings_missing: int
    ratings_invalid: int
    facts: Estimate
    facts_by_chance: Estimate
    facts_over_redact: Estimate
    claims: Estimate
    claims_partly: Estimate
    accuracy: Estimate | None
    unanswered: int
    classes: float | None
    classed_right: Estimate | None
    mauve: float | None
    coherence: Estimate | None = None
    not_judged: int = 0


class LinkageReport(_Frozen):
    """All methods on the same documents, and the main attack with those that differ from it in one part.

    ``usage`` is what was asked of a language model, empty without one.
    """

    provenance: Provenance
    command: str
    seed: int
    corpus: str
    source: str
    split: str
    documents: int
    claims: Estimate
    main: Attack
    engines: dict[str, str]
    answerer: str
    chance_answer: float | None
    warning: str
    methods: tuple[MethodFigures, ...]
    attacks: tuple[AttackFigures, ...]
    usage: dict[str, float] = {}

    @property
    def chance(self) -> float:
        """The correct linkage rate of blind drawing."""
        return 1 / self.documents
