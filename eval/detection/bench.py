"""The detection benchmark: every detector on every corpus that the data folder has."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from eval.detection import extras
from eval.detection.cases import POLITICS, Case, cases_of, present
from eval.detection.extras import BATCH, MEDQUAD, SAMPLE_SEED, Generalizer, LabelFactory, detected
from eval.detection.gold import released_spans
from eval.detection.intervals import RESAMPLES, SEED, Estimated, Measure, estimated
from eval.detection.measures import Tally
from eval.detection.misses import Sampled
from eval.detection.questions import (
    ASKED_EXACT,
    ASKED_NEW,
    ASKED_TOUCHED,
    GENERALIZED,
    SPEED,
    TAB,
    corpus_names,
    questions,
)
from eval.detection.report import CorpusSize, DetectionReport, Figure, Question, machine_and_versions
from eval.detection.tasks import Task, tasks
from ingest.documents import Entity
from ingest.protocols import EntityDetector
from models.errors import ConfigurationError
from models.packs import packs


class Progress(Protocol):
    """Told what is under way, how much of it is done and how much there is; None where nobody knows."""

    def __call__(self, phase: str, done: int, total: int | None) -> None: ...


def untold(phase: str, done: int, total: int | None) -> None:
    """Nobody asked."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A detector under its name in the table; ``corpora`` are those that it answers for, None for all."""

    name: str
    detector: EntityDetector
    corpora: frozenset[str] | None
    sampled: Sampled


