"""A privacy-risk model over a user's transformer, such as DeBERTa-v3-base (He et al. 2023).

TRIP-RAG's surrogate was built on it (Zhu et al., section 5.1). Our head scores every mention of a text in one
pass. The transformer and its tokenizer are read with the transformers library from a folder
on this machine; the head lies beside them as ``risk.safetensors``.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from models.catalog import ModelRef, folder_of
from models.encoders.bert import batches, linear, mean_state, padded
from models.encoders.windows import Limits, windows
from models.errors import ModelUnavailable
from models.local_files import best_device, quiet
from models.packs import packs
from models.trained import read_trained

if TYPE_CHECKING:
    from tokenizers import Encoding
    from torch import Tensor

    from models.encoders.bert import Weights


@dataclass(frozen=True, slots=True)
class LabeledText:
    """A text with labeled mentions: half-open spans in code points, and label names. Private."""

    text: str = field(repr=False)
    places: Sequence[tuple[int, int]] = field(repr=False)
    labels: Sequence[str] = field(repr=False)


class HazardModel(Protocol):
    """Scores how strongly each mention of a text exposes a person."""

    name: str

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        """A hazard >= 0 in nats for each mention of each text, in the order given."""


INNER = 128
"""Width of the head's hidden layer."""
_BATCH_TOKENS = 2048
_WINDOWS_AT_ONCE = 512
MOST_TOKENS = 512
"""Maximum window length for any transformer: the cost of attention is quadratic."""


@dataclass(frozen=True, slots=True)
class Job:
    """One window: its word pieces, and the mentions scored in it with their tokens. Private."""

    text: int
    ids: list[int] = field(repr=False)
    mentions: list[tuple[int, int, int]] = field(repr=False)
    """Number of the mention, and its first and one past its last token in ``ids``."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A transformer in single precision, with its tokenizer and window limits."""

    network: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    limits: Limits
    marks: tuple[tuple[int, ...], tuple[int, ...]]
    """The tokens that are put before and behind a window."""


class TransformerRisk:
    """H(m) >= 0 in nats of each mention m, from the means of its tokens' states, its text's and its label's.

    1 - exp(-H(m)) estimates the rubric's score of the mention in its context. Safe to use from several
    threads.
    """

    def __init__(self, name: str, reader: Reader, head: "Weights") -> None:
        self.name = name
        self._reader = reader
        self._head = {part: weight.to(reader.network.device) for part, weight in head.items()}

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        """The hazard of each mention of each text, in the order given; 0 for one without a token."""
        import torch

        found = [[0.0] * len(text.places) for text in texts]
        for pack in packs(jobs_in(self._reader, texts), _WINDOWS_AT_ONCE):
            for rows in batches([len(job.ids) for job in pack], _BATCH_TOKENS, "cpu"):
                jobs = [pack[row] for row in rows]
                with torch.inference_mode():
                    hazards = mention_hazards(self._reader, self._head, jobs, texts).tolist()
                places = [(job.text, number) for job in jobs for number, _, _ in job.mentions]
                for (text, number), hazard in zip(places, hazards, strict=True):
                    found[text][number] = hazard
        return found


def load_transformer_risk(model: ModelRef) -> TransformerRisk:
    """The model in a folder. ModelUnavailable: it is not whole, or the head is not made for it."""
    trained = read_trained(model, "risk")
    reader = read_encoder(model, trained.name)
    for part, shape in head_shapes(reader.network).items():
        if part not in trained.weights or tuple(trained.weights[part].shape) != shape:
            raise ModelUnavailable(
                f"The risk model {trained.name} has no weights named {part} that fit its transformer:",
                "train it again with 'lethe models train-risk --encoder'.",
            )
    return TransformerRisk(trained.name, reader, trained.weights)


def read_encoder(ref: ModelRef, name: str) -> Reader:
    """A transformer from local files, on a GPU if any; ModelUnavailable if unfit or without offsets."""
    folder = folder_of(ref, "risk")
    with quiet():
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer

            here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            if (folder / "spm.model").is_file() and not (folder / "tokenizer.json").is_file():
                tokenizer = _deberta_tokenizer(folder)
            else:
                tokenizer = AutoTokenizer.from_pretrained(folder, **here)
            # Some are published in half precision, in which training breaks down.
            network = AutoModel.from_pretrained(folder, dtype=torch.float32, **here)
        except Exception as error:
            raise ModelUnavailable(
                f"The transformer {name} could not be loaded from its folder ({type(error).__name__}):",
                "it needs config.json, weights and a tokenizer; copy or pull its files again.",
            ) from None
    # A tokenizer whose words are missing is made all the same, and knows nothing but its marks.
    if not tokenizer.is_fast or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise ModelUnavailable(
            f"The transformer {name} has no tokenizer that gives the offsets of its tokens:",
            "choose a model with a tokenizer.json.",
        )
    return reader_of(network.to(best_device()).eval(), tokenizer)


