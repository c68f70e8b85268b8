"""TPS, text preserved similarity: the share of a text's information that its edits keep.

Equations 3 to 7 of INTACT (Pilán, Manzanares-Salor, Sánchez and Lison, Truthful Text Sanitization Guided by
Inference Attacks). A document is its edited spans and its other words without stop words. A span s of
probability p(s) carries the information -ln p(s), an edit keeps sim(s, replacement) of it, and all else
keeps 1. TPI, text preserved information, is the same with 0 for every edit.

Two parts are not those of the paper, so its figures are no yardstick for ours. p is by document frequency
in the originals of the measured corpus, where the paper asks BERT, and noun phrases and named entities that
no edit covers count as single words, since nothing here parses.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import starmap
from operator import mul
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.documents import Mark, MarkedDocument
from eval.measures.leakage import STOP_WORDS
from eval.measures.uncertainty import Estimate, clustered_share, mean_of, ratio_of
from ingest.documents import Span
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder
from ingest.spans import Replacement, substitute

CLUSTERS, RESTARTS, PAIRS, DIMENSIONS = 4, 50, 5, 64
"""Clusters, k-means restarts of a run, pairs of runs that are compared, and dimensions of word vectors."""
BY_WORDS = "nmi[tfidf]"

Matrix = NDArray[np.float64]
Labels = NDArray[np.integer[Any]]


class Spread(NamedTuple):
    """The mean of some values and their standard deviation, that of a sample."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class ClustersKept:
    """The NMI of each pair of runs on ``n`` texts, and of as many pairs of ``ceiling`` and ``chance``.

    A measure of INTACT. Originals and sanitized texts are clustered apart, each by k-means++ that keeps the
    best of many restarts, and the two labelings are compared. 1 is the same clusters, whatever their numbers.
    Two labelings that have nothing in common score above 0 in a small corpus, and two runs on the same texts
    below 1: hence ``chance``, the same labels shuffled, and ``ceiling``, originals against originals.

    The paper's vectors are means of BERT's token states. Ours, by engine: ``nmi[tfidf]`` weighs words by TF-
    IDF and keeps 64 dimensions of it, fitted to the set of texts that is clustered; ``nmi[mean of windows,
    ...]`` is the mean of a text encoder over all windows of a text.
    """

    engine: str
    n: int
    kept: Spread
    ceiling: Spread
    chance: Spread
    pairs: Sequence[float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Clustering:
    """A set of texts, clustered: two labelings for each pair of runs, from seeds of their own."""

    engine: str
    first: Sequence[Labels] = field(repr=False)
    second: Sequence[Labels] = field(repr=False)


def engine_of(encoder: Encoder) -> str:
    """What figures from the vectors of an encoder are called."""
    return f"nmi[mean of windows, {encoder.name}]"


def clustered(engine: str, vectors: Matrix | None, seed: int = 0) -> Clustering | None:
    """Cluster vectors; None if there are none, or no more different ones than clusters."""
    if vectors is None or len(np.unique(vectors, axis=0)) <= CLUSTERS:
        return None
    seeds = [2 * PAIRS * seed + number for number in range(2 * PAIRS)]
    found = [labels_of(vectors, each) for each in seeds]
    return Clustering(engine, found[:PAIRS], found[PAIRS:])


def clusters_kept(original: Clustering | None, sanitized: Clustering | None) -> ClustersKept | None:
    """The NMI of the clusters of sanitized texts with those of the originals, both in the same order.

    None if one of the two could not be clustered.

    Raises:
        ValueError: The two differ in engine or number of texts.
    """
    if original is None or sanitized is None:
        return None
    if original.engine != sanitized.engine:
        raise ValueError(f"{original.engine} and {sanitized.engine} are not compared: take one engine")
    pairs = _pairs(original.first, sanitized.second)
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(each) for each in sanitized.second]
    return ClustersKept(
        original.engine,
        len(original.first[0]),
        spread(pairs),
        spread(_pairs(original.first, original.second)),
        spread(_pairs(original.first, shuffled)),
        pairs,
    )


def _pairs(some: Sequence[Labels], others: Sequence[Labels]) -> list[float]:
    return [mutual_information(one, other) for one, other in zip(some, others, strict=True)]


def spread(values: Sequence[float]) -> Spread:
    """Mean and standard deviation; 0 for a single value."""
    return Spread(fmean(values), stdev(values) if len(values) > 1 else 0.0)


