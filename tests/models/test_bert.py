"""The forward pass over the released weights, held to the library that they were made with."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.catalog import MINILM_WEIGHTS, embedded_path
from models.encoders.bert import CLS, LAYERS, SEP, UNK, WIDTH, batches, embed, mean_state, padded, run_layers
from models.encoders.minilm import released

if TYPE_CHECKING:
    from torch import Tensor

LENGTHS = (2, 3, 17, 64, 5)


@pytest.fixture(scope="module")
def weights() -> "dict[str, Tensor]":
    return released().weights


@pytest.fixture(scope="module")
def tokens() -> list[list[int]]:
    """Rows of random word pieces between the marks at both ends."""
    import torch

    torch.manual_seed(0)
    inner = [torch.randint(1000, 30_000, (length - 2,)).tolist() for length in LENGTHS]
    return [[CLS, *ids, SEP] for ids in inner]


def states_of(weights: "dict[str, Tensor]", tokens: list[list[int]]) -> "tuple[Tensor, Tensor]":
    ids, real = padded(tokens)
    return run_layers(weights, embed(weights, ids), real), real


def to_be_learned(weights: "dict[str, Tensor]") -> "dict[str, Tensor]":
    return {
        name: weight.clone().requires_grad_(weight.is_floating_point()) for name, weight in weights.items()
    }


def test_states_and_gradients_are_those_of_the_library(
    weights: "dict[str, Tensor]", tokens: list[list[int]]
) -> None:
    import torch

    transformers = pytest.importorskip("transformers")
    path = embedded_path(MINILM_WEIGHTS)
    assert path is not None
    config = transformers.BertConfig.from_json_file(path.with_name("config.json"))
    library = transformers.BertModel(config, add_pooling_layer=False)
    missing, unexpected = library.load_state_dict(weights, strict=False)
    assert not missing
    assert set(unexpected) == {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
    ids, real = padded(tokens)
    torch.manual_seed(0)
    mine, towards = to_be_learned(weights), torch.randn(int(real.sum()), WIDTH)
    ours = run_layers(mine, embed(mine, ids), real)
    theirs = library.eval()(input_ids=ids, attention_mask=real.long()).last_hidden_state
    assert ours.shape == (len(LENGTHS), max(LENGTHS), WIDTH)
    assert float((ours - theirs)[real].detach().abs().max()) < 1e-5
    for states in (ours, theirs):
        (states[real] * towards).sum().backward()
    for name, parameter in library.named_parameters():
        gradient = mine[name].grad
        assert gradient is not None, name
        # A bias of all keys moves no attention: its gradient is nothing but rounding.
        size = 1.0 if name.endswith("key.bias") else float(parameter.grad.abs().max())
        assert float((gradient - parameter.grad).abs().max()) < 1e-4 * size, name


def test_padding_does_not_reach_the_real_tokens_and_layers_by_parts_are_the_layers_at_once(
    weights: "dict[str, Tensor]", tokens: list[list[int]]
) -> None:
    import torch

    with torch.inference_mode():
        together, _ = states_of(weights, tokens)
        for row, ids in enumerate(tokens):
            alone, _ = states_of(weights, [ids])
            assert float((together[row, : len(ids)] - alone[0]).abs().max()) < 1e-5
        ids_, real = padded(tokens)
        scribbled = torch.where(real, ids_, torch.tensor(2_000))
        assert torch.equal(run_layers(weights, embed(weights, scribbled), real)[real], together[real])
        lower = run_layers(weights, embed(weights, ids_), real, range(2))
        assert torch.equal(run_layers(weights, lower, real, range(2, LAYERS)), together)
        assert not torch.allclose(lower, together)


def test_gradients_reach_the_layers_that_were_run_and_no_others(
    weights: "dict[str, Tensor]", tokens: list[list[int]]
) -> None:
    ids, real = padded(tokens[:2])
    mine = to_be_learned(weights)
    run_layers(mine, embed(weights, ids), real, range(4, LAYERS)).pow(2).mean().backward()
    reached = {name.split(".")[2] for name, weight in mine.items() if weight.grad is not None}
    assert reached == {"4", "5"}
    upper = [
        weight for name, weight in mine.items() if name.startswith(("encoder.layer.4.", "encoder.layer.5."))
    ]
    # A bias of all keys moves no attention: its gradient is nothing but rounding.
    assert sum(weight.grad is not None and bool(weight.grad.any()) for weight in upper) >= len(upper) - 2


def test_dropout_is_for_training_alone(weights: "dict[str, Tensor]", tokens: list[list[int]]) -> None:
    import torch

    ids, real = padded(tokens)
    states = embed(weights, ids)
    with torch.inference_mode():
        torch.manual_seed(1)
        one, other = (run_layers(weights, states, real, dropout=0.1) for _ in range(2))
        torch.manual_seed(1)
        again = run_layers(weights, states, real, dropout=0.1)
        plain = run_layers(weights, states, real)
        assert torch.equal(plain, run_layers(weights, states, real))
    assert torch.equal(one[real], again[real])
    assert not torch.allclose(one[real], other[real])
    assert not torch.allclose(one[real], plain[real])


def test_padded_rows_say_what_is_real_and_the_mean_is_over_that_alone() -> None:
    import torch

    ids, real = padded([[5, 6, 7], [8]])
    assert ids.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert real.tolist() == [[True, True, True], [True, False, False]]
    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    assert mean_state(states, torch.tensor([[True, True, False]])).tolist() == [[2.0, 3.0]]


def test_the_marks_are_those_of_the_released_tokenizer() -> None:
    marks = [released().tokenizer.token_to_id(name) for name in ("[UNK]", "[CLS]", "[SEP]")]
    assert marks == [UNK, CLS, SEP]


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 2_000))
def test_every_row_is_in_one_batch_and_no_batch_is_too_large(lengths: list[int], most: int) -> None:
    assert [len(batch) for batch in batches([10] * 9, 80)] == [8, 1], "rows of one length share a batch"
    made = list(batches(lengths, most))
    assert sorted(row for batch in made for row in batch) == list(range(len(lengths)))
    for batch in made:
        widths = [lengths[row] for row in batch]
        assert len(batch) == 1 or len(batch) * max(widths) <= most
        assert sum(max(widths) - width for width in widths) <= sum(widths) * 0.15 + len(batch)
