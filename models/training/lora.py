"""Low-rank adapters (Hu et al. 2021) of a causal language model that learn how conversations end.

The settings are those by which Frikha et al. (2024) taught a small model IncogniText; their rank is lost, and
their model was in 4 bits, which ours is not.
"""

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.errors import ConfigurationError, ModelUnavailable
from models.language.protocol import ChatMessage
from models.local_files import best_device, quiet, whole_model
from models.training.optimizing import Progress

if TYPE_CHECKING:
    from torch import Tensor

CARD, MERGED = "lora.json", "merged"
_IGNORED = -100
"""The label of tokens that are read and not learned, as the transformers library has it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns of which the last is to be learned, and who it is about. Private."""

    author: str = field(repr=False)
    turns: Sequence[ChatMessage] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoraRecipe:
    """Hyperparameters. ``accumulated`` conversations make a step, ``held_back`` is a share of the authors."""

    seed: int = 20261126
    rank: int = 16
    alpha: int = 16
    rate: float = 1e-4
    epochs: int = 32
    accumulated: int = 8
    held_back: float = 0.2
    most_tokens: int = 2048
    """Longer conversations are left out: memory grows with them."""


@dataclass(frozen=True, slots=True)
class _Example:
    """A conversation in tokens; those from ``answer`` on are learned. Private."""

    ids: list[int] = field(repr=False)
    answer: int


def train_lora(
    base: Path,
    conversations: Sequence[Conversation],
    output: Path,
    recipe: LoraRecipe,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Train an adapter of the model in ``base``; write that of the best epoch into ``output``; its card.

    The best epoch has the lowest loss on authors that are held back. It is written when it is found, so a run
    that is cut short leaves its best so far. The card has counts and settings, and no word of a text.

    Raises:
        ConfigurationError: Fewer than two authors, or on one side no conversation that is short enough.
        ModelUnavailable: There is no such model, it has no chat template that fits, or peft is not installed.
    """
    if find_spec("peft") is None:
        raise ModelUnavailable(
            "Adapters are trained by the library peft:", "pip install -e '.[cpu,distill]'."
        )
    learned, held = apart(conversations, recipe)
    network, tokenizer = _loaded(base)
    read = ([_example(tokenizer, each.turns) for each in part] for part in (learned, held))
    examples, measured = ([each for each in part if len(each.ids) <= recipe.most_tokens] for part in read)
    if not examples or not measured:
        raise ConfigurationError(
            f"No pair to learn from, or none to measure by, is as short as {recipe.most_tokens:,} tokens."
        )
    too_long, began = len(conversations) - len(examples) - len(measured), time.time()
    model = _adapted(network, recipe)
    card: dict[str, Any] = {
        "name": output.resolve().name,
        "kind": "LoRA adapter of all linear layers",
        "base": base.resolve().name,
        "numbers": str(network.dtype).removeprefix("torch."),
        "made_with": {name: version(name) for name in ("peft", "torch", "transformers")},
        "recipe": asdict(recipe),
        "authors": {"learned": _authors(learned), "held_back": _authors(held)},
        "pairs": {"learned": len(examples), "held_back": len(measured), "too_long": too_long},
        "loss_before": mean_loss(model, measured),
    }
    for epoch in _epochs(model, examples, recipe, report):
        loss = mean_loss(model, measured)
        if epoch == 1 or loss < card["loss"]:
            card |= {"loss": loss, "epoch": epoch, "seconds": round(time.time() - began)}
            card["trained"] = time.strftime("%Y-%m-%d")
            with quiet():
                model.save_pretrained(output, save_embedding_layers=False)
            (output / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def apart(
    conversations: Sequence[Conversation], recipe: LoraRecipe
) -> tuple[list[Conversation], list[Conversation]]:
    """Those to learn from, and those of other authors, held back; ConfigurationError for fewer than two."""
    authors = sorted({each.author for each in conversations})
    if len(authors) < 2:
        raise ConfigurationError(
            f"The pairs are of {len(authors)} author: give those of two or more, since some are held back."
        )
    random.Random(recipe.seed).shuffle(authors)
    number = min(len(authors) - 1, max(1, round(recipe.held_back * len(authors))))
    held = {*authors[:number]}
    return (
        [each for each in conversations if each.author not in held],
        [each for each in conversations if each.author in held],
    )


def mean_loss(model: Any, examples: Sequence[_Example]) -> float:
    """The mean over conversations of the cross-entropy of an answer's token, in nats."""
    import torch

    model.eval()
    with torch.inference_mode():
        return sum(float(_loss(model, each)) for each in examples) / len(examples)


def write_merged(base: Path, adapter: Path) -> Path:
    """The folder of the model with the adapter in its weights; ModelUnavailable where either is missing."""
    from peft import PeftModel

    network, tokenizer = _loaded(base)
    with quiet():
        merged = PeftModel.from_pretrained(network, adapter).merge_and_unload()
        merged.save_pretrained(adapter / MERGED)
        tokenizer.save_pretrained(adapter / MERGED)
    return adapter / MERGED


def _loaded(base: Path) -> tuple[Any, Any]:
    return whole_model("AutoModelForCausalLM", base, "bfloat16" if best_device() == "cuda" else "float32")


def _adapted(network: Any, recipe: LoraRecipe) -> Any:
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(recipe.seed)
    linear: dict[str, Any] = {"target_modules": "all-linear", "task_type": "CAUSAL_LM"}
    return get_peft_model(network, LoraConfig(r=recipe.rank, lora_alpha=recipe.alpha, **linear))


def _example(tokenizer: Any, turns: Sequence[ChatMessage]) -> _Example:
    said = [{"role": each.role, "content": each.content} for each in turns]
    try:
        asked = tokenizer.apply_chat_template(said[:-1], add_generation_prompt=True, return_dict=False)
        whole = tokenizer.apply_chat_template(said, return_dict=False)
    except Exception as error:
        # Not its message: it may quote the turns.
        raise _without_template(type(error).__name__) from None
    if whole[: len(asked)] != asked or len(whole) == len(asked):
        raise _without_template("an answer does not follow on its question")
    return _Example(whole, len(asked))


def _without_template(why: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"The language model's chat template does not fit ({why}):",
        "choose a model that was trained for conversations with a system turn.",
    )


def _epochs(
    model: Any, examples: Sequence[_Example], recipe: LoraRecipe, report: Callable[[Progress], None]
) -> Iterator[int]:
    """Train, yielding the number of each epoch behind it, from 1."""
    import torch

    chance = random.Random(recipe.seed)
    optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=recipe.rate)
    steps, step = recipe.epochs * math.ceil(len(examples) / recipe.accumulated), 0
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        order = chance.sample(examples, len(examples))
        for at in range(0, len(order), recipe.accumulated):
            some, total = order[at : at + recipe.accumulated], 0.0
            for each in some:
                loss = _loss(model, each) / len(some)
                loss.backward()
                total += float(loss.detach())
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            report(Progress(step, steps, total))
        yield epoch


def _loss(model: Any, example: _Example) -> "Tensor":
    import torch

    ids = torch.tensor([example.ids], device=model.device)
    labels = ids.clone()
    labels[:, : example.answer] = _IGNORED
    loss: Tensor = model(input_ids=ids, labels=labels).loss
    return loss


def _authors(conversations: Sequence[Conversation]) -> int:
    return len({each.author for each in conversations})
