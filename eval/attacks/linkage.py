"""Linkage: finding a person's sanitized document with a few claims that are known from elsewhere.

The attack of Xin et al., A False Sense of Privacy (section 3; linkers of section 6.3). Each known claim, or
all of them joined, is searched for among the claims or the whole texts of the sanitized documents, and the
document with most votes is linked. Where the text leaves a rule open, it is that of the published code.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from eval.measures.leakage import STOP_WORDS
from eval.measures.overlap import rouge_l, stems
from ingest.documents import Span
from ingest.language.sentences import split_sentences
from ingest.language.vocabulary import fold
from ingest.protocols import Encoder
from models.packs import packs


def lexical_distance(original: str, linked: str, known: Sequence[str] = ()) -> float | None:
    """1 - ROUGE-L recall with stems, in [0, 1]; None if nothing is left of the original.

    The lexical distance and PII existence of Xin et al., A False Sense of Privacy. With the ROUGE linker of
    ``Rouge`` this is the paper's lexical distance, with BM25 its improved lexical distance.

    The source sentences of the ``known`` claims are left out of the original, as in the published code. The
    recall is the share of the original's words that the linked text has in the same order.
    """
    sentences = split_sentences(original)
    sources = source_sentences(sentences, known)
    words = stems(" ".join(each for number, each in enumerate(sentences) if number not in sources))
    return 1 - rouge_l(words, stems(linked)).recall if words else None


def source_sentences(sentences: Sequence[str], known: Sequence[str]) -> set[int]:
    """For each known claim the place of the sentence with the highest ROUGE-L recall of it, the first one."""
    tokens = list(map(stems, sentences))
    recalls = ([rouge_l(claim, each).recall for each in tokens] for claim in map(stems, known))
    return {each.index(max(each)) for each in recalls if each}


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many personal details do not stand in the linked text, of how many that were looked for."""

    hidden: int
    total: int


def hidden_details(original: str, details: Sequence[Span], linked: str, known: Sequence[str] = ()) -> Hidden:
    """PII existence: the details, as spans of the original, that the linked text does not say literally.

    Case aside. A detail that touches the source sentence of a known claim is not looked for.
    """
    if not details:
        return Hidden(0, 0)
    sentences = split_sentences(original)
    ends = [0, *accumulate(map(_length, sentences))]
    closed = [(ends[each], ends[each + 1]) for each in source_sentences(sentences, known)]
    said, wanted = linked.lower(), []
    for span in details:
        # Sentences have their white space collapsed, so places are counted without it.
        start, end = _length(original[: span.start]), _length(original[: span.end])
        if not any(start < last and first < end for first, last in closed):
            wanted.append(original[span.start : span.end].lower())
    return Hidden(sum(each not in said for each in wanted), len(wanted))


def _length(text: str) -> int:
    """How many characters are no white space."""
    return sum(not char.isspace() for char in text)


NEARLY = 0.95
"""What scores at least this share of the best hit is a hit too: duplicates must not hide each other."""
DIGITS = 6
"""Scores are rounded to these, so that the order of a sum decides between no equals."""
_QUERIES_AT_ONCE = 256
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hits:
    """The units that one query found, best first, the first of equals first, with their scores above 0.

    ``crowded`` says that even the last one that was looked at is a hit, so that others may be missing.
    """

    units: NDArray[np.int64] = field(repr=False)
    scores: Floats = field(repr=False)
    crowded: bool


