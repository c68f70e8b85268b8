"""Trained models in folders: round trip, and errors of broken files."""

import json
import traceback
from pathlib import Path

import pytest

from models.catalog import ModelRef
from models.errors import ModelUnavailable
from models.trained import Kind, read_trained, write_trained

CARD = {"name": "invented", "thresholds": {"balanced": {"": 0.5}}, "note": "für später"}
MARKER = "zqxmarker"


def ref(folder: Path) -> ModelRef:
    return ModelRef(source="path", name=str(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import torch

    torch.manual_seed(0)
    weights = {"b.bias": torch.randn(7), "a.weight": torch.randn(3, 5).T}
    write_trained(tmp_path / "deep" / "model", "judge", weights, CARD)
    return tmp_path / "deep" / "model"


@pytest.mark.parametrize("kind", ["judge", "risk"])
def test_what_is_written_is_read_in_sixteen_bits(tmp_path: Path, kind: Kind) -> None:
    import torch

    torch.manual_seed(1)
    weights = {"b.bias": torch.randn(7) * 3, "a.weight": torch.randn(3, 5).T, "none": torch.zeros(2)}
    write_trained(tmp_path, kind, weights, CARD)
    model = read_trained(ref(tmp_path), kind)
    assert model.name == "invented"
    assert model.card == CARD
    assert set(model.weights) == set(weights)
    for name, weight in weights.items():
        assert model.weights[name].dtype == torch.float32
        assert model.weights[name].equal(weight.half().float())
        assert torch.allclose(model.weights[name], weight, rtol=1e-3, atol=1e-6)
    assert (tmp_path / f"{kind}.safetensors").stat().st_size < 24 * 2 + 600
    assert {path.name for path in tmp_path.iterdir()} == {f"{kind}.safetensors", f"{kind}.json"}


def test_the_same_model_is_written_to_the_same_bytes(tmp_path: Path) -> None:
    import torch

    weights = {"a": torch.ones(2), "b": torch.zeros(3)}
    write_trained(tmp_path / "one", "risk", weights, {"name": "x", "seed": 1})
    write_trained(tmp_path / "other", "risk", dict(reversed(weights.items())), {"seed": 1, "name": "x"})
    for name in ("risk.safetensors", "risk.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


WEIGHTS, CARD_FILE = "judge.safetensors", "judge.json"
BROKEN: list[tuple[str, str, bytes | None]] = [
    ("FileNotFoundError", CARD_FILE, None),
    ("FileNotFoundError", WEIGHTS, None),
    ("JSONDecodeError", CARD_FILE, b"{" + MARKER.encode()),
    ("UnicodeDecodeError", CARD_FILE, b"\xff" + MARKER.encode()),
    ("KeyError", CARD_FILE, json.dumps({"note": MARKER}).encode()),
    ("TypeError", CARD_FILE, json.dumps([MARKER]).encode()),
    ("SafetensorError", WEIGHTS, MARKER.encode() * 9),
    ("SafetensorError", WEIGHTS, b""),
]


@pytest.mark.parametrize(("kind", "file", "content"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_model_says_what_it_needs(folder: Path, kind: str, file: str, content: bytes | None) -> None:
    path = folder / file
    # Weights without their end are none.
    path.unlink() if content is None else path.write_bytes(content or path.read_bytes()[:-5])
    with pytest.raises(ModelUnavailable) as caught:
        read_trained(ref(folder), "judge")
    assert str(caught.value) == (
        f"The judge model in {folder} could not be read ({kind}): it needs judge.safetensors and "
        "judge.json as 'lethe models train-judge' writes them."
    )
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_an_absent_folder_is_told(tmp_path: Path) -> None:
    said = r"risk model's folder '.*absent' is not there: copy the model"
    with pytest.raises(ModelUnavailable, match=said):
        read_trained(ref(tmp_path / "absent"), "risk")
