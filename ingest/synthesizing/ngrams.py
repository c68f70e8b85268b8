"""DP n-gram synthesis, not DP-SGD: documents drawn from noisy counts of short runs of tokens.

Every length from 1 to the order has a histogram of the documents that hold each n-gram. An n-gram longer than
one token counts only where the two that it is made of were released, so that documents do not spend what they
may count for on n-grams that would be lost (after Kim et al. 2021, Differentially Private n-gram Extraction).
What is drawn from the released counts is post-processing: it costs nothing more, however many documents.

The tokens come from a public vocabulary that no document changed.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from ingest.synthesizing.accounting import Guarantee
from ingest.synthesizing.histogram import contribution, released
from models.errors import LetheError

START, END = -1, -2
"""Marks before and behind a document; its own tokens are other numbers."""
MOST_TOKENS = 512

Gram = tuple[int, ...]
Reported = Callable[[str, int, int | None], None]
"""What is being done, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class NgramModel:
    """The released counts of n-grams of every length up to the order."""

    order: int
    counts: Mapping[Gram, int] = field(repr=False)

    @property
    def kept(self) -> tuple[int, ...]:
        """How many n-grams of each length were released, from 1 to the order."""
        lengths = Counter(map(len, self.counts))
        return tuple(lengths[length] for length in range(1, self.order + 1))


def learned(
    documents: Sequence[Sequence[int]],
    order: int,
    guarantee: Guarantee | None,
    rng: Random,
    reported: Reported = lambda *_: None,
) -> NgramModel:
    """Count and release n-grams; without a guarantee every n-gram as it was counted.

    Raises:
        LetheError: No token stands in enough documents to be released.
        ValueError: The guarantee is for another number of histograms than the order.
    """
    if guarantee and guarantee.histograms != order:
        raise ValueError(f"a guarantee for {guarantee.histograms} histograms does not fit order {order}")
    kept: dict[Gram, int] = {}
    for length in range(1, order + 1):
        counts = Counter[Gram]()
        for done, document in enumerate(documents, 1):
            grams = list(dict.fromkeys(_grams(document, length, kept)))
            counts.update(contribution(grams, guarantee, rng) if guarantee else grams)
            reported(f"counting n-grams of {length}", done, len(documents))
        kept |= released(counts, guarantee, rng) if guarantee else dict(sorted(counts.items()))
    if all(gram[-1] == END for gram in kept):
        raise LetheError(
            f"no token stands in enough of the {len(documents):,} documents to be released. Give more "
            "documents, a larger --epsilon, or a smaller --per-document."
        )
    return NgramModel(order, kept)


def _grams(document: Sequence[int], length: int, kept: Mapping[Gram, int]) -> Iterator[Gram]:
    """The n-grams of a document; of longer ones than a token those whose two parts are ``kept``."""
    start = (START,) * (length - 1)
    tokens = (*start, *document, END)
    for place in range(len(tokens) - length + 1):
        gram = tokens[place : place + length]
        if length == 1 or ((gram[:-1] == start or gram[:-1] in kept) and gram[1:] in kept):
            yield gram


def drawn(model: NgramModel, n: int, rng: Random, most: int = MOST_TOKENS) -> Iterator[list[int]]:
    """The tokens of ``n`` documents; each ends where an end is drawn, or at ``most`` tokens.

    The longest context decides behind which something was released: sampling with back-off.
    """
    following: dict[Gram, tuple[list[int], list[int]]] = {}
    for gram, count in model.counts.items():
        tokens, sums = following.setdefault(gram[:-1], ([], []))
        tokens.append(gram[-1])
        sums.append(count + (sums[-1] if sums else 0))
    for _ in range(n):
        document = [START] * (model.order - 1)
        while len(document) < model.order - 1 + most:
            contexts = (tuple(document[len(document) - length :]) for length in reversed(range(model.order)))
            tokens, sums = next(following[each] for each in contexts if each in following)
            token = tokens[bisect(sums, rng.randrange(sums[-1]))]
            if token == END:
                break
            document.append(token)
        yield document[model.order - 1 :]
