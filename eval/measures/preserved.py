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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eval.measures.leakage import STOP_WORDS
from eval.measures.uncertainty import Estimate, mean_of, ratio_of
from ingest.documents import Span
from ingest.protocols import Encoder
from ingest.spans import Replacement, substitute

_WORD = re.compile(r"\w+")
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


@dataclass(frozen=True, slots=True)
class _Part:
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
    return Preserved(
        f"tps[document-frequency, {encoder.name}]",
        mean_of([share for share in kept if share is not None], seed),
        mean_of([share for share in untouched if share is not None], seed),
        _pooled_mean(changed, seed),
        kept,
    )


def _pooled_mean(values: Sequence[Sequence[float]], seed: int) -> Estimate:
    """The mean of all values, one sequence per document; no interval if no resample varies."""
    pooled = ratio_of([sum(each) for each in values], [len(each) for each in values], seed)
    return replace(pooled, low=None, high=None) if pooled.low == pooled.high else pooled


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
    return similarities_of(
        {
            (document.text[span.start : span.end], words)
            for document in documents
            for span, words in document.edits
        },
        encoder,
    )


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
) -> list[_Part]:
    """The edits and the other words; a word that an edit only cuts goes with the edit."""
    matches = list(_WORD.finditer(document.text))
    words = [match.group().casefold() for match in matches]
    starts, ends = [match.start() for match in matches], [match.end() for match in matches]
    parts = []
    edited: set[int] = set()
    for span, replacement in document.edits:
        inside = _words_in(span, starts, ends)
        edited.update(inside)
        # The probability of a span is that of its least probable word.
        most = max((information[words[number]] for number in inside), default=0.0)
        before = document.text[span.start : span.end]
        parts.append(_Part(most, similarities[before, replacement], before != replacement))
    others = (word for number, word in enumerate(words) if number not in edited and word not in _LEFT_OUT)
    return parts + [_Part(information[word], 1.0, changed=False) for word in others]


def _words_in(span: Span, starts: Sequence[int], ends: Sequence[int]) -> range:
    """The numbers of the words that a span touches."""
    return range(bisect_right(ends, span.start), bisect_left(starts, span.end))


def _share(parts: Sequence[_Part], kept: Sequence[float]) -> float | None:
    """The share of the information of a document that is kept; None where there is none."""
    total = sum(part.information for part in parts)
    held = sum(part.information * share for part, share in zip(parts, kept, strict=True))
    return held / total if total else None
