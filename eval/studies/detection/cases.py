"""The texts that a detector is measured on, with their gold mentions; and detected against gold spans.

Figures are micro averages: counts are summed over texts first, so a long text has more weight than a short
one, and false alarms in a text without mentions count.
"""

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

import numpy as np

from eval.measures.uncertainty import Estimate, Floats, bootstrap, percentiles, ratio_of
from ingest.documents import Document, Entity, Identifier, Span
from ingest.errors import UnreadableDocument
from ingest.read.paths import shown
from models.corpora.documents import POSTS, TAB_FILE, aci_visits, nearest, spia_texts, tab_cases
from models.corpora.examples import Mention
from models.corpora.read import corpora_in, read_corpora
from models.errors import ConfigurationError

Ends = tuple[int, int]
"""Start and end of a span."""

_TITLES = re.compile(r"(?:(?:mr|mrs|ms|dr|the)\b[.\s]*)+", re.IGNORECASE)


def trimmed(text: str, span: Ends) -> Ends | None:
    """The span without white space and punctuation at its rims; None if nothing is left."""
    start, end = span
    while start < end and _is_rim(text[start]):
        start += 1
    while start < end and _is_rim(text[end - 1]):
        end -= 1
    return (start, end) if start < end else None


def core(text: str, span: Ends) -> Ends:
    """The span without rims and without leading Mr, Mrs, Ms, Dr and "the".

    A span with nothing else stays whole.
    """
    inner = trimmed(text, span)
    if inner is None:
        return span
    titles = _TITLES.match(text, *inner)
    rest = trimmed(text, (titles.end(), inner[1])) if titles else inner
    return rest or inner


def _is_rim(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] in "PC"


def distinct(text: str, spans: Iterable[Ends]) -> list[Ends]:
    """The trimmed spans in the order of the text, each once."""
    return sorted({inner for span in spans if (inner := trimmed(text, span)) is not None})


class Cover:
    """The set of characters that some spans cover."""

    def __init__(self, spans: Iterable[Ends]) -> None:
        merged: list[Ends] = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        self.spans: Sequence[Ends] = merged
        self._starts = [start for start, _ in merged]
        self._ends = [end for _, end in merged]
        self._before = [0, *accumulate(end - start for start, end in merged)]

    def __len__(self) -> int:
        """How many characters there are."""
        return self._before[-1]

    def held(self, span: Ends) -> int:
        """How many characters of the span are covered."""
        first, last = bisect_right(self._ends, span[0]), bisect_left(self._starts, span[1])
        if first >= last:
            return 0
        whole = self._before[last] - self._before[first]
        return whole - max(0, span[0] - self._starts[first]) - max(0, self._ends[last - 1] - span[1])

    def touches(self, span: Ends) -> bool:
        return self.held(span) > 0

    def covers(self, span: Ends) -> bool:
        return self.held(span) == span[1] - span[0]


@dataclass(frozen=True, slots=True)
class Tally:
    """Of ``marked`` units ``met`` were found; of ``found`` units ``right`` are marked.

    Units are characters, spans or entities. 0 <= met <= marked and 0 <= right <= found.
    """

    met: float = 0
    marked: float = 0
    right: float = 0
    found: float = 0

    def __add__(self, other: "Tally") -> "Tally":
        met, marked = self.met + other.met, self.marked + other.marked
        return Tally(met, marked, self.right + other.right, self.found + other.found)


@dataclass(frozen=True, slots=True)
class MarkedEntity:
    """The mentions of one person or thing in a text, and their identifier kind."""

    kind: str
    mentions: tuple[Ends, ...] = field(repr=False)


def characters(text: str, marked: Iterable[Ends], found: Iterable[Ends]) -> Tally:
    """Characters of the union of each side, without white space and punctuation at the rims of spans."""
    wanted, got = Cover(distinct(text, marked)), Cover(distinct(text, found))
    both = sum(got.held(span) for span in wanted.spans)
    return Tally(both, len(wanted), both, len(got))


def overlapping(text: str, marked: Iterable[Ends], found: Iterable[Ends]) -> Tally:
    """Spans that overlap one of the other side. Duplicates count once."""
    wanted, got = distinct(text, marked), distinct(text, found)
    over_wanted, over_got = Cover(wanted), Cover(got)
    met = sum(over_got.touches(span) for span in wanted)
    return Tally(met, len(wanted), sum(over_wanted.touches(span) for span in got), len(got))


