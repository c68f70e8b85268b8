"""Random controls: they replace as many entities as a method, drawn at random.

They show whether the method's scores are informative. They have no hard rules and give no guarantee: use them
for comparison only. ``within_rules`` has controls that keep the hard rules.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import Literal

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.protocols import Hazards, Method

Matched = Literal["number", "frequency"]


class Control:
    """Generalizes as many linked entities per document as ``method`` replaces, drawn with ``seed``.

    ``number`` draws any. ``frequency`` draws entities with the same numbers of mentions, so that as many
    mentions change. Each document is drawn independently, so results do not depend on the batch.
    """

    def __init__(self, method: Method, matched: Matched, seed: int = 0) -> None:
        self._method = method
        self._matched = matched
        self._seed = seed
        self.name = "random" if matched == "number" else "random, frequency-matched"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """The decision for each mention; without scores, because these did not decide."""
        decided = self._method.decide(texts, hazards)
        return [self._drawn(text, each) for text, each in zip(texts, decided, strict=True)]

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
    """For each number of mentions, as many links as are taken."""
    drawn: set[int] = set()
    for count, wanted in sorted(Counter(counts[link] for link in taken).items()):
        drawn |= set(rng.sample([link for link, each in counts.items() if each == count], wanted))
    return drawn
