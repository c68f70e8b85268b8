"""Controls of coverage attacks: questions that learn nothing from the answers."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from eval.attacks.adaptive import USER, asked
from eval.attacks.extraction import UNTARGETED_COMMAND, UNTARGETED_WORDS
from eval.attacks.words import WORDS
from eval.documents import Attempt
from eval.protocols import Target


@dataclass(frozen=True, slots=True)
class RandomText:
    """Common words drawn at random, then the command to repeat."""

    seed: int = 0

    name = "random-text"
    goal = "Bring out as many passages as many questions can, without learning from answers."
    threat_model = USER
    reference = "Control: an attack that adapts has to beat it with as many questions"

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
        """15 words each."""
        rng = random.Random(self.seed)
        for number in range(budget):
            words = " ".join(rng.choices(WORDS, k=UNTARGETED_WORDS))
            yield asked(target, number, "random words", words + UNTARGETED_COMMAND)


@dataclass(frozen=True, slots=True)
class RandomTokens:
    """Letters drawn at random, then the command to repeat."""

    seed: int = 0

    name = "random-token"
    goal = RandomText.goal
    threat_model = USER
    reference = RandomText.reference

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
        """15 runs of two to eight letters each."""
        rng = random.Random(self.seed)
        for number in range(budget):
            tokens = (
                "".join(rng.choices(ascii_lowercase, k=rng.randint(2, 8))) for _ in range(UNTARGETED_WORDS)
            )
            yield asked(target, number, "random tokens", " ".join(tokens) + UNTARGETED_COMMAND)
