"""Fine-tuning a language model, ordinarily and by DP-SGD, on a tiny one. All texts are invented."""

import random
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from ingest.synthesizing.accounting import delta_of
from models.errors import ConfigurationError, ModelUnavailable
from models.language.tuning import (
    CLIP,
    PRIVATE,
    CausalModel,
    Noise,
    Recipe,
    _keep_gradients,
    _losses,
    fine_tune,
    fine_tune_privately,
    load_causal,
    noise_for,
    prompt_of,
    written,
)
from tests.small_models import one_thread
from tests.tiny_gpt2 import MOST_TOKENS, make_tiny_gpt2

needs_opacus = pytest.mark.skipif(
    find_spec("opacus") is None, reason="opacus is absent: pip install 'lethe[dp]'"
)
RECORDS = ["\n\nThe heron was fed.", "\n\nThe mill is shut at noon.", "\n\nNo."]
SILENT = Noise(multiplier=0.0, sample_rate=1.0, steps=1, epsilon=0.0, delta=0.1, accountant="none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_gpt2(tmp_path_factory.mktemp("gpt2") / "tiny")


@pytest.fixture
def model(folder: Path) -> Iterator[CausalModel]:
    with one_thread():
        yield load_causal(str(folder))


def quiet(*_: object) -> None:
    """Reports nothing."""


def loss_of(model: CausalModel) -> float:
    with torch.inference_mode():
        return float(_losses(model.network.eval(), [model.tokens_of(each) for each in RECORDS]).mean())


def weights_of(model: CausalModel) -> Any:
    return torch.cat([each.detach().flatten() for each in model.network.parameters()])


def test_a_record_ends_with_the_token_that_ends_texts_and_is_cut(model: CausalModel) -> None:
    assert model.most_tokens == MOST_TOKENS
    for text, number in (("ab", 3), ("a" * 1_000, MOST_TOKENS)):
        tokens = model.tokens_of(text)
        assert (len(tokens), tokens[-1]) == (number, model.tokenizer.eos_token_id)
    assert (prompt_of(("one", "two")), prompt_of(())) == ("one\ttwo\n\n", "\n\n")


def test_a_loss_does_not_depend_on_padding_and_ordinary_fine_tuning_learns(model: CausalModel) -> None:
    tokens, network = [model.tokens_of(each) for each in RECORDS], model.network.eval()
    alone = [_losses(network, [each]).item() for each in tokens]
    assert _losses(network, tokens).tolist() == pytest.approx(alone, abs=1e-5)
    before, reports = loss_of(model), []
    fine_tune(model, RECORDS, Recipe(15, 1e-2, 2), random.Random(0), lambda *each: reports.append(each))
    assert loss_of(model) < 0.7 * before
    assert reports[-1] == ("fine-tuning", 15, 15)


def test_new_texts_follow_their_prompts_without_a_pair_of_tokens_twice(model: CausalModel) -> None:
    prompts = ["\n\n"] * 9 + ["a\n\n"]
    state = torch.random.get_rng_state()
    texts = list(written(model, prompts, random.Random(1)))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert len(texts) == len(prompts) and len(set(texts)) > 5
    assert texts == list(written(model, prompts, random.Random(1)))
    assert texts != list(written(model, prompts, random.Random(2)))
    for text in texts[:3]:
        pairs = list(pairwise(model.tokenizer(text)["input_ids"]))
        # Bytes that are no character of UTF-8 all look the same.
        assert "\ufffd" in text or len(set(pairs)) == len(pairs)


def test_a_model_that_is_not_whole_or_has_no_end_is_refused(tmp_path: Path, folder: Path) -> None:
    def spoiled(name: str) -> Path:
        shutil.copytree(folder, tmp_path / name)
        (tmp_path / name / "model.safetensors").unlink()
        return tmp_path / name

    weights = load_file(folder / "model.safetensors")
    (spoiled("empty") / "tokenizer.json").unlink()
    torch.save(weights, spoiled("pickled") / "pytorch_model.bin")
    lacking = {name: weight for name, weight in weights.items() if "mlp" not in name}
    save_file(lacking, spoiled("lacking") / "model.safetensors", {"format": "pt"})
    for name in ("empty", "pickled", "lacking"):
        with pytest.raises(ModelUnavailable) as error:
            load_causal(str(tmp_path / name))
        needs = "it needs config.json, safetensors and a tokenizer, for AutoModelForCausalLM"
        assert "could not be loaded from its folder" in str(error.value) and needs in str(error.value)
    told = shutil.copytree(folder, tmp_path / "endless") / "tokenizer_config.json"
    told.write_text(told.read_text().replace('"eos_token": "<|endoftext|>"', '"eos_token": null'))
    with pytest.raises(ModelUnavailable, match="has no token that ends a text: choose a model such as gpt2"):
        load_causal(str(tmp_path / "endless"))


@needs_opacus
def test_a_network_that_fails_at_its_first_gradient_and_an_absent_opacus_are_told(
    model: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(network: Any, tokens: Any) -> None:
        raise AttributeError("activations")

    def train() -> None:
        fine_tune_privately(model, RECORDS, PRIVATE, SILENT, random.Random(0), quiet)

    monkeypatch.setattr("models.language.tuning._keep_gradients", broken)
    with pytest.raises(ModelUnavailable) as error:
        train()
    assert str(error.value) == (
        "opacus cannot train this kind of network (AttributeError): choose a model such as gpt2, or a "
        "smaller one where memory ran out."
    )
    monkeypatch.setitem(sys.modules, "opacus", None)
    for without in (train, lambda: noise_for(3, 1e-4, 100, PRIVATE)):
        with pytest.raises(ModelUnavailable, match=r"^DP-SGD needs opacus: pip install 'lethe\[dp\]'\.$"):
            without()


@needs_opacus
@pytest.mark.parametrize("epsilon", [3.0, 8, 64, 1024])
def test_the_noise_spends_no_more_than_was_asked(epsilon: float) -> None:
    noise = noise_for(epsilon, 1e-4, 1_000, PRIVATE)
    assert (noise.sample_rate, noise.steps) == (1.0, 50), "fewer records than a batch are all read"
    assert 0.98 * epsilon < noise.epsilon <= epsilon
    assert noise.accountant.startswith("RDP (opacus ")
    # Where each step reads all records, this is 50 times the Gaussian mechanism.
    assert delta_of(noise.steps / (2 * noise.multiplier**2), noise.epsilon) <= noise.delta * (1 + 1e-6)


@needs_opacus
def test_a_share_of_the_records_needs_less_noise_and_what_none_can_keep_is_refused() -> None:
    noise = noise_for(3, 1e-5, 40_960, PRIVATE)
    assert noise.sample_rate == pytest.approx(0.1) and noise.steps == 500
    whole = noise_for(3, 1e-5, 40_960, Recipe(500, PRIVATE.rate, 40_960))
    assert whole.steps == noise.steps and whole.multiplier > 2 * noise.multiplier
    with pytest.raises(ConfigurationError, match=r"no noise keeps epsilon 1e-08 in 50 steps: give a larger"):
        noise_for(1e-8, 1e-9, 100, PRIVATE)


@needs_opacus
@pytest.mark.filterwarnings("ignore:Full backward hook")
def test_the_gradient_of_each_record_is_the_one_it_has_alone(model: CausalModel) -> None:
    from opacus import GradSampleModule

    network = model.network.train()
    tokens = [model.tokens_of(each) for each in RECORDS]
    alone = []
    for each in tokens:
        network.zero_grad()
        _losses(network, [each]).mean().backward()
        alone.append([weight.grad.clone() for weight in network.parameters()])
    network.zero_grad()
    _keep_gradients(GradSampleModule(network), tokens)
    for number, wanted in enumerate(alone):
        for weight, gradient in zip(network.parameters(), wanted, strict=True):
            assert float((weight.grad_sample[number] - gradient).abs().max()) < 1e-5


@needs_opacus
def test_no_record_pulls_further_than_the_clip(model: CausalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    from opacus.optimizers import DPOptimizer

    pulled = []

    def add_noise(self: Any) -> None:
        pulled.append(float(torch.cat([each.summed_grad.flatten() for each in self.params]).norm()))
        for each in self.params:
            each.grad = each.summed_grad

    monkeypatch.setattr(DPOptimizer, "add_noise", add_noise)
    with torch.no_grad():
        model.network.transformer.wte.weight *= 50
    fine_tune_privately(model, RECORDS[:1], PRIVATE, SILENT, random.Random(0), quiet)
    assert pulled == [pytest.approx(CLIP, rel=1e-3)]
    fine_tune_privately(model, RECORDS[:1] * 20, PRIVATE, SILENT, random.Random(0), quiet)
    assert pulled[1] == pytest.approx(20 * CLIP, rel=0.3), "twenty in three parts are one step"
    assert len(pulled) == 2


@needs_opacus
def test_dp_sgd_learns_where_there_is_little_noise_and_not_where_there_is_much(folder: Path) -> None:
    recipe, losses = Recipe(40, 1e-2, 100), []
    with one_thread():
        for multiplier in (1e-3, 300.0):
            model = load_causal(str(folder))
            before = loss_of(model)
            noise = Noise(multiplier, 1.0, 30, 1.0, 0.1, "by hand")
            fine_tune_privately(model, RECORDS, recipe, noise, random.Random(0), quiet)
            losses.append(loss_of(model) / before)
            assert len(list(written(model, ["\n\n"], random.Random(0)))) == 1, "it is an ordinary model again"
    assert losses[0] < 0.8 < 0.97 < losses[1]


@needs_opacus
def test_a_step_adds_its_noise_once_however_many_parts_it_is_read_in_and_also_where_it_draws_none(
    model: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = weights_of(model)
    nobody = Noise(1.0, 0.0, 2, 1.0, 0.1, "by hand")
    fine_tune_privately(model, RECORDS, PRIVATE, nobody, random.Random(0), quiet)
    assert not bool((weights_of(model) == before).all())
    steps = []

    def step(self: Any, closure: object = None) -> None:
        steps.append(torch.cat([each.grad.flatten() for each in self.param_groups[0]["params"]]))

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    noise = Noise(10.0, 1.0, 2, 1.0, 0.1, "by hand")
    fine_tune_privately(model, RECORDS[:1] * 20, PRIVATE, noise, random.Random(0), quiet)
    first, second = steps
    # The weights stay as they were: what differs between two steps is their noise.
    spread = float((first - second).std()) / 2**0.5
    assert spread == pytest.approx(10 * CLIP / 20, rel=0.05)
    assert len(set(first.tolist())) > 0.9 * len(first)