class Search(Protocol):
    """Finds units of text, claims or documents: the hits of each query among the best ``depth`` units."""

    @property
    def name(self) -> str: ...

    @property
    def depth(self) -> int: ...

    def hits(self, queries: Sequence[str], units: Sequence[str]) -> Iterator[Hits]: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sanitized document as the attacker reads it: its text and its claims."""

    text: str = field(repr=False)
    claims: Sequence[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Link:
    """The linked document, by its place among the candidates, its votes and their summed score."""

    place: int
    votes: int
    score: float


@dataclass(frozen=True, slots=True)
class Linker:
    """A search, how the known claims are put to it, and what it searches.

    ``asks`` says whether the claims are one query, joined by spaces, or each a query of its own that votes.
    Version 2 of the paper lets each claim vote ``over`` claims; version 1 joins them and searches documents.
    """

    search: Search
    asks: Literal["joined", "each"] = "each"
    over: Literal["claims", "documents"] = "claims"

    @property
    def name(self) -> str:
        """The search and both choices."""
        return f"{self.search.name}, {self.asks} over {self.over}"

    def link(self, known: Sequence[Sequence[str]], candidates: Sequence[Candidate]) -> list[Link | None]:
        """The linked candidate of each person, given the known claims; None where nothing was found."""
        units = [[each.text] if self.over == "documents" else each.claims for each in candidates]
        owners = np.repeat(np.arange(len(units)), [len(each) for each in units])
        queries = [[" ".join(claims)] if self.asks == "joined" and claims else claims for claims in known]
        if not len(owners):
            return [None] * len(queries)
        found = self.search.hits(list(chain(*queries)), list(chain(*units)))
        return [vote([next(found) for _ in each], owners) for each in queries]


def vote(answers: Sequence[Hits], owners: NDArray[np.int64]) -> Link | None:
    """The document with most hits over all answers; None if there is no hit.

    ``owners`` gives the document of each unit. A crowded answer is counted only if all of them are. Of
    documents with equal votes the one with the highest sum of scores wins, then the first.
    """
    counted = [each for each in answers if not each.crowded and len(each.units)]
    votes, scores = defaultdict[int, int](int), defaultdict[int, float](float)
    for each in counted or answers:
        for unit, score in zip(each.units.tolist(), each.scores.tolist(), strict=True):
            place = int(owners[unit])
            votes[place] += 1
            scores[place] += score
    if not votes:
        return None
    best = min(votes, key=lambda place: (-votes[place], -round(scores[place], DIGITS), place))
    return Link(best, votes[best], scores[best])


def _hits(scores: NDArray[np.floating], depth: int) -> Hits:
    """The hits of one query, given the score of every unit."""
    rounded = scores.astype(np.float64).round(DIGITS)
    near = np.flatnonzero((rounded >= NEARLY * rounded.max(initial=0)) & (rounded > 0))
    best = near[np.argsort(-rounded[near], kind="stable")][:depth]
    return Hits(best, rounded[best], crowded=len(near) >= depth < len(scores))


@dataclass(frozen=True, slots=True)
class Bm25:
    """BM25 as Lucene computes it (Robertson et al. 1994), with the defaults of Anserini and one hit a query.

    Stop words are left out and words are stemmed; numbers stay whole.
    """

    k1: float = 0.9
    b: float = 0.4
    depth: int = 1

    @property
    def name(self) -> str:
        """With both parameters, and the depth unless it is 1."""
        depth = "" if self.depth == 1 else f", depth {self.depth}"
        return f"bm25[k1 {self.k1:g}, b {self.b:g}{depth}]"

    def hits(self, queries: Sequence[str], units: Sequence[str]) -> Iterator[Hits]:
        """A unit that shares no word with the query is no hit."""
        return (_hits(row, self.depth) for row in self.index(units)(queries))

    def index(self, units: Sequence[str]) -> Callable[[Sequence[str]], Iterator[Floats]]:
        """A function from queries to the score of every of these units, for each query."""
        from scipy.sparse import csr_array

        numbers: dict[str, int] = {}
        counts = _counted(map(_terms, units), numbers)
        lengths = counts.sum(axis=1)
        having = np.bincount(counts.indices, minlength=len(numbers))
        idf = np.log1p((len(units) - having + 0.5) / (having + 0.5))
        rows = np.repeat(np.arange(len(units)), np.diff(counts.indptr))
        usual = self.k1 * (1 - self.b + self.b * lengths / max(lengths.mean(), 1))
        weights = idf[counts.indices] * counts.data / (counts.data + usual[rows])
        index = csr_array((weights, counts.indices, counts.indptr), counts.shape).T.tocsr()

        def scores(queries: Sequence[str]) -> Iterator[Floats]:
            for pack in packs(queries, _QUERIES_AT_ONCE):
                yield from (_counted(map(_terms, pack), numbers, grows=False) @ index).toarray()

        return scores


_TERM = re.compile(r"\d+(?:[.,:/]\d+)*(?![^\W_])|[^\W_]+")


def _terms(text: str) -> list[str]:
    words = (fold(match[0]) for match in _TERM.finditer(text))
    return [_stem(word) for word in words if word not in STOP_WORDS]


@cache
def _stem(word: str) -> str:
    # The tokens of ROUGE are Latin letters and digits; other words are left as they are.
    return next(iter(stems(word) if word.isascii() and word.isalpha() else ()), word)


def _counted(texts: Iterable[Sequence[str]], numbers: dict[str, int], *, grows: bool = True) -> Any:
    """How often each text has each term: sparse, (texts, terms). New terms are numbered if ``grows``."""
    from scipy.sparse import csr_array

    data, places, ends = list[int](), list[int](), [0]
    for terms in texts:
        for term, count in Counter(terms).items():
            place = numbers.setdefault(term, len(numbers)) if grows else numbers.get(term)
            if place is not None:
                places.append(place)
                data.append(count)
        ends.append(len(places))
    return csr_array((np.array(data, np.float64), places, ends), (len(ends) - 1, len(numbers)))


@dataclass(frozen=True, slots=True)
class Dense:
    """The cosine of an encoder's vectors; what lies behind the tokens that it reads is not searched."""

    encoder: Encoder
    depth: int = 100

    @property
    def name(self) -> str:
        """The encoder's."""
        return f"dense[{self.encoder.name}]"

    def hits(self, queries: Sequence[str], units: Sequence[str]) -> Iterator[Hits]:
        """A unit with a cosine of 0 or less is no hit."""
        vectors = self.encoder.encode(units)
        for pack in packs(queries, _QUERIES_AT_ONCE):
            for row in self.encoder.encode(pack) @ vectors.T:
                yield _hits(row, self.depth)


