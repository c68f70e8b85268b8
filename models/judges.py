"""The claim-support model: does a text tell a claim fully, partly or not? A small head over frozen MiniLM."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef
from models.encoders.bert import UNK, WIDTH, linear
from models.encoders.minilm import MiniLM, released
from models.encoders.numbers import Numbers
from models.errors import ModelUnavailable
from models.packs import packs
from models.trained import read_trained

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights


SAME, PARTLY, UNSUPPORTED = LEVELS = (1, 2, 3)
"""The text says the same, something like it, or nothing of it."""


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim and a text. ``low`` and ``high`` bound its level: rules cannot always tell it.

    ``kind`` says how it was made, ``group`` what document it is from. Private.
    """

    claim: str = field(repr=False)
    text: str = field(repr=False)
    low: int
    high: int
    kind: str
    group: str


Floats = NDArray[np.float32]

BEST = 3
"""The parts of a text that a claim is compared with piece by piece: those that say most of it."""
LONGEST = 64
"""The most word pieces of a claim that are compared; the rest of a longer one is not read."""
SHARPNESS = 15.0
"""How much more a nearer piece counts in the mean of the pieces that a claim's piece is aligned with."""
FAR = (0.4, 0.55, 0.7)
"""Cosines below which a piece counts as not said, in three features."""
TOKEN_FEATURES, FEATURES = 6, 26
"""Numbers of each word piece beside its states, and of each claim."""
_PAIRS_AT_ONCE = 512

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATION = re.compile(
    r"\b(?:no|not|nor|never|none|neither|without|cannot|negative|unremarkable|nope"
    r"|den(?:y|ies|ied|ying))\b|n['’]t\b",
    re.IGNORECASE,
)
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_UNITS += " sixteen seventeen eighteen nineteen"
_UNIT_OF = {word: number for number, word in enumerate(_UNITS.split())}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_TEN_OF = {word: 10 * number for number, word in enumerate(_TENS, 2)}


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim against one text. Private: states give text away.

    ``own`` and ``aligned`` have shape (pieces, 384): the states of the claim's pieces, and the means of those
    of the text that each is aligned with; ``tokens`` shape (pieces, 6), ``weights`` (pieces,), and
    ``features`` (26,), all in single or half precision.
    """

    own: NDArray[np.floating] = field(repr=False)
    aligned: NDArray[np.floating] = field(repr=False)
    tokens: NDArray[np.floating] = field(repr=False)
    weights: NDArray[np.floating] = field(repr=False)
    features: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Read:
    """A text with the unit states of its word pieces and what its words say. Private."""

    states: Floats = field(repr=False)
    mean: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    places: Sequence[tuple[int, int]] = field(repr=False)
    words: frozenset[str] = field(repr=False)
    numbers: frozenset[str] = field(repr=False)
    names: frozenset[str] = field(repr=False)
    negated: bool


def numbers_in(text: str) -> frozenset[str]:
    """The numbers that a text says, in digits: "fifty one" is 51, "two thousand four" 2004."""
    found, value, spoken = set[str](), 0, False
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        if word in _TEN_OF or word in _UNIT_OF:
            value, spoken = value + _TEN_OF.get(word, 0) + _UNIT_OF.get(word, 0), True
        elif spoken and word in ("hundred", "thousand"):
            value *= 100 if word == "hundred" else 1000
        elif not (spoken and word == "and"):
            if spoken:
                found.add(str(value))
                value, spoken = 0, False
            if word[0].isdigit():
                found.add(word)
    return frozenset({*found, str(value)} if spoken else found)


def names_in(text: str) -> frozenset[str]:
    """The words with a capital letter inside a sentence, in small letters."""
    inside = (each for each in _WORD.finditer(text) if each.start() and text[each.start() - 2] not in ".!?:")
    return frozenset(each[0].casefold() for each in inside if each[0][0].isupper() and len(each[0]) > 1)


def negates(text: str) -> bool:
    """Whether a text has a word that negates."""
    return _NEGATION.search(text) is not None


def information(texts: Iterable[str]) -> Floats:
    """How much each word piece tells, by its id, from 0 to 1: its inverse frequency in parts of ``texts``."""
    size = released().weights["embeddings.word_embeddings.weight"].shape[0]
    having, total = np.zeros(size), 0
    for pack in packs(texts, _PAIRS_AT_ONCE):
        for encoding in released().tokenizer.encode_batch(pack, add_special_tokens=False):
            having[list(set(encoding.ids))] += 1
            total += 1
    told: Floats = (np.log((total + 1) / (having + 1)) / np.log(total + 1)).astype(np.float32)
    told[UNK] = 0
    return told


class ClaimReader:
    """Aligns claims with the parts of a text. Safe to use from several threads."""

    def __init__(self, told: Floats, device: str = "cpu", numbers: Numbers = "float32") -> None:
        self._encoder, self._told = MiniLM(device, numbers), told

    def alignments(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Alignment | None]:
        """The alignment of each claim with the parts of its text, in order; None where one says nothing."""
        for pack in packs(pairs, _PAIRS_AT_ONCE):
            texts = dict.fromkeys(text for claim, parts in pack for text in (claim, *parts))
            read = self._read(list(texts))
            for claim, parts in pack:
                said = [read[part] for part in parts if len(read[part].states)]
                yield _aligned(claim, read[claim], said) if said and len(read[claim].states) else None

    def _read(self, texts: Sequence[str]) -> Mapping[str, _Read]:
        encodings = released().tokenizer.encode_batch(list(texts), add_special_tokens=False)
        read = zip(texts, encodings, self._encoder.states(texts), strict=True)
        return {
            text: _of(text, states[1:-1], self._told[encoding.ids[: len(states) - 2]], places[1:-1])
            for text, encoding, (places, states) in read
        }


def _of(text: str, states: Floats, weights: Floats, places: Sequence[tuple[int, int]]) -> _Read:
    unit = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-9)
    mean = states.mean(axis=0) if len(states) else np.zeros(WIDTH, np.float32)
    letters = np.array([any(map(str.isalnum, text[start:end])) for start, end in places], bool)
    return _Read(
        unit,
        mean / max(float(np.linalg.norm(mean)), 1e-9),
        np.where(letters, weights, 0).astype(np.float32),
        places,
        frozenset(match[0].casefold() for match in _WORD.finditer(text)),
        numbers_in(text),
        names_in(text),
        negates(text),
    )


def _aligned(text: str, claim: _Read, parts: Sequence[_Read]) -> Alignment:
    weights = claim.weights[:LONGEST] + 1e-3
    own = claim.states[:LONGEST]
    share = weights / weights.sum()
    cosines = own @ np.concatenate([part.states for part in parts]).T
    starts = np.cumsum([0, *(len(part.states) for part in parts)])
    by_part = np.maximum.reduceat(cosines, starts[:-1], axis=1)
    said = share @ by_part
    order = np.argsort(-said, kind="stable")[:BEST]
    chosen = [parts[place] for place in order]
    near = np.concatenate([cosines[:, starts[place] : starts[place + 1]] for place in order], axis=1)
    best = near.max(axis=1)
    attention = np.exp(SHARPNESS * (near - best[:, None]))
    attention /= attention.sum(axis=1, keepdims=True)
    aligned = attention @ np.concatenate([part.states for part in chosen])
    words = frozenset[str]().union(*(part.words for part in chosen))
    pieces = _pieces(text, claim.places[:LONGEST])
    there = np.array([piece in words for piece in pieces], np.float32)
    numbers = [piece[:1].isdigit() or piece in _UNIT_OF or piece in _TEN_OF for piece in pieces]
    names, negations = [piece in claim.names for piece in pieces], [negates(piece) for piece in pieces]
    tokens = np.stack([best, there, numbers, names, negations, weights], axis=1).astype(np.float32)
    features = _features(claim, share, parts, chosen, by_part, best, pieces)
    return Alignment(own, aligned, tokens, weights, features)


def _features(
    claim: _Read,
    share: Floats,
    parts: Sequence[_Read],
    chosen: Sequence[_Read],
    by_part: Floats,
    best: Floats,
    pieces: Sequence[str],
) -> Floats:
    first = chosen[0]
    back = first.states @ claim.states.T
    returned = first.weights + 1e-3
    telling = best[share >= np.median(share)]

    def recall(said: Iterable[frozenset[str]]) -> float:
        words = frozenset[str]().union(*said)
        return float(share @ np.array([piece in words for piece in pieces], np.float32))

    def agreement(wanted: frozenset[str], said: Iterable[frozenset[str]]) -> float:
        return len(wanted & frozenset[str]().union(*said)) / len(wanted) if wanted else 1.0

    return np.array(
        [
            share @ by_part.max(axis=1),
            share @ best,
            (share @ by_part).max(),
            *(share @ (best < limit) for limit in FAR),
            telling.min(),
            np.sort(telling)[: max(1, len(telling) // 4)].mean(),
            first.mean @ claim.mean,
            max(part.mean @ claim.mean for part in parts),
            recall([first.words]),
            recall(part.words for part in chosen),
            recall(part.words for part in parts),
            agreement(claim.numbers, [part.numbers for part in chosen]),
            agreement(claim.numbers, [part.numbers for part in parts]),
            bool(claim.numbers),
            agreement(claim.names, [part.words for part in chosen]),
            bool(claim.names),
            claim.negated != first.negated,
            claim.negated,
            first.negated,
            not any(part.negated == claim.negated for part in chosen),
            returned @ back.max(axis=1) / returned.sum(),
            len(first.numbers - claim.numbers) > 0,
            np.log1p(len(pieces)) / 3,
            np.log1p(len(parts)) / 3,
        ],
        np.float32,
    )


def _pieces(text: str, places: Sequence[tuple[int, int]]) -> list[str]:
    """The whole word of each word piece, in small letters; a sign by itself."""
    words, found, number = list(_WORD.finditer(text)), list[str](), 0
    for start, end in places:
        while number < len(words) and words[number].end() <= start:
            number += 1
        inside = number < len(words) and words[number].start() < end
        found.append(words[number][0].casefold() if inside else text[start:end].casefold())
    return found


INNER = 64
"""Width of both hidden layers."""
SHAPES = {
    "judge.states": (INNER, 4 * WIDTH),
    "judge.token": (INNER, TOKEN_FEATURES),
    "judge.gate": (1, INNER),
    "judge.pooled": (INNER, 3 * INNER),
    "judge.features": (INNER, FEATURES),
    "judge.direct": (1, FEATURES),
    "judge.out": (1, INNER),
}
"""Height and width of each of the head's matrices."""
VECTORS = ("judge.told", "judge.mean", "judge.spread", "judge.limits")
"""How much each word piece tells, mean and spread of the features, and what sets the two limits."""
PRODUCT = 20.0
"""The factor of products of unit states, which are small."""
_AT_ONCE = 128


