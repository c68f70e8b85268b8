"""``lethe distill``: from invented pairs to an adapter and a merged model, with a tiny one made here."""

import json
from pathlib import Path

import pytest

from ingest.protecting.incognitext import Pair, pairs_text
from models.training.lora import CARD, MERGED
from tests.commands import in_process
from tests.small_models import make_tiny_llama

SECRET = "zorvath"
PAIRS = [Pair(str(n % 3), "sex", "male", "female", f"{SECRET} {n}", f"no {n}") for n in range(6)]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text(pairs_text(PAIRS))
    return path


def test_an_adapter_and_a_merged_model_are_written_and_nothing_quotes_a_pair(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("peft", reason="the extra distill is not installed")
    base, output = make_tiny_llama(tmp_path / "tiny"), tmp_path / "adapter"
    more = ["--rank", "4", "--epochs", "2", "--rate", "0.01", "--seed", "3", "--merge"]
    done = in_process(capsys, "distill", str(pairs), "--model", str(base), "--output", str(output), *more)
    assert done.code == 0, done.err
    card = json.loads((output / CARD).read_text())
    assert done.summary["pairs"] == card["pairs"] == {"learned": 4, "held_back": 2, "too_long": 0}
    recipe = {name: card["recipe"][name] for name in ("rank", "epochs", "rate", "seed", "alpha")}
    assert recipe == {"rank": 4, "epochs": 2, "rate": 0.01, "seed": 3, "alpha": 16}
    assert (output / "adapter_model.safetensors").is_file() and (
        output / MERGED / "model.safetensors"
    ).is_file()
    assert "6 pairs hold raw texts, and an adapter may repeat what it learned" in done.err
    assert "Convert it to GGUF with llama.cpp for --gguf" in done.err
    assert "lethe: 2 steps, about 1 min" in done.err
    assert SECRET not in done.out + done.err
    assert not any(SECRET.encode() in path.read_bytes() for path in output.rglob("*") if path.is_file())


def test_what_is_there_is_not_written_over(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("peft", reason="the extra distill is not installed")
    base = make_tiny_llama(tmp_path / "tiny")
    before = sorted(each.name for each in base.iterdir())
    done = in_process(capsys, "distill", str(pairs), "--model", str(base), "--output", str(base))
    assert done.code == 2
    assert f"--output: {base} is there already. Name a new one." in done.err
    assert sorted(each.name for each in base.iterdir()) == before


def test_a_line_that_is_no_pair_ends_it(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs.write_text(f'{{"original": "{SECRET}"}}\n')
    more = ["--model", str(tmp_path), "--output", str(tmp_path / "o")]
    done = in_process(capsys, "distill", str(pairs), *more)
    assert done.code == 2
    assert "Line 1 of " in done.err and SECRET not in done.err
