"""The rule from scores to action: pure, total, monotone in risk."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, log2
from typing import Literal, get_args

from ingest.documents import Entity, Identifier, Scores
from ingest.labels import LONGEST_NAME, SENSITIVE, is_short_line, label_of
from ingest.scoring.scale import Weights
from models.errors import ConfigurationError

PolicyName = Literal["lethe", "trip", "intact", "redact", "suppress", "entity-type", "lprag", "origin"]

METHODS: Mapping[PolicyName, str] = {
    "lethe": "keeps what enough people fit and writes the most specific words that cannot be guessed",
    "trip": "decides by TRIP-RAG's scores and writes one word per kind",
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

Sensitive = Literal["keep", "generalize"]
"""Whether health, belief and origin stay like other facts that single nobody out, or all of it goes."""

Operator = Literal["generalize", "mask", "hash", "suppress", "keep"]
"""The treatment of a mention; see ``Treatment``."""

RIGID = "rigid identifier: always generalized"
OWN = "on a list or pattern of one's own: always generalized"
DIRECT = "direct identifier whose risk reaches its limit"
ALL_SENSITIVE = "health, belief or origin: the policy generalizes all of it"
AT_OR_ABOVE = "priority at or above the threshold"
NARROWS = "with it fewer people would fit than the policy asks for"
ECHO = "says what an identifier says that is generalized"
BELOW = "priority below the threshold"
FITS = "with it enough people still fit"
TOO_FEW = "fewer people fit than the policy asks for: labels that it keeps say too much"
"""A doubt about a document: only what is kept by its label can say more than the policy allows."""
KEPT = "its label is kept whatever its scores"


STRICTEST_FIRST = (RIGID, OWN, DIRECT, ALL_SENSITIVE, AT_OR_ABOVE, NARROWS, BELOW, FITS, KEPT)
"""In order of precedence: the first reason of any mention of a link applies to all its mentions."""
HARD_RULES = frozenset((RIGID, OWN, DIRECT, ALL_SENSITIVE))
"""Reasons that replace a mention at any priority."""
ALWAYS = HARD_RULES | {ECHO}
"""Reasons independent of the threshold: without one, only these act, and only on echoes of hard rules."""
STAYS = frozenset((BELOW, FITS, KEPT))
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


MOST_BITS = 1_000.0
"""A smaller share of people than this is no number any more."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The privacy policy of a collection.

    Under ``lethe`` at least ``k`` of ``people`` who might be meant must fit what a document still says: facts
    are kept in the order in which they narrow it down least, and the others are generalized. By default these
    are a hundred people whom somebody near a person thinks of, a ward, a firm or a school, of whom at least
    half must fit; only the share of the two counts. Under ``trip`` ``tau`` is the threshold on the priority
    S(e). ``direct_limit`` is the own risk from which a direct identifier, such as a name, is always replaced.
    By default all are: no model can distinguish a neighbor who wrote a poem from a poet, and a text that
    claims to be fiction must not keep its names for that. ``sensitive`` says whether all mentions of health,
    belief and origin are replaced, whatever they narrow down. ``replacements`` says how people and
    organizations are replaced: see ``ingest.wording.aliases`` for the cost of aliases. ``guess_limit`` is
    how probable it may be that an attacker finds a value among ``ingest.wording.rungs.GUESSES`` guesses from
    the words in its place; lethe and intact take the most specific words below it. ``epsilon`` is the budget
    that lprag spends on each document. ``treatment`` is the treatment by label; it applies to every policy
    but origin.
    """

    name: PolicyName = "lethe"
    k: float = 50.0
    people: float = 100.0
    tau: float = 0.5
    weights: Weights = field(default_factory=Weights)
    replacements: Replacements = "descriptor"
    direct_limit: float = 0.0
    epsilon: float = 5.0
    guess_limit: float = 0.5
    sensitive: Sensitive = "keep"
    treatment: Treatment = field(default_factory=Treatment)

    @property
    def has_threshold(self) -> bool:
        """Whether scores and a threshold decide, so that it can be calibrated."""
        return self.name in ("lethe", "trip")

    @property
    def threshold(self) -> float:
        """The priority from which an entity is generalized: tau, or log2(people / k) bits under lethe."""
        if self.name != "lethe":
            return self.tau
        return round(log2(self.people) - log2(self.k), 9) if self.k > 0 else inf

    def at(self, threshold: float) -> "Policy":
        """The policy with another threshold."""
        if self.name != "lethe":
            return replace(self, tau=threshold)
        bits = max(0.0, min(threshold, MOST_BITS))
        return replace(self, k=0.0 if threshold == inf else self.people * 2.0**-bits)


DEFAULT = Policy()
"""The default policy."""
DESCRIPTORS = Policy("trip")
"""One word per kind, as TRIP-RAG writes it: the policy of baselines."""


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
    return None


def reason_of(scores: Scores, policy: Policy) -> str:
    """What the threshold says (TRIP-RAG, equation 7); nothing stays for want of a priority."""
    goes, stays = (NARROWS, FITS) if policy.name == "lethe" else (AT_OR_ABOVE, BELOW)
    return stays if scores.priority is not None and scores.priority < policy.threshold else goes
