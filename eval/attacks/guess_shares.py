"""The share of slots guessed, beside the prior and chance as baselines."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.attacks.guessing import Guess
from eval.measures.uncertainty import Estimate, clustered_share


@dataclass(frozen=True, slots=True)
class GuessShares:
    """Shares of slots with the truth ranked first, or among the first five; intervals over documents.

    ``prior`` always guesses what was said most often; ``chance`` is the expectation of blind drawing, in
    [0, 1], None without slots. Where the original still stands, all three have it.
    """

    first: Estimate
    first_five: Estimate
    prior_first: Estimate
    prior_first_five: Estimate
    chance_first: float | None
    chance_first_five: float | None


def guess_shares(guesses: Sequence[Guess], seed: int = 0) -> GuessShares:
    """The shares of all slots given; leave out those that are ``kept`` to see the guessing alone."""
    return GuessShares(
        first=_share(guesses, lambda guess: guess.rank <= 1, seed),
        first_five=_share(guesses, lambda guess: guess.rank <= 5, seed),
        prior_first=_share(guesses, lambda guess: guess.prior_rank <= 1, seed),
        prior_first_five=_share(guesses, lambda guess: guess.prior_rank <= 5, seed),
        chance_first=_chance(guesses, 1),
        chance_first_five=_chance(guesses, 5),
    )


def guess_shares_by(
    guesses: Sequence[Guess], key: Callable[[Guess], str], seed: int = 0
) -> dict[str, GuessShares]:
    """The shares split by ``key``, for instance the identifier kind or the label."""
    split: dict[str, list[Guess]] = {}
    for guess in guesses:
        split.setdefault(key(guess), []).append(guess)
    return {name: guess_shares(split[name], seed) for name in sorted(split)}


def _share(guesses: Sequence[Guess], right: Callable[[Guess], bool], seed: int) -> Estimate:
    totals = Counter(guess.doc_id for guess in guesses)
    hits = Counter(guess.doc_id for guess in guesses if right(guess))
    return clustered_share([hits[doc_id] for doc_id in totals], list(totals.values()), seed)


def _chance(guesses: Sequence[Guess], top: int) -> float | None:
    return sum(guess.chance(top) for guess in guesses) / len(guesses) if guesses else None
