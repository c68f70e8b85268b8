"""Every method on the marked documents of each corpus: an experiment, and its folds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.attacks.extraction import Aim, extraction_suite
from eval.corpora.corpus import Corpus, Selection
from eval.corpora.marked import MarkedCorpus, with_seen
from eval.corpora.seen import Exposure
from eval.corpora.whole_documents import cloze_questions
from eval.documents import MarkedDocument, SensitiveEntity
from eval.experiment import Experiment, Task
from eval.measures.leakage import SensitiveIndex, entity_leakage
from eval.measures.overlap import recall_at_k_overlap
from eval.measures.uncertainty import Estimate, ratio_of
from eval.prepared import prepared
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance, commit_here, provenance_of, run_digest
from eval.rows import Row, RowFile
from eval.studies.marks.methods import (
    DRAWS,
    FURTHER_DRAWS,
    IDENTIFIERS,
    LETHE,
    METHODS,
    ORACLE,
    ORIGIN,
    method_of,
    oracle,
    systems,
)
from eval.targets import reading_once
from eval.tasks.attack import AttackTask
from eval.tasks.marks import (
    ANY,
    CHANGED,
    COVERED,
    ENTITIES_STANDING,
    LEFT,
    STANDING,
    TOUCHED,
    WORDS_STANDING,
    Marks,
    mean_estimate,
    paired_difference,
    shares_in,
)
from eval.tasks.questions import Questions
from ingest.documents import Identifier
from ingest.scoring.scale import EMBEDDED_SCALE
from models.errors import LetheError
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.system import System

MEAN = "mean"
"""The annotator of figures that are the mean of all annotators."""


class MarkFigure(Frozen):
    """A share under one method, as one annotator or their mean sees it.

    ``kind`` and ``must`` are the annotator's; the kind is empty for unmarked text. ``count`` is what is
    counted (``eval.tasks.marks``). ``minus_trip`` is the difference to ``lethe``, paired by document.
    """

    method: str
    annotator: str
    kind: str
    must: int
    count: str
    estimate: Estimate
    minus_trip: Estimate


class MarkedPart(Frozen):
    """A part of a corpus: which documents, how many of them failed by method, and the figures.

    ``extracted`` is by method the share of what must go that an extraction attack on a verbatim victim
    brought out, of what was behind the passages that it retrieved. ``recall_overlap`` is by method the
    Recall@1 overlap of cloze questions with the unsanitized index, ``recall_minus_lethe`` its difference to
    trip, paired by question.
    """

    name: str
    documents: int
    failed: dict[str, int]
    extracted: dict[str, Estimate]
    recall_overlap: dict[str, Estimate] = {}
    recall_minus_lethe: dict[str, Estimate] = {}
    figures: tuple[MarkFigure, ...]


class MarkedCorpusFigures(Frozen):
    """A corpus: its annotators, how many documents there are of each exposure, and its parts."""

    name: str
    annotators: tuple[str, ...]
    exposures: dict[str, int]
    parts: tuple[MarkedPart, ...]


class MarksReport(Frozen):
    """All corpora; ``absent`` gives the reason for those that were not measured."""

    provenance: Provenance
    command: str
    seed: int
    methods: tuple[str, ...]
    corpora: tuple[MarkedCorpusFigures, ...]
    absent: dict[str, str]


_GOES = (TOUCHED, COVERED, LEFT, STANDING, ENTITIES_STANDING, WORDS_STANDING)
_HOW_TO_READ = (
    "Class and must are the annotators': 2 has to go, 1 should be generalized, 0 may stay. A mark is touched "
    "if a letter or digit of it was replaced, covered if all were; an entity is left if one of its marks is "
    "not covered. Standing is what a reader of the sanitized text still finds as whole words, wherever they "
    "come from; the oracle, which replaces exactly what has to go, shows how much of that is chance.",
    "",
    "Held out are documents that no part of Lethe learned from; in parentheses are 95% intervals over "
    f"documents. The random control is the mean of {DRAWS} draws.",
)


def markdown(report: MarksReport) -> str:
    """The tables of all corpora. Figures are shares in [0, 1] with 95% intervals over documents."""
    lines = ["# What annotators marked, under each method", "", *_HOW_TO_READ, ""]
    for corpus in report.corpora:
        lines += _corpus(corpus, report.methods)
    lines += [f"- {name} is absent: {reason}" for name, reason in report.absent.items()]
    facts = "; ".join(f"{name}: {value}" for name, value in report.provenance.facts())
    return "\n".join([*lines, "", f"Seed {report.seed}. {facts}", ""])


def _corpus(corpus: MarkedCorpusFigures, methods: Sequence[str]) -> Iterator[str]:
    there = ", ".join(f"{name} {count:,}" for name, count in corpus.exposures.items())
    annotators = [*corpus.annotators, *([MEAN] if len(corpus.annotators) > 1 else [])]
    yield from (f"## {corpus.name}", "")
    yield from (f"Documents: {there}. Annotators: {', '.join(corpus.annotators)}.", "")
    for part in corpus.parts:
        for annotator in annotators:
            yield from (f"### {corpus.name}, {part.name}: {part.documents:,} documents, {annotator}", "")
            if part.failed:
                counts = ", ".join(f"{method} {count:,}" for method, count in part.failed.items())
                yield from (f"Documents that could not be sanitized are not measured: {counts}.", "")
            yield from _table(part, annotator, methods)


def _table(part: MarkedPart, annotator: str, methods: Sequence[str]) -> Iterator[str]:
    found = {
        (each.method, each.kind, each.must, each.count): each
        for each in part.figures
        if each.annotator == annotator
    }
    groups = list(dict.fromkeys((kind, must) for _, kind, must, _ in found if kind and must))
    yield f"| class, must | n | method | {' | '.join(_GOES)} | {LEFT}, minus lethe |"
    yield f"| --- | ---: | --- |{' ---: |' * (len(_GOES) + 1)}"
    for kind, must in groups:
        for method in methods:
            cells = {count: found[method, kind, must, count] for count in _GOES}
            # Single words are shown of names only, since those of other marks stand everywhere.
            numbers = " | ".join(
                "–" if count == WORDS_STANDING and kind != "DIRECT" else _shown(each.estimate)
                for count, each in cells.items()
            )
            last = _shown(cells[LEFT].minus_trip, "+", " to ")
            group = f"{'all' if kind == ANY else kind}, {must} | {cells[STANDING].estimate.n:g}"
            yield f"| {group} | {method} | {numbers} | {last} |"
    yield ""
    yield (
        "| method | marks that may stay: touched | minus lethe | unmarked characters changed | minus lethe "
        "| extracted of what must go |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for method in methods:
        both = [found.get((method, ANY, 0, TOUCHED)), found[method, "", 0, CHANGED]]
        shown = " | ".join(
            f"{_shown(each.estimate)} | {_shown(each.minus_trip, '+', ' to ')}" if each else "– | –"
            for each in both
        )
        yield f"| {method} | {shown} | {_shown(part.extracted[method])} |"
    yield ""


def _shown(estimate: Estimate, sign: str = "", to: str = "–") -> str:
    if estimate.value is None:
        return "–"
    ends = to.join(f"{end:{sign}.3f}" for end in estimate.interval or ())
    return f"{estimate.value:{sign}.3f}" + (f" ({ends})" if ends else "")


HELD_OUT = (Exposure.UNSEEN, Exposure.LOOKED_AT)
PARTS: Mapping[str, tuple[Exposure, ...]] = {
    "held out": HELD_OUT,
    "unseen": (Exposure.UNSEEN,),
    "learned from": (Exposure.LEARNED,),
}
"""The parts of a corpus. Nothing was fitted to what is held out, nor even chosen with what is unseen in
sight. What was learned from is measured on request."""

PROMPTS, PASSAGES = 60, 5
"""Prompts of each aim of the extraction attack, and the passages that its victim repeats."""
QUESTIONS = 4
"""Cloze questions about each document."""
EXTRACTED, ASKED = "extracted", "asked"
"""Where the rows of the attack and of the questions stand among those of the annotators."""

Rows = Mapping[str, Mapping[str, Sequence[Row]]]
"""Rows by method and annotator, those of others under ``EXTRACTED`` and ``ASKED``."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure. ``learned`` adds the documents that parts of Lethe learned from."""

    corpora: Sequence[str]
    seed: int = 0
    learned: bool = False
    demo: Path | None = None


