"""Mechanisms of local differential privacy: one value in, one random value out.

A mechanism is epsilon-locally differentially private if, for any two inputs and any set of outputs, the
probabilities of the set differ by a factor of at most e^epsilon. Post-processing of an output (rounding,
clipping, wording) preserves this; the epsilons of several outputs add up.

Gaussian noise has a second number: the factor may be exceeded with a probability of at most delta.

The definition is for real numbers. These functions use floating-point numbers and draw multiples of 2^-53,
so the factor holds up to rounding. Unrounded outputs of ``piecewise`` may leak more than the formula says:
release only rounded ones.
"""

import math
from collections.abc import Sequence
from random import Random

LEAST_EPSILON = 0.001
"""The least budget of a document for ``lprag``."""
MOST_EPSILON = 700.0
"""e^epsilon is still finite; such a budget protects nothing."""
MOST_GAUSSIAN = 10_000.0
"""For Gaussian noise, whose literature has such budgets: beyond, rounding would tell delta too small."""
_HALVINGS = 80
"""Of an interval around the noise, which is then exact up to rounding and never too small."""


def keep_probability(options: int, epsilon: float) -> float:
    """The probability of a true answer in randomized response: e^epsilon / (e^epsilon + options - 1)."""
    _check(epsilon)
    if options < 2:
        raise ValueError(f"randomized response needs 2 options or more, not {options}")
    return 1 / (1 + (options - 1) * math.exp(-epsilon))


def randomized_response(value: int, options: int, epsilon: float, rng: Random) -> int:
    """k-ary randomized response (Kairouz et al. 2014): the value, or else any other option, uniformly.

    Values are 0 to ``options`` - 1. Epsilon-LDP if every input has the same options.
    """
    if not 0 <= value < options:
        raise ValueError(f"option {value} is not one of {options}")
    if rng.random() < keep_probability(options, epsilon):
        return value
    other = rng.randrange(options - 1)
    return other + (other >= value)


def exponential_probabilities(utilities: Sequence[float], epsilon: float) -> list[float]:
    """The exponential mechanism (McSherry and Talwar 2007): e^(epsilon u / 2) for each item, scaled to 1.

    ``utilities`` rate how well each item of a fixed list represents the input. They lie in [0, 1], so the
    sensitivity is at most 1, as the formula requires.
    """
    _check(epsilon)
    if not utilities or not all(0 <= utility <= 1 for utility in utilities):
        raise ValueError("the exponential mechanism needs at least one utility, all of them in [0, 1]")
    best = max(utilities)
    weights = [math.exp(epsilon * (utility - best) / 2) for utility in utilities]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def exponential(utilities: Sequence[float], epsilon: float, rng: Random) -> int:
    """The index of an item, drawn with ``exponential_probabilities``: epsilon-LDP for a fixed list."""
    (drawn,) = rng.choices(range(len(utilities)), exponential_probabilities(utilities, epsilon))
    return drawn


def piecewise_reach(epsilon: float) -> float:
    """C: outputs of the piecewise mechanism lie in [-C, C], C > 1."""
    _check(epsilon)
    return (1 + math.exp(-epsilon / 2)) / -math.expm1(-epsilon / 2)


def piecewise(value: float, epsilon: float, rng: Random) -> float:
    """The piecewise mechanism (Wang et al. 2019) for a number in [-1, 1]: unbiased and epsilon-LDP.

    With probability e^(epsilon/2) / (e^(epsilon/2) + 1) uniform in an interval of length C - 1 around the
    value, else uniform in the rest of [-C, C].
    """
    reach, (left, right) = piecewise_reach(epsilon), _near(value, epsilon)
    if rng.random() < 1 / (1 + math.exp(-epsilon / 2)):
        return left + rng.random() * (right - left)
    place = rng.random() * (reach + 1)
    return place - reach if place < left + reach else right + place - (left + reach)


def piecewise_density(output: float, value: float, epsilon: float) -> float:
    """The density of ``piecewise(value, epsilon)`` at ``output``: one of two, e^epsilon apart, or 0."""
    reach, (left, right) = piecewise_reach(epsilon), _near(value, epsilon)
    if abs(output) > reach:
        return 0.0
    small = math.exp(-epsilon / 2)
    inside = -math.expm1(-epsilon / 2) / (2 * small * (1 + small))
    return inside if left <= output <= right else inside * math.exp(-epsilon)


def perturbed_number(value: float, low: float, high: float, epsilon: float, rng: Random) -> float:
    """A number of a fixed public range by the piecewise mechanism: epsilon-LDP, in [low, high].

    Input and output are clipped to the range. Clipping the output is post-processing; it makes the value
    biased, and with a small epsilon mostly one of the two ends.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    scaled = min(1.0, max(-1.0, (value - middle) / half))
    return min(high, max(low, middle + half * piecewise(scaled, epsilon, rng)))


def gaussian_delta(noise: float, epsilon: float) -> float:
    """The least delta at which Gaussian noise is (epsilon, delta)-LDP (Balle and Wang 2018, theorem 8).

    ``noise`` is its standard deviation over the L2 sensitivity: over the farthest that two inputs are apart.
    """
    from scipy.special import log_ndtr

    # Logarithms, since e^epsilon overflows at budgets that the literature uses.
    likely = float(log_ndtr(0.5 / noise - epsilon * noise))
    allowed = epsilon + float(log_ndtr(-0.5 / noise - epsilon * noise))
    return math.exp(likely) * -math.expm1(min(0.0, allowed - likely))


def gaussian_noise(sensitivity: float, epsilon: float, delta: float) -> float:
    """The standard deviation of the least Gaussian noise that is (epsilon, delta)-LDP, found by halving.

    For any epsilon up to ``MOST_GAUSSIAN``, unlike the classical sensitivity * sqrt(2 ln(1.25 / delta)) /
    epsilon, which is proved for epsilon of at most 1. ``delta`` lies in (0, 1).
    """
    if not (sensitivity > 0 and 0 < epsilon <= MOST_GAUSSIAN and 0 < delta < 1):
        raise ValueError(
            f"sensitivity must be above 0, epsilon too and at most {MOST_GAUSSIAN:g}, delta between 0 and 1"
        )
    low, high = 0.0, 1.0
    while gaussian_delta(high, epsilon) > delta:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if gaussian_delta(middle, epsilon) > delta:
            low = middle
        else:
            high = middle
    return sensitivity * high


def _near(value: float, epsilon: float) -> tuple[float, float]:
    if not -1 <= value <= 1:
        raise ValueError("the piecewise mechanism takes numbers in [-1, 1]: scale and clip them first")
    reach = piecewise_reach(epsilon)
    left = (reach + 1) / 2 * value - (reach - 1) / 2
    return left, left + reach - 1


def _check(epsilon: float) -> None:
    if not 0 < epsilon <= MOST_EPSILON:
        raise ValueError(f"epsilon must be above 0 and at most {MOST_EPSILON:g}, not {epsilon}")
