"""Membership inference on a corpus under three systems: unsanitized, fully redacted, and Lethe.

A part of the documents is held out, the rest is indexed in memory. Each score is a task of its own: a
candidate on which one fails still has the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from eval.attacks.membership import (
    BY_PERTURBED,
    BY_REFERENCES,
    DIRECT,
    INTERROGATION,
    MEMBERSHIP,
    RETRIEVAL,
    SCORES,
    YES_OR_NO,
    Interrogator,
    YesNo,
    members_and_others,
)
from eval.corpora.corpus import Corpus, Selection, fewer_documents
from eval.experiment import Experiment, SystemRows
from eval.prepared import detected
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance, commit_here, provenance_of, run_digest
from eval.rows import Row, RowFile
from eval.studies.extraction import BASELINE, AttackCard, dropped_of, unread_of
from eval.targets import reading_once
from eval.tasks.membership import MembershipTask, ScoreFigures, membership
from ingest.deciding.policy import Policy
from ingest.documents import Document
from models.errors import LetheError
from models.language.asking import Asker
from retrieval.generators.language_model import CondensedPassages
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Generator
from retrieval.system import System


class ArmFigures(Frozen):
    """One system. ``documents_kept`` are in its index, None if not recorded."""

    name: str
    engines: tuple[str, ...]
    documents_kept: int | None
    documents_failed: int
    scores: tuple[ScoreFigures, ...]


class MembershipReport(Frozen):
    """Every score on every arm, with provenance.

    ``victim`` answers, ``shadow`` writes the questions of the interrogation, "" if nothing does.
    ``indexed`` documents are given to each arm; ``references`` are held out, and the attacker knows it.
    ``notes`` say what was left out and what the figures do not cover; ``problems`` keep them from being a
    verdict.
    """

    attack: AttackCard
    provenance: Provenance
    baseline: str
    victim: str
    shadow: str
    k: int
    indexed: int
    members: int
    others: int
    references: int
    documents_unread: int
    arms: tuple[ArmFigures, ...]
    notes: tuple[str, ...] = Field(repr=False)
    problems: tuple[str, ...] = Field(repr=False)
    rows: tuple[Row, ...] = Field(repr=False)


def summary(report: MembershipReport) -> dict[str, Any]:
    """Everything but the rows, ready for ``json.dumps``."""
    return report.model_dump(mode="json", exclude={"rows"})


ARMS = (BASELINE, "redact", "lethe")
FEWEST = 10
PERTURBATIONS = 2
REFERENCES = 50
"""The most documents that the attacker knows to be outside; a quarter of those held out at most."""


@dataclass(frozen=True, slots=True)
class Options:
    """``held_out`` in (0, 1) is the share of documents that no index gets.

    ``candidates`` is the most members, and the most others, that are asked about.
    """

    held_out: float = 0.2
    candidates: int = 100
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Material:
    inside: Sequence[Document] = field(repr=False)
    members: Sequence[Document] = field(repr=False)
    others: Sequence[Document] = field(repr=False)
    references: Sequence[Document] = field(repr=False)

    @property
    def candidates(self) -> list[str]:
        return [each.text for each in (*self.members, *self.others)]


def infer_membership(
    system: System,
    corpus: Corpus,
    options: Options,
    *,
    asker: Asker | None = None,
    worst_case: bool = True,
    told: Callable[[str], None] = lambda plan: None,
    progress: Progress = no_progress,
    folder: Path | None = None,
    made_with: str = "",
) -> MembershipReport:
    """Attack the systems origin, redact and lethe.

    ``worst_case`` uses the verbatim generator. With ``asker``, whose model the generator of the system asks
    too, the victim is also asked for a yes or a no; ``told`` hears first how much that will be. Rows are
    written to ``folder``, and an interrupted run resumes there with the candidate that it was at,
    after the references.

    Raises:
        LetheError: There are too few documents, or the rows in the folder are of another run.
        ModelUnavailable: The model that writes questions could not be reached or failed.
    """
    commit = commit_here()
    found = _material(corpus, options)
    victim = VerbatimGenerator() if worst_case else system.generator
    encoder = reading_once(system.encoder)
    interrogator = Interrogator(asker, encoder) if asker else None
    run = run_digest(
        replace(corpus, questions=()),
        made_with,
        (options, victim.name, interrogator and interrogator.name, system.k),
        [system.encoder.name],
    )
    with RowFile(run, folder) as file:
        written: dict[str, Sequence[YesNo]] = {}
        if interrogator:
            told(_plan(interrogator, found, victim, system.k))
            progress("writing questions", 0, len(found.candidates))
            asked = zip(found.candidates, interrogator.questions(found.candidates), strict=True)
            for number, (text, own) in enumerate(asked, start=1):
                written[text] = own
                progress("writing questions", number, len(found.candidates))
        system = replace(system, detector=detected(system, found.inside, progress))
        policies = (Policy("origin"), Policy("redact"), system.policy)
        systems = {arm: replace(system, policy=policy) for arm, policy in zip(ARMS, policies, strict=True)}
        scores = (*SCORES, *YES_OR_NO) if interrogator else SCORES
        common = MembershipTask(
            *(found.members, found.others, victim, encoder, system.k, found.references),
            perturbations=PERTURBATIONS,
            seed=options.seed,
            interrogations=written,
        )
        tasks = {score: _task(common, score) for score in scores}
        experiment = Experiment(found.inside, systems, dict.fromkeys(systems, [*tasks.values()]))
        done = list(experiment.run(file, progress))
    arms = tuple(_arm(each, tasks, options.seed) for each in done)
    return MembershipReport(
        attack=AttackCard(**asdict(MEMBERSHIP), seed=options.seed, planned=len(found.candidates)),
        provenance=provenance_of(
            system, {"replacements": system.policy.replacements, "k": str(system.k)}, commit
        ),
        baseline=BASELINE,
        victim=victim.name,
        shadow=interrogator.name if interrogator else "",
        k=system.k,
        indexed=len(found.inside),
        members=len(found.members),
        others=len(found.others),
        references=len(found.references),
        documents_unread=corpus.unread,
        arms=arms,
        notes=tuple(_notes(arms, victim.name, written)),
        problems=tuple(_problems(arms, corpus.unread)),
        rows=tuple(row for each in done for own in each.rows.values() for row in own),
    )


def _material(corpus: Corpus, options: Options) -> _Material:
    if len(corpus.documents) < FEWEST:
        raise LetheError(
            f"{len(corpus.documents)} documents are too few to hold some out and index the rest: give "
            f"{FEWEST} or more, better hundreds."
        )
    outside = max(2, round(options.held_out * len(corpus.documents)))
    inside, held_out = members_and_others(corpus.documents, outside, options.seed)
    asked = min(options.candidates, outside - max(1, outside // 4))
    references, others = members_and_others(held_out, asked, options.seed)
    members = fewer_documents(inside, Selection(options.seed, most_documents=asked))
    known = Selection(options.seed, most_documents=min(REFERENCES, outside // 4 or 1))
    return _Material(inside, members, others, fewer_documents(references, known))


def _task(common: MembershipTask, score: str) -> MembershipTask:
    if score == RETRIEVAL:
        # The passages alone have this score: no model need answer.
        return replace(common, generator=VerbatimGenerator(), scores=(score,))
    if score == INTERROGATION:
        return replace(common, references=(), perturbations=0, scores=(score,))
    return replace(common, scores=(score,))


def _plan(interrogator: Interrogator, found: _Material, victim: Generator, k: int) -> str:
    """What asking takes, as a sentence."""
    candidates = found.candidates
    versions = (1 + PERTURBATIONS) * len(candidates) + len(found.references)
    # No model answers where the similarity of passages is the score.
    of_texts = len({*SCORES, DIRECT} - {RETRIEVAL})
    asked = len(ARMS) * (of_texts * versions + interrogator.kept * len(candidates))
    condensed = isinstance(victim, CondensedPassages)
    calls = f", which the model condenses one by one: {(1 + k) * asked:,} calls" if condensed else ""
    return (
        f"{interrogator.plan(candidates).words()}, to write yes/no questions; then at most "
        f"{asked:,} questions to the system, each with up to {k} passages{calls}; fewer candidates take less "
        "(--candidates)"
    )


def _arm(done: SystemRows, tasks: Mapping[str, MembershipTask], seed: int) -> ArmFigures:
    rows = {score: done.rows[task.name] for score, task in tasks.items()}
    names = {
        score: (score,) if score == INTERROGATION else (score, score + BY_PERTURBED, score + BY_REFERENCES)
        for score in rows
    }
    return ArmFigures(
        name=done.system,
        engines=tuple(sorted({row.engine for own in rows.values() for row in own if row.measured})),
        documents_kept=done.kept.kept if done.kept else None,
        documents_failed=len(done.kept.failed) if done.kept else 0,
        scores=tuple(membership(own, name, seed) for score, own in rows.items() for name in names[score]),
    )


def _notes(arms: Sequence[ArmFigures], victim: str, written: Mapping[str, Sequence[YesNo]]) -> Iterator[str]:
    if not written:
        yield (
            f"Left out: {' and '.join(YES_OR_NO)}. They need a language model that answers yes or no, and "
            f"answers are by {victim}: set generator.kind, and give --generator settings."
        )
    if none := sum(not own for own in written.values()):
        yield (
            f"No question could be written about {none:,} of {len(written):,} candidates: their text was too "
            "long for the language model, or its answer had not the form that was asked for."
        )
    for arm in arms:
        own = [each for each in arm.scores if each.score in (*SCORES, *YES_OR_NO)]
        if unread := ", ".join(f"{each.score} ({each.unread:,})" for each in own if each.unread):
            yield (
                f"Candidates of {arm.name} without an answer that can be read, which are in no figure: "
                f"{unread}."
            )
        blind = [each.score for each in arm.scores if each.auc.n and not each.above_chance]
        if arm.name == BASELINE and 0 < len(blind) < len(arm.scores):
            yield (
                f"Not above chance on {BASELINE}, so that they say nothing about the other arms: "
                f"{', '.join(blind)}."
            )


def _problems(arms: Sequence[ArmFigures], unread: int) -> Iterator[str]:
    for arm in arms:
        # One score, named before: of many, some are above chance by chance.
        shown = any(each.above_chance for each in arm.scores if each.score == RETRIEVAL)
        if arm.name == BASELINE and not shown:
            yield (
                f"The {RETRIEVAL} did not tell members from others in the unsanitized arm ({arm.name}); "
                "nothing can be concluded. Give more documents."
            )
    yield from unread_of(unread)
    for arm in arms:
        yield from dropped_of(arm.name, arm.documents_failed, arm.documents_kept)
        for score in (each for each in arm.scores if each.failures and each.score in (*SCORES, *YES_OR_NO)):
            kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(score.failures.items()))
            failed = sum(score.failures.values())
            yield f"Not measured in {arm.name}: {score.score} of {failed:,} candidates ({kinds})."
