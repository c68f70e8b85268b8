"""The linkage attack on every method: an experiment, and its folds."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from eval.attacks.claims import Atomizer, ModelAtomizer, ModelRewording, OwnWords, Rewording
from eval.experiment import Experiment, Task
from eval.measures.claim_distance import (
    COHERENCE,
    LEXICAL_WARNING,
    ModelJudge,
    coherence_judge,
    rating_once,
)
from eval.measures.classify import chi_squared_utility
from eval.measures.uncertainty import Estimate, mean_of, paired_ratio, ratio_of, share_of
from eval.prepared import prepared
from eval.progress import Progress, no_progress
from eval.provenance import commit_here, provenance_of, run_digest
from eval.rows import Row, RowFile
from eval.studies.linkage.report import (
    DENSE_MAJORITY,
    LINKERS,
    METHODS,
    REWORDED,
    VERSION_2,
    Attack,
    AttackFigures,
    LinkageReport,
    Material,
    MethodFigures,
    Outcome,
    reckoned,
    systems,
    variations,
)
from eval.studies.marks.methods import ORIGIN, REDACT
from eval.targets import reading_once
from eval.tasks import linkage as linked
from eval.tasks import sets as keeping
from eval.tasks.choices import OPTIONS, RIGHT, UNANSWERED, Choices, ModelAnswerer, SimilarityAnswerer
from eval.tasks.judged import MISSING, Judged
from eval.tasks.sets import GIVEN, OWN, SMOOTHED, Classes, Kept, Likeness
from ingest.sanitize import Rewriter
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import ConfigurationError
from models.language.asking import Asker
from models.remembering import remembering
from retrieval.system import System

QUICK_DOCUMENTS = 40
FEWEST = 2
Rows = Mapping[str, Mapping[str, Sequence[Row]]]
"""Rows by method and the name of the task."""


@dataclass(frozen=True, slots=True)
class Options:
    """The main attack, whether those that differ from it in one part are measured too, and the judge.

    ``also`` are further methods by name. With an ``asker`` its language model cuts texts into claims, rewords
    those that are known, answers exam questions, judges how coherent texts are, and judges claims where
    ``judge`` is None.
    """

    attack: Attack = VERSION_2
    seed: int = 0
    varied: bool = True
    judge: linked.JudgeName | None = "lexical"
    also: Mapping[str, Rewriter] = field(default_factory=dict, repr=False)
    asker: Asker | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The tasks of every system: the attacks by themselves, the main one first, and the others by kind."""

    attacks: Mapping[Attack, linked.LinkageTask] = field(repr=False)
    kept: Kept = field(repr=False)
    likeness: Likeness = field(repr=False)
    choices: Choices = field(repr=False)
    classes: Classes = field(repr=False)
    coherence: Judged | None = field(repr=False)

    @property
    def main(self) -> linked.LinkageTask:
        """The main attack."""
        return next(iter(self.attacks.values()))

    def all(self) -> list[Task]:
        """Those that have something to measure."""
        others: list[Task | None] = [self.kept, self.likeness, self.choices, self.classes, self.coherence]
        return [*self.attacks.values(), *(each for each in others if each is not None and each.cases)]


