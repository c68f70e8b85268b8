"""Makes a tiny Llama model with random weights; everything in it is invented."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import gguf

HIDDEN = 32
LAYERS = 2
HEADS = 4
FEED_FORWARD = 64
CONTEXT = 8192

SPECIAL = ["<unk>", "<s>", "</s>", "<|turn|>", "<|end|>"]
PIECES = ["▁", *"abcdefghijklmnopqrstuvwxyz.,[]123", "▁t", "he", "▁the", "in", "er"]

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|turn|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)


def make_tiny_gguf(path: Path, chat_template: str | None = CHAT_TEMPLATE) -> None:
    """Write a Llama model of 2 layers and 32 dimensions that spells in bytes, always the same."""
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    if chat_template is not None:
        writer.add_chat_template(chat_template)
    n_vocab = _add_vocabulary(writer)
    writer.add_vocab_size(n_vocab)
    for name, weights in _tensors(n_vocab).items():
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: "gguf.GGUFWriter") -> int:
    import gguf

    kinds = gguf.TokenType
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *PIECES]
    types = [
        kinds.UNKNOWN,
        *[kinds.CONTROL] * 4,
        *[kinds.BYTE] * 256,
        *[kinds.NORMAL] * len(PIECES),
    ]
    scores = [*[0.0] * (len(SPECIAL) + 256), *(-float(place) for place in range(len(PIECES)))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    return len(tokens)


def _tensors(n_vocab: int) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    generator = np.random.default_rng(0)

    def random(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return generator.normal(0, 0.2, shape).astype(np.float32)

    tensors = {
        "token_embd.weight": random(n_vocab, HIDDEN),
        "output_norm.weight": np.ones(HIDDEN, np.float32),
        "output.weight": random(n_vocab, HIDDEN),
    }
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[f"blk.{layer}.{name}.weight"] = random(HIDDEN, HIDDEN)
        for name in ("ffn_gate", "ffn_up"):
            tensors[f"blk.{layer}.{name}.weight"] = random(FEED_FORWARD, HIDDEN)
        tensors[f"blk.{layer}.ffn_down.weight"] = random(HIDDEN, FEED_FORWARD)
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{layer}.{name}.weight"] = np.ones(HIDDEN, np.float32)
    return tensors
