"""A tiny sentence-transformers model with random seeded weights, made offline. Its words are invented.

It knows nothing, but it is a real model of the library: a tokenizer, a transformer and mean pooling.
"""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.local_files import quiet

DIM = 16
MAX_TOKENS = 32


def make_tiny_encoder(folder: Path) -> Path:
    """Save a two-layer BERT with mean pooling under ``folder``; returns where."""
    with quiet():
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.models import Pooling, Transformer

        torch.manual_seed(0)
        signs = string.ascii_lowercase + string.digits
        sizes = {"hidden_size": DIM, "intermediate_size": 32, "max_position_embeddings": 64}
        backbone = save_bert(folder / "backbone", signs, (), **sizes)
        words = Transformer(str(backbone), max_seq_length=MAX_TOKENS)
        pooling = Pooling(words.get_word_embedding_dimension())
        SentenceTransformer(modules=[words, pooling], device="cpu").save(str(folder / "tiny"))
    return folder / "tiny"


def make_tiny_cross_encoder(folder: Path, outputs: int = 1) -> Path:
    """Save a two-layer BERT that reads pairs of texts under ``folder``; returns where."""
    with quiet():
        import torch
        from transformers import BertForSequenceClassification

        torch.manual_seed(0)
        # Large random weights: with small ones, whatever is read, the score is the same.
        sizes: dict[str, float] = {"hidden_size": DIM, "intermediate_size": 32, "max_position_embeddings": 64}
        sizes |= {"initializer_range": 0.5, "num_labels": outputs}
        signs = string.ascii_lowercase + string.digits
        save_bert(folder, signs, (), kind=BertForSequenceClassification, **sizes)
    return folder


def save_bert(folder: Path, signs: str, words: Sequence[str], *, kind: Any = None, **sizes: float) -> Path:
    """Save a two-layer BERT with random weights that spells with ``signs`` and knows ``words``.

    Case counts if ``signs`` have capital letters. ``kind`` is its class, without one BertModel.
    """
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    known = [*marks, *signs, *(f"##{sign}" for sign in signs), *string.punctuation, *words]
    vocabulary = list(dict.fromkeys(known))
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=signs.islower())
    tokenizer.model_max_length = sizes["max_position_embeddings"]
    tokenizer.save_pretrained(folder)
    config = BertConfig(vocab_size=len(vocabulary), num_hidden_layers=2, num_attention_heads=2, **sizes)
    (kind or BertModel)(config).save_pretrained(folder)
    return folder
