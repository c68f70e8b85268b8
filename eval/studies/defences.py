"""Attacks and harmless questions on one corpus under each defence, alone and together.

The victim is the most obedient model there could be; the undefended system gives it passages as they are.
Attacks that go on from question to question come from one caller. Whoever asks about one candidate or one
planted secret asks once, and whoever meets a poisoned document is no attacker: no budget counts these.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from pathlib import Path

import numpy as np

from eval.attacks.adaptive import CopyBreak, Dgea, Follow, Ikea, Pirates, RandomText
from eval.attacks.canaries import CanaryAttack, PlantedCanaries, canaries_out, plant
from eval.attacks.extraction import Aim, Unchanged, extraction_suite
from eval.attacks.injection import InjectDump, Obedient, PlainPrompt, quoting
from eval.attacks.membership import RETRIEVAL, members_and_others
from eval.corpora.corpus import Corpus, Question, Selection, fewer_documents
from eval.corpora.sensitive import sensitive_in
from eval.corpora.whole_documents import cloze_questions
from eval.documents import Adaptive, EntityRef, Target
from eval.experiment import (
    Experiment,
    SanitizedCorpus,
    Shelf,
    Task,
    add_documents,
    kept_in_memory,
    retrievers,
)
from eval.measures.leakage import SensitiveIndex, drawn_out
from eval.measures.uncertainty import Estimate, mean_of, share_of
from eval.prepared import detected
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance, commit_here, provenance_of, reference_of, run_digest
from eval.rows import Row, RowFile
from eval.targets import reading_once
from eval.tasks.attack import AttackTask
from eval.tasks.coverage import REFUSED, Benign, CoverageTask, covered
from eval.tasks.injection import injected, poisoning
from eval.tasks.membership import MembershipTask, membership
from eval.tasks.questions import FACTS, RANK
from ingest.deciding.baselines.local_privacy import gaussian_noise
from ingest.deciding.policy import Policy
from ingest.documents import Document
from ingest.protocols import Encoder, OverEncoder, Sanitizer
from models.errors import LetheError
from models.vectors import Vectors
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.guards.answers import AnswerRules, Canaries, GuardedAnswers
from retrieval.guards.passages import GuardedPassages, PassageRules
from retrieval.guards.questions import RefusedCommands
from retrieval.protocols import Generator
from retrieval.search import DENSE as BY_VECTORS
from retrieval.store.database import Store
from retrieval.system import System


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

    The mechanism is calibrated exactly (Balle and Wang 2018). Unit vectors are at most 2 apart, whatever the
    texts, so each stored vector is (epsilon, delta)-locally private by itself; those of one document, its
    beginning, its passages and their units, add up. Questions are encoded plainly. Words are searched as they
    are, and say all that the noise hides: with noise, search is by vectors alone. The noise of a text depends
    on ``seed`` and the text alone, so that a run can be repeated; who protects texts draws it in secret.
    """

    epsilon: float
    seed: int = 0
    deviation: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviation", gaussian_noise(FARTHEST, self.epsilon, DELTA))

    @property
    def name(self) -> str:
        return f"{self.encoder.name}, noise of epsilon {self.epsilon:g}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim), rows of length 1."""
        vectors = self.encoder.encode(texts)
        noise = np.array([self._drawn(text) for text in texts]).reshape(vectors.shape)
        noisy = vectors + self.deviation * noise
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

    def generator(self, sanitizer: Sanitizer, canaries: Canaries) -> Generator:
        """The victim, behind the output guard where a rule of it is on, and behind the gate."""
        generator: Generator
        if self.extractive:
            generator = ExtractiveGenerator()
        else:
            generator = quoting(self.heeded) if self.quoted else PlainPrompt(Obedient(self.heeded))
        if self.guarded or self.quote or self.canaries:
            known = canaries if self.canaries else Canaries()
            rules = AnswerRules(sanitizer if self.guarded else None, known, self.quote)
            generator = GuardedAnswers(generator, rules)
        return RefusedCommands(generator) if self.gated else generator

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
        limits = [made[name] for name in self.limits]
        return (lambda target: reduce(lambda inner, limit: limit(inner), limits, target)) if limits else None


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


OUTSIDE, CANDIDATES = 0.2, 50
"""The share of documents that is held out for membership, and the most of each kind."""
CANARIES, POISONED_QUESTIONS, HARMLESS = 12, 30, 100
FURTHER: Mapping[str, Callable[[Encoder, int], Adaptive]] = {
    each.name: each for each in (CopyBreak, Pirates, Dgea)
}
"""Attacks that are measured on request, by their names."""
BUDGETS = (10, 20, 50, 100, 200, 500)
FEWEST = 10


