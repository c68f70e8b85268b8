"""Models for tests: the shipped reader, loaded once, and small ones with random weights."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.detection.reading import ASKED
from models.catalog import ModelRef
from models.local_files import quiet
from models.reader.network import read_reader
from models.reader.reader import Reader
from models.risk import LabeledText

if TYPE_CHECKING:
    pass

NAMES = ("Quorin", "Jorvik", "Talvik", "Berta", "Zilpah", "Ostrun")
FILLER = (
    *("the", "of", "and", "went", "saw", "told", "then", "with", "about", "yesterday", "soon"),
    *("because", "lamp", "boat", "river", "quiet", "slowly", "never"),
)


@cache
def shipped_reader() -> Reader:
    """The shipped reader with the detector's labels, in single precision."""
    return Reader(read_reader(ModelRef()), ASKED)


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