def equal(text: str, marked: Iterable[Ends], found: Iterable[Ends]) -> Tally:
    """Spans with equal start and end on both sides, after trimming."""
    wanted, got = set(distinct(text, marked)), set(distinct(text, found))
    both = len(wanted & got)
    return Tally(both, len(wanted), both, len(got))


def entities_touched(entities: Sequence[MarkedEntity], found: Sequence[Ends]) -> Tally:
    """An entity is met if a found span has at least one character of every one of its mentions."""
    cover = Cover(found)
    met = sum(all(cover.touches(mention) for mention in entity.mentions) for entity in entities)
    return Tally(met, len(entities))


def entities_covered(text: str, entities: Sequence[MarkedEntity], found: Sequence[Ends]) -> Tally:
    """An entity is met if found spans together have every character of the core of all its mentions.

    The gaps between the words of the core have to be covered too.
    """
    cover = Cover(found)
    met = sum(all(cover.covers(core(text, mention)) for mention in entity.mentions) for entity in entities)
    return Tally(met, len(entities))


SEED = 0
RESAMPLES = 1_000


class Measure(StrEnum):
    """A measure of tallies."""

    PRECISION = "precision"
    RECALL = "recall"
    F1 = "F1"
    SHARE = "share"
    """Computed as recall, where a high value is not good."""


def estimated(measure: Measure, tallies: Mapping[str, Tally]) -> Estimate:
    """One measure over the tallies of documents by name; the order of names has no effect.

    For F1, ``hits`` is met plus right, and ``n`` is marked plus found.
    """
    ordered = [tallies[name] for name in sorted(tallies)]
    if measure in (Measure.RECALL, Measure.SHARE):
        return ratio_of([t.met for t in ordered], [t.marked for t in ordered], SEED, RESAMPLES)
    if measure is Measure.PRECISION:
        return ratio_of([t.right for t in ordered], [t.found for t in ordered], SEED, RESAMPLES)
    whole = sum(ordered, Tally())
    hits, n = whole.met + whole.right, whole.marked + whole.found
    if not n:
        return Estimate()
    columns = np.array([astuple(tally) for tally in ordered], dtype=np.float64).T
    value = float(_f1_scores(columns.sum(axis=1, keepdims=True))[0])
    redraws = bootstrap(
        lambda drawn: _f1_scores(columns[:, drawn].sum(axis=2)), len(ordered), SEED, RESAMPLES
    )
    low, high = percentiles(redraws) or (None, None)
    return Estimate(value, low, high, hits, n)


def _f1_scores(sums: Floats) -> Floats:
    """F1 of the columns met, marked, right and found; NaN if nothing is marked and nothing found."""
    met, marked, right, found = sums
    scores = np.where((marked > 0) | (found > 0), 0.0, np.nan)
    some = (met > 0) & (right > 0)
    precision, recall = right[some] / found[some], met[some] / marked[some]
    scores[some] = 2 * precision * recall / (precision + recall)
    return scores


FIRST_NAME, FAMILY_NAME = "patient's first name", "patient's family name"
AGE, GENDER = "patient's age", "patient's gender"

