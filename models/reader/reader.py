"""The reader over texts of any length: items with their kinds, classes and needs, and labels."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import log
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.corpora.passages import KINDS
from models.encoders.bert import batches, linear, mean_state, padded
from models.encoders.e5 import WordVectors, splitter_of
from models.encoders.numbers import Numbers, cast
from models.encoders.windows import Limits, Window, windows
from models.encoders.words import BOS, EOS, GAPS, NOTHING, SHAPES, Need, Words
from models.packs import packs
from models.reader.linking import comparable, name_words
from models.reader.network import (
    IDENTIFIERS,
    MUSTS,
    Stored,
    first_states,
    hazards_of,
    label_logits,
    link_logits,
    of_words,
    read,
    told,
)
from models.risk import LabeledText

if TYPE_CHECKING:
    from torch import Tensor


WINDOW = Limits(tokens=380, overlap=48, size=380)
"""Words and pieces of a window; of a word in two of them, the reading farther from an edge counts."""
_BATCH_PIECES = 3072
_WINDOWS_AT_ONCE = 512
_PAIRS_AT_ONCE = 16_384
_SINGLE = 3
"""So many of the arrays of a reading are in single precision, the others in half."""
_REMEMBERED = 400_000
"""Characters of texts whose readings are kept for the next who asks."""


@dataclass(frozen=True, slots=True)
class Item:
    """A run of words that tells of somebody: half-open in code points, and in numbers of words."""

    start: int
    end: int
    first: int
    last: int
    kind: str
    identifier: str
    need: Need


@dataclass(frozen=True, slots=True)
class Told:
    """What was read of a text, with a row for each word.

    Log probabilities of tags, probabilities of needs and of classes, vectors to join mentions by and to
    measure hazards by, and the probabilities that a word is in a mention of a label and begins one.
    """

    words: Words = field(repr=False)
    tags: NDArray[np.float32] = field(repr=False)
    musts: NDArray[np.float32] = field(repr=False)
    classes: NDArray[np.float32] = field(repr=False)
    links: NDArray[np.float16] = field(repr=False)
    hazards: NDArray[np.float16] = field(repr=False)
    inside: NDArray[np.float16] = field(repr=False)
    begins: NDArray[np.float16] = field(repr=False)

    def items(self) -> list[Item]:
        """The likeliest items; none crosses a line, a tab or several blanks, which part cells.

        A name takes the words beside it that are likelier to have to go than to tell of nobody, and that
        rather belong to a name than to anything else: half a name is as good as all of it.
        """
        found = best_items(self.tags, self.words.gaps)
        free = np.ones(len(self.tags), dtype=bool)
        for first, last, _ in found:
            free[first:last] = False
        kinds = np.maximum(self.tags[:, 1::2], self.tags[:, 2::2]).argmax(axis=1)
        goes = free & (self.musts[:, -1] > self.musts[:, 0]) & (kinds == KINDS.index("PERSON"))
        return [
            self._item(
                *(self._widened(first, last, goes) if KINDS[kind] == "PERSON" else (first, last)), kind
            )
            for first, last, kind in found
        ]

    def _widened(self, first: int, last: int, goes: NDArray[np.bool_]) -> tuple[int, int]:
        gaps = self.words.gaps
        while first and goes[first - 1] and gaps[first] < PARTS:
            first -= 1
        while last < len(goes) and goes[last] and gaps[last] < PARTS:
            last += 1
        return first, last

    def at(self, start: int, end: int) -> Need:
        """What the words of a place need, the mean over them; nothing where a place has no word."""
        first, last = self.words_in(start, end)
        return self._need(first, last) if first < last else NOTHING

    def words_in(self, start: int, end: int) -> tuple[int, int]:
        """The first word that lies in a place at least in part, and the one after the last."""
        first = bisect_right(self.words.places, start, key=lambda place: place[1])
        return first, bisect_left(self.words.places, end, key=lambda place: place[0])

    def mentions(self, label: int) -> Iterator[tuple[int, int, float]]:
        """Start, end and mean probability of each mention of a label, given by its number."""
        places, inside = self.words.places, self.inside[:, label]
        run = list[int]()
        for word in [*np.flatnonzero(inside >= INSIDE).tolist(), len(places)]:
            if run and (
                word != run[-1] + 1 or self.words.gaps[word] >= PARTS or self.begins[word, label] >= INSIDE
            ):
                yield places[run[0]][0], places[run[-1]][1], float(inside[run].mean())
                run = []
            run.append(word)

    def _need(self, first: int, last: int) -> Need:
        nothing, _, should, must = self.musts[first:last].mean(axis=0).tolist()
        return Need(1.0 - nothing, should + must, must)

    def _item(self, first: int, last: int, kind: int) -> Item:
        places = self.words.places
        identifier = IDENTIFIERS[int(self.classes[first:last].mean(axis=0).argmax())]
        need = self._need(first, last)
        return Item(places[first][0], places[last - 1][1], first, last, KINDS[kind], identifier, need)


INSIDE = 0.5
"""The probability of being in a mention of a label from which a word is."""
PARTS = GAPS.index("wide")
"""The narrowest gap that no item goes on over."""
SURELY_OUTSIDE = 0.995
"""Words outside with this probability or more are believed, which leaves short runs to decode."""


def best_items(tags: NDArray[np.float32], gaps: Sequence[int]) -> list[tuple[int, int, int]]:
    """First word, the one after the last, and kind of each item of the likeliest sequence of tags.

    An item goes on only in its own kind and within its line or cell (Viterbi 1967 with these transitions).
    """
    open_words = np.flatnonzero(tags[:, 0] < log(SURELY_OUTSIDE))
    if not len(open_words):
        return []
    found = list[tuple[int, int, int]]()
    for run in np.split(open_words, np.flatnonzero(np.diff(open_words) > 1) + 1):
        first, last = int(run[0]), int(run[-1]) + 1
        in_run = _decoded(tags[first:last], gaps[first:last])
        found += [(first + start, first + end, kind) for start, end, kind in in_run]
    return found


def _decoded(tags: NDArray[np.float32], gaps: Sequence[int]) -> list[tuple[int, int, int]]:
    outside, begin, inside = tags[:, 0], tags[:, 1::2], tags[:, 2::2]
    n, kinds = begin.shape
    scores, score_out = begin[0], float(outside[0])
    # The state before a word that is outside or begins an item, a kind or -1; and which kinds go on in it.
    before, goes_on = np.full(n, -1), np.zeros((n, kinds), dtype=bool)
    for word in range(1, n):
        top = int(scores.argmax())
        best, before[word] = (float(scores[top]), top) if scores[top] > score_out else (score_out, -1)
        started = best + begin[word]
        continued = scores + inside[word] if gaps[word] < PARTS else np.full(kinds, -np.inf)
        goes_on[word] = continued > started
        scores, score_out = np.maximum(continued, started), best + float(outside[word])
    found, last = list[tuple[int, int, int]](), n
    state = int(scores.argmax()) if scores.max() > score_out else -1
    for word in range(n - 1, -1, -1):
        if state >= 0 and goes_on[word, state]:
            continue
        if state >= 0:
            found.append((word, last, state))
        last, state = word, int(before[word])
    return found[::-1]


@dataclass(frozen=True, slots=True)
class _Job:
    text: int
    window: Window
    ids: list[int] = field(repr=False)
    gaps: list[int] = field(repr=False)
    shapes: list[int] = field(repr=False)
    firsts: list[int] = field(repr=False)


class Reader:
    """Reads texts; safe to use from several threads."""

    def __init__(
        self, stored: Stored, labels: Sequence[str] = (), numbers: Numbers = "float32", device: str = "cpu"
    ) -> None:
        """``labels`` are looked for besides the items."""
        import torch

        self.name, self.labels = stored.name, tuple(dict.fromkeys(labels))
        self._splitter = splitter_of(stored.encoder)
        codes, scales = (stored.encoder[f"words.{part}"].to(device) for part in ("codes", "scales"))
        self._vectors = WordVectors(codes, scales)
        own = {name: weight.to(device) for name, weight in stored.weights.items()}
        self._weights = cast(own, numbers, range(stored.layers))
        self._layers, self._device = stored.layers, device
        self._recent: dict[str, Told] = {}
        self._lock = Lock()
        with torch.inference_mode():
            self._names = self._means(self.labels) if labels else None

    def told(self, texts: Sequence[str]) -> list[Told]:
        """What is read of each text; it depends on other texts only as far as floating-point sums do.

        What was read of the last texts is remembered.
        """
        with self._lock:
            known = {text: self._recent[text] for text in texts if text in self._recent}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        known |= zip(fresh, self._told(fresh), strict=True)
        with self._lock:
            self._recent |= known
            while sum(map(len, self._recent)) > _REMEMBERED:
                del self._recent[next(iter(self._recent))]
        return [known[text] for text in texts]

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        """The hazard of each mention of each text, in the order given; 0 where a mention has no word."""
        import torch

        told = self.told([text.text for text in texts])
        places = [
            (each, *each.words_in(*place))
            for text, each in zip(texts, told, strict=True)
            for place in text.places
        ]
        if not places:
            return [[] for _ in texts]
        inner = np.zeros((len(places), self._sizes[4]), dtype=np.float32)
        for row, (each, first, last) in zip(inner, places, strict=True):
            if first < last:
                row[:] = each.hazards[first:last].mean(axis=0, dtype=np.float32)
        with torch.inference_mode():
            found = hazards_of(self._weights, torch.from_numpy(inner).to(self._device)).tolist()
        hazards = iter(
            hazard if first < last else 0.0 for hazard, (_, first, last) in zip(found, places, strict=True)
        )
        return [[next(hazards) for _ in text.places] for text in texts]

    def likely_same(self, text: str, places: Sequence[tuple[int, int]]) -> list[list[int]]:
        """For each mention of a person the numbers of earlier ones that are likely the same, likeliest first.

        ``places`` are in text order.
        """
        import torch

        told = self.told([text])[0]
        words = [told.words_in(*place) for place in places]
        read = [number for number, (first, last) in enumerate(words) if first < last]
        names = [name_words(text[slice(*places[number])]) for number in read]
        pairs = list(comparable(names, [words[number][0] for number in read]))
        found: list[list[tuple[float, int]]] = [[] for _ in places]
        if not pairs:
            return [[] for _ in places]
        own = np.stack([told.links[slice(*words[number])].mean(axis=0, dtype=np.float32) for number in read])
        with torch.inference_mode():
            vectors = torch.from_numpy(own).to(self._device)
            for some in packs(pairs, _PAIRS_AT_ONCE):
                later, earlier, features, least = zip(*some, strict=True)
                known = torch.tensor(features, device=self._device)
                logits = link_logits(self._weights, vectors[list(later)], vectors[list(earlier)], known)
                for one, other, logit, limit in zip(later, earlier, logits.tolist(), least, strict=True):
                    if logit > limit:
                        found[read[one]].append((limit - logit, read[other]))
        return [[other for _, other in sorted(each)] for each in found]

    def _told(self, texts: Sequence[str]) -> list[Told]:
        words = self._splitter.words(texts)
        found: list[list[tuple[Window, list[NDArray[Any]]]]] = [[] for _ in texts]
        for jobs in packs(self._jobs(texts, words), _WINDOWS_AT_ONCE):
            for rows in batches([len(job.ids) for job in jobs], _BATCH_PIECES, self._device):
                chosen = [jobs[row] for row in rows]
                for job, arrays in zip(chosen, self._read(chosen), strict=True):
                    found[job.text].append((job.window, arrays))
        return [
            Told(
                of_text,
                *_joined(sorted(parts, key=lambda part: part[0].first), len(of_text.places), self._sizes),
            )
            for of_text, parts in zip(words, found, strict=True)
        ]

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        tags = 1 + 2 * len(KINDS)
        link = self._weights["link.own.weight"].shape[0]
        hazard = self._weights["hazard.out.weight"].shape[1]
        return tags, MUSTS, len(IDENTIFIERS), link, hazard, len(self.labels), len(self.labels)

    def _jobs(self, texts: Sequence[str], words: Sequence[Words]) -> Iterator[_Job]:
        for number, (text, of_text) in enumerate(zip(texts, words, strict=True)):
            sizes = [len(pieces) for pieces in of_text.pieces]
            for window in windows(len(text), of_text.places, WINDOW, sizes):
                ids, firsts = [BOS], list[int]()
                gaps, shapes = [len(GAPS)], [len(SHAPES)]
                for word in range(window.first, window.last):
                    pieces = of_text.pieces[word][: WINDOW.size]
                    firsts.append(len(ids))
                    ids += pieces
                    gaps += [of_text.gaps[word]] + [0] * (len(pieces) - 1)
                    shapes += [of_text.shapes[word]] * len(pieces)
                if firsts:
                    yield _Job(
                        number, window, [*ids, EOS], [*gaps, len(GAPS)], [*shapes, len(SHAPES)], firsts
                    )

    def _read(self, jobs: Sequence[_Job]) -> list[list[NDArray[Any]]]:
        import torch

        with torch.inference_mode():
            ids, real = padded([job.ids for job in jobs], self._device)
            gaps, _ = padded([job.gaps for job in jobs], self._device)
            shapes, _ = padded([job.shapes for job in jobs], self._device)
            firsts, _ = padded([job.firsts for job in jobs], self._device)
            states = first_states(self._weights, self._vectors.of(ids), gaps, shapes)
            states = read(self._weights, states, real, self._layers)
            words = of_words(states, firsts)
            tags, musts, classes = told(self._weights, words)
            arrays = [tags.float().log_softmax(-1), musts.float().softmax(-1), classes.float().softmax(-1)]
            arrays.append(linear(self._weights, "link.own", words).half())
            context = linear(self._weights, "hazard.context", mean_state(states, real))
            arrays.append((linear(self._weights, "hazard.state", words) + context[:, None]).half())
            if self._names is not None:
                arrays += [
                    each.float().sigmoid().half() for each in label_logits(self._weights, words, self._names)
                ]
            else:
                arrays += [arrays[-1][..., :0]] * 2
            found = [each.cpu().numpy() for each in arrays]
        return [[each[row, : len(job.firsts)] for each in found] for row, job in enumerate(jobs)]

    def _means(self, names: Sequence[str]) -> "Tensor":
        import torch

        split = self._splitter.words(names)
        pieces = [[BOS, *chain.from_iterable(of_name.pieces), EOS] for of_name in split]
        ids, real = padded(pieces, self._device)
        nothing = torch.full_like(ids, len(GAPS)), torch.full_like(ids, len(SHAPES))
        states = first_states(self._weights, self._vectors.of(ids), *nothing)
        return mean_state(read(self._weights, states, real, self._layers), real)


def _joined(
    parts: Sequence[tuple[Window, list[NDArray[Any]]]], words: int, sizes: Sequence[int]
) -> list[NDArray[Any]]:
    made = [
        np.zeros((words, size), dtype=np.float32 if number < _SINGLE else np.float16)
        for number, size in enumerate(sizes)
    ]
    for number, (window, arrays) in enumerate(parts):
        first = window.first if not number else (window.first + parts[number - 1][0].last + 1) // 2
        for whole, part in zip(made, arrays, strict=True):
            whole[first : window.last] = part[first - window.first :]
    return made
