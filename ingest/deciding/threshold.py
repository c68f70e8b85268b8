"""Decisions by hard rules, a threshold on each link's priority, and what repeats the words of what goes."""

from collections import defaultdict
from collections.abc import Mapping

from ingest.annotated import AnnotatedText
from ingest.deciding.echoes import echoes
from ingest.deciding.policy import ECHO, STAYS, STRICTEST_FIRST, Policy, hard_rule, reason_of
from ingest.documents import Action, Decision, Scores
from ingest.linking.accounts import rigid_apart
from ingest.protocols import Hazards
from ingest.scoring.scale import absolute_risk


def rules_of(
    text: AnnotatedText, apart: AnnotatedText, hazards: Hazards, policy: Policy
) -> Mapping[int, set[str | None]]:
    """The hard rules of the mentions of each link of ``apart``; None where a mention has none.

    ``apart`` is the text with its rigid mentions apart, see ``rigid_apart``.
    """
    rules: dict[int, set[str | None]] = defaultdict(set)
    for entity, moved in zip(text.entities, apart.entities, strict=True):
        rules[moved.link].add(hard_rule(entity, absolute_risk(hazards.marginals[entity.link]), policy))
    return rules


def by_threshold(
    text: AnnotatedText, hazards: Hazards, scores: Mapping[int, Scores], policy: Policy
) -> list[Decision]:
    """A decision for each mention; those of a link share the scores and, unless rigid, the action.

    ``scores`` are those of each link. What goes takes with it whatever repeats its words.
    """
    apart = rigid_apart(text)
    links = {moved.link: entity.link for entity, moved in zip(text.entities, apart.entities, strict=True)}
    reasons = {
        link: min(
            (rule or reason_of(scores[links[link]], policy) for rule in rules), key=STRICTEST_FIRST.index
        )
        for link, rules in rules_of(text, apart, hazards, policy).items()
    }
    while repeating := echoes(apart, {link for link, reason in reasons.items() if reason not in STAYS}):
        reasons |= dict.fromkeys(repeating, ECHO)
    return [
        Decision(
            entity,
            scores[entity.link],
            Action.KEEP if reasons[moved.link] in STAYS else Action.GENERALIZE,
            reasons[moved.link],
        )
        for entity, moved in zip(text.entities, apart.entities, strict=True)
    ]