def measure_linkage(
    system: System,
    material: Material,
    options: Options,
    progress: Progress = no_progress,
    told: Callable[[str], None] = lambda plan: None,
    *,
    folder: Path | None = None,
    made_with: str = "",
) -> LinkageReport:
    """Attack the documents as each method sanitizes them, and count what stays useful.

    Rows are written to ``folder``, and an interrupted run resumes there. ``made_with`` is a digest of
    settings and models. The scores use the embedded scale unless the system has its own, so a document is
    decided alike whatever else is measured. ``told`` hears, before the first question, about how much a
    language model will be asked.

    Raises:
        ConfigurationError: There are too few documents, or there is neither a judge nor a model to judge.
        LetheError: The folder has rows of another run.
        ModelUnavailable: The language model could not be reached or failed.
    """
    if len(material.corpus.documents) < FEWEST:
        raise ConfigurationError(
            f"{len(material.corpus.documents)} document: among so few nothing can be linked wrongly. Give at "
            f"least {FEWEST}, better hundreds."
        )
    commit = commit_here()
    encoder = reading_once(system.encoder)
    system = replace(system, scale=system.scale or EMBEDDED_SCALE, encoder=encoder)
    tasks = _tasks(system, material, options)
    engines = _engines(tasks, options)
    if options.asker is not None:
        methods = [*METHODS, *options.also]
        told(reckoned(options.asker.model, material, list(tasks.attacks), methods, options.judge is None))
    said = (options, engines, sorted(material.exam.items()), sorted(material.classes.items()))
    found: dict[str, Mapping[str, Sequence[Row]]] = {}
    with RowFile(run_digest(material.corpus, made_with, said, [encoder.name]), folder) as file:
        ready = prepared(system, material.corpus, progress)
        everywhere = systems(ready, options.seed, options.also)
        experiment = Experiment(material.corpus.documents, everywhere, dict.fromkeys(everywhere, tasks.all()))
        for done in experiment.run(file, progress):
            found[done.system] = done.rows
    main = tasks.main
    claims = [row.figures[linked.CLAIMS] for row in _of(found, ORIGIN, main) if row.measured]
    optioned = [row.figures[OPTIONS] for row in _of(found, ORIGIN, tasks.choices) if row.measured]
    return LinkageReport(
        provenance=provenance_of(system, {}, commit),
        command="",
        seed=options.seed,
        corpus=material.corpus.name,
        source=material.corpus.source,
        split=material.corpus.split,
        documents=len(material.corpus.documents),
        claims=mean_of(claims, options.seed),
        main=options.attack,
        engines=engines,
        answerer=tasks.choices.answerer.name if optioned else "",
        chance_answer=sum(1 / each for each in optioned) / len(optioned) if optioned else None,
        warning=LEXICAL_WARNING if main.judge is linked.JUDGE else "",
        methods=tuple(_method(name, found, tasks, options.seed) for name in found),
        attacks=tuple(
            AttackFigures(
                part=part,
                attack=attack,
                outcomes=tuple(
                    _outcome(method, _of(found, method, tasks.attacks[attack]), options.seed)
                    for method in found
                ),
            )
            for part, attacks in variations(options.attack).items()
            for attack in (attacks if options.varied else ())
        ),
        usage={} if options.asker is None else {k: float(v) for k, v in asdict(options.asker.usage).items()},
    )


def _engines(tasks: _Tasks, options: Options) -> dict[str, str]:
    main = tasks.main
    return {
        "claims": main.atomizer.name,
        "known claims": main.rewording.name,
        "linker": main.linker.name,
        "judge": main.judge.name,
        "categories": main.categorizer.name,
        "encoder": tasks.likeness.encoder.name,
        **({} if tasks.coherence is None else {"coherence": tasks.coherence.judge.name}),
        **{name: each.name for name, each in options.also.items()},
    }


def _tasks(system: System, material: Material, options: Options) -> _Tasks:
    documents, encoder, asker = material.corpus.documents, system.encoder, options.asker
    atomizer: Atomizer = linked.ATOMIZER
    reworded: Rewording = REWORDED
    if asker is not None:
        # Every attack on every system asks for the same again.
        atomizer = remembering(ModelAtomizer(asker), "claims")
        reworded = remembering(ModelRewording(asker), "reworded")
    if options.judge is not None:
        judge = linked.JUDGES[options.judge]()
    elif asker is not None:
        judge = rating_once(ModelJudge(asker))
    else:
        raise ConfigurationError("There is no language model to judge claims: name another judge.")
    plain = linked.LinkageTask(
        documents,
        LINKERS[DENSE_MAJORITY](encoder),
        judge,
        rewording=OwnWords(),
        atomizer=atomizer,
        categorizer=material.categorizer,
        details=material.details,
    )
    wanted = [options.attack]
    if options.varied:
        wanted += [each for group in variations(options.attack).values() for each in group]
    attacks = {attack: attack.on(plain, encoder, reworded) for attack in wanted}
    attacks[options.attack] = replace(attacks[options.attack], encoder=encoder)
    return _Tasks(
        attacks,
        Kept(documents, judge, atomizer),
        Likeness(documents, encoder),
        Choices(
            [material.exam[each.doc_id] for each in documents if each.doc_id in material.exam],
            SimilarityAnswerer(encoder) if asker is None else ModelAnswerer(asker),
        ),
        Classes(documents, material.classes, encoder),
        None if asker is None else Judged(documents, coherence_judge(asker)),
    )


