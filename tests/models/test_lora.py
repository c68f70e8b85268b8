"""Adapters of a tiny language model that is made here. All texts are invented."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ConfigurationError, ModelUnavailable
from models.language.protocol import ChatMessage
from models.training import lora
from models.training.lora import CARD, Conversation, LoraRecipe, apart, train_lora, write_merged
from models.training.optimizing import Progress
from tests.small_models import make_tiny_llama, one_thread

QUICK = LoraRecipe(seed=1, rank=4, rate=2e-2, epochs=10, accumulated=4, most_tokens=120)
SECRET = "zorvath"


def conversation(author: str, said: str = "a heron", answer: str = "#\nno bird") -> Conversation:
    turns = [ChatMessage("system", "Rewrite."), ChatMessage("user", said), ChatMessage("assistant", answer)]
    return Conversation(author, turns)


def conversations(number: int = 12) -> list[Conversation]:
    return [conversation(f"a{n % 6}", f"{SECRET} {n}") for n in range(number)]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("models") / "tiny-llama")


authors = st.lists(st.sampled_from("abcdefghij"), min_size=2, max_size=40).filter(
    lambda those: len({*those}) > 1
)


@given(authors, st.integers(1, 99), st.floats(0, 1))
def test_no_author_is_on_both_sides_and_none_is_lost(those: Sequence[str], seed: int, share: float) -> None:
    given = [conversation(each) for each in those]
    learned, held = apart(given, LoraRecipe(seed=seed, held_back=share))
    sides = [{each.author for each in side} for side in (learned, held)]
    assert sides[0] and sides[1] and not sides[0] & sides[1]
    assert sorted(each.author for each in (*learned, *held)) == sorted(those)


def test_a_fifth_of_the_authors_is_held_back_and_one_cannot_be_divided() -> None:
    given = [conversation(f"a{n}") for n in range(100)]
    assert [len(side) for side in apart(given, LoraRecipe())] == [80, 20]
    # The order of pairs is nothing, the seed is all.
    ways = ((given, LoraRecipe()), (given[::-1], LoraRecipe()), (given, LoraRecipe(seed=1)))
    held = [{each.author for each in apart(*way)[1]} for way in ways]
    assert held[0] == held[1] != held[2]
    for number in (0, 1):
        said = f"The pairs are of {number} author: give those of two or more"
        with pytest.raises(ConfigurationError, match=said):
            apart([conversation("a")] * number, LoraRecipe())


Run = tuple[Path, dict[str, object], list[Progress]]
GIVEN = [*conversations(), conversation("long", "x" * 200)]


@pytest.fixture(scope="module")
def run(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    if find_spec("peft") is None:
        pytest.skip("the extra distill is not installed")
    output, reports = tmp_path_factory.mktemp("lora") / "adapter", list[Progress]()
    with one_thread():
        card = train_lora(base, GIVEN, output, QUICK, reports.append)
    return output, card, reports


def test_the_card_counts_and_says_no_word(run: Run) -> None:
    output, card, reports = run
    assert json.loads((output / CARD).read_text()) == card
    assert card["base"] == "tiny-llama" and card["numbers"] == "float32"
    pairs, people = card["pairs"], card["authors"]
    assert isinstance(pairs, dict) and isinstance(people, dict)
    assert sum(pairs.values()) == 13 and pairs["too_long"] == 1
    assert (people["learned"] + people["held_back"], people["held_back"]) == (7, 1)
    steps = 10 * -(-pairs["learned"] // 4)
    assert [(each.step, each.steps) for each in reports] == [(n, steps) for n in range(1, steps + 1)]
    assert all(path.suffix != ".bin" for path in output.iterdir())
    assert not any(SECRET.encode() in path.read_bytes() for path in output.rglob("*") if path.is_file())


def test_the_adapter_of_the_best_epoch_is_kept_and_better_than_none(run: Run, base: Path) -> None:
    from peft import PeftModel

    output, card, _ = run
    network, tokenizer = lora._loaded(base)
    examples = (lora._example(tokenizer, each.turns) for each in apart(GIVEN, QUICK)[1])
    measured = [each for each in examples if len(each.ids) <= QUICK.most_tokens]
    assert lora.mean_loss(network, measured) == pytest.approx(card["loss_before"], rel=1e-4)
    adapted = PeftModel.from_pretrained(network, output)
    assert lora.mean_loss(adapted, measured) == pytest.approx(card["loss"], rel=1e-4)
    assert isinstance(card["loss"], float) and card["loss"] < 0.8 * float(str(card["loss_before"]))
    # A merged model is the adapted one.
    merged, _ = lora._loaded(write_merged(base, output))
    assert lora.mean_loss(merged, measured) == pytest.approx(card["loss"], rel=1e-3)


def test_only_the_answer_is_learned(base: Path) -> None:
    import torch

    network, tokenizer = lora._loaded(base)
    example = lora._example(tokenizer, conversation("a", "a heron", "no bird").turns)
    asked, answer = example.ids[: example.answer], example.ids[example.answer :]
    assert tokenizer.decode(asked) == "<s>system:Rewrite.</s><s>user:a heron</s><s>assistant:"
    assert tokenizer.decode(answer) == "no bird</s>"
    with torch.inference_mode():
        logits = network(input_ids=torch.tensor([example.ids])).logits[0]
        told = logits[example.answer - 1 : -1].log_softmax(-1)
        by_hand = -told[range(len(told)), answer].mean()
    assert lora.mean_loss(network, [example]) == pytest.approx(float(by_hand), rel=1e-4)


def test_where_no_pair_is_short_enough_or_peft_is_absent_nothing_is_trained(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("peft") is not None:
        with pytest.raises(ConfigurationError, match="none to measure by, is as short as 5 tokens"):
            train_lora(base, conversations(), tmp_path / "o", LoraRecipe(most_tokens=5), lambda _: None)
    monkeypatch.setattr(lora, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"pip install -e '.\[cpu,distill\]'"):
        train_lora(base, conversations(), tmp_path / "o", QUICK, lambda _: None)
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    "template",
    [
        None,
        "{{ raise_exception('no ' + messages[1].content) }}",
        "{% if add_generation_prompt %}?{% endif %}",
    ],
)
def test_a_model_without_a_template_that_fits_is_refused_without_words(
    template: str | None, tmp_path: Path
) -> None:
    _, tokenizer = lora._loaded(make_tiny_llama(tmp_path / "llama", template))
    with pytest.raises(ModelUnavailable, match="choose a model that was trained for conversations") as caught:
        lora._example(tokenizer, conversation("a", SECRET).turns)
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="it needs config.json, safetensors and a tokenizer"):
        lora._loaded(tmp_path)
