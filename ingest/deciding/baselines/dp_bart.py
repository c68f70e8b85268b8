"""DP-BART (Igamberdiev and Habernal 2023): a text is rewritten from the noised output of a BART's encoder."""

import random
from collections.abc import Sequence
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.local_privacy import MOST_GAUSSIAN, gaussian_noise
from models.errors import ConfigurationError

BOUND = 0.1
"""C: each value of the encoder's output is clipped to [-C, C]."""
DELTA = 1e-5


class Autoencoder(Protocol):
    """Reads a text in pieces as states, and writes pieces from states alone."""

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int: ...

    def pieces(self, text: str) -> list[list[int]]: ...

    def states(self, pieces: Sequence[Sequence[int]]) -> NDArray[np.float32]: ...

    def written(self, states: NDArray[np.float32]) -> list[str]: ...


def sensitivity(values: int) -> float:
    """How far two outputs of ``values`` clipped values are apart at most: 2 C sqrt(values), L2."""
    return 2 * BOUND * sqrt(values)


class DpBart:
    """(``epsilon``, ``delta``)-local differential privacy of each text, given its number of pieces.

    The encoder's output for all pieces of a text is one vector: its ``pruned`` neurons are 0, all others are
    clipped and get Gaussian noise, calibrated (Balle and Wang 2018) for the whole text, whose budget thus is
    not multiplied by its pieces. Decoding reads nothing else. Any two texts of as many pieces are told
    apart no better than the budget says; the number of pieces is not protected, and an empty text stays
    empty. Several texts about one person, and one text that is rewritten again, add up. Figures that are
    measured on the raw text, such as its risk, are not covered.

    At the budgets of the literature, 1000 and 2500, e^epsilon is so large that the promise is empty: what
    such a text gives away can only be measured. A seeded ``rng`` makes a run repeatable and protects nothing
    from who knows the seed; None is the operating system's. The factor holds up to floating-point rounding.

    With ``pruned`` empty this is DP-BART-CLV, with some DP-BART-PR; PR+ is a model that was trained further
    behind pruning and noise. Nothing holds the new text to what the old one says.

    Raises:
        ConfigurationError: ``epsilon`` is not above 0 and at most 10,000, or ``delta`` is not in (0, 1).
    """

    def __init__(
        self,
        model: Autoencoder,
        pruned: Sequence[int],
        epsilon: float,
        delta: float = DELTA,
        rng: random.Random | None = None,
    ) -> None:
        if not (0 < epsilon <= MOST_GAUSSIAN and 0 < delta < 1):
            raise ConfigurationError(
                f"The budget of dp-bart is epsilon {epsilon:g} and delta {delta:g}: give an epsilon "
                f"above 0 and at most {MOST_GAUSSIAN:,.0f}, and a delta between 0 and 1."
            )
        self._model = model
        self._kept = np.setdiff1d(np.arange(model.width), np.array(pruned, int))
        self._budget = epsilon, delta
        self._rng = random.SystemRandom() if rng is None else rng

    @property
    def name(self) -> str:
        """The model, the budget and what it is for, and how many neurons are pruned."""
        epsilon, delta = self._budget
        width = self._model.width
        return (
            f"dp-bart ({self._model.name}, epsilon {epsilon:g} and delta {delta:g} a text, "
            f"{width - len(self._kept)} of {width} neurons pruned)"
        )

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """A new text for each."""
        return [self._rewritten(text.text) for text in texts]

    def _rewritten(self, text: str) -> str:
        pieces = self._model.pieces(text) if text.strip() else []
        if not pieces:
            return ""
        states = self._model.states(pieces)
        clipped = np.clip(states[..., self._kept], -BOUND, BOUND)
        deviation = gaussian_noise(sensitivity(clipped.size), *self._budget)
        noise = np.array([self._rng.gauss(0, deviation) for _ in range(clipped.size)])
        told = np.zeros_like(states)
        told[..., self._kept] = clipped + noise.reshape(clipped.shape)
        return " ".join(filter(None, map(str.strip, self._model.written(told))))
