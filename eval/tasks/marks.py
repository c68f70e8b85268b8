"""What annotators marked: how much of it a system replaced, and how much else.

There are two views of a document. By place, a mark is touched if one of its letters or digits lies in a
replaced span, and covered if all do; blanks and punctuation do not count, unless a mark has nothing else. An
entity is left if one of its marks is not covered. For an index reader, who sees the sanitized text only, a
mark stands if its words are there, as whole words, wherever they come from: by chance too, and the oracle,
which replaces exactly the marks, shows how often.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from eval.documents import Mark, MarkedDocument
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE, STOP_WORDS, normalized, stands_in
from eval.measures.uncertainty import RESAMPLES, Estimate, bootstrap, clustered_share, holding
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Action, SanitizedDocument, Span

MARKS, TOUCHED, COVERED = "marks", "touched", "covered"
ENTITIES, LEFT = "entities", "entities left"
STANDING, ENTITIES_STANDING, WORDS_STANDING = "standing", "entities standing", "a word standing"
UNMARKED, CHANGED = "unmarked characters", "unmarked characters changed"
ANY = "ANY"
"""The group of all classes of one must."""

_WORD = re.compile(r"\w+")
_TITLES = frozenset("mr mrs ms miss dr prof sir".split())


def figure(group: tuple[str, int], count: str) -> str:
    """The name of a count of a class and must, as ``DIRECT 2: covered``."""
    return f"{group[0]} {group[1]}: {count}"


def mark_counts(marked: MarkedDocument, sanitized: SanitizedDocument) -> dict[str, float]:
    """The counts of each class and must of a document, by ``figure``, and those of its unmarked text.

    Counts by place are missing where a system rewrites texts without saying what it replaced.
    """
    text = marked.document.text
    spans = replaced_spans(text, sanitized)
    replaced = None if spans is None else _characters(len(text), spans)
    said = normalized(sanitized.text)
    found: dict[str, float] = {}
    for group, marks in _groups(marked.marks).items():
        counts = _standing(text, said, marks) | ({} if replaced is None else _places(text, replaced, marks))
        counts |= {MARKS: len(marks), ENTITIES: len({mark.entity for mark in marks})}
        found |= {figure(group, name): float(count) for name, count in counts.items()}
    if replaced is not None:
        in_marks = _characters(len(text), (Span(mark.start, mark.end) for mark in marked.marks))
        outside = [n for n, each in enumerate(text) if each.isalnum() and not in_marks[n]]
        found |= {UNMARKED: float(len(outside)), CHANGED: float(sum(replaced[n] for n in outside))}
    return found


def replaced_spans(text: str, sanitized: SanitizedDocument) -> list[Span] | None:
    """What was replaced, in offsets of the original; None if the text changed without a decision."""
    spans = [each.entity.span for each in sanitized.decisions if each.action is not Action.KEEP]
    return None if not spans and sanitized.text != text else spans


def _groups(marks: Iterable[Mark]) -> Mapping[tuple[str, int], list[Mark]]:
    found: dict[tuple[str, int], list[Mark]] = defaultdict(list)
    for mark in marks:
        found[mark.kind, mark.must].append(mark)
        found[ANY, mark.must].append(mark)
    return found


def _characters(length: int, spans: Iterable[Span]) -> bytearray:
    """1 for each character of a text that lies in a span."""
    found = bytearray(length)
    for span in spans:
        found[span.start : span.end] = b"\x01" * (min(span.end, length) - span.start)
    return found


def _places(text: str, replaced: Sequence[int], marks: Sequence[Mark]) -> dict[str, int]:
    counts = {TOUCHED: 0, COVERED: 0}
    left = set()
    for mark in marks:
        places = range(mark.start, mark.end)
        telling = [place for place in places if text[place].isalnum()] or list(places)
        gone = sum(replaced[place] for place in telling)
        counts[TOUCHED] += gone > 0
        counts[COVERED] += gone == len(telling)
        if gone < len(telling):
            left.add(mark.entity)
    return {**counts, LEFT: len(left)}


def _standing(text: str, said: str, marks: Sequence[Mark]) -> dict[str, int]:
    counts = {STANDING: 0, WORDS_STANDING: 0}
    standing = set()
    for mark in marks:
        words = normalized(text[mark.start : mark.end])
        if words and stands_in(words, said):
            counts[STANDING] += 1
            standing.add(mark.entity)
        counts[WORDS_STANDING] += any(stands_in(word, said) for word in _telling(words))
    return {**counts, ENTITIES_STANDING: len(standing)}


def _telling(words: str) -> list[str]:
    """The words of a mark but initials, titles and stop words; all if there are no others."""
    found = _WORD.findall(words)
    return [
        word for word in found if len(word) > 1 and word not in STOP_WORDS and word not in _TITLES
    ] or found


SHARES: Mapping[str, str] = {
    **{TOUCHED: MARKS, COVERED: MARKS, LEFT: ENTITIES},
    **{STANDING: MARKS, WORDS_STANDING: MARKS, ENTITIES_STANDING: ENTITIES},
}
"""What is counted, and of how many."""
NO_PLACES = "the method writes a new text and does not say what it replaced"
NONE_MARKED = "nothing is marked so"


@dataclass(frozen=True, slots=True)
class Marks:
    """One row per document as one annotator marked it, with counts.

    The case is the document's id. A document that could not be sanitized has a failure.
    """

    documents: Sequence[MarkedDocument] = field(repr=False)
    annotator: str

    sensitive = NOTHING_SENSITIVE

    @property
    def name(self) -> str:
        return f"marks, {self.annotator}"

    @property
    def cases(self) -> Sequence[str]:
        return [each.document.doc_id for each in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        there = {document.doc_id: document for document in kept.documents}
        marked = {each.document.doc_id: each for each in self.documents}
        for case in cases:
            figures = mark_counts(marked[case], there[case]) if case in there else None
            yield kept.row(self.name, case, figures, kind=self.annotator)


@dataclass(frozen=True, slots=True)
class MarkShare:
    """A share of what is marked with a class and must, or of the unmarked characters.

    ``count`` is a key of ``SHARES``, or ``CHANGED`` with an empty class and must 0.
    """

    kind: str
    must: int
    count: str

    def of(self, row: Row) -> tuple[float, float] | None:
        """Hits and total in a row; None if they were not measured."""
        if self.count == CHANGED:
            return None if UNMARKED not in row.figures else (row.figures[CHANGED], row.figures[UNMARKED])
        group = (self.kind, self.must)
        total = row.figures.get(figure(group, SHARES[self.count]), 0.0)
        if not total:
            return 0.0, 0.0
        hits = row.figures.get(figure(group, self.count))
        return None if hits is None else (hits, total)


def shares_in(rows: Sequence[Row]) -> list[MarkShare]:
    """Every share that the rows can tell, must by must, the union of the classes last."""
    marked = {name.partition(": ")[0] for row in rows for name in row.figures if name.endswith(f": {MARKS}")}
    groups = sorted(
        ((name[:-2], int(name[-1])) for name in marked), key=lambda each: (-each[1], each[0] == ANY, each)
    )
    found = [MarkShare(kind, must, count) for kind, must in groups for count in SHARES]
    return [*found, MarkShare("", 0, CHANGED)]


def share_estimate(share: MarkShare, rows: Sequence[Row], seed: int = 0) -> Estimate:
    """A share over the rows of one annotator, with an interval over documents.

    Several rows of a document are draws of one method: they are pooled, and ``hits`` and ``n`` are their
    means. Documents that failed are not counted. No value, with the reason, where nothing was measured.
    """
    counts = _counts(share, rows)
    if counts is None:
        return Estimate(why_not=NO_PLACES)
    draws = max(1, round(sum(row.measured for row in rows) / max(1, len(counts))))
    found = _clustered(counts.values(), 1, seed)
    if found.value is None:
        return replace(found, why_not=NONE_MARKED)
    # More draws tell no more of the documents, so the interval is at least that of one.
    one = _clustered(counts.values(), draws, seed)
    lows, highs = zip(*(each.interval for each in (found, one) if each.interval is not None), strict=True)
    return Estimate(found.value, min(lows), max(highs), found.hits / draws, found.n / draws)


def _clustered(pairs: Iterable[tuple[float, float]], draws: int, seed: int) -> Estimate:
    """The share of the counts of an average draw, in whole numbers."""
    found = [(round(hits / draws), round(total / draws)) for hits, total in pairs]
    return clustered_share([hits for hits, _ in found], [total for _, total in found], seed)


def mean_estimate(share: MarkShare, by_annotator: Sequence[Sequence[Row]], seed: int = 0) -> Estimate:
    """The mean of the annotators' shares; the interval holds theirs, since they share their documents."""
    found = [share_estimate(share, rows, seed) for rows in by_annotator]
    missing = [each for each in found if each.value is None]
    if missing or not found:
        return missing[0] if missing else Estimate(why_not=NONE_MARKED)
    number = len(found)
    lows = [each.low for each in found if each.low is not None]
    highs = [each.high for each in found if each.high is not None]
    return Estimate(
        sum(each.value or 0.0 for each in found) / number,
        min(lows) if len(lows) == number else None,
        max(highs) if len(highs) == number else None,
        sum(each.hits for each in found) / number,
        sum(each.n for each in found) / number,
    )