@dataclass(frozen=True, slots=True)
class Options:
    """``budget`` questions of each attack; ``quote`` is the longest quotation in words.

    ``search`` has both rules of the search. ``limits`` makes a limit of a server by name, given the number of
    documents. ``refusals`` are the type names of the errors by which it refuses, ``limit_figures`` what it is
    set to. ``also`` names further attacks of ``FURTHER``.
    """

    limits: Callable[[str, int], Limits] = field(repr=False)
    refusals: Sequence[str] = ()
    limit_figures: Mapping[str, float] = field(default_factory=dict)
    budget: int = 100
    quote: int = 20
    also: Sequence[str] = ()
    search: PassageRules = PassageRules(least_similarity=0.5, hide_copies=0.05)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Material:
    planted: PlantedCanaries
    members: Sequence[Document] = field(repr=False)
    held_out: Sequence[Document] = field(repr=False)
    sensitive: SensitiveIndex = field(repr=False)
    questions: Sequence[Question] = field(repr=False)


def measure_defences(
    system: System,
    corpus: Corpus,
    options: Options,
    progress: Progress = no_progress,
    *,
    folder: Path | None = None,
    made_with: str = "",
) -> DefencesReport:
    """All defences. Rows are written to ``folder`` one by one, and an interrupted run resumes there.

    Raises:
        LetheError: There are too few documents, they hold nothing sensitive, or no sentence can be asked for.
    """
    commit = commit_here()
    found = _material(system, corpus, options, progress)
    documents, encoder = found.planted.documents, reading_once(system.encoder)
    limits = sorted(options.limit_figures.items())
    asked = (options.budget, options.quote, repr(options.search), *limits, *options.also, options.seed)
    run = run_digest(replace(corpus, questions=()), made_with, asked, [system.encoder.name])
    system = replace(system, detector=detected(system, documents, progress))
    tried = defences(options.quote, options.search)
    with ExitStack() as stack:
        file = stack.enter_context(RowFile(run, folder))
        origin = replace(system, policy=Policy("origin"))
        bases = {
            False: kept_in_memory("originals", documents, origin, stack, progress),
            True: kept_in_memory("sanitized", documents, system, stack, progress),
        }
        sanitizer = system.sanitizer()
        tasks = {each.name: _tasks(each, found, encoder, sanitizer, system.k, options) for each in tried}
        kept: dict[str, SanitizedCorpus] = {}
        for each in tried:
            base = bases[each.sanitized]
            if each.dense:
                base = by_vectors(base, system.passage_tokens, each.noise, options.seed, stack)
            kept[each.name] = each.searching(replace(base, system=each.name))
        systems = {each.name: system if each.sanitized else origin for each in tried}
        asked_of = {name: list(own.values()) for name, own in tasks.items()}
        experiment = Experiment(documents, systems, asked_of, kept)
        everything = found.sensitive.behind(each.doc_id for each in documents)
        figures = tuple(
            _figures(
                done.system,
                {part: done.rows[task.name] for part, task in tasks[done.system].items()},
                found.planted,
                everything,
                options,
            )
            for done in experiment.run(file, progress)
        )
    return DefencesReport(
        provenance=provenance_of(system, {"k": str(system.k)}, commit),
        command="",
        seed=options.seed,
        documents=len(documents),
        held_out=len(found.held_out),
        failed=len(bases[True].failed),
        entities=len(everything),
        reference=reference_of(corpus, system.detector),
        k=system.k,
        budget=options.budget,
        poisoned=len(found.questions[:POISONED_QUESTIONS]),
        harmless=len(found.questions),
        limits={
            "quoted words": float(options.quote),
            "least similarity": options.search.least_similarity or 0.0,
            "level of copies": options.search.hide_copies or 0.0,
            "epsilon of a vector": EPSILON,
            **options.limit_figures,
        },
        defences=figures,
        always=ALWAYS,
        absent=ABSENT,
        need_a_model=NEED_A_MODEL,
    )


