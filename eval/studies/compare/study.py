"""The tables and figures of TRIP-RAG on one corpus: an experiment over all methods, and its folds."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.attacks.canaries import CanaryAttack, PlantedCanaries, canary_recall, plant
from eval.attacks.extraction import AnchorAttack, extraction_suite
from eval.corpora.corpus import Corpus
from eval.corpora.sensitive import sensitive_in
from eval.documents import Attack
from eval.experiment import SYSTEMS, Experiment, SystemRows, Task
from eval.measures.leakage import SensitiveIndex
from eval.prepared import Prepared, prepared
from eval.progress import Progress, no_progress, only
from eval.provenance import commit_here, provenance_of, reference_of, run_digest
from eval.rows import Row, RowFile, write_rows
from eval.studies.compare.figures import (
    ABLATION,
    STRENGTH,
    WEIGHTED,
    aims_of,
    attack_figures,
    correlations,
    guess_figures,
    method_figures,
    promises,
    rank_correlation,
    system_name,
    with_comparisons,
)
from eval.studies.compare.methods import (
    ORIGIN,
    REDACTED,
    TRIP,
    ComparedMethod,
    ablations,
    grid,
    methods,
    share_taken,
    strengths,
)
from eval.studies.compare.report import (
    AttackFigures,
    CanaryFigures,
    CorpusCard,
    GridCell,
    GuessFigures,
    MethodFigures,
    TripRagReport,
)
from eval.targets import reading_once
from eval.tasks.attack import AttackTask
from eval.tasks.index import Guesses, IndexReader
from eval.tasks.questions import Questions, sacrebleu_signature
from ingest.documents import Document, Scores
from ingest.protocols import Encoder
from ingest.sanitize import Rewriter
from models.errors import ConfigurationError, LetheError
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Generator
from retrieval.system import System

DEPTH, SHALLOW = 5, 2
"""Passages per victim: TRIP-RAG's number, and Zeng's."""
GUESSED_DOCUMENTS = 60
"""Entity inference takes seconds per document: every slot is compared with a pool of candidates."""
SUMMED_UP = (ORIGIN, REDACTED, TRIP)
"""What the summary compares."""
MOST_CANARIES = 150
"""Thirty of each kind; every document with a canary is scored again."""
QUICK_DOCUMENTS, QUICK_QUESTIONS, QUICK_PROMPTS = 40, 40, 20
"""The selection of a quick run: three minutes on two cores with short documents."""


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes and parts of a run. ``prompts`` is the number per aim of an attack.

    A thorough run measures every strength for the frontier, the grid of weights, promises and canaries, and
    runs every attack on each method. A quick run attacks once, and only the methods of the summary.
    """

    seed: int = 0
    prompts: int = 250
    thorough: bool = True


def trip_rag(
    system: System,
    corpus: Corpus,
    options: Options,
    progress: Progress = no_progress,
    *,
    further: Sequence[Encoder] = (),
    dp_barts: Sequence[Rewriter] = (),
    folder: Path | None = None,
    made_with: str = "",
) -> TripRagReport:
    """Measure every method on one corpus with public ids.

    ``further`` encoders only retrieve, ``dp_barts`` are DP-BART at some budgets. Rows are written to
    ``folder`` one by one, and an interrupted run resumes there; ``attacks.jsonl`` has one line per prompt of
    each attack at the end. ``made_with`` is a digest of settings and models: rows of a run with others are
    refused.

    Raises:
        ConfigurationError: Two encoders have one name.
        LetheError: The corpus has no questions or nothing sensitive, or the folder has rows of another run
            or of a running process.
    """
    if not corpus.questions:
        raise LetheError(f"{corpus.name} has no questions: more documents, or longer ones, would give some.")
    names = [system.encoder.name, *(each.name for each in further)]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise ConfigurationError(
            f"Two encoders are named {twice[0]}, and figures are identified by that name: name each in "
            "--encoders once and the one of the settings not at all, or give one of two folders another name."
        )
    commit = commit_here()
    made_with = f"{made_with} {system.own_entities} {[each.name for each in dp_barts]}"
    with RowFile(run_digest(corpus, made_with, options, names), folder) as file:
        own = replace(system, policy=replace(system.policy, name="trip"))
        ready = prepared(own, corpus, progress)
        sensitive = sensitive_in(corpus, ready.system.detector)
        sources = {each.doc_id: each.text for each in corpus.documents}
        asking = [
            Questions(corpus.questions, reading_once(each), system.generator, sources)
            for each in (system.encoder, *further)
        ]
        study = _Study(ready, sensitive, options, asking, dp_barts, file, progress)
        report = study.report(commit)
        if folder is not None:
            write_rows(file.all(study.attack_tasks()), folder / "attacks.jsonl")
    return report