def reader_of(network: Any, tokenizer: Any) -> Reader:
    """How a transformer reads texts with a fast tokenizer of the transformers library."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    marked = backend.encode("a")
    flags = list(zip(marked.ids, marked.special_tokens_mask, strict=True))
    before, behind = (
        tuple(number for number, _ in takewhile(lambda flag: flag[1], each)) for each in (flags, flags[::-1])
    )
    positions = getattr(network.config, "max_position_embeddings", None) or MOST_TOKENS
    room = min(MOST_TOKENS, int(tokenizer.model_max_length), positions) - len(before) - len(behind)
    return Reader(network, tokenizer, Limits(room, room // 4), (before, behind[::-1]))


def _deberta_tokenizer(folder: Path) -> Any:
    """The tokenizer of DeBERTa's own SentencePiece file, read without the protobuf library."""
    from sentencepiece import SentencePieceProcessor
    from transformers import DebertaV2Tokenizer

    pieces = SentencePieceProcessor(model_file=str(folder / "spm.model"))
    vocabulary = [(pieces.id_to_piece(n), pieces.get_score(n)) for n in range(pieces.get_piece_size())]
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    lower = bool(settings.get("do_lower_case"))
    return DebertaV2Tokenizer(vocab=vocabulary, unk_id=pieces.unk_id(), do_lower_case=lower)


def jobs_in(reader: Reader, texts: Sequence[LabeledText]) -> Iterator[Job]:
    """The windows with mentions, each mention well inside the window that scores it."""
    backend = reader.tokenizer.backend_tokenizer
    encodings = backend.encode_batch([text.text for text in texts], add_special_tokens=False)
    for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True)):
        yield from _windows_of(number, text.places, encoding, reader)


def head_shapes(network: Any) -> Mapping[str, tuple[int, ...]]:
    """The shape of each of the head's weights over a transformer."""
    width, of_label = network.config.hidden_size, network.get_input_embeddings().weight.shape[1]
    maps = {"mention": (INNER, width), "context": (INNER, width), "label": (INNER, of_label)}
    shapes: dict[str, tuple[int, ...]] = {}
    for part, shape in (*maps.items(), ("out", (1, INNER))):
        shapes |= {f"risk.{part}.weight": shape, f"risk.{part}.bias": shape[:1]}
    return shapes


def mention_hazards(
    reader: Reader, head: "Weights", jobs: Sequence[Job], texts: Sequence[LabeledText], dropout: float = 0.0
) -> "Tensor":
    """The hazards of the mentions of all windows, one after the other, shape (mentions,), in nats.

    A label's vector is the mean input embedding of its name's word pieces, so any name works without a
    separate pass. Gradients flow; ``dropout`` in [0, 1) is the head's.
    """
    import torch
    from torch.nn import functional

    device = reader.network.device
    ids, real = padded([job.ids for job in jobs], device)
    states = reader.network(input_ids=ids, attention_mask=real.long()).last_hidden_state

    longest = ids.shape[1]
    tokens = [
        range(row * longest + first, row * longest + last)
        for row, job in enumerate(jobs)
        for _, first, last in job.mentions
    ]
    names = [texts[job.text].labels[number] for job in jobs for number, _, _ in job.mentions]
    pieces = reader.tokenizer.backend_tokenizer.encode_batch(names, add_special_tokens=False)
    counts = torch.tensor([len(job.mentions) for job in jobs], device=device)
    inner = _projected(head, "risk.mention", _means(states.flatten(0, 1), tokens))
    inner = inner + _projected(head, "risk.context", mean_state(states, real)).repeat_interleave(counts, 0)
    embedded = _means(reader.network.get_input_embeddings().weight, [name.ids for name in pieces])
    inner = functional.gelu(inner + _projected(head, "risk.label", embedded))
    inner = functional.dropout(inner, dropout, training=dropout > 0)
    return functional.softplus(linear(head, "risk.out", inner))[:, 0]


def _projected(head: "Weights", part: str, vectors: "Tensor") -> "Tensor":
    """Project vectors after normalization to mean 0, variance 1: transformers differ in state norms."""
    from torch.nn import functional

    return linear(head, part, functional.layer_norm(vectors, vectors.shape[-1:]))


def _means(vectors: "Tensor", groups: Sequence[Sequence[int]]) -> "Tensor":
    """The mean of each group of rows, shape (groups, width); of an empty group 0."""
    import torch
    from torch.nn import functional

    numbers = torch.tensor([number for group in groups for number in group], dtype=torch.long)
    sizes = torch.tensor([0, *(len(group) for group in groups[:-1])])
    return functional.embedding_bag(
        numbers.to(vectors.device), vectors, sizes.cumsum(0).to(vectors.device), mode="mean"
    )


def _windows_of(
    text: int, places: Sequence[tuple[int, int]], encoding: "Encoding", reader: Reader
) -> Iterator[Job]:
    """The windows with mentions, each where it is farthest from an edge; long ones count in part."""
    ids, offsets, (before, behind) = encoding.ids, encoding.offsets, reader.marks
    if not offsets:
        return
    made = windows(offsets[-1][1], offsets, reader.limits)
    begins = [window.first for window in made]
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    inside: list[list[tuple[int, int, int]]] = [[] for _ in made]
    for number, (start, end) in enumerate(places):
        first = min(bisect_right(ends, start), len(offsets) - 1)
        last = max(bisect_left(starts, end), first + 1)
        newest = bisect_right(begins, first) - 1
        chosen = max(
            range(max(0, newest - 1), newest + 1),
            key=lambda index: min(first - made[index].first, made[index].last - last),
        )
        window = made[chosen]
        moved = len(before) - window.first
        inside[chosen].append((number, first + moved, min(last, window.last) + moved))
    for window, mentions in zip(made, inside, strict=True):
        if mentions:
            yield Job(text, [*before, *ids[window.first : window.last], *behind], mentions)