def _material(system: System, corpus: Corpus, options: Options, progress: Progress) -> _Material:
    if len(corpus.documents) < FEWEST:
        raise LetheError(
            f"{len(corpus.documents)} documents are too few to hold some out and attack the rest: give "
            f"{FEWEST} or more."
        )
    outside = min(CANDIDATES, round(OUTSIDE * len(corpus.documents)))
    inside, held_out = members_and_others(corpus.documents, outside, options.seed)
    gold = corpus.gold and {each.doc_id: corpus.gold[each.doc_id] for each in inside}
    # Before canaries are planted: marks may be places in the text.
    attacked = replace(corpus, documents=inside, questions=(), gold=gold)
    sensitive = sensitive_in(attacked, system.detector, progress)
    planted = plant(inside, min(CANARIES, len(inside)), options.seed)
    questions = cloze_questions(planted.documents, 1, Selection(options.seed))
    if not questions:
        raise LetheError(
            "No document has two sentences of 8 to 40 words, so that nothing can be asked about them: give "
            "documents in prose."
        )
    drawn = Selection(options.seed).drawn("defences").sample(questions, min(HARMLESS, len(questions)))
    members = fewer_documents(planted.documents, Selection(options.seed, most_documents=outside))
    return _Material(planted, members, held_out, sensitive, drawn)


def _tasks(
    defence: Defence, found: _Material, encoder: Encoder, sanitizer: Sanitizer, k: int, options: Options
) -> dict[str, Task]:
    """The tasks of a defence by the figure that is folded from them."""
    seed, documents = options.seed, found.planted.documents
    canaries = Canaries([each.text for each in found.planted.canaries])
    victim = defence.generator(sanitizer, canaries)
    limits = defence.limiting({name: options.limits(name, len(documents)) for name in defence.limits})
    suite = extraction_suite(list(Aim), -(-options.budget // len(Aim)), seed)
    attacks: Sequence[Adaptive] = (
        Unchanged(suite),
        Follow(encoder, seed),
        RandomText(seed),
        Ikea(encoder, seed),
        *(FURTHER[name](encoder, seed) for name in options.also),
    )
    texts = {each.doc_id: each.text for each in documents}
    sources = [texts[each.about] for each in found.questions]
    secrets = SensitiveIndex(found.planted.canaries)
    poisoned = InjectDump([each.text for each in found.questions[:POISONED_QUESTIONS]], seed)
    covering = CoverageTask(
        attacks[0], victim, encoder, k, options.budget, found.sensitive, limits, options.refusals
    )
    return {
        **{each.name: replace(covering, attack=each) for each in attacks},
        "injected": replace(poisoning(poisoned, victim, encoder, k), searching=defence.searching),
        "member": MembershipTask(
            found.members, found.held_out, victim, encoder, k, perturbations=0, scores=(RETRIEVAL,)
        ),
        "canaries": AttackTask(CanaryAttack(found.planted), victim, encoder, k, secrets),
        "harmless": Benign(found.questions, sources, victim, encoder, k, limits, options.refusals),
    }


def _figures(
    name: str,
    rows: Mapping[str, Sequence[Row]],
    planted: PlantedCanaries,
    everything: Sequence[EntityRef],
    options: Options,
) -> DefenceFigures:
    seed, budgets = options.seed, [*(each for each in BUDGETS if each < options.budget), options.budget]
    extracting = (Unchanged.name, Follow.name, RandomText.name)
    attacked = [row for each in extracting for row in rows[each] if row.measured]
    asked = [row for row in rows["harmless"] if row.measured]
    of_poison = injected(rows["injected"], seed)
    return DefenceFigures(
        defence=name,
        drawn={
            attack: {budget: drawn_out(rows[attack][:budget], everything, seed) for budget in budgets}
            for attack in extracting
        },
        refused_attacks=share_of(sum(REFUSED in row.figures for row in attacked), len(attacked)),
        covered=covered(rows[Ikea.name], seed),
        also={name: covered(rows[name], seed) for name in options.also},
        injected=of_poison.followed,
        injected_without=of_poison.without,
        injected_by=of_poison.by_command,
        member=membership(rows["member"], RETRIEVAL, seed).auc,
        canaries=canaries_out(planted, rows["canaries"]),
        facts=mean_of([row.figures[FACTS] for row in asked if FACTS in row.figures], seed),
        found_first=share_of(sum(row.figures[RANK] == 1 for row in asked), len(asked)),
        refused=share_of(sum(row.figures[REFUSED] == 1 for row in asked), len(asked)),
        not_measured=sum(
            not row.measured and row.failure not in options.refusals for own in rows.values() for row in own
        ),
    )
