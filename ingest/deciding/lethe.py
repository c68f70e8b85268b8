"""Policy ``lethe``: keep what enough people fit, generalize the facts that narrow down most."""

from collections.abc import Sequence

from ingest.annotated import AnnotatedText
from ingest.deciding.narrowing import Kept, facts_of, in_order
from ingest.deciding.policy import HARD_RULES, KEPT, Policy
from ingest.deciding.threshold import by_threshold, rules_of
from ingest.documents import Decision, Scores
from ingest.linking.accounts import rigid_apart
from ingest.protocols import Hazards
from ingest.scoring.scale import marginal_risk
from models.bits import BitsModel


class Lethe:
    """Hard rules, then a limit on the bits that all kept facts of a text say together.

    A fact's priority is what is said with it, in bits, when it is its turn to be kept; so the threshold is
    the number of bits that may be said.
    """

    def __init__(self, model: BitsModel, policy: Policy) -> None:
        self.name: str = policy.name
        self._model = model
        self._policy = policy

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention; those of a link share the scores and, unless rigid, the action."""
        apart = [rigid_apart(text) for text in texts]
        ruled = [rules_of(*each, self._policy) for each in zip(texts, apart, hazards, strict=True)]
        going = [{link for link, rules in of_text.items() if rules & HARD_RULES} for of_text in ruled]
        facts = facts_of(apart, going, self._model)
        return [
            self._decide(text, each, in_order(said, {link for link in said if KEPT in rules[link]}))
            for text, each, rules, said in zip(texts, hazards, ruled, facts, strict=True)
        ]

    def _decide(self, text: AnnotatedText, hazards: Hazards, order: Sequence[Kept]) -> list[Decision]:
        said = {each.link: each for each in order}
        scores = {}
        for link in text.mentions():
            risk = marginal_risk(hazards.total, hazards.marginals[link], self._policy.weights.marginal)
            kept = said.get(link)
            scores[link] = Scores(risk)
            if kept is not None:
                scores[link] = Scores(risk, priority=kept.together, bits=kept.bits)
        return by_threshold(text, hazards, scores, self._policy)