def _of(found: Rows, method: str, task: Task) -> Sequence[Row]:
    return found[method].get(task.name, ())


def _outcome(method: str, rows: Sequence[Row], seed: int) -> Outcome:
    def over(figure: str) -> Estimate:
        return mean_of([row.figures[figure] for row in rows if figure in row.figures], seed)

    return Outcome(
        method=method,
        linkage=linked.linkage(rows),
        distance=linked.distances(rows, linked.DISTANCE, seed),
        lexical=linked.distances(rows, linked.LEXICAL, seed),
        leaked=linked.leaked_claims(rows, seed),
        overlap=over(linked.OVERLAP),
        wording=over(linked.WORDING),
    )


def _method(method: str, found: Rows, tasks: _Tasks, seed: int) -> MethodFigures:
    rows, redacted = (_of(found, each, tasks.main) for each in (method, REDACT))
    right, right_of_redact = (_figure(each, linked.RIGHT) for each in (rows, redacted))
    kept = _of(found, method, tasks.kept)
    facts = _figure(kept, keeping.FACTS)
    facts_of_redact = _figure(_of(found, REDACT, tasks.kept), keeping.FACTS)
    both = [case for case in facts if case in facts_of_redact]
    answered = [row.figures for row in _of(found, method, tasks.choices) if row.measured]
    (likeness,) = _of(found, method, tasks.likeness)
    categories = linked.leaked_by_category(rows, tasks.main.categorizer.categories, seed)
    classed = [row.figures for row in _of(found, method, tasks.classes) if row.measured]
    classed_right = sum(each[GIVEN] == each[OWN] for each in classed)
    judged = [] if tasks.coherence is None else _of(found, method, tasks.coherence)
    return MethodFigures(
        method=method,
        failed=sum(not row.measured for row in rows),
        main=_outcome(method, rows, seed),
        rate_minus_redact=mean_of(
            [each - right_of_redact[case] for case, each in right.items() if case in right_of_redact], seed
        ),
        embedding=linked.distances(rows, linked.EMBEDDING, seed),
        hidden=linked.distances(rows, linked.HIDDEN, seed),
        categories={name: each for name, each in categories.items() if each.n},
        distribution=linked.distribution(rows),
        ratings_missing=_total(rows, linked.MISSING),
        ratings_invalid=_total(rows, linked.INVALID),
        facts=mean_of(list(facts.values()), seed),
        facts_by_chance=mean_of(list(_figure(kept, keeping.CHANCE).values()), seed),
        facts_over_redact=paired_ratio(
            [facts[case] for case in both], [facts_of_redact[case] for case in both], seed
        ),
        claims=_share(kept, keeping.SAID, seed),
        claims_partly=_share(kept, keeping.SAID_PARTLY, seed),
        accuracy=share_of(int(sum(each[RIGHT] for each in answered)), len(answered)) if answered else None,
        unanswered=int(sum(each[UNANSWERED] for each in answered)),
        classes=_classes(_of(found, method, tasks.classes), _of(found, ORIGIN, tasks.classes)),
        classed_right=share_of(classed_right, len(classed)) if classed else None,
        mauve=likeness.figures.get(SMOOTHED),
        coherence=mean_of(list(_figure(judged, COHERENCE).values()), seed) if judged else None,
        not_judged=_total(judged, MISSING),
    )


def _figure(rows: Sequence[Row], name: str) -> dict[str, float]:
    return {row.case: row.figures[name] for row in rows if name in row.figures}


def _total(rows: Sequence[Row], name: str) -> int:
    return int(sum(_figure(rows, name).values()))


def _share(rows: Sequence[Row], part: str, seed: int) -> Estimate:
    parts, wholes = _figure(rows, part), _figure(rows, keeping.CLAIMS)
    return ratio_of(list(parts.values()), [wholes[case] for case in parts], seed)


def _classes(rows: Sequence[Row], originals: Sequence[Row]) -> float | None:
    """The utility of the classes given, by those given to the originals; None where these are no scale."""
    counts, reference = (
        Counter(int(row.figures[GIVEN]) for row in each if row.measured) for each in (rows, originals)
    )
    known = {str(name): count for name, count in reference.items()}
    there = {str(name): count for name, count in counts.items() if name in reference}
    if not there or len(set(known.values())) < 2:
        return None
    return chi_squared_utility(there, known)
