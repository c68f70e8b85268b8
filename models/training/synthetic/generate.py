"""Invented examples, as many as are wanted."""

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from models.training.examples import SYNTHETIC, Example
from models.training.synthetic.corruption import corrupted, tidied
from models.training.synthetic.frames import Frame, frames
from models.training.synthetic.labels import asked_for
from models.training.synthetic.render import render
from models.training.synthetic.stage import fakers, new_stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faker import Faker


def synthetic_examples(count: int, seed: int) -> Iterator[Example]:
    """``count`` invented English texts with every mention marked; the same seed gives the same texts.

    The frames come in rounds, each frame once a round in an order of the round's own, so that a short
    run holds every kind of text. A mention's label may be missing from ``asked``: the frame then holds
    more of its kind than are marked. The first examples of a long run are those of a short one.

    Args:
        count: how many examples, 0 or more.
        seed: what the texts depend on, and nothing else does.

    Raises:
        ModelUnavailable: the library that invents names is not installed.
        ConfigurationError: a frame names what does not exist.
    """
    random = Random(seed)
    sources = fakers(random)
    waiting: list[Frame] = []
    for number in range(count):
        if not waiting:
            waiting = random.sample(frames(), len(frames()))
        yield _example(waiting.pop(), f"{SYNTHETIC}-{seed}-{number}", random, sources)


def _example(frame: Frame, name: str, random: Random, sources: "Mapping[str, Faker]") -> Example:
    piece = corrupted(tidied(render(frame.nodes, new_stage(random, sources))), random)
    mentions = tuple(sorted({mention for mention in piece.mentions if mention.start < mention.end}))
    asked = asked_for({mention.label for mention in mentions}, frame.unvouched)
    return Example(name, SYNTHETIC, frame.id, piece.text, mentions, asked)