class ClaimSupport:
    """The probability of each level for claims and the parts of their texts. Safe to use from threads."""

    def __init__(
        self, name: str, weights: "Weights", device: str = "cpu", numbers: Numbers = "float32"
    ) -> None:
        self.name = name
        self._weights = {part: weight.to(device) for part, weight in weights.items()}
        self._reader = ClaimReader(weights["judge.told"].cpu().numpy(), device, numbers)

    def levels(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[list[float] | None]:
        """The probabilities of levels 1, 2 and 3 of each pair; None where either has no word piece."""
        import torch

        found: list[list[float] | None] = []
        for pack in packs(self._reader.alignments(pairs), _AT_ONCE):
            read = [each for each in pack if each is not None]
            with torch.inference_mode():
                rows = iter(probabilities(self._weights, read).tolist() if read else ())
            found += [None if each is None else next(rows) for each in pack]
        return found


def load_judge(model: ModelRef, device: str = "cpu", numbers: Numbers = "float32") -> ClaimSupport:
    """A model of 'lethe models train-judge'; ModelUnavailable where its files are missing or not whole."""
    trained = read_trained(model, "judge")
    for part in (*SHAPES, *VECTORS):
        if not {part, f"{part}.weight"} & set(trained.weights):
            raise ModelUnavailable(
                f"The judge {trained.name} has no weights named {part}:",
                "train it again with 'lethe models train-judge'.",
            )
    return ClaimSupport(trained.name, trained.weights, device, numbers)


def probabilities(weights: "Weights", read: Sequence[Alignment]) -> "Tensor":
    """Shape (alignments, 3)."""
    import torch

    below = torch.sigmoid(cumulative(weights, read))
    return torch.stack([below[:, 0], below[:, 1] - below[:, 0], 1 - below[:, 1]], dim=1)


def cumulative(weights: "Weights", read: Sequence[Alignment], dropout: float = 0.0) -> "Tensor":
    """The log odds of level 1, and of level 1 or 2, of shape (alignments, 2): McCullagh (1980)."""
    import torch
    from torch.nn import functional
    from torch.nn.utils.rnn import pad_sequence

    def dropped(states: "Tensor") -> "Tensor":
        return functional.dropout(states, dropout) if dropout else states

    limits = weights["judge.limits"]
    device = limits.device
    features = torch.from_numpy(np.stack([each.features for each in read])).float().to(device)
    features = (features - weights["judge.mean"]) / weights["judge.spread"]
    own, aligned, tokens, told = (
        pad_sequence([torch.from_numpy(getattr(each, part)).float() for each in read], True).to(device)
        for part in ("own", "aligned", "tokens", "weights")
    )
    real = told > 0
    states = torch.cat([own, aligned, (own - aligned).abs(), own * aligned * PRODUCT], dim=2)
    inner = linear(weights, "judge.states", dropped(states)) + linear(weights, "judge.token", tokens)
    inner = functional.gelu(inner)
    gate = linear(weights, "judge.gate", inner)[:, :, 0].masked_fill(~real, -1e4).softmax(1)
    share = told / told.sum(1, keepdim=True)
    means = [(inner * part[:, :, None]).sum(1) for part in (gate, share)]
    pooled = torch.cat([*means, inner.masked_fill(~real[:, :, None], -1e4).amax(1)], dim=1)
    whole = linear(weights, "judge.features", features) + linear(weights, "judge.pooled", dropped(pooled))
    out = linear(weights, "judge.out", dropped(functional.gelu(whole)))
    unsupported = out + linear(weights, "judge.direct", features)
    return torch.stack([limits[0], limits[0] + functional.softplus(limits[1])]) - unsupported
