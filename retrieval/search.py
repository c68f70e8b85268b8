"""How passages are found: by their vectors, by those of their documents, and by the words of the question.

All of it is made from sanitized text alone. ``Search`` holds what can be switched; the defaults were chosen
on development data (docs/decisions.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from ingest.protocols import Encoder

NEAREST, CANDIDATES = 1_000, 100
"""How many passages the vectors propose for a question, and how many its words. Many passages may hold the
same words: among these the vectors choose."""


@dataclass(frozen=True, slots=True)
class Search:
    """What a passage's score is made of.

    ``words`` is the weight of ``coverage`` beside the similarity, as a share of the ``room_of`` the encoder;
    0 searches by vectors alone. ``document`` is the weight of the document's vector beside that of the
    passage, 1, in their mean. ``left_out`` says whether vectors are made without descriptors. The last two
    are fixed when a collection is made.
    """

    words: float = 0.75
    document: float = 0.5
    left_out: bool = True


HYBRID, DENSE = Search(), Search(words=0.0)
PLAIN = Search(words=0.0, document=0.0, left_out=False)
"""The vectors of passages and nothing else, as in the papers."""


_UNRELATED = (
    *("The train leaves at noon.", "Her kidneys were checked.", "Interest rates rose again."),
    *("Stir the soup slowly.", "The court dismissed the claim.", "Please reset my password."),
    *("A storm hit the coast.", "He plays the violin.", "The roof needs new tiles."),
    *("Sales fell in spring.", "Wash the wound daily.", "The bus was full of students."),
)


def room_of(encoder: Encoder) -> float:
    """How far similarities of an encoder reach above that of unrelated texts, in (0, 1].

    Some encoders give unrelated texts a cosine of 0.1, others of 0.8; a weight of words that suits the ones
    would leave the others' vectors no say.
    """
    rows = encoder.encode(_UNRELATED).astype(np.float64)
    apart = len(rows) * (len(rows) - 1)
    return float(np.clip(1 - ((rows @ rows.T).sum() - len(rows)) / apart, 0.05, 1.0))


def coverage(
    holders: Sequence[NDArray[np.int64]], passages: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How much of a question passages cover, in (0, 1]: their ids in order, and their shares.

    ``holders`` has the passages that hold each word, ``passages`` is the number of all. Words count by their
    inverse document frequency, as in BM25 with k1 = 0 (Robertson and Zaragoza 2009, The Probabilistic
    Relevance Framework): passages are of one length, and a word that is repeated says little more.
    """
    counts = np.array([len(each) for each in holders])
    if not counts.sum():
        return np.empty(0, dtype=np.int64), np.empty(0)
    weights = np.array([log(1 + (passages - count + 0.5) / (count + 0.5)) for count in counts])
    ids, places = np.unique(np.concatenate(holders), return_inverse=True)
    return ids, np.bincount(places, np.repeat(weights, counts)) / weights.sum()
