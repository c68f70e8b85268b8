"""Exact samples of the discrete Gaussian distribution, in whole numbers alone.

After Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy, algorithms 1 to 3, a
vector at a time. Noise of floating-point numbers has gaps that give away what it hides (Mironov 2012, On
Significance of the Least Significant Bits): here every coin is a comparison of whole numbers.

The noise is as secret as its generator. Release nothing that was drawn with another one than
``random.SystemRandom``: whoever knows or guesses a seed takes the noise away.
"""

import math
from collections.abc import Callable
from random import Random

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

MOST_VARIANCE = 2**24
"""Up to here 64 bits hold every product, but with a probability below e^-180."""


def discrete_gaussian(variance: int, n: int, rng: Random) -> Whole:
    """``n`` samples; the probability of k is proportional to exp(-k^2 / (2 variance)).

    Raises:
        ValueError: The variance is below 1 or above ``MOST_VARIANCE``.
    """
    if not 1 <= variance <= MOST_VARIANCE:
        raise ValueError(f"the variance must be from 1 to {MOST_VARIANCE}, not {variance}")
    scale = math.isqrt(variance) + 1

    def tried(n: int) -> Whole:
        drawn = _discrete_laplace(scale, n, rng)
        distance = np.abs(drawn) * scale - variance
        return drawn[_exponential_coins(distance**2, 2 * variance * scale**2, rng)]

    return _accepted(tried, n)


def _discrete_laplace(scale: int, n: int, rng: Random) -> Whole:
    """The probability of k is proportional to exp(-abs(k) / scale)."""

    def tried(n: int) -> Whole:
        rest = _below(scale, n, rng)
        rest = rest[_exponential_coins(rest, scale, rng)]
        size = rest + scale * _successes(len(rest), rng)
        negative = _below(2, len(size), rng) == 1
        # Zero has one sign only.
        counted = ~negative | (size > 0)
        signed: Whole = np.where(negative, -size, size)[counted]
        return signed

    return _accepted(tried, n)


def _exponential_coins(numerators: Whole, denominator: int, rng: Random) -> NDArray[np.bool_]:
    """Heads with probability exp(-numerator / denominator)."""
    times, rest = np.divmod(numerators, denominator)
    return (_successes(len(times), rng) >= times) & _short_coins(rest, denominator, rng)


def _successes(n: int, rng: Random) -> Whole:
    """How often a coin of probability 1/e shows heads in a row: at least k times with exp(-k)."""
    counts = np.zeros(n, np.int64)
    on = np.arange(n)
    while len(on):
        on = on[_short_coins(np.ones(len(on), np.int64), 1, rng)]
        counts[on] += 1
    return counts


def _short_coins(numerators: Whole, denominator: int, rng: Random) -> NDArray[np.bool_]:
    """Heads with probability exp(-numerator / denominator), for numerators up to the denominator."""
    heads = np.ones(len(numerators), np.bool_)
    on, turn = np.arange(len(numerators)), 1
    while len(on):
        on = on[_below(denominator * turn, len(on), rng) < numerators[on]]
        heads[on] ^= True
        turn += 1
    return heads


def _below(limit: int, n: int, rng: Random) -> Whole:
    """Uniform whole numbers from 0 to ``limit`` - 1."""
    shift = np.uint64(64 - max(1, (limit - 1).bit_length()))

    def tried(n: int) -> Whole:
        bits = np.frombuffer(rng.randbytes(8 * n), np.uint64) >> shift
        return bits[bits < limit].astype(np.int64)

    return _accepted(tried, n)


def _accepted(tried: Callable[[int], Whole], n: int) -> Whole:
    """What of repeated trials is accepted, ``n`` in all."""
    parts = [np.empty(0, np.int64)]
    while (missing := n - sum(map(len, parts))) > 0:
        parts.append(tried(missing))
    return np.concatenate(parts)