def measure_marks(
    system: System,
    data: Path,
    options: Options,
    progress: Progress = no_progress,
    *,
    folder: Path | None = None,
    made_with: str = "",
) -> MarksReport:
    """Measure all methods on the held-out documents of each corpus under ``data``.

    Rows are written to a subfolder of ``folder`` for each corpus, and an interrupted run resumes there.
    ``made_with`` is a digest of settings and models. The scores use the embedded scale unless the system has
    its own, so a document is decided alike whatever else is measured.

    Raises:
        LetheError: No corpus could be measured, or the folder has rows of another run.
    """
    commit = commit_here()
    system = replace(system, scale=system.scale or EMBEDDED_SCALE)
    found: list[MarkedCorpusFigures] = []
    absent: dict[str, str] = {}
    for name in options.corpora:
        wanted = _wanted(data, name, options)
        if isinstance(wanted, str):
            absent[name] = wanted
        else:
            rows = _measured(system, wanted[1], options.seed, folder, made_with, progress)
            found.append(_figures(*wanted, rows, options))
    if not found:
        why = " ".join(f"{name}: {reason}" for name, reason in absent.items())
        raise LetheError(f"Nothing was measured. {why}")
    return MarksReport(
        provenance=provenance_of(system, {}, commit),
        command="",
        seed=options.seed,
        methods=METHODS,
        corpora=tuple(found),
        absent=absent,
    )


