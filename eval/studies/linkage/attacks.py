"""The attacks of the study: how the linker searches, what the attacker knows, and in which words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eval.attacks.claims import MOST_KNOWN, Access, Choice
from eval.attacks.linkage import Bm25, Dense, Linker, Rouge
from eval.attacks.rewording import OwnWords, Rewording, RuleRewording
from eval.prepared import Prepared
from eval.studies.marks.methods import FURTHER_DRAWS, LETHE, LOWEST, ORIGIN, RANDOM, REDACT, TRIP, method_of
from eval.studies.marks.methods import systems as marked_systems
from eval.tasks.linkage import LinkageTask
from ingest.deciding.baselines.uniform import SUPPRESS
from ingest.deciding.baselines.within_rules import RULES_ALONE
from ingest.documents import Document, Entity, Identifier, LanguageRule, Span
from ingest.labels import VAGUE
from ingest.protocols import Encoder
from ingest.sanitize import DecidingSanitizer, Rewriter
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
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


ROUGE, BM25, BM25_MAJORITY, DENSE, DENSE_MAJORITY = (
    "rouge",
    "bm25",
    "bm25-majority",
    "dense",
    "dense-majority",
)
LINKERS: Mapping[str, Callable[[Encoder], Linker]] = {
    ROUGE: lambda _: Linker(Rouge(), "joined", "documents"),
    BM25: lambda _: Linker(Bm25(), "joined", "documents"),
    BM25_MAJORITY: lambda _: Linker(Bm25()),
    DENSE: lambda encoder: Linker(Dense(encoder), "joined", "documents"),
    DENSE_MAJORITY: lambda encoder: Linker(Dense(encoder)),
}
"""Single ones ask once, with all known claims joined, for whole documents. With majority each claim asks for
claims, and votes."""
Words = Literal["own", "reworded"]
CHOICES: Sequence[Choice] = ("first", "random", "last")
WORDS: Sequence[Words] = ("own", "reworded")
REWORDED = RuleRewording()


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack by the names of its parts; the default is that of version 2 of the paper.

    Raises:
        ConfigurationError: The linker is unknown.
    """

    linker: str = DENSE_MAJORITY
    choice: Choice = "random"
    k: int = 3
    words: Words = "reworded"

    def __post_init__(self) -> None:
        if self.linker not in LINKERS:
            raise ConfigurationError(
                f"There is no linker {self.linker!r}: the names are {', '.join(LINKERS)}."
            )
        Access(self.k, self.choice)

    def on(self, task: LinkageTask, encoder: Encoder, reworded: Rewording = REWORDED) -> LinkageTask:
        """The task with this attack; ``reworded`` says what is known in other words."""
        return replace(
            task,
            linker=LINKERS[self.linker](encoder),
            access=replace(task.access, k=self.k, choice=self.choice),
            rewording=OwnWords() if self.words == "own" else reworded,
        )


VERSION_1, VERSION_2 = Attack(BM25, words="own"), Attack()
PRESETS: Mapping[str, Attack] = {"1": VERSION_1, "2": VERSION_2}
"""By the version of the paper."""


def variations(main: Attack) -> dict[str, list[Attack]]:
    """Attacks that differ from the main one in one part, by that part; the main one is among them.

    The number of known claims grows from the end of the document, as in the paper.
    """
    return {
        "linker": [replace(main, linker=linker) for linker in LINKERS],
        "choice": [replace(main, choice=choice) for choice in CHOICES],
        "words": [replace(main, words=words) for words in WORDS],
        "known": [replace(main, choice="last", k=k) for k in range(1, MOST_KNOWN + 1)],
    }
