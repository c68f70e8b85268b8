"""The forward pass over the released weights, held to the library that they were made with."""

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.catalog import MINILM_WEIGHTS, embedded_path
from models.encoders.bert import CLS, LAYERS, SEP, UNK, WIDTH, batches, embed, mean_state, padded, run_layers
from models.encoders.minilm import released

if TYPE_CHECKING:
    from torch import Tensor

REACHED = ("encoder.layer.4.", "encoder.layer.5.")
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


@pytest.fixture(scope="module")
def library(weights: "dict[str, Tensor]") -> Any:
    """The library's own model over the same weights."""
    transformers = pytest.importorskip("transformers")
    path = embedded_path(MINILM_WEIGHTS)
    assert path is not None
    config = transformers.BertConfig.from_json_file(path.with_name("config.json"))
    model = transformers.BertModel(config, add_pooling_layer=False)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not missing
    assert set(unexpected) == {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
    return model.eval()


def states_of(weights: "dict[str, Tensor]", tokens: list[list[int]]) -> "tuple[Tensor, Tensor]":
    ids, real = padded(tokens)
    return run_layers(weights, embed(weights, ids), real), real


def to_be_learned(weights: "dict[str, Tensor]") -> "dict[str, Tensor]":
    return {
        name: weight.clone().requires_grad_(weight.is_floating_point()) for name, weight in weights.items()
    }


def test_the_states_are_those_of_the_library(
    weights: "dict[str, Tensor]", tokens: list[list[int]], library: Any
) -> None:
    import torch

    with torch.inference_mode():
        ours, real = states_of(weights, tokens)
        ids, _ = padded(tokens)
        theirs = library(input_ids=ids, attention_mask=real.long()).last_hidden_state
    assert ours.shape == (len(LENGTHS), max(LENGTHS), WIDTH)
    assert float((ours - theirs)[real].abs().max()) < 1e-5


def test_the_gradients_are_those_of_the_library(
    weights: "dict[str, Tensor]", tokens: list[list[int]], library: Any
) -> None:
    import torch

    ids, real = padded(tokens[:3])
    torch.manual_seed(0)
    mine = to_be_learned(weights)
    towards = torch.randn(int(real.sum()), WIDTH)
    (run_layers(mine, embed(mine, ids), real)[real] * towards).sum().backward()
    library.zero_grad()
    theirs = library(input_ids=ids, attention_mask=real.long()).last_hidden_state
    (theirs[real] * towards).sum().backward()
    for name, parameter in library.named_parameters():
        ours = mine[name].grad
        assert ours is not None, name
        # A bias of all keys moves no attention: its gradient is nothing but rounding.
        size = 1.0 if name.endswith("key.bias") else float(parameter.grad.abs().max())
        assert float((ours - parameter.grad).abs().max()) < 1e-4 * size, name


def test_padding_does_not_reach_the_real_tokens(
    weights: "dict[str, Tensor]", tokens: list[list[int]]
) -> None:
    import torch

    with torch.inference_mode():
        together, _ = states_of(weights, tokens)
        for row, ids in enumerate(tokens):
            alone, _ = states_of(weights, [ids])
            assert float((together[row, : len(ids)] - alone[0]).abs().max()) < 1e-5
        ids, real = padded(tokens)
        scribbled = torch.where(real, ids, torch.tensor(2_000))
        others = run_layers(weights, embed(weights, scribbled), real)
    assert torch.equal(others[real], together[real])


def test_layers_by_parts_are_the_layers_at_once(
    weights: "dict[str, Tensor]", tokens: list[list[int]]
) -> None:
    import torch

    ids, real = padded(tokens)
    with torch.inference_mode():
        states = embed(weights, ids)
        lower = run_layers(weights, states, real, range(2))
        parts = run_layers(weights, lower, real, range(2, LAYERS))
        assert torch.equal(parts, run_layers(weights, states, real))
        assert not torch.allclose(lower, parts)


def test_gradients_reach_the_layers_that_were_run_and_no_others(
    weights: "dict[str, Tensor]", tokens: list[list[int]]
) -> None:
    ids, real = padded(tokens[:2])
    mine = to_be_learned(weights)
    run_layers(mine, embed(weights, ids), real, range(4, LAYERS)).pow(2).mean().backward()
    reached = {name.split(".")[2] for name, weight in mine.items() if weight.grad is not None}
    assert reached == {"4", "5"}
    upper = [weight for name, weight in mine.items() if name.startswith(REACHED)]
    # A bias of all keys moves no attention: its gradient is nothing but rounding.
    assert sum(weight.grad is not None and bool(weight.grad.any()) for weight in upper) >= len(upper) - 2


def test_dropout_is_for_training_alone(weights: "dict[str, Tensor]", tokens: list[list[int]]) -> None:
    import torch

    ids, real = padded(tokens)
    states = embed(weights, ids)
    with torch.inference_mode():
        torch.manual_seed(1)
        one = run_layers(weights, states, real, dropout=0.1)
        other = run_layers(weights, states, real, dropout=0.1)
        torch.manual_seed(1)
        again = run_layers(weights, states, real, dropout=0.1)
        plain = run_layers(weights, states, real)
        assert torch.equal(plain, run_layers(weights, states, real))
    assert torch.equal(one[real], again[real])
    assert not torch.allclose(one[real], other[real])
    assert not torch.allclose(one[real], plain[real])


def test_padded_rows_say_what_is_real() -> None:
    ids, real = padded([[5, 6, 7], [8]])
    assert ids.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert real.tolist() == [[True, True, True], [True, False, False]]


def test_the_mean_is_over_real_tokens_alone() -> None:
    import torch

    states = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [100.0, 100.0]]])
    real = torch.tensor([[True, True, False]])
    assert mean_state(states, real).tolist() == [[2.0, 3.0]]


def test_the_marks_are_those_of_the_released_tokenizer() -> None:
    tokenizer = released().tokenizer
    names = ("[UNK]", "[CLS]", "[SEP]")
    assert tuple(tokenizer.token_to_id(name) for name in names) == (UNK, CLS, SEP)


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 2_000))
def test_every_row_is_in_one_batch_and_no_batch_is_too_large(lengths: list[int], most: int) -> None:
    made = list(batches(lengths, most))
    assert sorted(row for batch in made for row in batch) == list(range(len(lengths)))
    for batch in made:
        widths = [lengths[row] for row in batch]
        assert len(batch) == 1 or len(batch) * max(widths) <= most
        assert sum(max(widths) - width for width in widths) <= sum(widths) * 0.15 + len(batch)


def test_rows_of_one_length_share_a_batch() -> None:
    assert list(batches([10] * 8, 80)) == [list(range(8))]
    assert [len(batch) for batch in batches([10] * 9, 80)] == [8, 1]
