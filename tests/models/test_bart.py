"""BART's two halves with a tiny one that is made here, and DP-BART over it. All texts are invented."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.dp_bart import Autoencoder, DpBart
from models.errors import ModelUnavailable
from models.language.bart import PRUNED, TOKENS, Bart
from tests.small_models import make_tiny_bart

TEXTS = ["the heron 😀", "the heron was fed at noon, and then it flew over the mill", "x"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bart(tmp_path_factory.mktemp("models") / "tiny-bart")


@pytest.fixture(scope="module")
def bart(folder: Path) -> Bart:
    return Bart(folder)


def test_pieces_hold_every_token_once_between_marks(bart: Bart) -> None:
    shaped: Autoencoder = bart
    assert (shaped.name, shaped.width) == ("tiny-bart", 32)
    for text in TEXTS:
        pieces = bart.pieces(text)
        assert all(len(piece) == TOKENS for piece in pieces[:-1]) and 3 <= len(pieces[-1]) <= TOKENS
        assert all((piece[0], piece[-1]) == (0, 2) for piece in pieces)
        assert sum(len(piece) - 2 for piece in pieces) == len(text.encode())
    assert bart.pieces("") == []


def test_states_have_one_length_and_do_not_depend_on_other_pieces(bart: Bart) -> None:
    pieces = [piece for text in TEXTS for piece in bart.pieces(text)] * 5
    states = bart.states(pieces)
    assert states.shape == (len(pieces), TOKENS, 32) and states.dtype == np.float32
    for number in (0, 1, len(pieces) - 1):
        assert bart.states([pieces[number]])[0] == pytest.approx(states[number], abs=1e-5)


def test_what_is_written_follows_from_the_states(bart: Bart) -> None:
    states = np.random.default_rng(0).normal(size=(3, TOKENS, 32)).astype(np.float32)
    written = bart.written(states)
    assert len(written) == 3 and written == bart.written(states)
    assert len({*written}) == 3 and bart.written(states[1:2]) == written[1:2]
    assert all(len(each.encode("utf-8", "replace")) <= 3 * TOKENS for each in written)


def test_the_quarter_that_is_read_least_is_pruned(bart: Bart, folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    read = np.abs(weights["model.decoder.layers.0.encoder_attn.k_proj.weight"]).sum(axis=0)
    pruned = bart.pruned()
    assert len(pruned) == 8 and pruned == sorted(pruned)
    assert read[pruned].max() <= np.delete(read, pruned).min()


def test_a_list_beside_the_model_says_what_is_pruned(folder: Path, tmp_path: Path) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "listed"))
    bart = Bart(there)
    for listed in ("[3, 1, 1]", "[]"):
        (there / PRUNED).write_text(listed)
        assert bart.pruned() == sorted(set(json.loads(listed)))
    said = "write a JSON list of some, not all, of the numbers from 0 to 31"
    for listed in ("[32]", "[-1]", '["1"]', "[[1]]", "{", "{}", str([*range(32)])):
        (there / PRUNED).write_text(listed)
        with pytest.raises(ModelUnavailable, match=said):
            bart.pruned()


def test_a_folder_without_a_bart_is_refused_with_the_remedy(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    weights = load_file(other / "model.safetensors")
    del weights["model.decoder.layers.0.encoder_attn.k_proj.weight"]
    save_file(weights, other / "model.safetensors", {"format": "pt"})
    for wrong in (tmp_path / "nowhere", tmp_path / "empty", other):
        with pytest.raises(ModelUnavailable, match="safetensors and a tokenizer, for BartForCond"):
            Bart(wrong)


def test_texts_are_rewritten_and_a_seed_repeats_it(bart: Bart) -> None:
    texts = [AnnotatedText(text, []) for text in ["", *TEXTS]]

    def rewritten(epsilon: float) -> list[str]:
        return DpBart(bart, bart.pruned(), epsilon, rng=random.Random(0)).rewrite(texts)

    first = rewritten(1000)
    assert len(first) == 4 and first[0] == ""
    assert rewritten(1000) == first != rewritten(1)