def _wanted(data: Path, name: str, options: Options) -> tuple[MarkedCorpus, MarkedCorpus] | str:
    """A whole corpus and what of it is measured; or why nothing is."""
    try:
        corpus = _numbered(with_seen(data, name, options.demo))
    except LetheError as error:
        return str(error)
    wanted = corpus.only(list(Exposure) if options.learned else HELD_OUT)
    if not wanted.documents:
        return f"all of its {len(corpus.documents)} documents were learned from"
    return corpus, wanted


def _numbered(corpus: MarkedCorpus) -> MarkedCorpus:
    """The corpus under numbers: ids of records stay out of rows and reports."""
    ids = {each.doc_id: f"{corpus.name} {number:03d}" for number, each in enumerate(corpus.documents, 1)}

    def numbered(each: MarkedDocument) -> MarkedDocument:
        return replace(each, document=replace(each.document, doc_id=ids[each.document.doc_id]))

    by_annotator = {name: tuple(map(numbered, those)) for name, those in corpus.by_annotator.items()}
    exposures = {ids[doc_id]: exposure for doc_id, exposure in corpus.exposures.items()}
    return MarkedCorpus(corpus.name, by_annotator, exposures)


def _measured(
    system: System, corpus: MarkedCorpus, seed: int, folder: Path | None, made_with: str, progress: Progress
) -> Rows:
    """The rows of every method; those in the folder are reused."""
    plain = Corpus(corpus.name, corpus.documents)
    marks = repr([[each.marks for each in documents] for documents in corpus.by_annotator.values()])
    run = run_digest(plain, f"{made_with} {system.own_entities} {marks}", seed, [system.encoder.name])
    tasks = {name: Marks(documents, name) for name, documents in corpus.by_annotator.items()}
    attack = AttackTask(
        extraction_suite(list(Aim), PROMPTS, seed),
        VerbatimGenerator(),
        reading_once(system.encoder),
        PASSAGES,
        what_must_go([each for documents in corpus.by_annotator.values() for each in documents]),
    )
    questions = Questions(
        cloze_questions(corpus.documents, QUESTIONS, Selection(seed)),
        reading_once(system.encoder),
        VerbatimGenerator(),
    )
    found: dict[str, dict[str, list[Row]]] = {method: {} for method in METHODS}
    with RowFile(run, None if folder is None else folder / corpus.name) as file:
        ready = prepared(system, plain, progress)
        everywhere = systems(ready, seed)
        oracles = {f"{ORACLE}, {name}": task for name, task in tasks.items()}
        others: list[Task] = [attack, questions]
        asked: dict[str, Sequence[Task]] = {
            name: [*tasks.values(), *([] if name in FURTHER_DRAWS else others)] for name in everywhere
        }
        experiment = Experiment(
            corpus.documents,
            everywhere | {name: oracle(ready.system, task.documents) for name, task in oracles.items()},
            asked | {name: [task, *others] for name, task in oracles.items()},
        )
        for done in experiment.run(file, progress):
            names = {task.name: name for name, task in tasks.items()}
            names |= {attack.name: EXTRACTED, questions.name: ASKED}
            for task_name, rows in done.rows.items():
                found[method_of(done.system)].setdefault(names[task_name], []).extend(rows)
    return found


