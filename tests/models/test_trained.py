"""Trained models in folders: round trip, and errors of broken files."""

import json
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from models.catalog import ModelRef
from models.errors import ModelUnavailable
from models.trained import Kind, is_trained, read_trained, write_trained
from models.training.commands import PHASES
from models.training.detector import Recipe
from models.training.risk import MORE, RiskRecipe
from tests.commands import ROOT

CARD = {"name": "invented", "thresholds": {"balanced": {"": 0.5}}, "note": "für später"}
MARKER = "zqxmarker"


def ref(folder: Path) -> ModelRef:
    return ModelRef(source="path", name=str(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import torch

    torch.manual_seed(0)
    weights = {"b.bias": torch.randn(7), "a.weight": torch.randn(3, 5).T}
    write_trained(tmp_path / "deep" / "model", "detector", weights, CARD)
    return tmp_path / "deep" / "model"


@pytest.mark.parametrize("kind", ["detector", "risk"])
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


def test_a_folder_is_known_by_its_weights(folder: Path) -> None:
    assert is_trained(folder, "detector")
    assert not is_trained(folder, "risk")
    assert not is_trained(folder / "absent", "detector")


Break = Callable[[Path], object]


def edit_card(change: Callable[[dict[str, object]], object]) -> Break:
    def edit(folder: Path) -> None:
        card = json.loads((folder / "detector.json").read_text(encoding="utf-8"))
        change(card)
        (folder / "detector.json").write_text(json.dumps(card), encoding="utf-8")

    return edit


def cut(folder: Path) -> None:
    path = folder / "detector.safetensors"
    path.write_bytes(path.read_bytes()[:-5])


BROKEN: list[tuple[str, Break]] = [
    ("FileNotFoundError", lambda folder: (folder / "detector.json").unlink()),
    ("FileNotFoundError", lambda folder: (folder / "detector.safetensors").unlink()),
    ("JSONDecodeError", lambda folder: (folder / "detector.json").write_text(f"{{{MARKER}")),
    ("UnicodeDecodeError", lambda folder: (folder / "detector.json").write_bytes(b"\xff" + MARKER.encode())),
    ("KeyError", edit_card(lambda card: card.pop("name"))),
    ("TypeError", lambda folder: (folder / "detector.json").write_text(f'["{MARKER}"]')),
    ("SafetensorError", lambda folder: (folder / "detector.safetensors").write_bytes(MARKER.encode() * 9)),
    ("SafetensorError", cut),
]


@pytest.mark.parametrize(("kind", "spoil"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_model_says_what_it_needs(folder: Path, kind: str, spoil: Break) -> None:
    spoil(folder)
    with pytest.raises(ModelUnavailable) as caught:
        read_trained(ref(folder), "detector")
    assert str(caught.value) == (
        f"The detector model in {folder} could not be read ({kind}): it needs detector.safetensors and "
        "detector.json as 'lethe models train-detector' writes them."
    )
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None
    assert MARKER not in "".join(traceback.format_exception(caught.value))


def test_the_shipped_detector_knows_by_what_names_it_learned() -> None:
    """Without them no label of a user's would be given by meaning."""
    learned = read_trained(ModelRef(source="embedded", name="lethe-detector"), "detector").card["labels"]
    assert {"person full name", "PERSON", "organization", "city name"} <= set(learned)
    assert not {"politician", "political party", "election"} & set(learned)


def test_an_absent_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        ModelUnavailable, match=r"risk model's folder '.*absent' is not there: copy the model"
    ):
        read_trained(ref(tmp_path / "absent"), "risk")


def test_the_shipped_cards_have_the_recipes_of_the_commands() -> None:
    def recipe(made: Recipe | RiskRecipe) -> object:
        return json.loads(json.dumps(asdict(made)))

    detector, risk = (
        json.loads((ROOT / "models" / "weights" / f"{kind}.json").read_text())
        for kind in ("detector", "risk")
    )
    assert {name: detector[name] for name in PHASES} == {name: recipe(each) for name, each in PHASES.items()}
    assert risk["start"]["recipe"] == recipe(RiskRecipe())
    assert risk["recipe"] == recipe(MORE)
