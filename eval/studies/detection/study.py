"""The detection benchmark: every detector on every corpus in the data folder."""

import random
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from eval.measures.uncertainty import Estimate
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance, provenance_here
from eval.studies.detection.cases import (
    POLITICS,
    RESAMPLES,
    SEED,
    Case,
    Cover,
    Ends,
    Measure,
    Tally,
    cases_of,
    estimated,
    present,
    released_spans,
    trimmed,
)
from eval.studies.detection.tasks import (
    BATCH,
    BOTH_WAYS,
    MEDQUAD,
    SAMPLE_SEED,
    Choose,
    Counted,
    Generalizer,
    LabelFactory,
    Task,
    answers,
    detected,
    labels_asked,
    share_changed,
    spans_of,
    speed,
    tasks,
)
from ingest.documents import Entity
from ingest.protocols import EntityDetector
from models.errors import ConfigurationError
from models.packs import packs

EACH = 30
LONGEST_SHAPE = 24

Sort = Literal["miss", "false alarm"]


class Miss(BaseModel):
    """A marked mention that nothing touched, or a found span that touches nothing marked.

    ``start`` and ``end`` count code points of the text from the corpus reader. ``shape`` shows x and X for
    letters and 9 for digits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    detector: str
    sort: Sort
    corpus: str
    record: str
    start: int
    end: int
    label: str
    length: int
    shape: str


def shape_of(words: str) -> str:
    """The first 24 characters, letters as x or X, digits as 9, white space as a blank, marks as they are."""

    def shape(character: str) -> str:
        if character.isspace():
            return " "
        if character.isnumeric():
            return "9"
        if character.isalpha():
            return "X" if character.isupper() else "x"
        return character if character.isascii() and character.isprintable() else "?"

    return "".join(map(shape, words[:LONGEST_SHAPE]))


class MissSample:
    """A sample of one detector's misses and false alarms: at most ``EACH`` per corpus and label.

    The sample depends only on the seed and on the order of the records.
    """

    def __init__(self, detector: str) -> None:
        self._detector = detector
        self._chance = random.Random(SEED)
        self._kept: dict[tuple[Sort, str, str], list[Miss]] = {}
        self._seen: dict[tuple[Sort, str, str], int] = {}

    def look(self, case: Case, found: Sequence[Entity], choices: Iterable[Choose]) -> None:
        """Add the errors in one text; an error in several comparisons counts once."""
        wrong: set[tuple[Sort, Ends, str]] = set()
        for choose in choices:
            sides = choose(case, found)
            finders = Cover(spans_of(sides.finders))
            right = Cover((mention.start, mention.end) for mention in sides.right)
            for mention in sides.marked:
                if not finders.touches((mention.start, mention.end)):
                    wrong.add(("miss", (mention.start, mention.end), mention.label))
            for claim, span in zip(sides.claims, spans_of(sides.claims), strict=True):
                if not right.touches(span):
                    wrong.add(("false alarm", span, claim.label))
        for sort, span, label in sorted(wrong):
            if trimmed(case.text, span) is not None:
                start, end = span
                self._offer(
                    Miss(
                        detector=self._detector,
                        sort=sort,
                        corpus=case.corpus,
                        record=case.id,
                        start=start,
                        end=end,
                        label=label,
                        length=end - start,
                        shape=shape_of(case.text[start:end]),
                    )
                )

    def _offer(self, miss: Miss) -> None:
        """Reservoir sampling: each of n has the same chance to be kept."""
        stratum = (miss.sort, miss.corpus, miss.label)
        kept = self._kept.setdefault(stratum, [])
        seen = self._seen[stratum] = self._seen.get(stratum, 0) + 1
        if len(kept) < EACH:
            kept.append(miss)
        elif (place := self._chance.randrange(seen)) < EACH:
            kept[place] = miss

    def counts(self) -> dict[str, int]:
        """The number of misses and false alarms, sampled or not."""
        sorts: tuple[Sort, ...] = ("miss", "false alarm")
        return {sort: sum(seen for (each, *_), seen in self._seen.items() if each == sort) for sort in sorts}

    def drawn(self, sort: Sort, number: int = EACH) -> list[Miss]:
        """At most ``number``, from corpora in turn, and within each from its labels in turn."""
        chance = random.Random(SEED)
        by_corpus: dict[str, list[list[Miss]]] = {}
        for (each, corpus, _), kept in sorted(self._kept.items()):
            if each == sort:
                by_corpus.setdefault(corpus, []).append(chance.sample(kept, len(kept)))
        for strata in by_corpus.values():
            chance.shuffle(strata)
        in_turn = [_in_turn(strata) for strata in by_corpus.values()]
        return sorted(_in_turn(in_turn)[:number], key=lambda m: (m.corpus, m.label, m.record, m.start))


def _in_turn(lists: Sequence[Sequence[Miss]]) -> list[Miss]:
    """Round robin over the lists."""
    longest = max(map(len, lists), default=0)
    return [each[at] for at in range(longest) for each in lists if at < len(each)]


class CorpusSize(Frozen):
    """The size of the held-out part of a corpus."""

    records: int
    characters: int
    mentions: int


class Question(Frozen):
    """One row of the table. ``unit`` is "share", in [0, 1], or "characters a second"."""

    key: str
    corpus: str
    title: str
    unit: str = "share"


class Figure(Frozen):
    """The figure of one detector for one question; the bootstrap resamples ``documents`` documents."""

    question: str
    detector: str
    estimate: Estimate = Estimate()
    documents: int = 0


class DetectionReport(Frozen):
    """Every figure of every detector, with provenance.

    ``misses`` is a sample; ``wrong`` has the totals, by detector and sort.
    """

    provenance: Provenance
    detectors: tuple[str, ...]
    seeds: dict[str, int]
    resamples: int
    corpora: dict[str, CorpusSize]
    questions: tuple[Question, ...]
    figures: tuple[Figure, ...]
    misses: tuple[Miss, ...] = Field(repr=False)
    wrong: dict[str, dict[str, int]]

    def figure(self, question: str, detector: str) -> Figure:
        """One figure, by key and detector name; an empty one if there is none."""
        none = Figure(question=question, detector=detector, estimate=Estimate(why_not="not asked"))
        return next(
            (each for each in self.figures if (each.question, each.detector) == (question, detector)), none
        )


def machine_and_versions(settings: Mapping[str, str], commit: str | None) -> Provenance:
    """Date, machine, package versions, and the number of torch threads if a detector has imported torch."""
    torch = sys.modules.get("torch")
    threads = {} if torch is None else {"torch threads": str(torch.get_num_threads())}
    return provenance_here({**settings, **threads}, commit)


TAB = "tab"

GENERALIZED, SPEED = f"{MEDQUAD}.generalized", f"{TAB}.speed"

_ASKED_TITLES = {
    "exact": "its own labels asked, exact",
    "touched": "its own labels asked, any overlap",
    "new": "the same, only labels that training never asked by, exact",
}


def corpus_names() -> list[str]:
    """All benchmark corpora, in the order of the table."""
    return [*dict.fromkeys(task.corpus for task in tasks()), POLITICS, MEDQUAD]


def questions(corpora: Collection[str]) -> tuple[Question, ...]:
    """Every measure of every task on some corpora, then the other measures.

    The key of a share ends in its measure, so one task can answer several questions.
    """
    asked = [(each.key, each.corpus, each.title, each.measures) for each in tasks()]
    asked += [
        (f"{POLITICS}.asked.{key}", POLITICS, f"CrossNER politics, {title}", BOTH_WAYS)
        for key, title in _ASKED_TITLES.items()
    ]
    harmless = "MedQuAD, no people in it: characters that the sanitizer changes (lower is better)"
    rows = [
        Question(
            key=f"{key}.{measure}",
            corpus=corpus,
            title=title if measure is Measure.SHARE else f"{title}: {measure}",
        )
        for key, corpus, title, measures in asked
        for measure in measures
    ]
    rows += [
        Question(key=GENERALIZED, corpus=MEDQUAD, title=harmless),
        Question(key=SPEED, corpus=TAB, title="speed, characters a second", unit="characters a second"),
    ]
    return tuple(row for row in rows if row.corpus in corpora)


@dataclass(frozen=True, slots=True)
class _Column:
    """A detector under its name in the table; ``corpora`` limits it, None for all."""

    name: str
    detector: EntityDetector
    corpora: frozenset[str] | None
    sampled: MissSample


@dataclass(frozen=True, slots=True)
class _Work:
    """The plan and the counts so far, by task or question and by detector."""

    data: Path
    wanted: Sequence[str]
    columns: Sequence[_Column]
    progress: Progress
    tallies: dict[tuple[str, str], dict[str, Tally]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Tally))
    )
    estimates: dict[tuple[str, str], Counted] = field(default_factory=dict)
    sizes: dict[str, CorpusSize] = field(default_factory=dict)


def run(
    detectors: Mapping[str, EntityDetector],
    data: Path,
    progress: Progress = no_progress,
    *,
    for_labels: Mapping[str, LabelFactory] | None = None,
    generalizers: Mapping[str, Generalizer] | None = None,
    corpora: Collection[str] | None = None,
    commit: str | None = None,
) -> DetectionReport:
    """Every figure of every detector, by its name, over the held-out parts of the corpora in ``data``.

    ``for_labels`` and ``generalizers`` are by detector name; figures that need a missing one are not
    measured. ``corpora`` selects some of ``corpus_names()``. The released spans of stock Presidio are
    another column if they are in the folder.

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
    columns = [_Column(name, detector, None, MissSample(name)) for name, detector in detectors.items()]
    released = None if set(wanted).isdisjoint(("tab", "spia_cases")) else released_spans(data)
    if released is not None:
        columns.append(_Column(released.name, released, released.corpora, MissSample(released.name)))
    return columns


