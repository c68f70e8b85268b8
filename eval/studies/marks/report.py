"""The report of what methods do to marks: counts and shares, no word of a corpus."""

from collections.abc import Iterator, Sequence

from eval.measures.marked import (
    ANY,
    CHANGED,
    COVERED,
    ENTITIES_STANDING,
    LEFT,
    STANDING,
    TOUCHED,
    WORDS_STANDING,
)
from eval.measures.uncertainty import Estimate
from eval.provenance import Frozen, Provenance
from eval.studies.marks.methods import DRAWS

MEAN = "mean"
"""The annotator of figures that are the mean of all annotators."""


class MarkFigure(Frozen):
    """A share under one method, as one annotator or their mean sees it.

    ``kind`` and ``must`` are the annotator's; the kind is empty for unmarked text. ``count`` is what is
    counted (``eval.measures.marked``). ``minus_trip`` is the difference to trip, paired by document.
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
    yield f"## {corpus.name}"
    yield ""
    yield f"Documents: {there}. Annotators: {', '.join(corpus.annotators)}."
    yield ""
    for part in corpus.parts:
        annotators = [*corpus.annotators, MEAN] if len(corpus.annotators) > 1 else list(corpus.annotators)
        for annotator in annotators:
            yield f"### {corpus.name}, {part.name}: {part.documents:,} documents, {annotator}"
            yield ""
            yield from _failed(part)
            yield from _table(part, annotator, methods)


def _failed(part: MarkedPart) -> Iterator[str]:
    if part.failed:
        counts = ", ".join(f"{method} {count:,}" for method, count in part.failed.items())
        yield f"Documents that could not be sanitized are not measured: {counts}."
        yield ""


def _table(part: MarkedPart, annotator: str, methods: Sequence[str]) -> Iterator[str]:
    found = {
        (each.method, each.kind, each.must, each.count): each
        for each in part.figures
        if each.annotator == annotator
    }
    groups = list(dict.fromkeys((kind, must) for _, kind, must, _ in found if kind and must))
    yield f"| class, must | n | method | {' | '.join(_GOES)} | {LEFT}, minus trip |"
    yield f"| --- | ---: | --- |{' ---: |' * (len(_GOES) + 1)}"
    for kind, must in groups:
        for method in methods:
            cells = [found[method, kind, must, count] for count in _GOES]
            numbers = " | ".join(_cell(each) for each in cells)
            n = found[method, kind, must, STANDING].estimate.n
            last = _signed(found[method, kind, must, LEFT].minus_trip)
            yield f"| {_named(kind, must)} | {n:g} | {method} | {numbers} | {last} |"
    yield ""
    yield (
        "| method | marks that may stay: touched | minus trip | unmarked characters changed | minus trip "
        "| extracted of what must go |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for method in methods:
        may_stay = found.get((method, ANY, 0, TOUCHED))
        changed = found[method, "", 0, CHANGED]
        extracted = _shown(part.extracted[method])
        yield f"| {method} | {_both(may_stay)} | {_both(changed)} | {extracted} |"
    yield ""


def _cell(figure: MarkFigure) -> str:
    """A share; single words are shown of names only, since those of other marks stand everywhere."""
    if figure.count == WORDS_STANDING and figure.kind != "DIRECT":
        return "–"
    return _shown(figure.estimate)


def _named(kind: str, must: int) -> str:
    return f"{'all' if kind == ANY else kind}, {must}"


def _both(figure: MarkFigure | None) -> str:
    if figure is None:
        return "– | –"
    return f"{_shown(figure.estimate)} | {_signed(figure.minus_trip)}"


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "–"
    ends = "" if estimate.interval is None else " ({:.3f}–{:.3f})".format(*estimate.interval)
    return f"{estimate.value:.3f}{ends}"


def _signed(estimate: Estimate) -> str:
    if estimate.value is None:
        return "–"
    ends = "" if estimate.interval is None else " ({:+.3f} to {:+.3f})".format(*estimate.interval)
    return f"{estimate.value:+.3f}{ends}"
