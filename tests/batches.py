"""What an answer must not depend on: the batch that an item is in, and the order of the batch."""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from models.gliner_model import FoundSpan

_Item = TypeVar("_Item")


def assert_batches_do_not_show(
    answered: Callable[[Sequence[_Item]], Any],
    items: Sequence[_Item],
    assert_alike: Callable[[Any, Any], None],
) -> Any:
    """An item is answered alike in a batch, alone and in any order; the answers of the batch."""
    together = answered(items)
    order = random.Random(0).sample(range(len(items)), len(items))
    shuffled = dict(zip(order, answered([items[index] for index in order]), strict=True))
    for index, item in enumerate(items):
        assert_alike(answered([item])[0], together[index])
        assert_alike(shuffled[index], together[index])
    return together


def assert_near(one: Any, other: Any) -> None:
    assert one == pytest.approx(other, abs=1e-4)


def places(found: Sequence[FoundSpan]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in found]


def assert_alike(one: Sequence[FoundSpan], other: Sequence[FoundSpan]) -> None:
    assert places(one) == places(other)
    assert_near([span.score for span in one], [span.score for span in other])