def paired_difference(
    share: MarkShare, by_annotator: Sequence[Sequence[Row]], others: Sequence[Sequence[Row]], seed: int = 0
) -> Estimate:
    """The share under one system minus that under another: the mean over annotators, paired by document.

    The rows are by annotator, the same ones on both sides. Several rows of a document are draws, which are
    pooled. Documents are resampled once for all annotators. No interval if they do not differ in it.
    """
    pairs = [
        (_counts(share, one), _counts(share, other)) for one, other in zip(by_annotator, others, strict=True)
    ]
    if any(one is None or other is None for one, other in pairs):
        return Estimate(why_not=NO_PLACES)
    cases = sorted({case for one, _ in pairs for case in one or ()})
    # Shape (annotators, documents, 2): the difference in hits, and the total; nothing where one has none.
    none = (0.0, 0.0)

    def difference(hits: float, total: float, other_hits: float, other_total: float) -> tuple[float, float]:
        # With several draws one side has as many times the marks of the other.
        return (hits - other_hits * total / other_total, total) if total and other_total else none

    table = np.array(
        [
            [difference(*(one or {}).get(case, none), *(other or {}).get(case, none)) for case in cases]
            for one, other in pairs
        ]
    )
    totals = table[:, :, 1].sum(axis=1) if cases else np.zeros(1)
    if not totals.all():
        return Estimate(why_not=NONE_MARKED)
    value = float((table[:, :, 0].sum(axis=1) / totals).mean())

    def drawn(places: NDArray[np.int64]) -> NDArray[np.float64]:
        sums = table[:, places].sum(axis=2)
        shares = np.full(sums.shape[:2], np.nan)
        np.divide(sums[..., 0], sums[..., 1], out=shares, where=sums[..., 1] > 0)
        means: NDArray[np.float64] = shares.mean(axis=0)
        return means

    redraws = bootstrap(drawn, len(cases), seed, RESAMPLES, table.size)
    return replace(holding(value, redraws), n=float(totals.mean()))


def _counts(share: MarkShare, rows: Sequence[Row]) -> dict[str, tuple[float, float]] | None:
    """Hits and totals of each document; None if they were not measured."""
    found: dict[str, tuple[float, float]] = {}
    for row in rows:
        if row.measured:
            if (pair := share.of(row)) is None:
                return None
            hits, total = found.get(row.case, (0.0, 0.0))
            found[row.case] = hits + pair[0], total + pair[1]
    return found
