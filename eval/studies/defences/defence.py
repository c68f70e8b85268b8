"""The defences that Lethe has, each by itself and all together, as variants of one undefended system."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from eval.attacks.injection import Obedient, PlainPrompt, quoting
from eval.experiment import SanitizedCorpus, Shelf, add_documents, retrievers
from eval.measures.uncertainty import Estimate
from eval.protocols import Target
from eval.provenance import Frozen, Provenance
from ingest.deciding.baselines.local_privacy import gaussian_noise
from ingest.protocols import Encoder, OverEncoder, Sanitizer
from models.vectors import Vectors
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.guards.answers import AnswerRules, GuardedAnswers
from retrieval.guards.canaries import Canaries
from retrieval.guards.commands import RefusedCommands
from retrieval.guards.passages import GuardedPassages, PassageRules
from retrieval.protocols import Generator
from retrieval.search import DENSE as BY_VECTORS
from retrieval.store.database import Store


class DefenceFigures(Frozen):
    """What attackers get under a defence, and what users do.

    ``drawn`` has, by attack and number of questions, the share of all sensitive entities that came out;
    ``refused_attacks`` the share of these questions that a limit refused. ``covered`` is the share of
    documents of which harmless questions brought out a passage, and ``also`` has the same of further attacks
    by their names. ``injected`` are answers that follow a poisoned document, ``injected_without`` the same
    without it, which is chance. ``member`` is the area under the curve of the best similarity, with 0.5 as
    chance. ``canaries`` are planted secrets that came out.
    ``facts``, ``found_first`` and ``refused`` are of harmless questions.
    """

    defence: str
    drawn: dict[str, dict[int, Estimate]]
    refused_attacks: Estimate
    covered: Estimate
    also: dict[str, Estimate] = {}
    injected: Estimate
    injected_without: Estimate
    injected_by: dict[str, Estimate]
    member: Estimate
    canaries: Estimate
    facts: Estimate
    found_first: Estimate
    refused: Estimate
    not_measured: int


class DefencesReport(Frozen):
    """All defences on the same documents, with the same questions; ``budget`` is that of each attack.

    ``limits`` says what the defences with a number were set to.
    """

    provenance: Provenance
    command: str
    seed: int
    documents: int
    held_out: int
    failed: int
    entities: int
    reference: str
    k: int
    budget: int
    poisoned: int
    harmless: int
    limits: dict[str, float]
    defences: tuple[DefenceFigures, ...]
    always: tuple[str, ...]
    absent: tuple[str, ...]
    need_a_model: tuple[str, ...] = ()


FARTHEST = 2.0
"""The L2 sensitivity: opposite unit vectors."""
DELTA = 1e-5


@dataclass(frozen=True, slots=True)
class NoisyVectors(OverEncoder):
    """Unit vectors of ``encoder`` with Gaussian noise, scaled to length 1 again, which costs no privacy.

    Noise in the vectors that a server stores, so that who reads them learns less of the texts.

    The mechanism is the Gaussian one, calibrated exactly (Balle and Wang 2018). Unit vectors are at most 2
    apart, whatever the texts, so each vector is (epsilon, delta)-locally private by itself; those of one
    document, its beginning, its passages and their units, add up. Questions are encoded plainly: they are the
    asker's.

    Words are searched as they are, and say all that the noise hides: with noise, search is by vectors alone.

    The noise of a text depends on ``seed`` and the text alone, so that a run can be repeated; who protects
    texts draws it in secret.
    """

    epsilon: float
    seed: int = 0
    deviation: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviation", gaussian_noise(FARTHEST, self.epsilon, DELTA))

    @property
    def name(self) -> str:
        """The encoder and the budget of each vector."""
        return f"{self.encoder.name}, noise of epsilon {self.epsilon:g}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim), rows of length 1."""
        vectors = self.encoder.encode(texts)
        noise = [self._drawn(text) for text in texts]
        noisy = vectors + self.deviation * np.array(noise).reshape(vectors.shape)
        unit: Vectors = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _drawn(self, text: str) -> Vectors:
        said = f"{self.seed}\n{text}".encode("utf-8", "surrogatepass")
        rng = np.random.default_rng(int.from_bytes(blake2b(said, digest_size=16).digest()))
        return rng.standard_normal(self.dim).astype(np.float32)


def by_vectors(
    kept: SanitizedCorpus, passage_tokens: int, epsilon: float | None, seed: int, stack: ExitStack
) -> SanitizedCorpus:
    """The same documents searched by vectors alone, with noise of ``epsilon`` in those that are stored."""
    made: dict[str, Shelf] = {}

    def stored(encoder: Encoder) -> Encoder:
        return encoder if epsilon is None else NoisyVectors(encoder, epsilon, seed)

    def shelf(encoder: Encoder) -> Shelf:
        if encoder.name not in made:
            store = Store(None)
            stack.callback(store.close)
            made[encoder.name] = Shelf(store, passage_tokens, BY_VECTORS, stored)
            add_documents(made[encoder.name], kept.documents, encoder)
        return made[encoder.name]

    return replace(kept, retriever=retrievers(shelf), shelf=shelf)


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
