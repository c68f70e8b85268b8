"""The layers in half the bits: near single precision, and the same alone and in a batch."""

import numpy as np
import pytest
import torch

from models.catalog import ModelRef
from models.encoders.bert import CLS, SEP, by_onednn, embed, padded, run_layers
from models.encoders.minilm import MiniLM, released
from models.encoders.numbers import Numbers, cast, fastest
from models.reader.network import read_reader
from models.reader.reader import Reader
from models.risk import LabeledText

TEXTS = [
    "Ada Lind lives in Quarnby and repairs lamps.",
    "The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "x",
    "lamp " * 300,
]


def test_the_processor_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    for known, expected in (
        ({"amx_bf16": True, "avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": False, "avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": False, "avx512_bf16": False, "avx2": True}, "float32"),
        ({"architecture": "aarch64"}, "float32"),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda known=known: known)
        assert fastest() == expected, known


def test_only_the_maps_of_the_layers_are_cast() -> None:
    weights = released().weights
    assert cast(weights, "float32") is weights
    halved = {name for name, weight in cast(weights, "bfloat16").items() if weight.dtype == torch.bfloat16}
    assert len(halved) == 6 * 4 * 2
    assert all(name.startswith("encoder.layer.") and "LayerNorm" not in name for name in halved)
    assert not any(weight.dtype == torch.bfloat16 for weight in weights.values())


def test_vectors_are_near_those_in_single_precision_and_hardly_depend_on_the_batch() -> None:
    encoder = MiniLM(numbers="bfloat16")
    single, half = MiniLM().encode(TEXTS), encoder.encode(TEXTS)
    assert half.dtype == np.float32
    assert (single * half).sum(axis=1).min() > 0.999
    assert np.abs(np.linalg.norm(half, axis=1) - 1).max() < 1e-6
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert (half * alone).sum(axis=1).min() > 0.9995


@pytest.mark.skipif(not by_onednn(half=True), reason="no oneDNN for half the bits on this processor")
@pytest.mark.parametrize("length", [3, 17, 64, 100, 123])
def test_states_do_not_depend_on_longer_rows_of_the_batch(length: int) -> None:
    weights = cast(released().weights, "bfloat16")
    tokens = [[CLS, *range(2000 + row, 2000 + row + size), SEP] for row, size in enumerate((length, 150))]

    def states(rows: list[list[int]]) -> torch.Tensor:
        ids, real = padded(rows)
        return run_layers(weights, embed(weights, ids), real)[0, : length + 2]

    with torch.inference_mode():
        alone, beside = states(tokens[:1]), states(tokens)
    # A neighbour used to move them by .01 and more, so that a decision near a limit could turn.
    assert torch.abs(alone - beside).max() < 0.002


def test_hazards_are_near_those_in_single_precision() -> None:
    texts = [LabeledText(TEXTS[0], [(0, 8), (18, 25)], ["person full name", "city name"])]
    stored = read_reader(ModelRef())
    numbers: tuple[Numbers, ...] = ("float32", "bfloat16")
    single, half = (Reader(stored, numbers=each).hazards(texts)[0] for each in numbers)
    assert np.abs(np.expm1(-np.array(single)) - np.expm1(-np.array(half))).max() < 0.02
