"""A causal language model of the transformers library, fine-tuned on texts and then asked for new ones.

After Yue et al. (2023), Synthetic Text Generation with Differential Privacy. A record is its control codes,
joined by tabs, an empty line, its text and the token that ends it: a new text is what follows the codes. With
DP-SGD (Abadi et al. 2016) each step draws every record with one chance, clips the gradient of each record and
adds noise to their sum; opacus clips, adds and accounts. Torch draws this noise, as floating-point numbers of
a generator that is not cryptographic.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING, Any

from models.catalog import folder_of, reference
from models.errors import ConfigurationError, ModelUnavailable
from models.local_files import whole_model

if TYPE_CHECKING:
    from torch import Tensor

MOST_TOKENS = 512
AT_ONCE = 8
"""Records whose gradients, or new texts, are in memory together."""
_NO_TARGET = -100

Reported = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Passes over all records, the learning rate, and the records of a step, with noise on average."""

    epochs: int
    rate: float
    batch: int


PRIVATE = Recipe(epochs=50, rate=1e-4, batch=4_096)
ORDINARY = Recipe(epochs=5, rate=5e-5, batch=4)
"""The published recipes; a batch larger than the records is all of them."""
CLIP = 1.0
"""The longest gradient of one record."""


@dataclass(frozen=True, slots=True)
class Noise:
    """DP-SGD's noise in multiples of the clip; each record is drawn with ``sample_rate`` in each step."""

    multiplier: float
    sample_rate: float
    steps: int
    epsilon: float
    delta: float
    accountant: str


@dataclass(frozen=True, slots=True)
class CausalModel:
    """A network with its tokenizer, and the most tokens of a record."""

    network: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    most_tokens: int

    def tokens_of(self, record: str) -> list[int]:
        """The tokens of a record, cut to the most, with the one that ends it."""
        ids = self.tokenizer(record, add_special_tokens=False)["input_ids"]
        return [*ids[: self.most_tokens - 1], self.tokenizer.eos_token_id]


def prompt_of(codes: Sequence[str]) -> str:
    """What stands before the text of a record."""
    return "\t".join(codes) + "\n\n"


def load_causal(name: str) -> CausalModel:
    """A local or pulled model; ModelUnavailable if it is not whole, or no token ends a text."""
    network, tokenizer = whole_model("AutoModelForCausalLM", folder_of(reference(name), "language"))
    if tokenizer.eos_token_id is None:
        raise ModelUnavailable(
            f"The tokenizer of {name} has no token that ends a text:", "choose a model such as gpt2."
        )
    most = min(MOST_TOKENS, getattr(network.config, "max_position_embeddings", MOST_TOKENS))
    return CausalModel(network, tokenizer, most)


def noise_for(epsilon: float, delta: float, n_records: int, recipe: Recipe) -> Noise:
    """The least noise that keeps (epsilon, delta) for one record added or removed.

    Raises ModelUnavailable where opacus is not installed. Raises ConfigurationError where no noise keeps it.
    """
    with _opacus():
        from opacus.accountants import RDPAccountant
        from opacus.accountants.utils import get_noise_multiplier

        sample_rate = min(1.0, recipe.batch / n_records)
        steps = math.ceil(recipe.epochs / sample_rate)
        wanted = {"target_epsilon": epsilon, "target_delta": delta, "epsilon_tolerance": epsilon / 1_000}
        try:
            multiplier = get_noise_multiplier(
                sample_rate=sample_rate, steps=steps, accountant="rdp", **wanted
            )
        except ValueError:
            raise ConfigurationError(
                f"no noise keeps epsilon {epsilon:g} in {steps:,} steps: give a larger --epsilon, or fewer "
                "--epochs."
            ) from None
        accountant = RDPAccountant()
        accountant.history = [(multiplier, sample_rate, steps)]
        spent = float(accountant.get_epsilon(delta))
    return Noise(multiplier, sample_rate, steps, spent, delta, f"RDP (opacus {version('opacus')})")


def fine_tune(
    model: CausalModel, records: Sequence[str], recipe: Recipe, rng: Random, reported: Reported
) -> None:
    """Ordinary fine-tuning, which promises nothing: what a record says may come back word by word."""
    tokens = [model.tokens_of(record) for record in records]
    with _training(model, rng):
        from torch.optim import AdamW

        optimizer = AdamW(model.network.parameters(), lr=recipe.rate)
        for epoch in range(recipe.epochs):
            order = rng.sample(tokens, len(tokens))
            for first in range(0, len(order), recipe.batch):
                _losses(model.network, order[first : first + recipe.batch]).mean().backward()
                optimizer.step()
                optimizer.zero_grad()
            reported("fine-tuning", epoch + 1, recipe.epochs)


