"""What a method masked of what annotators say must go: the measures of the Text Anonymization Benchmark.

Pilán, Lison, Øvrelid, Papadopoulou, Sánchez and Batet (2022, The Text Anonymization Benchmark (TAB): A
Dedicated Corpus and Evaluation Framework for Text Anonymization). A mention is masked if every character
of it that matters lies in a masked span. An entity is protected if all its mentions that must go are
masked: one that is left names it as well as all. Each annotator's entities, mentions and tokens count
once. Precision asks of each masked token or span how many of the annotators say so, with weight 1 or by
information.

What does not matter: blanks and marks, titles, and function words. The benchmark takes these by part of
speech from a parser; ours, ``tab[lexical]``, are a closed list. A token or mention that is nothing else
counts as masked, as it does there, so an untouched text has a recall above 0. Weights are those of TPS
(``eval.measures.preserved``), by document frequency and not by a language model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval.documents import Mark, MarkedDocument
from eval.measures.uncertainty import Estimate, clustered_share, ratio_of
from ingest.documents import Span

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


SHARES = (
    "direct entities",
    "quasi entities",
    "entities",
    "mentions",
    "tokens",
    "token precision",
    "mention precision",
    "weighted precision",
)
"""The shares of a document, by name."""


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


def masked_shares(documents: Sequence[Mapping[str, Part]], seed: int = 0) -> Masked:
    """Fold the parts of all documents."""

    def share(name: str) -> Estimate:
        parts = [each[name] for each in documents]
        if name == "weighted precision":
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
    matters = _matters(text)
    left = matters & ~_covered(len(text), spans)
    wanted = [[mark for mark in each.marks if mark.must == 2] for each in annotated]
    recalls = [_recalls(text, left, marks) for marks in wanted]
    return {
        name: Part(*map(sum, zip(*(each[name] for each in recalls), strict=True))) for name in SHARES[:5]
    } | (_precisions(text, spans, wanted, information))


def _matters(text: str) -> Places:
    """Whether each character has to be masked for a mention that holds it."""
    found = np.fromiter((each not in IGNORED_MARKS for each in text), bool, len(text))
    for word in _WORD.finditer(text):
        if word.group().casefold() in NOTHING_TO_SAY:
            found[word.start() : word.end()] = False
    return found


def _covered(length: int, spans: Iterable[Span]) -> Places:
    found = np.zeros(length, bool)
    for span in spans:
        found[span.start : span.end] = True
    return found


def _recalls(text: str, left: Places, marks: Sequence[Mark]) -> dict[str, Part]:
    """The shares of one annotator; ``left`` are the places that matter and are not masked."""
    direct = {mark.entity for mark in marks if mark.kind == "DIRECT"}
    entities = {mark.entity for mark in marks}
    seen = {mark.entity for mark in marks if left[mark.start : mark.end].any()}
    tokens = [token for mark in marks for token in _tokens(text, mark.start, mark.end)]

    def protected(group: set[str]) -> Part:
        return Part(len(group - seen), len(group))

    def gone(places: Sequence[tuple[int, int]]) -> Part:
        return Part(sum(not left[start:end].any() for start, end in places), len(places))

    shares = (
        protected(direct),
        protected(entities - direct),
        protected(entities),
        gone([(mark.start, mark.end) for mark in marks]),
        gone(tokens),
    )
    return dict(zip(SHARES, shares, strict=False))


def _tokens(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [(start + found.start(), start + found.end()) for found in _WORD.finditer(text[start:end])]


def _precisions(
    text: str, spans: Sequence[Span], wanted: Sequence[Sequence[Mark]], information: Mapping[str, float]
) -> dict[str, Part]:
    """What was masked, each token and span once for each annotator; right if one of his mentions holds it."""
    tokens = [token for span in spans for token in _tokens(text, span.start, span.end)]
    words = {place: word.group().casefold() for word in _WORD.finditer(text) for place in range(*word.span())}
    weights = [information[words[start]] for start, _ in tokens]
    right = [_agreeing(place, wanted) for place in tokens]
    agreed = [_agreeing((span.start, span.end), wanted) for span in spans]
    readers = len(wanted)
    return {
        "token precision": Part(sum(right), readers * len(tokens)),
        "mention precision": Part(sum(agreed), readers * len(spans)),
        "weighted precision": Part(
            sum(weight * count for weight, count in zip(weights, right, strict=True)), readers * sum(weights)
        ),
    }


def _agreeing(place: tuple[int, int], wanted: Sequence[Sequence[Mark]]) -> int:
    start, end = place
    return sum(any(mark.start <= start and end <= mark.end for mark in marks) for marks in wanted)
