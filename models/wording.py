"""The wording head: the sort of thing that an item is, and the form of the words that fit in its place.

Two linear classifiers over hashed pieces of the item and of the words around it; no encoder is needed. The
words of each sort stand in the card.
"""

import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef
from models.trained import readable_files

Floats = NDArray[np.float32]
BUCKETS = 1 << 15
LOOK = 60
"""Characters on each side of an item that are read."""
FORMS = ("one", "bare", "many", "is", "do", "does", "did", "doing", "done", "clause")
"""What may stand in an item's place: a noun phrase with its article, without, or of several; an adjective; a
verb phrase; a clause, which nothing short replaces."""
_WORD = re.compile(r"\w+|[^\w\s]|\n")
_PIECES = range(2, 6)


@dataclass(frozen=True, slots=True)
class Place:
    """An item in its text: the kind that it was found as, its words, and the text on both sides."""

    kind: str
    said: str = field(repr=False)
    before: str = field(repr=False)
    after: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of thing and its words; an empty text where there are none of a form."""

    name: str
    kind: str
    one: str
    many: str
    bare: str
    verb: str = ""
    adjective: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Probabilities of an item's sorts, groups of sorts and forms; each sums to 1."""

    sorts: Floats = field(repr=False)
    groups: Floats = field(repr=False)
    forms: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class WordingModel:
    """``group_of`` has the number of each sort's group; weights have shape (``BUCKETS``, sorts or forms)."""

    sorts: Sequence[Sort] = field(repr=False)
    groups: Sequence[Sort] = field(repr=False)
    group_of: NDArray[np.int64] = field(repr=False)
    members: Mapping[str, Sequence[str]] = field(repr=False)
    sort_weights: Floats = field(repr=False)
    form_weights: Floats = field(repr=False)

    def read(self, places: Sequence[Place]) -> list[Read]:
        """The probabilities of each item."""
        found = []
        for place in places:
            sorts = _probabilities(self.sort_weights, sort_pieces(place))
            groups = np.bincount(self.group_of, sorts, len(self.groups)).astype(np.float32)
            found.append(Read(sorts, groups, _probabilities(self.form_weights, form_pieces(place))))
        return found


def _probabilities(weights: Floats, pieces: Mapping[int, float]) -> Floats:
    numbers = np.fromiter(pieces, np.int64, len(pieces))
    values = np.fromiter(pieces.values(), np.float32, len(pieces))
    logits = values @ weights[numbers]
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), np.float32)


def sort_pieces(place: Place) -> dict[int, float]:
    """The hashed pieces that say what an item is, weighted: its letters, words, kind and neighbours."""
    words = re.findall(r"\w+(?:-\w+)*", place.said.lower())
    pieces = [f"={word}" for word in words]
    for word in words:
        bounded = f"<{word}>"
        pieces += [bounded[at : at + size] for size in _PIECES for at in range(len(bounded) - size + 1)]
    pieces += [f"last={words[-1]}"] if words else []
    pieces.append(f"words={min(len(words), 5)}")
    pieces.append(f"shape={_shape(place.said[:12])}")
    before, after = _around(place)
    near = [f"l{back}={word}" for back, word in enumerate(reversed(before[-4:]))]
    near += [f"l={word}" for word in before[-4:]]
    near += [f"r{ahead}={word}" for ahead, word in enumerate(after[:3])] + [f"r={word}" for word in after[:3]]
    return _hashed(((pieces, 1.0), (near, 0.4)), place.kind)