def fine_tune_privately(
    model: CausalModel, records: Sequence[str], recipe: Recipe, noise: Noise, rng: Random, reported: Reported
) -> None:
    """Fine-tuning by DP-SGD with this noise, which ``noise_for`` gave for as many records.

    Raises ModelUnavailable where opacus is not installed, or cannot tell the gradients of records apart in
    this network.
    """
    import torch
    from torch.optim import AdamW

    tokens = [model.tokens_of(record) for record in records]
    generator = torch.Generator(model.network.device).manual_seed(rng.getrandbits(63))
    with _opacus(), _training(model, rng):
        from opacus import GradSampleModule
        from opacus.optimizers import DPOptimizer

        try:
            network = GradSampleModule(model.network)
            # Some networks fail at their first gradient only.
            _keep_gradients(network, tokens[:1])
            network.zero_grad()
        except Exception as error:
            raise ModelUnavailable(
                f"opacus cannot train this kind of network ({type(error).__name__}):",
                "choose a model such as gpt2, or a smaller one where memory ran out.",
            ) from None
        optimizer = DPOptimizer(
            AdamW(model.network.parameters(), lr=recipe.rate),
            noise_multiplier=noise.multiplier,
            max_grad_norm=CLIP,
            expected_batch_size=max(1, round(noise.sample_rate * len(records))),
            generator=generator,
        )
        for step in range(noise.steps):
            drawn = [record for record in tokens if rng.random() < noise.sample_rate]
            # A step that draws no record adds its noise all the same.
            for first in range(0, max(1, len(drawn)), AT_ONCE):
                _keep_gradients(network, drawn[first : first + AT_ONCE])
                optimizer.signal_skip_step(first + AT_ONCE < len(drawn))
                optimizer.step()
                optimizer.zero_grad()
            reported("fine-tuning with noise", step + 1, noise.steps)
        network.to_standard_module()


def _keep_gradients(network: Any, tokens: Sequence[Sequence[int]]) -> None:
    """The gradient of each record by itself."""
    if tokens:
        _losses(network, tokens).mean().backward()
        return
    for each in network.parameters():
        each.grad_sample = each.new_zeros(0, *each.shape)


def _losses(network: Any, tokens: Sequence[Sequence[int]]) -> "Tensor":
    """The mean loss of the tokens of each record."""
    import torch
    from torch.nn.functional import cross_entropy
    from torch.nn.utils.rnn import pad_sequence

    device = next(network.parameters()).device
    labels = pad_sequence([torch.tensor(record, device=device) for record in tokens], True, _NO_TARGET)
    real = labels.ne(_NO_TARGET)
    # No token sees the padding, which is behind it. Positions are given for each record by itself: a network
    # that makes them once for all has no gradient for each.
    positions = torch.arange(labels.shape[1], device=device).expand_as(labels)
    logits = network(input_ids=labels.clamp(min=0), attention_mask=real, position_ids=positions).logits
    # Targets of padding are left out: the library knows their number.
    losses = cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], reduction="none")
    means: Tensor = losses.sum(1) / real[:, 1:].sum(1)
    return means


def written(model: CausalModel, prompts: Sequence[str], rng: Random) -> Iterator[str]:
    """A new text behind each prompt: top-k 50, top-p 0.9, no pair of tokens twice."""
    import torch

    end = model.tokenizer.eos_token_id
    for prompt, same in groupby(prompts):
        ids = model.tokenizer(prompt, add_special_tokens=False)["input_ids"][: model.most_tokens // 2]
        missing = len(list(same))
        while missing > 0:
            rows = torch.tensor([ids] * min(missing, AT_ONCE), device=model.network.device)
            with torch.inference_mode(), _drawing(rng):
                texts = model.network.generate(
                    rows,
                    attention_mask=torch.ones_like(rows),
                    do_sample=True,
                    top_k=50,
                    top_p=0.9,
                    no_repeat_ngram_size=2,
                    max_new_tokens=model.most_tokens - len(ids),
                    eos_token_id=end,
                    pad_token_id=end,
                )
            for text in texts:
                yield model.tokenizer.decode(text[len(ids) :], skip_special_tokens=True).strip()
            missing -= len(rows)


@contextmanager
def _training(model: CausalModel, rng: Random) -> Iterator[None]:
    model.network.train()
    with _drawing(rng):
        yield
    model.network.eval()


@contextmanager
def _drawing(rng: Random) -> Iterator[None]:
    """Torch draws from a seed of this generator, and as before afterwards."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(rng.getrandbits(63))
        yield


@contextmanager
def _opacus() -> Iterator[None]:
    """Opacus, without its warnings of what is meant to be so."""
    import warnings

    try:
        import opacus  # noqa: F401
    except ImportError:
        raise ModelUnavailable("DP-SGD", "needs opacus: pip install 'lethe[dp]'.") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
