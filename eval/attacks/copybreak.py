"""Exploring and exploiting in turn, to copy a knowledge base passage by passage.

After CopyBreakRAG (Jiang et al.), in a form that needs no language model. Exploring asks with text unlike all
that was seen. Exploiting asks with the ends and the beginnings of passages, which retrieve what follows and
what precedes them.
"""

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval.attacks.adaptive import USER, Seen, asked, pieces_of, rare_words
from eval.attacks.extraction import UNTARGETED_COMMAND
from eval.attacks.words import WORDS
from eval.documents import Attempt
from eval.protocols import Target
from ingest.protocols import Encoder

PARAGRAPH_WORDS, THEMES = 50, 4
"""The words of an exploring paragraph, and how many different ones: many would all mean about the same."""
DRAWN = 8
"""Paragraphs to choose from for one exploring question."""
SAME = 0.95
"""The cosine from which two pieces are the same passage."""
TURN = 10
"""Questions before exploring and exploiting change turns."""
WINDOWS = (12, 24, 48)
"""The words of a passage with which its continuation is asked for, three times in each direction."""


@dataclass(frozen=True, slots=True)
class CopyBreak:
    """Ten questions of each kind in turn; with nothing to exploit it explores."""

    encoder: Encoder
    seed: int = 0

    name = "copybreak"
    goal = "Copy as much of the knowledge base as a number of questions allows."
    threat_model = USER
    reference = "Jiang et al., Feedback-Guided Extraction of Knowledge Base from RAG (CopyBreakRAG)"

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
        """Explore, then exploit what came out, the widest-apart continuations of all passages first."""
        rng, passages = random.Random(self.seed), Seen(self.encoder)
        explored, open_ends = Seen(self.encoder), list[tuple[int, int, _End]]()
        for number in range(budget):
            if number // TURN % 2 and open_ends:
                end = heapq.heappop(open_ends)[-1]
                kind, text = end.direction, end.text
            else:
                kind, text = "explore", self._unlike(passages, explored, rng)
            attempt = asked(target, number, kind, text + UNTARGETED_COMMAND)
            yield attempt
            for piece in passages.news(pieces_of(attempt), SAME):
                for order, end in enumerate(_ends_of(piece)):
                    heapq.heappush(open_ends, (order, number * 100 + len(open_ends), end))

    def _unlike(self, passages: Seen, explored: Seen, rng: random.Random) -> str:
        """Of paragraphs drawn at random, the one least like all passages and all earlier ones.

        Half of them take their words from passages, so that they stay in the domain.
        """
        known = [word for text in passages.texts for word in rare_words(text, 10)]
        drawn = [
            " ".join(
                rng.choices(rng.choices(known if known and turn % 2 else WORDS, k=THEMES), k=PARAGRAPH_WORDS)
            )
            for turn in range(DRAWN)
        ]
        vectors = self.encoder.encode(drawn)
        best = int(np.maximum(passages.nearest(vectors), explored.nearest(vectors)).argmin())
        explored.add(drawn[best], vectors[best])
        return drawn[best]


@dataclass(frozen=True, slots=True, order=True)
class _End:
    """An end of a passage, whose continuation was not asked for yet."""

    direction: str
    text: str = field(repr=False)


def _ends_of(piece: str) -> Sequence[_End]:
    words = piece.split()
    return [
        end
        for window in WINDOWS
        for end in (_End("forward", " ".join(words[-window:])), _End("backward", " ".join(words[:window])))
    ]
