"""Which wrong value a text is to suggest: drawn from a fixed set, far from the truth, the same for an author.

Value sets are our own, since the paper does not print its sets; how far a target lies from the truth is too.
Randomized response (Warner 1965) protects which value was drawn, and nothing else: a rewriter that reads the
text may still give it away.
"""

import hmac
import math
import random
from collections.abc import Callable, Mapping, Sequence

YEARS = 10
"""The fewest between the true age and a target: matching takes five years for the same."""
VALUES: Mapping[str, Sequence[str]] = {
    "age": [str(age) for age in range(18, 81, 5)],
    "sex": ["female", "male"],
    "relationship": ["single", "in a relationship", "married", "divorced"],
    "income": ["no income", "low", "medium", "high", "very high"],
    "education": [
        "no high school",
        "in high school",
        "high school diploma",
        "in college",
        "college degree",
        "PhD",
    ],
    "occupation": [
        "nurse", "carpenter", "teacher", "software developer", "truck driver", "accountant", "farmer", "chef",
        "lawyer", "musician", "police officer", "shop assistant", "biologist", "journalist", "electrician",
    ],
    "country": [
        "Australia", "Brazil", "Canada", "Chile", "Egypt", "France", "Germany", "Ghana", "India", "Ireland",
        "Italy", "Japan", "Mexico", "New Zealand", "Poland", "South Africa", "Spain", "Sweden", "Turkey",
        "United Kingdom", "United States", "Vietnam",
    ],
    "health": [
        "asthma", "diabetes", "migraine", "epilepsy", "hay fever", "high blood pressure", "arthritis",
        "eczema", "depression", "an infection", "a broken arm",
    ],
}  # fmt: skip
"""The values of each attribute that a target may be."""
SAME_SET = {"nationality": "country"}
Same = Callable[[str, str, str], bool]
"""Whether, of an attribute, a guess says the same as the truth."""
Draw = Callable[[str, str, str], str]
"""From author, attribute and true value to the target. Raises KeyError for an attribute without values."""


def drawn_target(key: bytes, same: Same, chosen: Mapping[str, str] | None = None) -> Draw:
    """The value that somebody chose for the attribute; where there is none, or it is the truth, a drawn one.

    Uniform over what is not the truth, and for an age far from it. The draw is keyed and depends on author
    and attribute alone, so that many texts of one author suggest the same: by what is never suggested, an
    observer would find the truth.
    """

    def draw(author: str, attribute: str, truth: str) -> str:
        value = (chosen or {}).get(attribute)
        if value is not None and not same(attribute, value, truth):
            return value
        others = [each for each in _values(attribute) if _far(attribute, each, truth, same)]
        return _rng(key, author, attribute).choice(others)

    return draw


def randomized_response(key: bytes, epsilon: float, same: Same) -> Draw:
    """The truth with probability e^epsilon / (e^epsilon + k - 1), else one of the other k - 1 values evenly.

    Epsilon-locally differentially private as to the value drawn, for one draw of an author and attribute; at
    0 uniform over all values. A truth that is none of the values is drawn like any other.

    Raises:
        ValueError: ``epsilon`` is below 0.
    """
    if epsilon < 0:
        raise ValueError(f"epsilon is {epsilon:g}: give 0 or more")

    def draw(author: str, attribute: str, truth: str) -> str:
        rng, values = _rng(key, author, attribute), _values(attribute)
        own = next((each for each in values if same(attribute, each, truth)), None)
        keeps = 1 / (1 + (len(values) - 1) * math.exp(-epsilon))
        if own is not None and rng.random() < keeps:
            return own
        return rng.choice([each for each in values if each != own])

    return draw


def _values(attribute: str) -> Sequence[str]:
    return VALUES[SAME_SET.get(attribute, attribute)]


def _far(attribute: str, value: str, truth: str, same: Same) -> bool:
    if same(attribute, value, truth):
        return False
    return attribute != "age" or not truth.isdigit() or abs(int(value) - int(truth)) >= YEARS


def _rng(key: bytes, author: str, attribute: str) -> random.Random:
    return random.Random(hmac.digest(key, f"{attribute}\0{author}".encode(), "sha256"))
