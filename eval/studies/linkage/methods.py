"""The methods that the linkage attack is measured on, as variants of one system."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eval.prepared import Prepared
from eval.studies.marks.methods import FURTHER_DRAWS, LETHE, LOWEST, ORIGIN, RANDOM, REDACT, TRIP, method_of
from eval.studies.marks.methods import systems as marked_systems
from ingest.deciding.baselines.uniform import SUPPRESS
from ingest.deciding.baselines.within_rules import RULES_ALONE
from ingest.documents import Document, Entity, Identifier, LanguageRule, Span
from ingest.labels import VAGUE
from ingest.sanitize import DecidingSanitizer, Rewriter
from ingest.scoring.prior import RiskPrior
from retrieval.system import System

REMOVED = "everything removed"
METHODS = (ORIGIN, REDACT, RULES_ALONE, RANDOM, TRIP, LETHE, REMOVED)
"""In the order of the tables."""


def systems(ready: Prepared, seed: int, also: Mapping[str, Rewriter]) -> dict[str, System]:
    """Every method by name, ``also`` last. The random control draws once: each document draws for itself."""
    others = marked_systems(ready, seed)
    kept = {method_of(name): each for name, each in others.items() if name not in (*FURTHER_DRAWS, LOWEST)}
    kept[REMOVED] = replace(ready.system, sanitizing=lambda each: _emptied(each.language))
    return kept | {name: ready.rewriting(each) for name, each in also.items()}


def _emptied(language: LanguageRule) -> DecidingSanitizer:
    """Leaves nothing of any document: what is known without it."""
    return DecidingSanitizer(WholeText(), SUPPRESS, RiskPrior(), language=language)


class WholeText:
    """Finds one entity, the whole text."""

    name = "whole text"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """One entity for each document that is not empty."""
        return [
            [Entity(Span(0, len(each.text)), VAGUE, Identifier.DIRECT, 1.0, self.name)] if each.text else []
            for each in documents
        ]