@dataclass(frozen=True, slots=True)
class _Study:
    """The shared state of a comparison. The first of ``asking`` answers, the others only retrieve."""

    ready: Prepared
    sensitive: SensitiveIndex
    options: Options
    asking: Sequence[Questions]
    dp_barts: Sequence[Rewriter]
    file: RowFile
    progress: Progress

    @property
    def system(self) -> System:
        return self.ready.system

    @property
    def corpus(self) -> Corpus:
        return self.ready.corpus

    @property
    def encoder(self) -> Encoder:
        return self.asking[0].encoder

    @property
    def index(self) -> IndexReader:
        return IndexReader(_ids(self.corpus.documents), self.sensitive)

    def report(self, commit: str | None) -> TripRagReport:
        seed, ready = self.options.seed, self.ready
        compared, absent = methods(ready, self.encoder, seed, self.dp_barts)
        share = share_taken(ready.decisions(self.system.method()))
        runs = {"": compared, ABLATION: ablations(ready, share), STRENGTH: [], WEIGHTED: []}
        cells: Mapping[tuple[float, float], ComparedMethod] = {}
        if self.options.thorough:
            cells = grid(ready, share)
            runs[STRENGTH] = strengths(ready, self.encoder, seed)
            runs[WEIGHTED] = list(cells.values())
        folded = self._folded(runs)
        first = {kind: [each.figures[0] for each in those] for kind, those in folded.items()}
        grid_cells = [
            GridCell(beta=beta, gamma=gamma, figures=each)
            for (beta, gamma), each in zip(cells, first[WEIGHTED], strict=True)
        ]
        report = TripRagReport(
            corpus=self._card(),
            provenance=provenance_of(self.system, {"scale": ready.scale.source}, commit),
            seed=seed,
            generator=self.system.generator.name,
            sacrebleu_signature=sacrebleu_signature(),
            methods=tuple(first[""]),
            encoders=tuple(figure for each in folded[""] for figure in each.figures[1:]),
            ablations=tuple(first[ABLATION]),
            sweep=tuple(first[STRENGTH]),
            attacks=tuple(figure for each in folded[""] for figure in each.attacks),
            guesses=tuple(figure for each in folded[""] for figure in each.guesses),
            canaries=tuple(self._canaries(compared) if self.options.thorough else ()),
            correlations=tuple(correlations(_scores(ready))),
            grid=tuple(grid_cells),
            grid_spearman=_weights_against_recall(grid_cells),
            promises=tuple(promises(ready, seed, self.progress) if self.options.thorough else ()),
            absent=absent,
            rows=tuple(self.file.all([each.name for each in self.asking])),
        )
        return with_comparisons(report)

    def _folded(self, runs: Mapping[str, Sequence[ComparedMethod]]) -> "dict[str, list[_SystemFigures]]":
        """Fold each system once it is measured: the rows of all attacks do not fit in memory."""
        named = ((kind, each) for kind, those in runs.items() for each in those)
        variants = {system_name(each.name, each.strength, kind): (each, kind) for kind, each in named}
        systems = {name: each.system for name, (each, _) in variants.items()}
        tasks = {name: self._tasks(*each) for name, each in variants.items()}
        experiment = Experiment(self.corpus.documents, systems, tasks)
        found: dict[str, list[_SystemFigures]] = {kind: [] for kind in runs}
        original: Mapping[str, Sequence[Row]] = {}
        for measured in experiment.run(self.file, _measuring(self.progress)):
            compared, kind = variants[measured.system]
            if measured.system == ORIGIN:
                original = {task.name: measured.rows[task.name] for task in self.asking}
            name, rows = compared.name, measured.rows
            attacks, guesses = ([], []) if kind else (self.attacks(name), self._guessing(name))
            found[kind].append(
                _SystemFigures(
                    self._figures(compared, measured, original),
                    [attack_figures(name, task, rows[task.name]) for task in attacks],
                    [guess_figures(name, rows[task.name], self.options.seed) for task in guesses],
                )
            )
        return found

    def _tasks(self, compared: ComparedMethod, kind: str) -> list[Task]:
        if kind:
            return [self.asking[0], self.index]
        return [*self.asking, self.index, *self.attacks(compared.name), *self._guessing(compared.name)]

    def attacks(self, method: str) -> list[AttackTask]:
        """The attacks on a method at its default."""
        seed, prompts, thorough = self.options.seed, self.options.prompts, self.options.thorough
        if not thorough and method not in SUMMED_UP:
            return []
        aims, verbatim, real = aims_of(self.corpus.name), VerbatimGenerator(), self.system.generator
        suite = extraction_suite(aims, prompts, seed)
        planned: list[tuple[Attack, Generator, int]] = [(suite, verbatim, DEPTH)]
        if thorough:
            anchor = AnchorAttack(aims[0], prompts, seed)
            planned += [(suite, verbatim, SHALLOW), (suite, real, DEPTH)]
            planned += [(anchor, verbatim, 1), (anchor, real, DEPTH)]
        return [AttackTask(attack, victim, self.encoder, k, self.sensitive) for attack, victim, k in planned]

    def attack_tasks(self) -> list[str]:
        """The names of all tasks that are attacks."""
        tasks = [*self.attacks(ORIGIN), self._canary_task(PlantedCanaries(0, (), (), ()))]
        return [task.name for task in tasks]

    def _guessing(self, method: str) -> list[Guesses]:
        if not self.options.thorough or method not in (REDACTED, TRIP):
            return []
        documents, seed = self.corpus.documents, self.options.seed
        return [Guesses(documents, GUESSED_DOCUMENTS, self.encoder, seed, self.sensitive)]

    def _figures(
        self, compared: ComparedMethod, measured: SystemRows, original: Mapping[str, Sequence[Row]]
    ) -> list[MethodFigures]:
        """The figures by encoder, the answering one first."""
        about = frozenset(each.question_id for each in self.corpus.questions if each.about)
        return [
            method_figures(
                compared.name,
                task.encoder.name,
                measured.rows[task.name],
                measured.rows[self.index.name],
                original[task.name],
                about,
                self.options.seed,
                compared.strength,
            )
            for task in self.asking
            if task.name in measured.rows
        ]

    def _canaries(self, compared: Sequence[ComparedMethod]) -> Iterator[CanaryFigures]:
        """The share of canaries extracted from each method's index of the documents with one.

        The victim is verbatim, so no generator leaks more. Scores use the scale of the original corpus.
        """
        documents, seed = self.corpus.documents, self.options.seed
        planted = plant(documents, min(MOST_CANARIES, len(documents)), seed)
        chosen = {canary.doc_id for canary in planted.canaries}
        planted = replace(planted, documents=[each for each in planted.documents if each.doc_id in chosen])
        task = self._canary_task(planted)
        systems = {f"canaries in {each.name}": self.system for each in compared}
        if any(set(task.cases) - self.file.cases(name, task.name) for name in systems):
            corpus = replace(self.corpus, documents=planted.documents, questions=(), gold=None)
            ready = prepared(replace(self.system, sanitizing=None), corpus, self.progress)
            found, _ = methods(ready, self.encoder, seed, self.dp_barts)
            systems |= {f"canaries in {each.name}": each.system for each in found}
        index = IndexReader(_ids(planted.documents), task.sensitive)
        experiment = Experiment(planted.documents, systems, dict.fromkeys(systems, [task, index]))
        measured = experiment.run(self.file, _measuring(self.progress, "canaries"))
        for method, each in zip(compared, measured, strict=True):
            kept = {row.case for row in each.rows[index.name] if row.measured}
            # The canary of a document that could not be sanitized is not measured; it does not count as safe.
            rows = [row for row in each.rows[task.name] if planted.canaries[int(row.case)].doc_id in kept]
            yield CanaryFigures(
                method=method.name,
                k=task.k,
                documents=len(planted.documents),
                recall=canary_recall(planted, rows),
                documents_failed=len(planted.documents) - len(kept),
            )

    def _canary_task(self, planted: PlantedCanaries) -> AttackTask:
        sensitive = SensitiveIndex(planted.canaries)
        return AttackTask(CanaryAttack(planted), VerbatimGenerator(), self.encoder, DEPTH, sensitive)

    def _card(self) -> CorpusCard:
        corpus = self.corpus
        return CorpusCard(
            name=corpus.name,
            documents=len(corpus.documents),
            characters=sum(len(document.text) for document in corpus.documents),
            questions=len(corpus.questions),
            split=corpus.split,
            source=corpus.source,
            license=corpus.license,
            reference=reference_of(corpus, self.system.detector),
            sensitive_entities=len(self.sensitive),
        )


