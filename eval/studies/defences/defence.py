"""The defences that Lethe has, each by itself and all together, as variants of one undefended system."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval.attacks.obedient import Obedient, PlainPrompt, quoting
from eval.experiment import SanitizedCorpus
from eval.protocols import Target
from ingest.protocols import Encoder, Sanitizer
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.guards.answers import AnswerRules, Canaries, GuardedAnswers
from retrieval.guards.passages import GuardedPassages, PassageRules
from retrieval.guards.questions import RefusedCommands
from retrieval.protocols import Generator

Limits = Callable[[Target], Target]

NONE, ALL, ALL_QUOTES = "none", "all, with the obedient model", "all, with quoted answers"
ALIKE, SHARE = "budget of like questions", "budget of documents"
"""The names of the limits, which a server makes."""
GATE, DENSE, NOISE = "gate for commands", "search by vectors alone", "the same, noise in stored vectors"
THRESHOLD, COPIES = "threshold of similarity", "copies hidden"
"""The names of the rules of the search."""

EPSILON = 10.0
"""Of each stored vector, where there is noise: at the weak end of what is called private."""

ALWAYS = (
    "a sanitized index, passages quoted in the prompt with their marks rewritten, and the policy on answers "
    "of a model: only this benchmark leaves them away",
    "no passage repeats the words of a better one",
    "an answer cites only passages that it was given",
    "the prompt forbids to copy passages out, which the obedient model does not heed",
    "documents with readers are found by keys of these groups alone; the attackers here may read all",
)
"""What a server cannot switch off."""
ABSENT = ("noise in search",)
"""Known defences that Lethe does not have."""
NEED_A_MODEL = (
    "reranking by a cross-encoder (`retrieval.reranker`)",
    "rewriting of questions before the search (`retrieval.rewrite_questions`)",
    "condensed passages (`generator.condense`)",
)
"""Defences that settings switch on, and that need a model which is not embedded."""


@dataclass(frozen=True, slots=True)
class Defence:
    """What is switched on. ``quote`` is the longest quotation, ``heeded`` whether the model heeds quotes.

    ``gated`` refuses commands. ``dense`` searches by vectors alone, which is no defence; ``noise`` is then
    the epsilon of each stored vector, None without noise.
    """

    name: str
    sanitized: bool = False
    quoted: bool = False
    heeded: bool = True
    extractive: bool = False
    guarded: bool = False
    quote: int | None = None
    canaries: bool = False
    limits: tuple[str, ...] = ()
    search: PassageRules = PassageRules()
    gated: bool = False
    dense: bool = False
    noise: float | None = None

    def generator(self, encoder: Encoder, sanitizer: Sanitizer, canaries: Canaries) -> Generator:
        """The victim, behind the output guard where a rule of it is on, and behind the gate."""
        generator = self._guarded(encoder, sanitizer, canaries)
        return RefusedCommands(generator) if self.gated else generator

    def _guarded(self, encoder: Encoder, sanitizer: Sanitizer, canaries: Canaries) -> Generator:
        generator: Generator
        if self.extractive:
            generator = ExtractiveGenerator()
        else:
            generator = quoting(self.heeded) if self.quoted else PlainPrompt(Obedient(self.heeded))
        if not (self.guarded or self.quote or self.canaries):
            return generator
        rules = AnswerRules(
            sanitizer if self.guarded else None, canaries if self.canaries else Canaries(), self.quote
        )
        return GuardedAnswers(generator, rules)

    def searching(self, kept: SanitizedCorpus) -> SanitizedCorpus:
        """The corpus with its search behind the rules."""
        if not self.search:
            return kept
        made: dict[str, GuardedPassages] = {}

        def guarded(encoder: Encoder) -> GuardedPassages:
            found = GuardedPassages(kept.retriever(encoder), self.search, lambda: kept.kept)
            return made.setdefault(encoder.name, found)

        return replace(kept, retriever=guarded)

    def limiting(self, made: Mapping[str, Limits]) -> Limits | None:
        """The limits, one around the other; None without any."""
        if not self.limits:
            return None

        def limited(target: Target) -> Target:
            for name in self.limits:
                target = made[name](target)
            return target

        return limited


def defences(quote: int, search: PassageRules) -> Sequence[Defence]:
    """Nothing, each alone, and all; ``quote`` is the longest quotation in words, ``search`` has both rules.

    All are without the threshold of similarity, below which half of the harmless questions find nothing.
    """
    copies = PassageRules(hide_copies=search.hide_copies)
    both = (ALIKE, SHARE)
    # The gate is not among all: the attacks here have one wording, which it knows, and whoever rewords that
    # passes. Its zeros would hide what the others do.
    return (
        Defence(NONE),
        Defence("sanitized index", sanitized=True),
        Defence("passages quoted in the prompt", quoted=True),
        Defence("the same, not heeded", quoted=True, heeded=False),
        Defence("quoted answers, no model", extractive=True),
        Defence("policy on answers", guarded=True),
        Defence(f"quotations of {quote} words", quote=quote),
        Defence("canary scan", canaries=True),
        Defence(THRESHOLD, search=PassageRules(search.least_similarity)),
        Defence(COPIES, search=copies),
        Defence(GATE, gated=True),
        Defence(DENSE, dense=True),
        Defence(NOISE, dense=True, noise=EPSILON),
        Defence(ALIKE, limits=(ALIKE,)),
        Defence(SHARE, limits=(SHARE,)),
        Defence(ALL, True, True, True, False, True, quote, True, both, copies),
        # What only quotes says nothing but what the policy let out.
        Defence(ALL_QUOTES, True, False, True, True, False, quote, True, both, copies),
    )
