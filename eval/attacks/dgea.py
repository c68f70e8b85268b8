"""Words before a command, chosen so that its vector comes to lie far from all that was found.

After the dynamic greedy embedding attack (DGEA, Cohen et al. 2024), in a form that needs no accelerator.
There a target moves away from the centroid of what was found in up to 30,000 steps of Adam, and 20 tokens are
chosen in three passes among 512 candidates each. Here the target has a closed form, and one pass over four
words of ours encodes sixteen candidates for each, drawn from those whose own vectors promise most.

Where meanings are searched, as by MiniLM, it brings out more than random words, or as much where the subjects
of a base lie as wide apart as those. Where words lie in all directions by themselves, as when hashed, random
ones bring out more: there it is no evidence.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eval.attacks.adaptive import USER, Seen, asked, pieces_of
from eval.attacks.extraction import UNTARGETED_COMMAND
from eval.attacks.words import WORDS
from eval.documents import Attempt
from eval.protocols import Target
from ingest.protocols import Encoder
from models.vectors import Vectors

PREFIX_WORDS, CANDIDATES = 4, 16
NEAREST = 4 * CANDIDATES
"""The words from which the candidates of a place are drawn: those that point most to what is missing."""
AVOIDED = 4
"""The latest passages are avoided, at most one for so many dimensions: directions have to be left."""
SAME = 0.95
"""The cosine from which two pieces are the same passage."""


@dataclass(frozen=True, slots=True)
class Dgea:
    """Each question aims at a vector of its own. ``encoder`` is the one that the base is searched with."""

    encoder: Encoder
    seed: int = 0

    name = "dgea"
    goal = "Bring out passages from every direction of the space that a knowledge base is searched in."
    threat_model = f"{USER} This encoder is the one that the documents are searched with."
    reference = "Cohen et al. 2024, Unleashing Worms and Extracting Data (dynamic greedy embedding attack)"

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
        """Aim at a vector drawn like those of words, at right angles to what was found."""
        words, normal = random.Random(self.seed), np.random.default_rng(self.seed)
        passages, vectors = Seen(self.encoder), self.encoder.encode(WORDS)
        mean, deviation = vectors.mean(axis=0), vectors.std(axis=0)
        for number in range(budget):
            drawn = normal.normal(mean, deviation).astype(np.float32)
            found, _ = np.linalg.qr(passages.vectors[-(self.encoder.dim // AVOIDED) :].T)
            aim = drawn - found @ (found.T @ drawn)
            prefix = self._prefix(aim / np.linalg.norm(aim), vectors, words)
            attempt = asked(target, number, "aimed", prefix + UNTARGETED_COMMAND)
            yield attempt
            passages.news(pieces_of(attempt), SAME)

    def _prefix(self, aim: Vectors, vectors: Vectors, rng: random.Random) -> str:
        """Random words, of which each in turn gives way to its best candidate."""
        chosen = rng.choices(WORDS, k=PREFIX_WORDS)
        reached = self.encoder.encode([" ".join(chosen) + UNTARGETED_COMMAND])[0]
        for place in range(PREFIX_WORDS):
            nearest = np.argsort(-(vectors @ (aim - reached)))[:NEAREST].tolist()
            tried = [chosen] + [
                [*chosen[:place], WORDS[each], *chosen[place + 1 :]]
                for each in rng.sample(nearest, CANDIDATES)
            ]
            encoded = self.encoder.encode([" ".join(each) + UNTARGETED_COMMAND for each in tried])
            best = int((encoded @ aim).argmax())
            chosen, reached = tried[best], encoded[best]
        return " ".join(chosen)
