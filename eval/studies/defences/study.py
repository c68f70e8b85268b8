"""Attacks and harmless questions on one corpus under each defence, alone and together.

The victim is the most obedient model there could be; the undefended system gives it passages as they are.
Attacks that go on from question to question come from one caller. Whoever asks about one candidate or one
planted secret asks once, and whoever meets a poisoned document is no attacker: no budget counts these.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.attacks.canaries import CanaryAttack, PlantedCanaries, canary_recall, plant
from eval.attacks.copybreak import CopyBreak
from eval.attacks.dgea import Dgea
from eval.attacks.extraction import Aim
from eval.attacks.following import Follow
from eval.attacks.ikea import Ikea
from eval.attacks.injection import InjectDump
from eval.attacks.membership import RETRIEVAL, members_and_others
from eval.attacks.pirates import Pirates
from eval.attacks.random_asking import RandomText
from eval.attacks.suite import Unchanged, extraction_suite
from eval.corpora.cloze import cloze_questions
from eval.corpora.corpus import Corpus, Question, Selection, fewer_documents
from eval.corpora.sensitive import sensitive_in
from eval.documents import EntityRef
from eval.experiment import Experiment, SanitizedCorpus, Task, kept_in_memory
from eval.measures.covered import REFUSED, covered
from eval.measures.injected import injected
from eval.measures.leakage import SensitiveIndex, drawn_out
from eval.measures.membership import membership
from eval.measures.uncertainty import mean_of, share_of
from eval.prepared import detected
from eval.progress import Progress, no_progress
from eval.protocols import Adaptive
from eval.provenance import commit_here, provenance_of, reference_of
from eval.rows import Row, RowFile
from eval.studies.compare.run_digest import run_digest
from eval.studies.defences.defence import (
    ABSENT,
    ALWAYS,
    EPSILON,
    NEED_A_MODEL,
    Defence,
    Limits,
    defences,
)
from eval.studies.defences.noise import by_vectors
from eval.studies.defences.report import DefenceFigures, DefencesReport
from eval.targets import reading_once
from eval.tasks.attack import AttackTask
from eval.tasks.benign import Benign
from eval.tasks.coverage import CoverageTask
from eval.tasks.injection import poisoning
from eval.tasks.membership import MembershipTask
from eval.tasks.questions import FACTS, RANK
from ingest.deciding.policy import Policy
from ingest.documents import Document
from ingest.protocols import Encoder, Sanitizer
from models.errors import LetheError
from retrieval.guards.answers import Canaries
from retrieval.guards.passages import PassageRules
from retrieval.system import System

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
    """What is attacked and asked: the same for all defences."""

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
    run = run_digest(
        replace(corpus, questions=()),
        made_with,
        (
            options.budget,
            options.quote,
            repr(options.search),
            *sorted(options.limit_figures.items()),
            *options.also,
            options.seed,
        ),
        [system.encoder.name],
    )
    system = replace(system, detector=detected(system, documents, progress))
    tried = defences(options.quote, options.search)
    with ExitStack() as stack:
        file = stack.enter_context(RowFile(run, folder))
        origin = replace(system, policy=Policy("origin"))
        bases = {
            sanitized: kept_in_memory(name, documents, each, stack, progress)
            for sanitized, name, each in ((False, "originals", origin), (True, "sanitized", system))
        }
        sanitizer = system.sanitizer()
        tasks = {each.name: _tasks(each, found, encoder, sanitizer, system.k, options) for each in tried}
        kept: Mapping[str, SanitizedCorpus] = {
            each.name: each.searching(
                replace(
                    by_vectors(bases[each.sanitized], system.passage_tokens, each.noise, options.seed, stack)
                    if each.dense
                    else bases[each.sanitized],
                    system=each.name,
                )
            )
            for each in tried
        }
        experiment = Experiment(
            documents,
            {each.name: system if each.sanitized else origin for each in tried},
            {name: list(own.values()) for name, own in tasks.items()},
            kept,
        )
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
    sensitive = sensitive_in(
        replace(corpus, documents=inside, questions=(), gold=gold), system.detector, progress
    )
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
    defence: Defence,
    found: _Material,
    encoder: Encoder,
    sanitizer: Sanitizer,
    k: int,
    options: Options,
) -> dict[str, Task]:
    """The tasks of a defence by the figure that is folded from them."""
    seed, documents = options.seed, found.planted.documents
    canaries = Canaries([each.text for each in found.planted.canaries])
    victim = defence.generator(encoder, sanitizer, canaries)
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
    secrets = SensitiveIndex(found.planted.canaries)
    poisoned = InjectDump([each.text for each in found.questions[:POISONED_QUESTIONS]], seed)
    return {
        **{
            each.name: CoverageTask(
                each, victim, encoder, k, options.budget, found.sensitive, limits, options.refusals
            )
            for each in attacks
        },
        "injected": replace(poisoning(poisoned, victim, encoder, k), searching=defence.searching),
        "member": MembershipTask(
            found.members,
            found.held_out,
            victim,
            encoder,
            k,
            perturbations=0,
            scores=(RETRIEVAL,),
        ),
        "canaries": AttackTask(CanaryAttack(found.planted), victim, encoder, k, secrets),
        "harmless": Benign(
            found.questions,
            [texts[each.about] for each in found.questions],
            victim,
            encoder,
            k,
            limits,
            options.refusals,
        ),
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
    recalls = canary_recall(planted, rows["canaries"]).values()
    asked = [row for row in rows["harmless"] if row.measured]
    of_poison = injected(rows["injected"], seed)
    return DefenceFigures(
        defence=name,
        drawn={
            attack: {budget: drawn_out(rows[attack][:budget], everything, seed) for budget in budgets}
            for attack in extracting
        },
        refused_attacks=share_of(sum(REFUSED in row.figures for row in attacked), len(attacked)),
        covered=covered(rows[Ikea.name], seed).base,
        also={name: covered(rows[name], seed).base for name in options.also},
        injected=of_poison.followed,
        injected_without=of_poison.without,
        injected_by=of_poison.by_command,
        member=membership(rows["member"], RETRIEVAL, seed).auc,
        canaries=share_of(int(sum(each.hits for each in recalls)), int(sum(each.n for each in recalls))),
        facts=mean_of([row.figures[FACTS] for row in asked if FACTS in row.figures], seed),
        found_first=share_of(sum(row.figures[RANK] == 1 for row in asked), len(asked)),
        refused=share_of(sum(row.figures[REFUSED] == 1 for row in asked), len(asked)),
        not_measured=sum(
            not row.measured and row.failure not in options.refusals for own in rows.values() for row in own
        ),
    )