@dataclass(frozen=True, slots=True)
class _SystemFigures:
    """The figures of one system: by encoder, by attack, and of guesses."""

    figures: Sequence[MethodFigures]
    attacks: Sequence[AttackFigures]
    guesses: Sequence[GuessFigures]


def _measuring(progress: Progress, named: str = "measured") -> Progress:
    whole = only(SYSTEMS, named, progress)

    def passed(phase: str, done: int, total: int | None) -> None:
        (whole if phase == SYSTEMS else progress)(phase, done, total)

    return passed


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.doc_id for document in documents]


def _scores(ready: Prepared) -> list[list[Scores]]:
    """The scores of every linked entity, by document."""
    found = []
    for decisions in ready.decisions(ready.system.method()):
        links = {each.entity.link: each.scores for each in decisions}
        found.append([scores for scores in links.values() if scores is not None])
    return found


def _weights_against_recall(cells: Sequence[GridCell]) -> dict[str, float]:
    measured = [(cell, cell.figures.recall_overlap[5].value) for cell in cells]
    there = [(cell, recall) for cell, recall in measured if recall is not None]
    recalls = [recall for _, recall in there]
    found = {
        "beta": rank_correlation([cell.beta for cell, _ in there], recalls),
        "gamma": rank_correlation([cell.gamma for cell, _ in there], recalls),
    }
    return {name: rho for name, rho in found.items() if rho is not None}
