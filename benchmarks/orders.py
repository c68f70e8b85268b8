"""Fit the judge of orders (``retrieval/guards/orders.py``) to the sentences of ``orders.txt``.

``python -m benchmarks.orders`` writes its weights and prints how it does, by lines that it did not learn
from: the shares of orders and of ordinary sentences that are held to be orders, and the same share of the
passages that were set aside. In ``orders.txt`` {a|b} stands for either; all wordings of a line are left out
together. Its ordinary sentences mirror the orders; the reader's passages say what documents are like.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ingest.language.sentences import split_sentences
from models.corpora.passages import Part, passages
from retrieval.guards import orders

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SENTENCES = Path(__file__).with_name("orders.txt")
WEIGHTS = Path(orders.__file__).with_suffix(".safetensors")
WORDINGS = 10
"""How many wordings of a line are learned, at most."""
BACKGROUND = 16_000
"""How many sentences of passages are learned."""
BACKGROUND_WEIGHT = 0.3
"""How much each of them weighs; all wordings of a line together weigh from 1 to about 3."""
SCALE = 14.0
"""Length of a sentence's parts together: the longer, the less their weights are kept down."""
FOLDS = 5
_ALTERNATIVES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Learned:
    """A sentence to learn from; all of one ``line`` are left out together. Passages have line -1."""

    sentence: str = field(repr=False)
    order: bool
    weight: float
    line: int


def lines() -> list[tuple[str, bool]]:
    """The lines of ``orders.txt``, each with whether it is an order."""
    text = SENTENCES.read_text(encoding="utf-8")
    told, ordinary = text.removeprefix("[orders]\n").split("[ordinary]\n")
    return [(line, True) for line in told.splitlines()] + [(line, False) for line in ordinary.splitlines()]


def wordings(line: str) -> list[str]:
    """Some of the sentences that a line stands for, drawn so that every alternative occurs."""
    parts = [piece.split("|") if n % 2 else [piece] for n, piece in enumerate(_ALTERNATIVES.split(line))]
    drawn = [random.Random(f"{n} {line}").sample(part, len(part)) for n, part in enumerate(parts)]
    most = min(WORDINGS, int(np.prod([len(part) for part in parts])))
    return list(dict.fromkeys("".join(part[n % len(part)] for part in drawn) for n in range(most)))


def examples() -> Iterator[Learned]:
    """All that is learned; each line once more without blanks, as words that are spelled join."""
    background = background_of("learn")
    for number, (line, order) in enumerate(lines()):
        written = wordings(line)
        yield from (Learned(each, order, len(written) ** -0.5, number) for each in written)
        yield Learned(written[0].replace(" ", ""), order, 0.5, number)
    yield from (Learned(each, False, BACKGROUND_WEIGHT, -1) for each in background[:BACKGROUND])


def background_of(part: Part) -> list[str]:
    """Sentences of passages, shuffled."""
    found = [each for passage in passages(part) for each in split_sentences(passage.text) if " " in each]
    return random.Random(1).sample(found, len(found))


def fitted(rows: Sequence[Learned]) -> NDArray[np.float64]:
    """The weights, the prior last: logistic regression with small weights, the same for the same rows."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000).fit(
        _matrix(row.sentence for row in rows) * SCALE,
        [row.order for row in rows],
        sample_weight=[row.weight for row in rows],
    )
    return np.append(model.coef_[0] * SCALE, model.intercept_)


def _matrix(sentences: Iterable[str]) -> "csr_array":
    from scipy.sparse import csr_array

    found = [orders.places_of(each) for each in sentences]
    amounts = np.concatenate([np.full(len(places), len(places) ** -0.5) for places in found if places])
    starts = np.cumsum([0, *map(len, found)])
    return csr_array(
        (amounts, np.concatenate(found).astype(np.int64), starts), shape=(len(found), orders.BUCKETS)
    )


def scores(weights: NDArray[np.float64], sentences: Sequence[str]) -> NDArray[np.float64]:
    """The log odds of sentences."""
    return np.asarray(_matrix(sentences) @ weights[:-1] + weights[-1], np.float64)


def main() -> None:
    """Fit the judge, write its weights and print how it does."""
    from safetensors.numpy import save_file

    rows = [*examples()]
    whole = fitted(rows)
    digest = sha256(SENTENCES.read_bytes()).hexdigest()
    save_file({"weights": whole.astype(np.float16)}, WEIGHTS, {"learned": digest})
    told: dict[bool, list[float]] = {True: [], False: []}
    for fold in range(FOLDS):
        weights = fitted([row for row in rows if row.line % FOLDS != fold or row.line < 0])
        for number, (line, order) in enumerate(lines()):
            if number % FOLDS == fold:
                told[order] += scores(weights, wordings(line)[:1]).tolist()
    aside = scores(whole, background_of("aside"))
    for limit in np.arange(-2, 2.1, 0.5):
        print(
            json.dumps(
                {
                    "limit": limit,
                    "orders": round(float(np.mean(np.array(told[True]) >= limit)), 4),
                    "ordinary": round(float(np.mean(np.array(told[False]) >= limit)), 4),
                    "passages": round(float(np.mean(aside >= limit)), 5),
                }
            )
        )


if __name__ == "__main__":
    main()
