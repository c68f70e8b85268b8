"""How much of a benchmark is wanted."""

from dataclasses import dataclass

from models.catalog import ModelRef


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes and parts. ``prompts`` are those of each aim of an attack.

    A thorough run measures every strength for the frontier, the grid of weights, promises and canaries, and
    attacks each method in every way. One that is not attacks only what the summary compares, once.
    ``encoders`` say where those come from that only retrieve.
    """

    seed: int = 0
    prompts: int = 250
    thorough: bool = True
    encoders: tuple[ModelRef, ...] = ()


QUICK_DOCUMENTS, QUICK_QUESTIONS, QUICK_PROMPTS = 40, 40, 20
"""What a quick run takes of a corpus: with short documents three minutes on two cores."""