def what_must_go(documents: Sequence[MarkedDocument]) -> SensitiveIndex:
    """What any annotator says must go, as an attack counts it: too short ones, such as ages, are left out."""
    return SensitiveIndex(
        SensitiveEntity(
            each.document.doc_id,
            each.document.text[mark.start : mark.end],
            mark.type,
            IDENTIFIERS.get(mark.kind, Identifier.ATTRIBUTE),
        )
        for each in documents
        for mark in each.marks
        if mark.must == 2
    )


def _figures(
    corpus: MarkedCorpus, measured: MarkedCorpus, rows: Rows, options: Options
) -> MarkedCorpusFigures:
    parts = []
    for name, exposures in PARTS.items():
        inside = {doc_id for doc_id, exposure in measured.exposures.items() if exposure in exposures}
        if inside and (name != "unseen" or len(inside) < len(measured.exposures)):
            parts.append(_part(name, inside, rows, options.seed))
    counted = {str(each): list(corpus.exposures.values()).count(each) for each in Exposure}
    return MarkedCorpusFigures(
        name=corpus.name, annotators=tuple(corpus.by_annotator), exposures=counted, parts=tuple(parts)
    )


def _part(name: str, inside: set[str], rows: Rows, seed: int) -> MarkedPart:
    chosen = {
        method: {
            annotator: [row for row in each if row.case in inside]
            for annotator, each in by_annotator.items()
            if annotator not in (EXTRACTED, ASKED)
        }
        for method, by_annotator in rows.items()
    }
    overlaps = {method: _overlaps(each[ASKED], rows[ORIGIN][ASKED], inside) for method, each in rows.items()}
    lethe = overlaps[LETHE]
    failed = {
        method: len({row.case for each in by_annotator.values() for row in each if not row.measured})
        for method, by_annotator in chosen.items()
    }
    return MarkedPart(
        name=name,
        documents=len(inside),
        failed={method: count for method, count in failed.items() if count},
        extracted={
            method: entity_leakage(each[EXTRACTED], seed, lambda entity: entity.doc_id in inside)
            for method, each in rows.items()
        },
        recall_overlap={method: _over_documents(each, seed) for method, each in overlaps.items()},
        recall_minus_lethe={
            method: _over_documents(
                {case: value - lethe[case] for case, value in each.items() if case in lethe}, seed
            )
            for method, each in overlaps.items()
        },
        figures=tuple(
            figure
            for method, by_annotator in chosen.items()
            for figure in _of_method(method, by_annotator, chosen[LETHE], seed)
        ),
    )


def _overlaps(rows: Sequence[Row], original: Sequence[Row], inside: set[str]) -> dict[str, float]:
    """Recall@1 overlap of each question about the documents ``inside``; the mean over several systems."""
    first = {row.case: row.doc_ids for row in original if row.case.rpartition("/")[0] in inside}
    by_case: dict[str, list[float]] = {}
    for row in rows:
        if row.case in first:
            found = recall_at_k_overlap([first[row.case]], [row.doc_ids], 1)
            by_case.setdefault(row.case, []).extend(found.per_query)
    return {case: sum(each) / len(each) for case, each in by_case.items()}


def _over_documents(values: Mapping[str, float], seed: int) -> Estimate:
    """The mean over questions; the interval draws documents, whose questions share their sanitizing."""
    by_document: dict[str, list[float]] = {}
    for case, value in values.items():
        by_document.setdefault(case.rpartition("/")[0], []).append(value)
    groups = list(by_document.values())
    found = ratio_of([sum(each) for each in groups], [float(len(each)) for each in groups], seed)
    same = len({value for each in groups for value in each}) < 2
    return replace(found, low=None, high=None) if same else found


def _of_method(
    method: str, rows: Mapping[str, Sequence[Row]], trip: Mapping[str, Sequence[Row]], seed: int
) -> Iterable[MarkFigure]:
    views = {name: [each] for name, each in rows.items()}
    if len(rows) > 1:
        views[MEAN] = list(rows.values())
    for share in shares_in([row for each in trip.values() for row in each]):
        for annotator, seen_by in views.items():
            others = [trip[name] for name in (rows if annotator == MEAN else [annotator])]
            yield MarkFigure(
                method=method,
                annotator=annotator,
                kind=share.kind,
                must=share.must,
                count=share.count,
                estimate=mean_estimate(share, seen_by, seed),
                minus_trip=paired_difference(share, seen_by, others, seed),
            )
