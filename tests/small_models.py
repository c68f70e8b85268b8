"""Weights for tests: random ones for the arithmetic, and a detector that knows six names. All invented."""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from models.corpora.examples import Example, Mention
from models.detectors.network import HEADS, WIDEST
from models.local_files import quiet
from models.risk.embedded import LabeledText
from models.training.detector import Recipe, new_parameters, train_detector
from models.training.optimizing import Progress

if TYPE_CHECKING:
    from torch import Tensor

PERSON = "person full name"
NAMES = ("Quorin", "Jorvik", "Talvik", "Berta", "Zilpah", "Ostrun")
FILLER = (
    *("the", "of", "and", "went", "saw", "told", "then", "with", "about", "yesterday", "soon"),
    *("because", "lamp", "boat", "river", "quiet", "slowly", "never"),
)
ODD_FILLER = ("😀", "שלום", "e\u0301e\u0301")
SHORT = Recipe(seed=2, steps=100, tokens=256, layer_rate=3e-4, warmup=0.1, dropout=0.0, spans_every=1, pool=1)
"""Enough for these examples where only ``UPPER`` and the head are trained: four seconds."""
UPPER = "encoder.layer.5."


@contextmanager
def one_thread() -> Iterator[None]:
    """So small batches are slower on several threads than on one, and the sums are the same every time."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def marked(text: str, *mentions: tuple[str, str]) -> LabeledText:
    """The text with every place of each mention's words marked."""
    found = [
        (match.span(), label) for word, label in mentions for match in re.finditer(re.escape(word), text)
    ]
    return LabeledText(text, [place for place, _ in found], [label for _, label in found])


def invented_example(seed: int) -> Example:
    """Filler with a name among it here and there, each marked; two names are farther apart than a span."""
    chance = random.Random(seed)
    words = [chance.choice(FILLER + ODD_FILLER) for _ in range(chance.randint(4, 90))]
    mentions = []
    for at in range(chance.randrange(4), len(words), WIDEST + 1):
        words[at] = chance.choice(NAMES)
        start = sum(len(word) + 1 for word in words[:at])
        mentions.append(Mention(start, start + len(words[at]), PERSON))
    return Example(f"i{seed}", "invented", f"g{seed}", " ".join(words), tuple(mentions), (PERSON,))


def trained(
    recipe: Recipe,
    report: Callable[[Progress], None],
    every: int = 50,
    start: "dict[str, Tensor] | None" = None,
) -> "dict[str, Tensor]":
    """What training on two hundred invented examples gives."""
    with one_thread():
        return train_detector([invented_example(seed) for seed in range(200)], recipe, report, every, start)


def _upper_parameters(weights: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    made = new_parameters(weights)
    return {name: weight for name, weight in made.items() if name.startswith(UPPER) or "encoder" not in name}


@cache
def name_detector() -> "tuple[dict[str, Tensor], list[Progress]]":
    """The weights of a detector that knows ``NAMES``, trained once a run, and what was reported."""
    reports: list[Progress] = []
    with patch("models.training.detector.new_parameters", _upper_parameters):
        return trained(SHORT, reports.append, every=30), reports


@cache
def random_detector() -> "dict[str, Tensor]":
    """Seeded weights of an untrained detector whose every part shows in the scores."""
    import torch

    from models.encoders.minilm import released

    torch.manual_seed(0)
    weights = {name: weight.detach() for name, weight in new_parameters(released().weights).items()}
    for name in weights:
        if not name.startswith("encoder.") and name.endswith(".bias"):
            weights[name] = torch.randn(weights[name].shape) * 0.2
    # Larger than at the start of training, so that scores differ by more than rounding.
    for name in ("out", *HEADS):
        weights[f"{name}.3.weight"] = weights[f"{name}.3.weight"] * 4
    for name in (name for name in weights if name.startswith("encoder.") and name.endswith("weight")):
        weights[name] = weights[name] * (1 + 0.05 * torch.randn(weights[name].shape))
    return weights


@cache
def random_risk() -> "dict[str, Tensor]":
    """Seeded weights of an untrained privacy-risk model."""
    import torch

    from models.encoders.minilm import released
    from models.training.risk import new_parameters

    torch.manual_seed(0)
    weights = {name: weight.detach() for name, weight in new_parameters(released().weights).items()}
    return {name: weight if name.startswith("encoder.") else weight * 3 for name, weight in weights.items()}


def byte_tokenizer() -> Any:
    """A tokenizer of the transformers library that reads bytes, with the marks of BART and RoBERTa."""
    from tokenizers import pre_tokenizers
    from transformers import RobertaTokenizer

    signs = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    return RobertaTokenizer(vocab={sign: number for number, sign in enumerate(signs)}, merges=[])


def make_tiny_bart(folder: Path) -> Path:
    """Save a BART with random seeded weights, two layers on each side and 32 neurons, that reads bytes."""
    with quiet():
        import torch
        from transformers import BartConfig, BartForConditionalGeneration

        torch.manual_seed(0)
        tokenizer = byte_tokenizer()
        tokenizer.save_pretrained(folder)
        sides = {
            f"{side}_{what}": size
            for side in ("encoder", "decoder")
            for what, size in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 64))
        }
        # Large random weights: with small ones, whatever is read, the same token is written.
        sizes = {"d_model": 32, "max_position_embeddings": 64, "init_std": 1.0}
        config = BartConfig(vocab_size=len(tokenizer), **sizes, **sides)
        BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


CHAT = (
    "{% for turn in messages %}<s>{{ turn.role }}:{{ turn.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant:{% endif %}"
)


def make_tiny_llama(folder: Path, template: str | None = CHAT) -> Path:
    """Save a Llama with random seeded weights, two layers and 32 neurons, that reads bytes and chats."""
    with quiet():
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.manual_seed(0)
        tokenizer = byte_tokenizer()
        tokenizer.chat_template = template
        tokenizer.save_pretrained(folder)
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=4096,
            initializer_range=0.3,
        )
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder
