"""The report of the detection benchmark: figures and places, no word of a corpus."""

import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from eval.measures.uncertainty import Estimate
from eval.provenance import Frozen, Provenance, provenance_here
from eval.studies.detection.cases import Case
from eval.studies.detection.measures import SEED, Cover, Ends, trimmed
from eval.studies.detection.tasks import Choose, spans_of
from ingest.documents import Entity

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
    return "".join(_shape(character) for character in words[:LONGEST_SHAPE])


def _shape(character: str) -> str:
    if character.isspace():
        return " "
    if character.isdigit() or character.isnumeric():
        return "9"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character if character.isascii() and character.isprintable() else "?"


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
                self._offer(self._miss(case, sort, span, label))

    def _miss(self, case: Case, sort: Sort, span: Ends, label: str) -> Miss:
        start, end = span
        return Miss(
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
        totals: dict[str, int] = {"miss": 0, "false alarm": 0}
        for (sort, _, _), seen in self._seen.items():
            totals[sort] += seen
        return totals

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
        for figure in self.figures:
            if (figure.question, figure.detector) == (question, detector):
                return figure
        return Figure(question=question, detector=detector, estimate=Estimate(why_not="not asked"))


def machine_and_versions(settings: Mapping[str, str], commit: str | None) -> Provenance:
    """Date, kind of machine, package versions and the number of threads."""
    return provenance_here({**settings, **_threads()}, commit)


def _threads() -> dict[str, str]:
    """The number of torch threads, if a detector has imported torch."""
    torch = sys.modules.get("torch")
    return {} if torch is None else {"torch threads": str(torch.get_num_threads())}


def as_json(report: DetectionReport) -> dict[str, Any]:
    """The report, ready for ``json.dumps``."""
    return report.model_dump(mode="json")