def mutual_information(one: Sequence[int] | Labels, other: Sequence[int] | Labels) -> float:
    """I(one; other) / mean(H(one), H(other)) of two labelings of the same things, in [0, 1].

    1 for two labelings with a single label each: they agree.

    Raises:
        ValueError: They label different numbers of things, or none.
    """
    if len(one) != len(other) or not len(one):
        raise ValueError(f"{len(one)} labels and {len(other)} others: label the same things twice")
    from sklearn.metrics import normalized_mutual_info_score

    return min(1.0, max(0.0, float(normalized_mutual_info_score(one, other))))


def labels_of(vectors: Matrix, seed: int) -> Labels:
    """The clusters of the k-means++ run with the lowest inertia of all restarts."""
    from sklearn.cluster import KMeans

    found: Labels = KMeans(CLUSTERS, n_init=RESTARTS, random_state=seed).fit_predict(vectors)
    return found


def word_vectors(texts: Sequence[str]) -> Matrix | None:
    """TF-IDF without English stop words, reduced to 64 dimensions; None if words or texts are too few.

    Both are fitted to these texts, as somebody would who has no others.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        counted = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(texts)
    except ValueError:
        return None
    if min(counted.shape) <= CLUSTERS:
        return None
    reduced: Matrix = TruncatedSVD(min(DIMENSIONS, *counted.shape), random_state=0).fit_transform(counted)
    return reduced


def window_vectors(texts: Sequence[str], encoder: Encoder) -> Matrix | None:
    """The mean vector of the windows of each text, weighted by their tokens; None if there are no texts.

    Windows cover a text without gaps. A text without words has the vector of its empty window.
    """
    if not texts:
        return None
    windows: list[str] = []
    sizes: list[list[int]] = []
    for text in texts:
        tokens = encoder.token_spans(text)
        units = retrieval_units(text, tokens, encoder.max_tokens)
        windows += [text[unit.start : unit.end] for unit in units] or [""]
        counts = [sum(unit.start <= start < unit.end for start, _ in tokens) or 1 for unit in units]
        sizes.append(counts or [1])
    vectors = np.asarray(encoder.encode(windows), dtype=np.float64)
    of_texts = np.split(vectors, np.cumsum(list(map(len, sizes)))[:-1])
    averages = [np.average(each, axis=0, weights=size) for each, size in zip(of_texts, sizes, strict=True)]
    return np.stack(averages)


ENGINE, WEIGHTS = "tab[lexical]", "information[document-frequency]"
_WORD = re.compile(r"\w+")
IGNORED_MARKS = frozenset(" \t\n\r,.-;:/&()[]–'\"’“”")
"""Characters that need not be masked."""
TITLES = frozenset("mr mrs ms no nr about".split())
FUNCTION_WORDS = frozenset(
    # prepositions
    "aboard above across after against along amid among amongst around as at before behind below beneath "
    "beside besides between beyond by concerning despite down during except for from in inside into like "
    "near of off on onto out outside over past per regarding since through throughout till to toward towards "
    "under underneath until up upon via with within without "
    # particles, conjunctions and determiners
    "not s and but nor or plus yet both either neither a all an another any each every half his her its my "
    "no our some such that the their these this those what which whose your".split()
)
"""English prepositions, particles, coordinating conjunctions and determiners."""
NOTHING_TO_SAY = TITLES | FUNCTION_WORDS

Places = NDArray[np.bool_]


class Part(NamedTuple):
    """Hits and total of one share in one document."""

    hits: float
    total: float


@dataclass(frozen=True, slots=True)
class Masked:
    """Recall and precision over documents; intervals draw documents."""

    direct: Estimate
    quasi: Estimate
    entities: Estimate
    mentions: Estimate
    tokens: Estimate
    token_precision: Estimate
    mention_precision: Estimate
    weighted_precision: Estimate


SHARES = tuple(each.name for each in fields(Masked))
"""The shares of a document, by name; recalls before precisions."""


def masked_shares(documents: Sequence[Mapping[str, Part]], seed: int = 0) -> Masked:
    """Fold the parts of all documents.

    Pilán, Lison, Øvrelid, Papadopoulou, Sánchez and Batet (2022, The Text Anonymization Benchmark (TAB): A
    Dedicated Corpus and Evaluation Framework for Text Anonymization). A mention is masked if every character
    of it that matters lies in a masked span, an entity if all its mentions that must go are. Each annotator's
    entities, mentions and tokens count once. Precision asks of each masked token or span how many of the
    annotators say so, with weight 1 or by information.

    What does not matter: blanks and marks, titles, and function words, which the benchmark takes from a
    parser and ``tab[lexical]`` from a closed list. A token or mention that is nothing else counts as masked,
    as it does there, so an untouched text has a recall above 0. Weights are those of TPS, by document
    frequency and not by a language model.
    """

    def share(name: str) -> Estimate:
        parts = [each[name] for each in documents]
        if name == "weighted_precision":
            return ratio_of([each.hits for each in parts], [each.total for each in parts], seed)
        return clustered_share([int(each.hits) for each in parts], [int(each.total) for each in parts], seed)

    return Masked(*(share(name) for name in SHARES))


def masked_parts(
    annotated: Sequence[MarkedDocument], masked: Iterable[Span], information: Mapping[str, float]
) -> dict[str, Part]:
    """The parts of each share in a document: one marking by each of its annotators, and what was masked.

    ``information`` has the words of the text, case-folded, in nats.

    Raises:
        ValueError: There is no annotator, or they read different texts.
    """
    text = next((each.document.text for each in annotated), None)
    if text is None or any(each.document.text != text for each in annotated):
        raise ValueError("give one text as one or more annotators marked it")
    spans = sorted(set(masked))
    left = np.fromiter((each not in IGNORED_MARKS for each in text), bool, len(text))
    empty = [Span(*word.span()) for word in _WORD.finditer(text) if word.group().casefold() in NOTHING_TO_SAY]
    for span in (*spans, *empty):
        left[span.start : span.end] = False
    wanted = [[mark for mark in each.marks if mark.must == 2] for each in annotated]
    parts = np.sum([_recalls(text, left, marks) for marks in wanted], axis=0).tolist()
    recalls = dict(zip(SHARES, starmap(Part, parts), strict=False))
    return recalls | _precisions(text, spans, wanted, information)


def _recalls(text: str, left: Places, marks: Sequence[Mark]) -> list[Part]:
    """The shares of one annotator; ``left`` are the places that matter and are not masked."""
    direct = {mark.entity for mark in marks if mark.kind == "DIRECT"}
    entities = {mark.entity for mark in marks}
    seen = {mark.entity for mark in marks if left[mark.start : mark.end].any()}
    tokens = [token for mark in marks for token in _tokens(text, mark.start, mark.end)]

    def protected(group: set[str]) -> Part:
        return Part(len(group - seen), len(group))

    def gone(places: Sequence[tuple[int, int]]) -> Part:
        return Part(sum(not left[start:end].any() for start, end in places), len(places))

    mentions = [(mark.start, mark.end) for mark in marks]
    return [*map(protected, (direct, entities - direct, entities)), gone(mentions), gone(tokens)]


def _tokens(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [(start + found.start(), start + found.end()) for found in _WORD.finditer(text[start:end])]


def _precisions(
    text: str, spans: Sequence[Span], wanted: Sequence[Sequence[Mark]], information: Mapping[str, float]
) -> dict[str, Part]:
    """What was masked, each token and span once for each annotator; right if one of his mentions holds it."""
    tokens = [token for span in spans for token in _tokens(text, span.start, span.end)]
    words = {place: word.group().casefold() for word in _WORD.finditer(text) for place in range(*word.span())}
    weights = [information[words[start]] for start, _ in tokens]
    readers = len(wanted)

    def agreeing(start: int, end: int) -> int:
        return sum(any(mark.start <= start and end <= mark.end for mark in marks) for marks in wanted)

    right = list(starmap(agreeing, tokens))
    agreed = sum(agreeing(span.start, span.end) for span in spans)
    return {
        "token_precision": Part(sum(right), readers * len(tokens)),
        "mention_precision": Part(agreed, readers * len(spans)),
        "weighted_precision": Part(sum(map(mul, weights, right)), readers * sum(weights)),
    }


_LEFT_OUT = STOP_WORDS | frozenset("d ll m re s t ve".split())
"""Stop words, and what an apostrophe cuts off, as in "applicant's"."""


@dataclass(frozen=True, slots=True)
class EditedDocument:
    """An original text and what replaced its spans, nothing for a suppression. The repr shows neither.

    An edit that puts the same words back counts as untouched. The spans that are edited decide how a text
    is divided: give such an edit for each mention that a method keeps, and methods can be compared.

    Raises:
        ValueError: edits overlap or run past the text.
    """

    text: str = field(repr=False)
    edits: Sequence[Replacement] = field(repr=False)

    def __post_init__(self) -> None:
        substitute(self.text, self.edits)


@dataclass(frozen=True, slots=True)
class Preserved:
    """What the edits of a corpus keep, in [0, 1]; the engine names the sources of p and of sim.

    TPS and TPI are means over documents. ``similarity`` is the mean sim of all edits that change words,
    0 for suppressions, resampled by document. ``per_document`` is the TPS of each document, None for one
    whose words are all stop words, which no mean includes.
    """

    engine: str
    tps: Estimate
    tpi: Estimate
    similarity: Estimate
    per_document: Sequence[float | None] = field(repr=False)


class _Edited(NamedTuple):
    """An edit or a word: its information in nats, and the share of it that is kept."""

    information: float
    similarity: float
    changed: bool


def text_preserved(documents: Sequence[EditedDocument], encoder: Encoder, seed: int = 0) -> Preserved:
    """TPS, TPI and mean similarity of the edits of a corpus, with bootstrap intervals over documents."""
    similarities = edit_similarities(documents, encoder)
    tables = word_information([document.text for document in documents])
    divided = [
        _parts(document, table, similarities) for document, table in zip(documents, tables, strict=True)
    ]
    kept = [_share(parts, [part.similarity for part in parts]) for parts in divided]
    untouched = [_share(parts, [float(not part.changed) for part in parts]) for parts in divided]
    changed = [[part.similarity for part in parts if part.changed] for parts in divided]
    pooled = ratio_of(list(map(sum, changed)), list(map(len, changed)), seed)
    tps, tpi = (mean_of([share for share in each if share is not None], seed) for each in (kept, untouched))
    # no interval if no resample varies
    similarity = replace(pooled, low=None, high=None) if pooled.low == pooled.high else pooled
    return Preserved(f"tps[document-frequency, {encoder.name}]", tps, tpi, similarity, kept)


def word_information(texts: Sequence[str]) -> list[dict[str, float]]:
    """For each text its case-folded words and their information in nats, -ln p.

    p is the number of other texts with the word plus 1, over the sum of these numbers for all words plus the
    words of the corpus. A text does not count for its own words: a name that only it repeats is rare.
    """
    words = [{word.group().casefold() for word in _WORD.finditer(text)} for text in texts]
    holding = Counter(word for each in words for word in each)
    total = holding.total() + len(holding)
    # The text itself is one of those that hold its words, which is the 1 to add.
    return [{word: math.log((total - len(each)) / holding[word]) for word in each} for each in words]


def edit_similarities(documents: Sequence[EditedDocument], encoder: Encoder) -> dict[tuple[str, str], float]:
    """The similarity of the words of each edit to their replacement, by both texts."""
    pairs = {(each.text[span.start : span.end], words) for each in documents for span, words in each.edits}
    return similarities_of(pairs, encoder)


def similarities_of(pairs: Collection[tuple[str, str]], encoder: Encoder) -> dict[tuple[str, str], float]:
    """How similar words and their replacement are, in [0, 1].

    It is the cosine of their vectors, 0 where that is negative; 1 for the same words, 0 for a suppression,
    which is white space or nothing. Each distinct text is encoded once.
    """
    found = {(old, new): float(old == new) for old, new in pairs}
    compared = sorted((old, new) for old, new in pairs if old != new and new.strip())
    if compared:
        texts = sorted({text for pair in compared for text in pair})
        rows = {text: row for row, text in enumerate(texts)}
        vectors = encoder.encode(texts)
        old, new = (vectors[[rows[pair[side]] for pair in compared]] for side in (0, 1))
        cosines = np.clip(np.einsum("nd,nd->n", old, new), 0, 1)
        found.update(zip(compared, cosines.tolist(), strict=True))
    return found


def _parts(
    document: EditedDocument, information: Mapping[str, float], similarities: Mapping[tuple[str, str], float]
) -> list[_Edited]:
    """The edits and the other words; a word that an edit only cuts goes with the edit."""
    matches = list(_WORD.finditer(document.text))
    words = [match.group().casefold() for match in matches]
    starts, ends = [match.start() for match in matches], [match.end() for match in matches]
    parts = []
    edited: set[int] = set()
    for span, replacement in document.edits:
        inside = range(bisect_right(ends, span.start), bisect_left(starts, span.end))
        edited.update(inside)
        # The probability of a span is that of its least probable word.
        most = max((information[words[number]] for number in inside), default=0.0)
        before = document.text[span.start : span.end]
        parts.append(_Edited(most, similarities[before, replacement], before != replacement))
    others = (word for number, word in enumerate(words) if number not in edited and word not in _LEFT_OUT)
    return parts + [_Edited(information[word], 1.0, changed=False) for word in others]


def _share(parts: Sequence[_Edited], kept: Sequence[float]) -> float | None:
    """The share of the information of a document that is kept; None where there is none."""
    total = sum(part.information for part in parts)
    held = sum(part.information * share for part, share in zip(parts, kept, strict=True))
    return held / total if total else None