def _no_tallies() -> dict[tuple[str, str], dict[str, Tally]]:
    return defaultdict(lambda: defaultdict(Tally))


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done, and what has been counted so far: by task or question, and detector."""

    data: Path
    wanted: Sequence[str]
    columns: Sequence[_Column]
    progress: Progress
    tallies: dict[tuple[str, str], dict[str, Tally]] = field(default_factory=_no_tallies)
    estimates: dict[tuple[str, str], Estimated] = field(default_factory=dict)
    sizes: dict[str, CorpusSize] = field(default_factory=dict)


def run(
    detectors: Mapping[str, EntityDetector],
    data: Path,
    progress: Progress = untold,
    *,
    for_labels: Mapping[str, LabelFactory] | None = None,
    generalizers: Mapping[str, Generalizer] | None = None,
    corpora: Collection[str] | None = None,
    commit: str | None = None,
) -> DetectionReport:
    """Every figure of every detector, by its name, over the held-out parts of the corpora in ``data``.

    ``for_labels`` and ``generalizers`` belong to detectors by name; without one, what needs it is not
    measured. ``corpora`` narrows questions and work to some of ``corpus_names()``. The released spans of
    stock Presidio become one more column where the folder has them.

    Raises:
        ConfigurationError: There is no such corpus or detector, or the folder has no corpus.
        LetheError: A corpus cannot be read, or a detector failed on it.
    """
    _check_names((*(for_labels or ()), *(generalizers or ())), detectors)
    wanted = _wanted(data, corpora)
    work = _Work(data, wanted, _columns(detectors, data, wanted), progress)
    every = tasks()
    for corpus in wanted:
        _measure(corpus, [task for task in every if task.corpus == corpus], work)
    _politics(for_labels or {}, work)
    _answers(generalizers or {}, work)
    _speed(work)
    return _report(work, questions(corpora or corpus_names()), commit)


def _check_names(named: Collection[str], detectors: Mapping[str, EntityDetector]) -> None:
    unknown = sorted(set(named) - set(detectors))
    if unknown:
        raise ConfigurationError(
            f"There is no detector named {', '.join(unknown)} to measure with other labels or a sanitizer: "
            f"the names are {', '.join(detectors)}."
        )


def _wanted(data: Path, corpora: Collection[str] | None) -> list[str]:
    names = corpus_names()
    unknown = sorted(set(corpora or ()) - set(names))
    if unknown:
        raise ConfigurationError(
            f"There is no benchmark corpus named {', '.join(unknown)}: the names are {', '.join(names)}."
        )
    wanted = [name for name in present(data, names) if corpora is None or name in corpora]
    if not wanted:
        raise ConfigurationError(
            f"{data} has none of the corpora to measure on: name the folder in which each has its own."
        )
    return wanted


def _columns(detectors: Mapping[str, EntityDetector], data: Path, wanted: Collection[str]) -> list[_Column]:
    columns = [_Column(name, detector, None, Sampled(name)) for name, detector in detectors.items()]
    released = None if set(wanted).isdisjoint(("tab", "spia_cases")) else released_spans(data)
    if released is not None:
        columns.append(_Column(released.name, released, released.corpora, Sampled(released.name)))
    return columns


def _measure(corpus: str, of_corpus: Sequence[Task], work: _Work) -> None:
    """Detect in one corpus, batch by batch, and count; nothing if no task is about it."""
    if not of_corpus:
        return
    records = characters = mentions = 0
    columns = [column for column in work.columns if column.corpora is None or corpus in column.corpora]
    for batch in packs(cases_of(work.data, corpus), BATCH):
        documents = [case.document for case in batch]
        for column in columns:
            found = detected(column.name, column.detector, corpus, documents)
            for case, entities in zip(batch, found, strict=True):
                _count(case, entities, of_corpus, column, work)
        records += len(batch)
        characters += sum(len(case.text) for case in batch)
        mentions += sum(len(case.mentions) for case in batch)
        work.progress(corpus, records, None)
    work.sizes[corpus] = CorpusSize(records=records, characters=characters, mentions=mentions)
    work.progress(corpus, records, records)


def _count(
    case: Case, found: Sequence[Entity], of_corpus: Sequence[Task], column: _Column, work: _Work
) -> None:
    for task in of_corpus:
        work.tallies[task.key, column.name][case.unit] += task.tally(case, found)
    column.sampled.look(case, found, [task.misses for task in of_corpus if task.misses is not None])


def _politics(factories: Mapping[str, LabelFactory], work: _Work) -> None:
    if POLITICS not in work.wanted:
        return
    for name, factory in factories.items():
        told = partial(work.progress, f"{POLITICS}, {name}")
        asked = extras.labels_asked(name, factory, work.data, told)
        work.tallies[ASKED_EXACT, name] = asked.exact
        work.tallies[ASKED_TOUCHED, name] = asked.touched
        work.tallies[ASKED_NEW, name] = asked.new


def _answers(generalizers: Mapping[str, Generalizer], work: _Work) -> None:
    if MEDQUAD not in work.wanted or not generalizers:
        return
    documents = extras.answers(work.data)
    work.sizes[MEDQUAD] = CorpusSize(
        records=len(documents), characters=sum(len(document.text) for document in documents), mentions=0
    )
    for name, generalize in generalizers.items():
        told = partial(work.progress, f"{MEDQUAD}, {name}")
        work.estimates[GENERALIZED, name] = extras.share_changed(generalize, documents, told)


def _speed(work: _Work) -> None:
    """After everything else, so that nothing is loaded or compiled within it."""
    if TAB not in work.wanted:
        return
    documents = [case.document for case in cases_of(work.data, TAB)]
    timed = [column for column in work.columns if column.corpora is None]
    for number, column in enumerate(timed, 1):
        work.estimates[SPEED, column.name] = extras.speed(column.name, column.detector, TAB, documents)
        work.progress("speed", number, len(timed))


def _report(work: _Work, asked: tuple[Question, ...], commit: str | None) -> DetectionReport:
    return DetectionReport(
        provenance=machine_and_versions({"corpora": ", ".join(work.wanted)}, commit),
        detectors=tuple(column.name for column in work.columns),
        seeds={"bootstrap": SEED, "misses": SEED, "answers": SAMPLE_SEED},
        resamples=RESAMPLES,
        corpora=work.sizes,
        questions=asked,
        figures=tuple(_figures(asked, work)),
        misses=tuple(
            miss
            for column in work.columns
            for miss in (*column.sampled.drawn("miss"), *column.sampled.drawn("false alarm"))
        ),
        wrong={column.name: column.sampled.counts() for column in work.columns},
    )


def _figures(asked: Sequence[Question], work: _Work) -> Iterator[Figure]:
    for question in asked:
        for column in work.columns:
            answer = _answer(question, column.name, work)
            if answer is None:
                why = (
                    "it was not run for this" if question.corpus in work.wanted else "the corpus was not read"
                )
                yield Figure(question=question.key, detector=column.name, why_not=why)
                continue
            yield Figure(
                question=question.key,
                detector=column.name,
                value=answer.value,
                low=answer.low,
                high=answer.high,
                hits=answer.hits,
                total=answer.total,
                documents=answer.documents,
                why_not="" if answer.value is not None else "nothing to count",
            )


def _answer(question: Question, detector: str, work: _Work) -> Estimated | None:
    direct = work.estimates.get((question.key, detector))
    if direct is not None:
        return direct
    key, _, measure = question.key.rpartition(".")
    tallies = work.tallies.get((key, detector))
    return None if tallies is None else estimated(Measure(measure), tallies)
