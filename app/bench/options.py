"""How much of a benchmark is wanted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes and parts. ``prompts`` are those of each aim of an attack.

    ``sweep`` measures every strength for the frontier, ``grid`` the weights.
    """

    seed: int = 0
    prompts: int = 250
    sweep: bool = True
    grid: bool = True


QUICK = Options(prompts=20, sweep=False, grid=False)