def _measure(corpus: str, of_corpus: Sequence[Task], work: _Work) -> None:
    """Detect in one corpus, in batches, and count; nothing if no task uses it."""
    if not of_corpus:
        return
    records = characters = mentions = 0
    columns = [column for column in work.columns if column.corpora is None or corpus in column.corpora]
    for batch in packs(cases_of(work.data, corpus), BATCH):
        documents = [case.document for case in batch]
        for column in columns:
            found = detected(column.name, column.detector, corpus, documents)
            for case, entities in zip(batch, found, strict=True):
                for task in of_corpus:
                    work.tallies[task.key, column.name][case.unit] += task.tally(case, entities)
                column.sampled.look(case, entities, [each.misses for each in of_corpus if each.misses])
        records += len(batch)
        characters += sum(len(case.text) for case in batch)
        mentions += sum(len(case.mentions) for case in batch)
        work.progress(corpus, records, None)
    work.sizes[corpus] = CorpusSize(records=records, characters=characters, mentions=mentions)
    work.progress(corpus, records, records)


def _politics(factories: Mapping[str, LabelFactory], work: _Work) -> None:
    if POLITICS not in work.wanted:
        return
    for name, factory in factories.items():
        asked = labels_asked(name, factory, work.data, partial(work.progress, f"{POLITICS}, {name}"))
        for key, tallies in asked.items():
            work.tallies[f"{POLITICS}.asked.{key}", name] = tallies


