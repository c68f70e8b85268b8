"""A tiny GLiNER that knows one thing: a capitalized word is a name. All its words are invented.

Made offline from random seeded weights and trained for a few seconds, so that tests can load a real
model of the library and find something with it.
"""

import random
import string
from pathlib import Path
from typing import Any

from models.local_files import quiet
from tests.tiny_encoder import save_bert

LABELS = ("name", "number")
FILLER = ("the", "of", "and", "went", "saw", "told", "then", "with", "about", "yesterday", "soon")
LONG_FILLER = ("notwithstanding", "nevertheless", "approximately", "simultaneously")
MAX_WORDS = 64


def make_tiny_gliner(folder: Path) -> Path:
    """Save a tiny GLiNER under ``folder`` that finds capitalized names; returns where."""
    with quiet():
        import torch
        from gliner import GLiNER

        torch.manual_seed(0)
        # So small a model is slower on several threads than on one.
        torch.set_num_threads(1)
        backbone = _backbone(folder / "backbone")
        model = GLiNER.from_config(_settings(backbone), backbone_from_pretrained=False)
        _train(model, steps=200)
        model.save_pretrained(folder / "model", safe_serialization=True)
    return folder / "model"


def make_two_encoders(folder: Path) -> Path:
    """Save an untrained tiny GLiNER with an encoder for labels of its own; returns where."""
    with quiet():
        import torch
        from gliner import GLiNER

        torch.manual_seed(0)
        backbone = _backbone(folder / "backbone")
        settings = _settings(backbone)
        settings["labels_encoder"] = str(backbone)
        settings["labels_encoder_config"] = dict(settings["encoder_config"])
        model = GLiNER.from_config(settings, backbone_from_pretrained=False)
        model.save_pretrained(folder / "two", safe_serialization=True)
    return folder / "two"


def invented_text(seed: int, n_words: int, names: int = 3) -> str:
    """Filler words with a few invented names and numbers among them."""
    chance = random.Random(seed)
    words = [chance.choice(FILLER) for _ in range(n_words)]
    for _ in range(names):
        words[chance.randrange(n_words)] = _name(chance)
    return " ".join(words)


def _name(chance: random.Random) -> str:
    letters = "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 6)))
    return letters.capitalize()


def _settings(backbone: Path) -> dict[str, Any]:
    from transformers import AutoConfig

    return {
        "model_name": str(backbone),
        "encoder_config": AutoConfig.from_pretrained(backbone).to_dict(),
        "hidden_size": 32,
        "max_width": 4,
        "max_len": MAX_WORDS,
        "dropout": 0.0,
        "num_rnn_layers": 0,
        "span_mode": "markerV0",
        "max_types": len(LABELS),
        "max_neg_type_ratio": 1,
    }


def _backbone(folder: Path) -> Path:
    sizes = {"hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 512}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    signs = string.ascii_letters + string.digits
    return save_bert(folder, signs, (*FILLER, *LONG_FILLER), **sizes, **dropout)


def _train(model: Any, steps: int) -> None:
    import torch

    chance = random.Random(0)
    collate = model._create_data_collator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, steps)
    model.train()
    for _ in range(steps):
        loss = model(**collate([_example(chance) for _ in range(8)])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()


def _example(chance: random.Random) -> dict[str, Any]:
    words: list[str] = []
    spans: list[tuple[int, int, str]] = []
    for position in range(chance.randint(3, 40)):
        if chance.random() < 0.2:
            words.append(_name(chance))
            spans.append((position, position, "name"))
        elif chance.random() < 0.2:
            words.append(str(chance.randrange(10000)))
            spans.append((position, position, "number"))
        else:
            words.append(chance.choice(FILLER + LONG_FILLER))
    return {"tokenized_text": words, "ner": spans, "ner_labels": list(LABELS)}