def form_pieces(place: Place) -> dict[int, float]:
    """The hashed pieces that say which form fits: the words inside, their endings, and those around."""
    before, after = _around(place)
    words = re.findall(r"[\w']+", place.said.lower()) or ["_"]
    case = "caps" if place.said.isupper() else "cap" if place.said[:1].isupper() else "low"
    near = [f"l1={before[-1]}", f"l2={before[-2]}", f"l21={before[-2]} {before[-1]}", f"r1={after[0]}"]
    near += [f"l1e={before[-1][-3:]}", *(f"l={word}" for word in before[-4:])]
    inner = [f"01={' '.join(words[:2])}"]
    inner += [f"l10={before[-1]} {words[0]}", f"l10e={before[-1]} {words[0][-2:]}"]
    for at, word in (*enumerate(words[:3]), ("last", words[-1])):
        inner += [f"{at}={word}", f"{at}f={word[:3]}", *(f"{at}e={word[-size:]}" for size in (1, 2, 3))]
    kind = [f"{place.kind} {each}" for each in (near[0], f"0={words[0]}", case)]
    pieces = [*near, *inner, *kind, case, f"n={min(len(words), 5)}"]
    pieces += [f"{sign}={part}" for word in words for sign, part in (("w", word), ("we", word[-2:]))]
    return _hashed(((pieces, 1.0),), place.kind)


def _around(place: Place) -> tuple[list[str], list[str]]:
    before = _WORD.findall(place.before[-LOOK:].lower())
    return ["^", "^", *before], [*_WORD.findall(place.after[:LOOK].lower()), "$"]


def _shape(said: str) -> str:
    for run, sign in (("[A-Z]+", "A"), ("[a-z]+", "a"), ("[0-9]+", "0"), (r"[^\w]+", "-")):
        said = re.sub(run, sign, said)
    return said


def _hashed(fields: Sequence[tuple[Sequence[str], float]], kind: str) -> dict[int, float]:
    """Each field's pieces with a length of its weight, so that long items count as much as short ones."""
    found: dict[int, float] = {_bucket(f"kind={kind}"): 1.0}
    for pieces, weight in fields:
        counted = Counter(map(_bucket, pieces))
        length = sum(value**2 for value in counted.values()) ** 0.5
        for bucket, value in counted.items():
            found[bucket] = found.get(bucket, 0.0) + weight * value / length
    return found


def _bucket(piece: str) -> int:
    return zlib.crc32(piece.encode("utf-8", "surrogatepass")) % BUCKETS


@cache
def embedded_wording() -> WordingModel:
    """The shipped model; raises ModelUnavailable where its files are absent or not whole."""
    return load_wording(ModelRef(source="embedded", name="lethe-wording"))


def load_wording(model: ModelRef) -> WordingModel:
    """A model of ``lethe models train-wording``; raises ModelUnavailable where its files are not whole."""
    from safetensors.numpy import load_file

    with readable_files(model, "wording") as (file, card):
        stored = load_file(file)
        groups = [Sort(**each) for each in card["groups"]]
        numbers = {each.name: number for number, each in enumerate(groups)}
        return WordingModel(
            [Sort(**each["words"]) for each in card["sorts"]],
            groups,
            np.array([numbers[each["group"]] for each in card["sorts"]]),
            {each["words"]["name"]: tuple(each["members"]) for each in card["sorts"]},
            _dense(stored, "sorts", len(card["sorts"])),
            _dense(stored, "forms", len(FORMS)),
        )


def _dense(stored: Mapping[str, NDArray[Any]], name: str, width: int) -> Floats:
    found = np.zeros((BUCKETS, width), np.float32)
    rows = np.repeat(np.arange(BUCKETS), stored[f"{name}.counts"])
    found[rows, stored[f"{name}.columns"]] = stored[f"{name}.values"].astype(np.float32)
    return found


def sparse_of(weights: Floats, kept: float, name: str) -> dict[str, NDArray[Any]]:
    """The largest weights as ``load_wording`` reads them: ``kept`` of all that are not 0."""
    limit = np.quantile(np.abs(weights[weights != 0]), 1 - kept)
    rows, columns = np.nonzero(np.abs(weights) >= max(limit, 1e-6))
    return {
        f"{name}.counts": np.bincount(rows, minlength=BUCKETS).astype(np.uint8),
        f"{name}.columns": columns.astype(np.uint8),
        f"{name}.values": weights[rows, columns].astype(np.float16),
    }
