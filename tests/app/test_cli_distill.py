"""``lethe distill``: from invented pairs to an adapter and a merged model, with a tiny one made here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.protecting.incognitext import Pair, pairs_text
from models.training.lora import CARD, MERGED
from tests.commands import Ran, in_process
from tests.small_models import make_tiny_llama

SECRET = "zorvath"
PAIRS = [Pair(str(n % 3), "sex", "male", "female", f"{SECRET} {n}", f"no {n}") for n in range(6)]


@pytest.fixture
def distill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    pytest.importorskip("peft", reason="the extra distill is not installed")

    def run(*more: str | Path, text: str = pairs_text(PAIRS)) -> Ran:
        (tmp_path / "pairs.jsonl").write_text(text)
        return in_process(capsys, "distill", str(tmp_path / "pairs.jsonl"), *map(str, more))

    return run


def test_an_adapter_and_a_merged_model_are_written_and_nothing_quotes_a_pair(
    distill: Callable[..., Ran], tmp_path: Path
) -> None:
    base, output = make_tiny_llama(tmp_path / "tiny"), tmp_path / "adapter"
    more = ["--rank", "4", "--epochs", "2", "--rate", "0.01", "--seed", "3", "--merge"]
    done = distill("--model", base, "--output", output, *more)
    assert done.code == 0, done.err
    card = json.loads((output / CARD).read_text())
    assert done.summary["pairs"] == card["pairs"] == {"learned": 4, "held_back": 2, "too_long": 0}
    recipe = {name: card["recipe"][name] for name in ("rank", "epochs", "rate", "seed", "alpha")}
    assert recipe == {"rank": 4, "epochs": 2, "rate": 0.01, "seed": 3, "alpha": 16}
    for name in ("adapter_model.safetensors", f"{MERGED}/model.safetensors"):
        assert (output / name).is_file()
    assert "6 pairs hold raw texts, and an adapter may repeat what it learned" in done.err
    assert "Convert it to GGUF with llama.cpp for --gguf" in done.err
    assert "lethe: 2 steps, about 1 min" in done.err
    assert SECRET not in done.out + done.err
    assert not any(SECRET.encode() in path.read_bytes() for path in output.rglob("*") if path.is_file())


def test_what_is_there_is_not_written_over(distill: Callable[..., Ran], tmp_path: Path) -> None:
    base = make_tiny_llama(tmp_path / "tiny")
    before = sorted(each.name for each in base.iterdir())
    done = distill("--model", base, "--output", base)
    assert done.code == 2
    assert f"--output: {base} is there already. Name a new one." in done.err
    assert sorted(each.name for each in base.iterdir()) == before


def test_a_line_that_is_no_pair_ends_it(distill: Callable[..., Ran], tmp_path: Path) -> None:
    broken = f'{{"original": "{SECRET}"}}\n'
    done = distill("--model", tmp_path, "--output", tmp_path / "o", text=broken)
    assert done.code == 2
    assert "Line 1 of " in done.err and SECRET not in done.err
