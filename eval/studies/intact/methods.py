"""INTACT's variants and baselines, all on the same annotated spans."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from eval.corpora.replaced import ReplacedCase
from eval.studies.marks.methods import GoldDetector
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.synthetic import Synthetic
from ingest.deciding.baselines.uniform import REDACT, SUPPRESS
from ingest.documents import Action, Decision, Span
from ingest.protocols import Hazards, Method, Wording
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.wording.guessed import Guessed, Guesser
from ingest.wording.rungs import below, least_specific, most_specific
from ingest.wording.words import worded
from models.errors import ModelUnavailable

SUPPRESSION, ENTITY_TYPE, SYNTHETIC = "suppression", "entity type", "synthetic"
LEAST, MOST, INTACT, LETHE = "least specific", "most specific", "intact (rule engine)", "lethe"
PUBLISHED: Mapping[str, str] = {
    "intact": "INTACT, published output",
    "gpt35_presidio": "synthetic by GPT-3.5, published output",
}
"""What tables call the published outputs of the corpus."""
METHODS = (SUPPRESSION, ENTITY_TYPE, *PUBLISHED.values(), SYNTHETIC, LEAST, MOST, INTACT, LETHE)
"""In the order of the tables."""
DOU = "Dou et al. abstraction"
DOU_IS_ABSENT = "its weights, an adapter of a language model of 7 billion weights, are not part of Lethe"


def sanitizers(
    cases: Sequence[ReplacedCase], guesser: Guesser, limit: float
) -> tuple[dict[str, DecidingSanitizer], dict[str, str]]:
    """Each method that can run, by name, and why others are absent. All replace every annotated mention."""
    gold, risk = GoldDetector([case.marked for case in cases]), RiskPrior()

    def by(method: Method, wording: Wording | None = None) -> DecidingSanitizer:
        return DecidingSanitizer(gold, method, risk, language="any", wording=wording)

    made: dict[str, Callable[[], DecidingSanitizer]] = {
        SUPPRESSION: lambda: by(SUPPRESS),
        ENTITY_TYPE: lambda: by(EntityType()),
        SYNTHETIC: lambda: by(Synthetic()),
        LEAST: lambda: by(REDACT, partial(worded, take=least_specific)),
        MOST: lambda: by(REDACT, partial(worded, take=most_specific)),
        INTACT: lambda: by(REDACT, Guessed(guesser, limit)),
        LETHE: lambda: by(REDACT, partial(worded, take=below(limit))),
    }
    for key, name in PUBLISHED.items():
        words = {case.document.text: case.published.get(key, {}) for case in cases}
        if all(words.values()):
            made[name] = partial(by, PublishedWords(name, words))
    found: dict[str, DecidingSanitizer] = {}
    absent = {DOU: DOU_IS_ABSENT}
    for name in METHODS:
        try:
            found[name] = made[name]()
        except KeyError:
            absent[name] = "the corpus has no output of it"
        except ModelUnavailable as error:
            absent[name] = str(error)
    return found, absent


@dataclass(frozen=True, slots=True)
class PublishedWords:
    """Puts in what a published output has for each span; ``words`` are by text and span."""

    name: str
    words: Mapping[str, Mapping[Span, str]] = field(repr=False)

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention."""
        return [[self._decision(text, number) for number in range(len(text.entities))] for text in texts]

    def _decision(self, text: AnnotatedText, number: int) -> Decision:
        entity = text.entities[number]
        said = self.words[text.text][entity.span].strip()
        return Decision(entity, None, Action.SURROGATE if said else Action.SUPPRESS, self.name, said)
