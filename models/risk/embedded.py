"""Privacy-risk models, the embedded one first: one pass gives the hazard of every mention in its context."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from models.catalog import ModelRef
from models.encoders.bert import (
    CLS,
    LAYERS,
    SEP,
    WIDTH,
    batches,
    embed,
    linear,
    mean_state,
    padded,
    run_layers,
)
from models.encoders.minilm import LabelMeans, released
from models.encoders.numbers import Numbers, cast
from models.encoders.windows import Limits, windows
from models.errors import ModelUnavailable
from models.packs import packs
from models.trained import read_trained

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights

WINDOW = Limits(tokens=250, overlap=64)
_BATCH_TOKENS = 2048
_WINDOWS_AT_ONCE = 512


INNER = 128
"""Width of the head's hidden layer."""
TRAINED_LAYERS = (2, 3, 4, 5)
"""The layers of MiniLM that are trained; those below stay as released."""
SHAPES = {
    "risk.state": (INNER, WIDTH),
    "risk.label": (INNER, WIDTH),
    "risk.context": (INNER, WIDTH),
    "risk.out": (1, INNER),
}
"""Height and width of each of the head's matrices."""


@dataclass(frozen=True, slots=True)
class LabeledText:
    """A text with labeled mentions: half-open spans in code points, and label names. Private."""

    text: str = field(repr=False)
    places: Sequence[tuple[int, int]] = field(repr=False)
    labels: Sequence[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Job:
    """One window: its word pieces, and the mentions scored in it with their tokens. Private."""

    text: int
    ids: list[int] = field(repr=False)
    mentions: list[tuple[int, int, int]] = field(repr=False)
    """Number of the mention, and its first and one past its last token in ``ids``."""


class HazardModel(Protocol):
    """Scores how strongly each mention of a text exposes a person."""

    name: str

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        """A hazard >= 0 in nats for each mention of each text, in the order given."""


def load_risk(model: ModelRef, numbers: Numbers = "float32", device: str = "cpu") -> HazardModel:
    """A privacy-risk model that ``lethe models train-risk`` made, of either kind.

    The embedded kind runs in ``numbers`` on ``device``, the other where it is fastest.

    Raises ModelUnavailable where its files are not there or not whole.
    """
    trained = read_trained(model, "risk")
    if "encoder" in trained.card:
        from models.risk.transformer import load_transformer_risk

        return load_transformer_risk(trained, model)
    absent = [part for part in SHAPES if f"{part}.weight" not in trained.weights]
    if absent:
        raise ModelUnavailable(
            f"The risk model {trained.name} has no weights named {absent[0]}:",
            "train it again with 'lethe models train-risk'.",
        )
    return EmbeddedRisk(trained.name, trained.weights, numbers, device)


class EmbeddedRisk:
    """H(m) >= 0 in nats of each mention m: the mean of the head's output over its tokens.

    A token's hazard is its share of that, so R is a sum over tokens, and 1 - exp(-H(m)) estimates the
    rubric's score of the mention in its context. Safe to use from several threads.
    """

    def __init__(
        self, name: str, weights: "Weights", numbers: Numbers = "float32", device: str = "cpu"
    ) -> None:
        self.name = name
        self._released = released(device)
        own = {name: weight.to(device) for name, weight in weights.items()}
        self._weights = cast({**self._released.weights, **own}, numbers)
        self._labels, self._device = LabelMeans(device), device

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        """The hazard of each mention of each text, in the order given."""
        jobs = self._jobs(texts)
        return windowed_hazards(texts, jobs, lambda some: self._read(some, texts), self._device)

    def _jobs(self, texts: Sequence[LabeledText]) -> Iterator[Job]:
        encodings = self._released.tokenizer.encode_batch(
            [text.text for text in texts], add_special_tokens=False
        )
        for number, (text, encoding) in enumerate(zip(texts, encodings, strict=True)):
            yield from jobs_of(number, text.places, encoding.ids, encoding.offsets)

    def _read(self, jobs: Sequence[Job], texts: Sequence[LabeledText]) -> list[list[float]]:
        import torch

        with torch.inference_mode():
            labels = [[texts[job.text].labels[number] for number, _, _ in job.mentions] for job in jobs]
            hazards = mention_hazards(self._weights, jobs, [self._labels.of(names) for names in labels])
        return [of_job.tolist() for of_job in hazards]


def windowed_hazards(
    texts: Sequence[LabeledText],
    jobs: Iterable[Job],
    read: Callable[[Sequence[Job]], list[list[float]]],
    device: str = "cpu",
) -> list[list[float]]:
    """The hazards that ``read`` gives the mentions of each window, by text; 0 for mentions without one."""
    found = [[0.0] * len(text.places) for text in texts]
    for pack in packs(jobs, _WINDOWS_AT_ONCE):
        for rows in batches([len(job.ids) for job in pack], _BATCH_TOKENS, device):
            chosen = [pack[row] for row in rows]
            for job, hazards in zip(chosen, read(chosen), strict=True):
                for (number, _, _), hazard in zip(job.mentions, hazards, strict=True):
                    found[job.text][number] = hazard
    return found


def mention_hazards(
    weights: "Weights", jobs: Sequence[Job], labels: Sequence["Tensor"], dropout: float = 0.0
) -> "list[Tensor]":
    """For each window the hazards of its mentions; ``labels`` has a row of 384 for each of them.

    All are computed where the weights lie.
    """
    import torch

    device = weights["risk.out.weight"].device
    ids, real = padded([job.ids for job in jobs], device)
    with torch.no_grad():
        states = run_layers(weights, embed(weights, ids), real, range(TRAINED_LAYERS[0]))
    states = run_layers(weights, states, real, range(TRAINED_LAYERS[0], LAYERS), dropout)
    mentions = [(row, first, last) for row, job in enumerate(jobs) for _, first, last in job.mentions]
    widths = torch.tensor([last - first for _, first, last in mentions], device=device)
    rows = torch.tensor([row for row, _, _ in mentions], device=device).repeat_interleave(widths)
    tokens = torch.cat([torch.arange(first, last) for _, first, last in mentions]).to(device)
    of_tokens = torch.cat(list(labels)).repeat_interleave(widths, dim=0)
    contexts = mean_state(states, real)[rows]
    hazards = token_hazards(weights, states[rows, tokens], of_tokens, contexts, dropout)
    owners = torch.arange(len(mentions), device=device).repeat_interleave(widths)
    sums = torch.zeros(len(mentions), dtype=hazards.dtype, device=device).index_add(0, owners, hazards)
    return list((sums / widths).split([len(job.mentions) for job in jobs]))


def token_hazards(
    weights: "Weights", states: "Tensor", labels: "Tensor", contexts: "Tensor", dropout: float = 0.0
) -> "Tensor":
    """Non-negative numbers of shape (tokens,), in nats.

    ``states`` are the tokens', ``labels`` the mean states of the names of the labels under which they are
    read, ``contexts`` the mean states of the windows in which they stand, all of shape (tokens, 384). A
    token that two mentions share is read under either label.
    """
    from torch.nn import functional

    inner = linear(weights, "risk.state", states) + linear(weights, "risk.label", labels)
    inner = inner + linear(weights, "risk.context", contexts)
    inner = functional.gelu(inner)
    if dropout:
        inner = functional.dropout(inner, dropout)
    return functional.softplus(linear(weights, "risk.out", inner))[:, 0]


def jobs_of(
    text: int,
    places: Sequence[tuple[int, int]],
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    limits: Limits = WINDOW,
    marks: tuple[Sequence[int], Sequence[int]] = ((CLS,), (SEP,)),
) -> Iterator[Job]:
    """The windows of a text with mentions, each mention in the one where it is farthest from an edge.

    ``ids`` and ``offsets`` are the text's word pieces, ``marks`` what is put before and behind each
    window. A mention longer than a window is scored by its part in that window.
    """
    if not offsets:
        return
    before, behind = marks
    made = windows(offsets[-1][1], offsets, limits)
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
