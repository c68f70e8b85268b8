"""A tiny GPT-2 with random seeded weights, made offline. It spells with bytes and knows nothing."""

from pathlib import Path

from models.local_files import quiet

MOST_TOKENS = 48


def make_tiny_gpt2(folder: Path) -> Path:
    """Save a one-layer GPT-2 and its tokenizer in ``folder``; returns it."""
    with quiet():
        import torch
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers
        from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

        torch.manual_seed(0)
        end = "<|endoftext|>"
        signs = sorted(pre_tokenizers.ByteLevel.alphabet())
        vocabulary = {sign: number for number, sign in enumerate([*signs, end])}
        tokenizer = Tokenizer(models.BPE(vocabulary, []))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end).save_pretrained(folder)
        last = vocabulary[end]
        sizes = {"n_positions": MOST_TOKENS, "n_embd": 16, "n_layer": 1, "n_head": 2}
        sizes |= dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
        config = GPT2Config(vocab_size=len(vocabulary), bos_token_id=last, eos_token_id=last, **sizes)
        GPT2LMHeadModel(config).save_pretrained(folder)
    return folder
