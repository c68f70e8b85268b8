"""The rule from scores to action: pure, total, monotone in risk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from ingest.detection.sources import is_doubted, is_moment_by_form, only_describes
from ingest.documents import Action, Entity, Identifier, Scores
from ingest.labels import LONGEST_NAME, SENSITIVE, is_short_line, label_of
from ingest.scoring.scale import Weights
from models.detectors.words import Need
from models.errors import ConfigurationError

PolicyName = Literal["lethe", "trip", "intact", "redact", "suppress", "entity-type", "lprag", "origin"]

METHODS: Mapping[PolicyName, str] = {
    "lethe": "decides by score and writes the most specific words that cannot be guessed",
    "trip": "decides by score and writes one word per kind",
    "intact": "writes true words for all that a guesser does not see through",
    "redact": "generalizes all",
    "suppress": "removes all",
    "entity-type": "writes numbered types",
    "lprag": "draws other values by local differential privacy",
    "origin": "changes nothing",
}
"""What each policy does."""

Replacements = Literal["descriptor", "alias"]
"""How people and organizations are replaced: by descriptors or by aliases."""

Sensitive = Literal["context", "generalize"]
"""Whether the context decides about health, belief and origin, or all of it is generalized."""

Operator = Literal["generalize", "mask", "hash", "suppress", "keep"]
"""The treatment of a mention; see ``Treatment``."""

RIGID = "rigid identifier: always generalized"
OWN = "on a list or pattern of one's own: always generalized"
DIRECT = "direct identifier whose risk reaches its limit"
MUST = "has to go in its context"
ALL_SENSITIVE = "health, belief or origin: the policy generalizes all of it"
QUASI = "quasi-identifier whose risk reaches its limit"
AT_OR_ABOVE = "priority at or above the threshold"
RESIDUAL = "residual risk of a passage above its limit"
ECHO = "says what an identifier says that is generalized"
BELOW = "priority below the threshold"
MAY_STAY = "may stay in its context"
KEPT = "its label is kept whatever its scores"

DESCRIBING = 3.0
"""How many times as high the limits of need are for what only describes, where precision comes first."""

STRICTEST_FIRST = (RIGID, OWN, DIRECT, MUST, ALL_SENSITIVE, QUASI, AT_OR_ABOVE, BELOW, MAY_STAY, KEPT)
"""In order of precedence: the first reason of any mention of a link applies to all its mentions."""
HARD_RULES = frozenset((RIGID, OWN, DIRECT, MUST, ALL_SENSITIVE, QUASI))
"""Reasons that replace a mention at any priority."""
ALWAYS = HARD_RULES | {ECHO}
"""Reasons independent of the threshold: without one, only these act, and only on echoes of hard rules."""
STAYS = frozenset((BELOW, MAY_STAY, KEPT))
"""Reasons to keep a mention."""


@dataclass(frozen=True, slots=True)
class Treatment:
    """Treatment of mentions by label.

    The operator says how a mention is replaced once the method decides to replace it. ``generalize`` uses the
    label's entry in ``words``, else its descriptor. ``mask`` uses the same stars for every value. ``hash``
    uses a code that is the same for the same value in every document, which links the documents. ``suppress``
    removes the mention. ``keep`` keeps it at any score, unless it repeats a replaced identifier. A label with
    ``words`` and no operator is generalized. For labels in neither, the method decides.

    Raises:
        ConfigurationError: A direct identifier is kept, an operator is unknown, words are empty, longer than
            60 characters or several lines, or a label with words is not generalized.
    """

    operators: Mapping[str, Operator] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for label, operator in self.operators.items():
            if operator not in get_args(Operator):
                known = ", ".join(get_args(Operator))
                raise ConfigurationError(f"operators has none of these for {label}: {known}. Take one.")
            if operator == "keep" and _identifies(label):
                raise ConfigurationError(
                    f"operators keeps {label}, which identifies somebody by itself: take generalize, mask, "
                    "hash or suppress for it."
                )
        for label, words in self.words.items():
            if not is_short_line(words):
                raise ConfigurationError(
                    f"words for {label}: give 1 to {LONGEST_NAME} printable characters in one line, "
                    "without blanks around them."
                )
            if self.operators.get(label, "generalize") != "generalize":
                raise ConfigurationError(
                    f"{label} has words, and operators does not generalize it: leave one of them out."
                )

    def operator(self, label: str) -> Operator | None:
        """The operator of a label; None if the method decides."""
        return self.operators.get(label, "generalize" if label in self.words else None)

    def keeps(self, entity: Entity) -> bool:
        """Whether a mention may be kept because of its label; never a required one."""
        may_stay = entity.identifier is not Identifier.DIRECT and not entity.required
        return may_stay and self.operator(entity.label) == "keep"


def _identifies(label: str) -> bool:
    row = label_of(label)
    return row.rigid or row.identifier is Identifier.DIRECT


@dataclass(frozen=True, slots=True)
class Policy:
    """The privacy policy of a collection.

    ``tau`` is the threshold on the priority S(e). ``residual_limit`` bounds f(U*) of each passage of the
    sanitized text, unless only doses, readings and the like are left to take; its default is the lower bound
    of the rubric's level 3, so that no passage keeps a direct identifier. ``direct_limit`` is the own risk
    from which a direct identifier, such as a name, is always replaced. By default all are: no model can
    distinguish a neighbor who wrote a poem from a poet, and a text that claims to be fiction must not keep
    its names for that. ``must_limit`` is the probability of having to go, read from the context, from which
    any mention is replaced, and ``stay_limit`` that of having to be generalized at least, below which it may
    stay; both are three times as high for what only describes.
    Where no model reads that, ``quasi_limit`` is the risk from which a quasi-identifier is replaced, by the
    higher of the label's risk and its own; its default is the lower bound of the rubric's level 2, from which
    an entity identifies in context. ``sensitive`` says whether all mentions of health, belief and origin are
    replaced, whatever the context says. ``replacements`` says how people and organizations are replaced: see
    ``ingest.rendering.aliases`` for the cost of aliases. ``guess_limit`` is how probable it may be that an
    attacker finds a value among ``ingest.ladders.rungs.GUESSES`` guesses from the words in its place; lethe
    and intact take the most specific words below it. ``epsilon`` is the budget that lprag spends on each
    document. ``treatment`` is the treatment by label; it applies to every policy but origin.
    """

    name: PolicyName = "lethe"
    tau: float = 0.5
    residual_limit: float = 0.7
    weights: Weights = field(default_factory=Weights)
    replacements: Replacements = "descriptor"
    direct_limit: float = 0.0
    must_limit: float = 0.1
    stay_limit: float = 0.15
    quasi_limit: float = 0.4
    epsilon: float = 5.0
    guess_limit: float = 0.5
    sensitive: Sensitive = "context"
    treatment: Treatment = field(default_factory=Treatment)

    @property
    def has_threshold(self) -> bool:
        """Whether scores and a threshold decide, so that it can be calibrated."""
        return self.name in ("lethe", "trip")


DEFAULT = Policy()
"""The default policy."""
DESCRIPTORS = Policy("trip")
"""One word per kind, as TRIP-RAG writes it: the policy of baselines."""


def decide(entity: Entity, scores: Scores, own_risk: float, policy: Policy) -> tuple[Action, str]:
    """Hard rules first, then the threshold (TRIP-RAG, equation 7). Returns the action and its reason."""
    reason = hard_rule(entity, own_risk, policy)
    if reason is None:
        # a missing priority is no reason to keep
        reason = BELOW if scores.priority is not None and scores.priority < policy.tau else AT_OR_ABOVE
    return (Action.KEEP if reason in STAYS else Action.GENERALIZE), reason


def hard_rule(entity: Entity, own_risk: float, policy: Policy) -> str | None:
    """The hard rule that decides about a mention at any priority; None if the threshold decides.

    ``own_risk`` is the hazard form of the marginal risk, whichever form the scores use: with two names in a
    text, the difference of absolute risks is small for each.
    """
    if label_of(entity.label).rigid:
        return RIGID
    if entity.required:
        return OWN
    if policy.treatment.keeps(entity):
        return KEPT
    if entity.identifier is Identifier.DIRECT and own_risk >= policy.direct_limit:
        return DIRECT
    if policy.sensitive == "generalize" and entity.label in SENSITIVE:
        return ALL_SENSITIVE
    if entity.need is not None:
        reason = _by_context(entity, entity.need, policy)
        if reason is not None or is_doubted(entity):
            return reason
    of_kind = label_of(entity.label).risk
    if entity.identifier is Identifier.QUASI and max(of_kind, own_risk) >= policy.quasi_limit:
        return QUASI
    return None


def _by_context(entity: Entity, need: Need, policy: Policy) -> str | None:
    by_form = is_moment_by_form(entity)
    times = DESCRIBING if only_describes(entity) and not by_form else 1.0
    if need.must >= times * policy.must_limit:
        return MUST
    stays = (by_form or is_doubted(entity)) and need.should < times * policy.stay_limit
    return MAY_STAY if stays else None
