"""The methods that are measured against marks, as variants of one system."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eval.documents import Mark, MarkedDocument
from eval.prepared import Prepared
from ingest.deciding.baselines.uniform import Uniform
from ingest.deciding.baselines.within_rules import (
    LOWEST_WITHIN,
    RANDOM_WITHIN,
    RULES_ALONE,
    Chosen,
    Named,
    WithinRules,
    rules_alone,
)
from ingest.documents import Action, Document, Entity, Identifier, Span
from ingest.labels import LABELS, VAGUE
from ingest.sanitize import DecidingSanitizer
from retrieval.system import System

ORIGIN, REDACT, TRIP, LETHE, ORACLE = "origin", "redact", "trip", "lethe", "oracle"
RANDOM, LOWEST = RANDOM_WITHIN, LOWEST_WITHIN
DRAWS = 5
"""How often a random control draws; one draw is chance."""
FURTHER_DRAWS = [f"{RANDOM}, {draw}" for draw in range(2, DRAWS + 1)]
"""The systems of all draws but the first."""
METHODS = (ORIGIN, REDACT, RULES_ALONE, RANDOM, LOWEST, TRIP, LETHE, ORACLE)
"""In the order of the tables."""

LABEL_OF: Mapping[str, str] = {
    "PERSON": "person full name",
    "CODE": "reference number",
    "CONTACT": "phone number",
    "LOC": "place",
    "ORG": "organization",
    "DATETIME": "date",
    "AGE": "person age",
    "QUANTITY": "quantity",
    "DEM": "demographic attribute",
    "HEALTH": "disease",
    "MISC": VAGUE,
}
"""The label whose descriptor the oracle puts for a gold's type: it decides about words only."""
IDENTIFIERS = {"DIRECT": Identifier.DIRECT, "QUASI": Identifier.QUASI}


def systems(ready: Prepared, seed: int) -> dict[str, System]:
    """Every method but the oracle, by name; the random control once for each draw."""
    policy = replace(ready.system.policy, name="lethe")
    ready = replace(ready, system=replace(ready.system, policy=policy))
    alone, scores = ready.by(rules_alone(policy)).method, replace(policy, name="trip")

    def within(chosen: Chosen, draw: int = 0) -> System:
        return ready.carrying_out(
            lambda: WithinRules(
                ready.system.method(), alone(), chosen, DRAWS * seed + draw, ready.by(scores).method()
            )
        )

    return {
        ORIGIN: ready.by(replace(policy, name="origin")),
        REDACT: ready.by(replace(policy, name="redact")),
        RULES_ALONE: ready.carrying_out(lambda: Named(alone(), RULES_ALONE)),
        **{f"{RANDOM}, {draw + 1}": within("random", draw) for draw in range(DRAWS)},
        LOWEST: within("lowest divergence"),
        TRIP: ready.by(replace(policy, name="trip")),
        LETHE: ready.by(policy),
    }


def method_of(system: str) -> str:
    """The method of a system's name in rows: without the annotator of an oracle, or the number of a draw."""
    return system.partition(", ")[0]


def oracle(system: System, documents: Sequence[MarkedDocument]) -> System:
    """A system that replaces exactly what one annotator says must go, and nothing else."""
    gold = GoldDetector(documents)
    everything = Uniform(ORACLE, Action.GENERALIZE, "an annotator says that it must go")
    return replace(
        system,
        detector=gold,
        sanitizing=lambda each: DecidingSanitizer(
            gold, everything, each.risk, each.policy, each.key, each.language, each.wording()
        ),
    )


class GoldDetector:
    """Finds the marks with must 2 of known documents, by their text; nothing in others."""

    name = "gold"

    def __init__(self, documents: Sequence[MarkedDocument]) -> None:
        self._found = {
            each.document.text: [_entity(mark) for mark in each.marks if mark.must == 2] for each in documents
        }

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [self._found.get(document.text, []) for document in documents]


def _entity(mark: Mark) -> Entity:
    label = LABEL_OF.get(mark.type, mark.type if mark.type in LABELS else VAGUE)
    identifier = IDENTIFIERS.get(mark.kind, Identifier.ATTRIBUTE)
    return Entity(Span(mark.start, mark.end), label, identifier, 1.0, GoldDetector.name)