COMMON_WORDS = frozenset(
    "baker bill brown carol cook cooper cruz dale dean fisher frank gene grace grant gray green hill hills "
    "hope hunter jack joy king lane lee long mark mason may miller page park price ray rich rob rose "
    "summers walker ward wells white will wood woods young".split()
)
"""Names that also are words of the language."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()

_ADDRESS = r"\b(?:mr|mrs|ms|miss|dr|doctor)\s*\.?\s+"
_OLD = r"[\s-]*{unit}s?(?:[\s-]*old\b|\s+of\s+age\b)"
_Y_O = r"\s*y\.?\s?o\b"
_AGE_BEFORE = r"\bage[ds]?:?(?:\s+of)?\s+"
_WORDS_OF = {"female": "female|woman|lady|girl", "male": "male|man|gentleman|boy"}
_DESCRIBED = (
    r"(?:\b(?:year|month)s?[\s-]*old|\by\.?\s?o\b\.?|\b(?:elderly|middle-aged|pleasant|cooperative|healthy|"
    r"white|caucasian|black|african[\s-]american|asian|hispanic|latino|latina))\b"
)


def occurrences(text: str, metadata: Mapping[str, str]) -> list[Mention]:
    """The places of the patient's names, age and gender in one text, in order, each labeled by what it is.

    A name that is also a common word counts only with a capital letter, next to the patient's other name, or
    after a form of address. An age is the number, in digits or in words, beside "year old", "aged" or the
    like. A gender is a word for the patient's own with an age or a word of description ("pleasant",
    "elderly", an ethnic group) among the five words before it: elsewhere it mostly refers to another person.

    ``metadata`` has ``patient_firstname``, ``patient_familyname``, ``patient_age`` and ``patient_gender``;
    missing or unusable values are skipped.
    """
    first, family = (metadata.get(f"patient_{part}name", "").strip() for part in ("first", "family"))
    found = {
        *_named(text, first, family, FIRST_NAME),
        *_named(text, family, first, FAMILY_NAME),
        *_aged(text, metadata.get("patient_age", "").strip()),
        *_gendered(text, metadata.get("patient_gender", "").strip().lower()),
    }
    return sorted(found)


def _named(text: str, name: str, other: str, label: str) -> Iterator[Mention]:
    if not any(letter.isalpha() for letter in name):
        return
    for match in re.finditer(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
        word = match.group()
        if word.lower() not in COMMON_WORDS or word[0].isupper() or _clearly_a_name(text, match, other):
            yield Mention(*match.span(), label)


def _clearly_a_name(text: str, match: re.Match[str], other: str) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if re.search(_ADDRESS + "$", before[-20:], re.IGNORECASE):
        return True
    beside = re.escape(other)
    return bool(other) and bool(
        re.search(rf"\b{beside}\s+$", before[-len(other) - 5 :], re.IGNORECASE)
        or re.match(rf"\s+{beside}\b", after, re.IGNORECASE)
    )


def _aged(text: str, age: str) -> Iterator[Mention]:
    number = re.match(r"\d+", age)
    if number is None:
        return
    forms, years = re.escape(number.group()), int(number.group())
    if years < 100:
        tens, ones = _TENS[years // 10], _ONES[years % 10]
        forms += "|" + (_ONES[years] if years < 20 else rf"{tens}[\s-]+{ones}" if years % 10 else tens)
    unit = "month" if "month" in age else "year"
    after = _OLD.format(unit=unit) + (f"|{_Y_O}" if unit == "year" else "")
    patterns = (rf"(?<![\w.,/])(?P<age>{forms})(?={after})", rf"{_AGE_BEFORE}(?P<age>{forms})\b(?![.,/]\d)")
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            yield Mention(*match.span("age"), AGE)


def _gendered(text: str, gender: str) -> Iterator[Mention]:
    if gender not in _WORDS_OF:
        return
    between = r"(?:[^\w\n]+[\w'.-]+){0,4}?[^\w\n]+"
    pattern = rf"{_DESCRIBED}{between}\b(?P<word>{_WORDS_OF[gender]})\b"
    for match in re.finditer(pattern, text, re.IGNORECASE):
        yield Mention(*match.span("word"), GENDER)


SPIA_FILES = {"spia_cases": "tab_dev.jsonl", "spia_posts": f"{POSTS}.jsonl"}
_STRENGTH = ("DIRECT", "QUASI", "NO_MASK")


def spia_entities(folder: Path, corpus: str) -> dict[str, tuple[MarkedEntity, ...]]:
    """The entities of each text of ``spia_cases`` or ``spia_posts``; ``kind`` is DIRECT, QUASI or NO_MASK.

    An entity has the strongest kind of its mentions.

    Raises:
        ConfigurationError: A file cannot be read, or a mention has no entity id.
    """
    texts = list(spia_texts(folder, SPIA_FILES[corpus].removesuffix(".jsonl")))
    if not all(mark.entity and mark.identifier for text in texts for mark in text.marks):
        raise ConfigurationError(
            f"{corpus}: a mention of {SPIA_FILES[corpus]} has no entity_id or no identifier_type; "
            "take the corpus as it was published."
        )
    found: dict[str, tuple[MarkedEntity, ...]] = {}
    for text in texts:
        kinds, mentions = dict[str, set[str]](), dict[str, list[Ends]]()
        for mark in text.marks:
            start = nearest(text.text, mark)
            if start is not None:
                kinds.setdefault(mark.entity, set()).add(mark.identifier)
                mentions.setdefault(mark.entity, []).append((start, start + len(mark.words)))
        found[text.text] = tuple(
            MarkedEntity(next((k for k in _STRENGTH if k in kinds[each]), "unknown"), tuple(places))
            for each, places in mentions.items()
        )
    return found


class ReleasedSpans:
    """Published spans of another detector on the benchmark's cases, as a detector for these cases."""

    name = "Presidio, released spans"
    corpora = frozenset(("tab", "spia_cases"))

    def __init__(self, spans: dict[str, list[Entity]]) -> None:
        self._spans = spans

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The released spans of each document, by its text; none for other texts."""
        return [self._spans.get(document.text, []) for document in documents]


def released_spans(folder: Path) -> ReleasedSpans | None:
    """The released spans of stock Presidio; None if they are not in the folder.

    Raises:
        UnreadableDocument: They are there and cannot be read, or are no spans.
    """
    path = folder / "tab" / "presidio_baseline_spans_dev.json"
    if not (path.is_file() and (folder / TAB_FILE).is_file()):
        return None
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        spans = {
            case: [
                Entity(Span(int(start), int(end)), str(label), Identifier.QUASI, 1.0, ReleasedSpans.name)
                for start, end, label in triples
            ]
            for case, triples in listed.items()
        }
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableDocument(
            shown(path), f"could not be read ({reason}); check the data folder"
        ) from None
    except (AttributeError, TypeError, ValueError):
        raise UnreadableDocument(
            shown(path), "does not hold [start, end, label] lists by case; take the file as it was published"
        ) from None
    return ReleasedSpans({case.text: spans.get(case.id, []) for case in tab_cases(folder)})


ACI_BENCH = "aci_bench"
POLITICS = "crossner_politics"
_POLITICS_IN = "crossner"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, its marked mentions, and the labels whose marking is complete in it.

    ``unit`` is the bootstrap cluster: a document, a person, a template or a visit. ``entities`` link
    mentions, if the corpus does.
    """

    id: str
    corpus: str
    unit: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    asked: frozenset[str]
    entities: tuple[MarkedEntity, ...] = field(default=(), repr=False)

    @property
    def document(self) -> Document:
        return Document(self.id, self.text)


