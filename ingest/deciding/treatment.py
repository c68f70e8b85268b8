"""Apply a policy's treatment by label to the decisions of any method."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.deciding.echoes import echoes
from ingest.deciding.policy import KEPT, OWN, Policy, Treatment
from ingest.documents import Action, Decision, Entity
from ingest.linking.values import value_key
from ingest.wording.aliases import full_names, letters_of, with_aliases
from models.errors import ConfigurationError

MASK = "****"
"""The same for every value: the length of a name would narrow it down."""

CODE_WIDTH = 8
"""Letters per code. Among 100,000 values some two collide with a probability of 4.4 %."""


def needs_key(policy: Policy) -> bool:
    """Whether a policy uses aliases or codes, which need a secret key."""
    return policy.replacements == "alias" or "hash" in policy.treatment.operators.values()


def check_key(policy: Policy, key: bytes | None) -> None:
    """Raises ConfigurationError if a policy needs a key and there is none."""
    if key is None and needs_key(policy):
        raise ConfigurationError(
            "The policy puts aliases or codes, and these take a secret: give a key of 32 bytes, for example "
            "that of ingest.keys.secret_key."
        )


def treated(
    text: AnnotatedText, decisions: Sequence[Decision], policy: Policy, key: bytes | None
) -> Sequence[Decision]:
    """A method's decisions after the policy's treatment, one per mention.

    Required mentions are generalized, mentions with a kept label are kept, and people and organizations get
    aliases if the policy says so. Then each replaced mention gets its label's operator. ``key`` has 32 bytes;
    see ``needs_key``.
    """
    ruled = _kept(text, [_required(each) for each in decisions], policy.treatment)
    codes: Mapping[Entity, str] = {}
    if key is not None:
        codes = _codes(text, policy.treatment, key)
        if policy.replacements == "alias":
            ruled = with_aliases(text, ruled, key)
    return [_replaced(each, policy.treatment, codes) for each in ruled]


def _required(decision: Decision) -> Decision:
    if not decision.entity.required or decision.action is Action.SUPPRESS:
        return decision
    return replace(decision, action=Action.GENERALIZE, reason=OWN, replacement="")


def _kept(text: AnnotatedText, decisions: Sequence[Decision], treatment: Treatment) -> list[Decision]:
    """The decisions with mentions of kept labels set to keep.

    Except mentions linked with a replaced mention, or that repeat its words: a ward named after a patient.
    """
    gone = {
        each.entity.link
        for each in decisions
        if each.action is not Action.KEEP and not treatment.keeps(each.entity)
    }
    if all(each.entity.link in gone or not treatment.keeps(each.entity) for each in decisions):
        return list(decisions)
    while repeating := echoes(text, gone):
        gone |= repeating
    return [
        replace(each, action=Action.KEEP, reason=KEPT, replacement="")
        if treatment.keeps(each.entity) and each.entity.link not in gone
        else each
        for each in decisions
    ]


def _replaced(decision: Decision, treatment: Treatment, codes: Mapping[Entity, str]) -> Decision:
    label = decision.entity.label
    operator = treatment.operator(label)
    if decision.action is Action.KEEP or operator is None:
        return decision
    if operator == "suppress":
        return replace(decision, action=Action.SUPPRESS, replacement="")
    if operator in ("mask", "hash"):
        words = MASK if operator == "mask" else f"[{label} {codes[decision.entity]}]"
        return replace(decision, action=Action.SURROGATE, replacement=words)
    # a mention replaced despite its kept label is generalized
    return replace(decision, action=Action.GENERALIZE, replacement=treatment.words.get(label, ""))


def _codes(text: AnnotatedText, treatment: Treatment, key: bytes) -> Mapping[Entity, str]:
    """The codes of mentions whose label uses ``hash``, of their normalized value.

    A person or organization has the code of its fullest name in the text.
    """
    hashed = [each for each in text.entities if treatment.operator(each.label) == "hash"]
    names = full_names(text) if hashed else {}
    codes = {}
    for each in hashed:
        said = text.text[each.span.start : each.span.end]
        value = names.get((each.label, each.link)) or value_key(each.label, said)
        codes[each] = letters_of(("lethe code", each.label, *value), CODE_WIDTH, key)
    return codes
