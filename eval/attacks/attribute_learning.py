"""Texts of people who are known in part, as numbers: what ``lethe models train-attributes`` learns from."""

import random
from collections.abc import Mapping, Sequence

import numpy as np

from eval.attacks.attribute_clues import CLUES, ClueReader, Read
from eval.attacks.attribute_truths import KnownText
from eval.attacks.attribute_values import ATTRIBUTES, value_names, values
from ingest.protocols import Encoder
from models.attributes import KnownTexts, Learned

WEIGHTS: Mapping[str, float] = {"posts": 1.0, "visits": 0.5, "dialogues": 0.5, "cases": 0.3, "lives": 0.3}
"""How much a text of each corpus counts: posts most, since they are of those whom nobody describes."""
NAME_WEIGHT, SENTENCE_WEIGHT = 0.1, 0.3
MOST_LIVES = 250
"""Biographies that are drawn: they are of people in few occupations."""
READ_IN: Mapping[str, Sequence[str]] = {
    "occupation": ("posts", "cases", "lives"),
    **dict.fromkeys(("age", "sex"), ("posts", "cases", "visits", "dialogues")),
    **dict.fromkeys(("country", "nationality", "relationship"), ("posts", "cases")),
    "health": ("visits",),
}
"""The corpora that each attribute is learned from."""
BY_VECTORS = ("age", "sex", "occupation", "relationship")
"""The attributes with few values, whose heads also read vectors."""


def drawn(texts: Sequence[KnownText], seed: int) -> list[KnownText]:
    """All texts that say something of their person, but of biographies only some."""
    known = [each for each in texts if each.truths]
    lives = [each for each in known if each.corpus == "lives"]
    some = {id(each) for each in random.Random(seed).sample(lives, min(MOST_LIVES, len(lives)))}
    return [each for each in known if each.corpus != "lives" or id(each) in some]


def texts_to_learn(
    texts: Sequence[KnownText], names: Sequence[tuple[str, str]], encoder: Encoder
) -> list[KnownTexts]:
    """What each attribute is learned from: the texts, ``names`` with their sex, and the values' sentences."""
    return as_numbers(texts, ClueReader(encoder).read([each.text for each in texts]), names, encoder)


def as_numbers(
    texts: Sequence[KnownText], read: Read, names: Sequence[tuple[str, str]], encoder: Encoder
) -> list[KnownTexts]:
    """The same of texts that were read; attributes of which nothing is known are left out."""
    found = []
    for attribute in ATTRIBUTES:
        options = value_names()[attribute]
        rows = [
            row
            for row, each in enumerate(texts)
            if attribute in each.truths and each.corpus in READ_IN[attribute]
        ]
        if not rows:
            continue
        learned = Learned(
            read.vectors[rows],
            read.clues[attribute][rows],
            np.array([options.index(texts[row].truths[attribute][0]) for row in rows], np.int64),
            np.array([WEIGHTS[texts[row].corpus] for row in rows]),
        )
        further = []
        if attribute in BY_VECTORS:
            said = [(one, place) for place, each in enumerate(values()[attribute]) for one in each.sentences]
            further.append(_bare(said, len(options), SENTENCE_WEIGHT, encoder, named=False))
        if attribute == "sex" and names:
            of_sex = [(name, options.index(sex)) for name, sex in names]
            further.append(_bare(of_sex, len(options), NAME_WEIGHT, encoder, named=True))
        found.append(
            KnownTexts(
                attribute,
                options,
                learned,
                tuple(texts[row].group for row in rows),
                tuple(texts[row].corpus for row in rows),
                further,
                attribute in BY_VECTORS,
            )
        )
    return found


def _bare(
    said: Sequence[tuple[str, int]], n_values: int, weight: float, encoder: Encoder, *, named: bool
) -> Learned:
    """Texts by their vectors alone, as the whole text, and as the name in it if they are ``named``."""
    whole = encoder.encode([text for text, _ in said]).astype(np.float64)
    vectors = np.concatenate([whole, whole if named else np.zeros_like(whole)], axis=1)
    truths = np.array([place for _, place in said], np.int64)
    clues = np.zeros((len(said), n_values, len(CLUES)))
    return Learned(vectors, clues, truths, np.full(len(said), weight))
