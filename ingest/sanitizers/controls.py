"""Controls: as many entities as a method takes, but others. They show whether its scores carry anything.

They have no hard rules and no promise to anybody, and are for comparison only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import Literal

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.protocols import Hazards
from ingest.sanitize import Method

Matched = Literal["number", "frequency"]


class Control:
    """Generalizes of each document as many linked entities as ``method`` does not keep, drawn by ``seed``.

    ``number`` draws any. ``frequency`` draws for each of them one that stands as often in the document, so
    that as many mentions change. Every document has draws of its own, so that it is the same alone or in a
    batch.
    """

    def __init__(self, method: Method, matched: Matched, seed: int = 0) -> None:
        self._method = method
        self._matched = matched
        self._seed = seed
        self.name = "random" if matched == "number" else "random, frequency-matched"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[list[Decision]]:
        """The decisions for each mention; scores are not told, because they did not decide."""
        return [self._drawn(*each) for each in zip(texts, self._method.decide(texts, hazards), strict=True)]

    def _drawn(self, text: AnnotatedText, decided: Sequence[Decision]) -> list[Decision]:
        digest = blake2b(text.text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        rng = Random(f"{self._seed} {digest}")
        taken = list(dict.fromkeys(each.entity.link for each in decided if each.action is not Action.KEEP))
        counts = {link: len(mentions) for link, mentions in text.mentions().items()}
        if self._matched == "number":
            drawn = set(rng.sample(list(counts), len(taken)))
        else:
            drawn = _as_often(taken, counts, rng)
        reason = f"drawn at random: {self._method.name} takes as many"
        return [
            Decision(each, None, Action.GENERALIZE if each.link in drawn else Action.KEEP, reason)
            for each in text.entities
        ]


def _as_often(taken: Sequence[int], counts: Mapping[int, int], rng: Random) -> set[int]:
    """As many links of each number of mentions as are taken."""
    drawn: set[int] = set()
    for count, wanted in sorted(Counter(counts[link] for link in taken).items()):
        drawn |= set(rng.sample([link for link, each in counts.items() if each == count], wanted))
    return drawn