def _answers(generalizers: Mapping[str, Generalizer], work: _Work) -> None:
    if MEDQUAD not in work.wanted or not generalizers:
        return
    documents = answers(work.data)
    work.sizes[MEDQUAD] = CorpusSize(
        records=len(documents), characters=sum(len(document.text) for document in documents), mentions=0
    )
    for name, generalize in generalizers.items():
        progress = partial(work.progress, f"{MEDQUAD}, {name}")
        work.estimates[GENERALIZED, name] = share_changed(generalize, documents, progress)


def _speed(work: _Work) -> None:
    """Measured last, so that the time includes no loading or compiling."""
    if TAB not in work.wanted:
        return
    documents = [case.document for case in cases_of(work.data, TAB)]
    timed = [column for column in work.columns if column.corpora is None]
    for number, column in enumerate(timed, 1):
        work.estimates[SPEED, column.name] = speed(column.name, column.detector, TAB, documents)
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
            key, _, measure = question.key.rpartition(".")
            tallies = work.tallies.get((key, column.name))
            why = "it was not run for this" if question.corpus in work.wanted else "the corpus was not read"
            found, documents = work.estimates.get((question.key, column.name), (Estimate(why_not=why), 0))
            if tallies is not None:
                found, documents = estimated(Measure(measure), tallies), len(tallies)
            if found.value is None and not found.why_not:
                found = replace(found, why_not="nothing to count")
            yield Figure(question=question.key, detector=column.name, estimate=found, documents=documents)
