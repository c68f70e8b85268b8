"""Fair controls: the same hard rules as a method, and beyond them as many entities, chosen otherwise.

``Control`` draws among all entities, so it loses to any method with hard rules, whatever its scores are
worth. These show what the scores add to the rules. Like all baselines they give no guarantee.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from math import inf
from random import Random
from typing import Literal

from ingest.annotated import AnnotatedText
from ingest.deciding.policy import KEPT, Policy
from ingest.documents import Action, Decision
from ingest.linking.accounts import rigid_apart
from ingest.protocols import Hazards, Method

Chosen = Literal["random", "lowest divergence"]
RULES_ALONE = "rules alone"
RANDOM_WITHIN, LOWEST_WITHIN = "random within rules", "lowest divergence within rules"
"""The names of the controls."""


def rules_alone(policy: Policy) -> Policy:
    """The policy with its hard rules and their echoes alone, or that of trip if it has none."""
    return (policy if policy.has_threshold else replace(policy, name="trip")).at(inf)


class Named:
    """A method under another name."""

    def __init__(self, method: Method, name: str) -> None:
        self._method = method
        self.name = name

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """The decisions of the method."""
        return self._method.decide(texts, hazards)


class WithinRules:
    """Generalizes what ``rules`` do and, per document, as many further linked entities as ``method`` does.

    ``random`` draws them with ``seed``, each document independently of its batch. ``lowest divergence`` takes
    those first whose removal changes the meaning least; ``scoring`` is a method that scores all entities, if
    ``method`` does not. The rigid mentions of a link count as a link of their own, as in trip.
    """

    def __init__(
        self, method: Method, rules: Method, chosen: Chosen, seed: int = 0, scoring: Method | None = None
    ) -> None:
        self._method = method
        self._scoring = scoring
        self._rules = rules
        self._chosen = chosen
        self._seed = seed
        self.name = f"{chosen} within rules"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """The decision for each mention: that of the rules, or why it was chosen.

        Raises:
            ValueError: An entity has no divergence, and these are to be compared.
        """
        by_method = self._method.decide(texts, hazards)
        by_rules = self._rules.decide(texts, hazards)
        scored = by_method if self._scoring is None else self._scoring.decide(texts, hazards)
        return [self._chosen_of(*each) for each in zip(texts, by_method, by_rules, scored, strict=True)]

    def _chosen_of(
        self,
        text: AnnotatedText,
        taken: Sequence[Decision],
        ruled: Sequence[Decision],
        scored: Sequence[Decision],
    ) -> list[Decision]:
        links = [entity.link for entity in rigid_apart(text).entities]
        gone = _replaced(links, ruled)
        stays = {link for link, each in zip(links, ruled, strict=True) if each.reason == KEPT}
        free = [link for link in dict.fromkeys(links) if link not in gone | stays]
        more = len(_replaced(links, taken) - gone)
        first = {link: decision for link, decision in reversed(list(zip(links, scored, strict=True)))}
        chosen = set(self._ordered(text, free, first)[:more])
        reason = f"{self.name}: {self._method.name} takes as many"
        return [
            replace(each, action=Action.GENERALIZE, reason=reason) if link in chosen else each
            for link, each in zip(links, ruled, strict=True)
        ]

    def _ordered(self, text: AnnotatedText, free: Sequence[int], first: dict[int, Decision]) -> list[int]:
        if self._chosen == "lowest divergence":
            return sorted(free, key=lambda link: _divergence(first[link]))
        digest = blake2b(text.text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return Random(f"{self._seed} {digest}").sample(list(free), len(free))


def _replaced(links: Sequence[int], decisions: Sequence[Decision]) -> set[int]:
    pairs = zip(links, decisions, strict=True)
    return {link for link, decision in pairs if decision.action is not Action.KEEP}


def _divergence(decision: Decision) -> float:
    scores = decision.scores
    if scores is None or scores.knowledge_divergence is None:
        raise ValueError("an entity has no divergence: the method has to score all entities")
    return scores.knowledge_divergence