@dataclass(frozen=True, slots=True)
class Rouge:
    """The recall of ROUGE-L with stems of a query in a unit, as in the published code."""

    depth: int = 100

    name = "ROUGE-L recall"

    def hits(self, queries: Sequence[str], units: Sequence[str]) -> Iterator[Hits]:
        """Only units with enough words in common are compared word by word, which changes no hit."""
        tokens = list(map(stems, units))
        places = list(map(_places, tokens))
        lengths = np.array(list(map(len, tokens)))
        numbers: dict[str, int] = {}
        index = _counted(tokens, numbers).T.tocsr()
        index.data = np.ones_like(index.data)
        for pack in packs(queries, _QUERIES_AT_ONCE):
            asked = list(map(stems, pack))
            shared = (_counted(asked, numbers, grows=False) @ index).toarray()
            for query, most in zip(asked, shared, strict=True):
                yield _hits(_recalls(query, places, np.minimum(most, lengths)), self.depth)


def _recalls(query: Sequence[str], places: Sequence[Mapping[str, int]], most: Floats) -> Floats:
    """The recall of the query in each unit, 0 where it cannot come near the best one.

    ``most`` bounds the common subsequence.
    """
    scores, bounds, best = np.zeros(len(places)), most / max(len(query), 1), 0.0
    for unit in np.argsort(-bounds, kind="stable").tolist():
        if bounds[unit] < NEARLY * best or not bounds[unit]:
            break
        scores[unit] = _common(query, places[unit]) / len(query)
        best = max(best, scores[unit])
    return scores


def _places(tokens: Sequence[str]) -> dict[str, int]:
    """The places of each token, as the bits of a number."""
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << place
    return places


def _common(query: Sequence[str], places: Mapping[str, int]) -> int:
    """The length of the longest common subsequence, as ``eval.measures.overlap`` counts it.

    The places of the unit's tokens are known beforehand: the same unit is compared with many queries.
    """
    full = (1 << sum(each.bit_count() for each in places.values())) - 1
    row = full
    for token in query:
        matches = row & places.get(token, 0)
        row = ((row + matches) | (row - matches)) & full
    return full.bit_count() - row.bit_count()