def present(folder: Path, corpora: Collection[str]) -> list[str]:
    """The corpora that are in the folder, in order."""
    here = set(corpora_in(folder))
    if _POLITICS_IN in here:
        here.add(POLITICS)
    if (folder / ACI_BENCH / "data.jsonl").is_file():
        here.add(ACI_BENCH)
    return [corpus for corpus in corpora if corpus in here]


def cases_of(folder: Path, corpus: str) -> Iterator[Case]:
    """The held-out texts of one corpus, streamed.

    Raises:
        LetheError: A file of the corpus cannot be read, or does not match its other files.
    """
    if corpus == ACI_BENCH:
        for visit in aci_visits(folder):
            for part in visit:
                mentions = tuple(occurrences(part.text, part.about))
                yield Case(part.id, ACI_BENCH, part.group, part.text, mentions, frozenset())
        return
    entities = spia_entities(folder, corpus) if corpus in SPIA_FILES else {}
    source = _POLITICS_IN if corpus == POLITICS else corpus
    others = [other for other in corpora_in(folder) if other != source]
    for each in read_corpora(folder, "held_out", leave_out=others):
        if corpus in SPIA_FILES and each.text not in entities:
            raise ConfigurationError(
                f"{corpus}: the text of {each.id} is not in {SPIA_FILES[corpus]}; "
                "take all files of the corpus from one release."
            )
        if corpus != POLITICS or "politics" in each.id:
            linked = entities.get(each.text, ())
            asked = frozenset(each.asked)
            yield Case(each.id, corpus, each.group, each.text, each.mentions, asked, linked)
