"""Language models as judges: whether a text tells claims, how coherent it is, and what it is still good for.

Claims are rated as in Xin et al., A False Sense of Privacy: three levels, five times each, the mode counts.
Usefulness is judged as in Staab et al. (2024), Large Language Models are Advanced Anonymizers. The prompts
are our own, so figures are of the papers' kind and not theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from eval.measures.claim_distance import Asked, Rating
from models.judges import LEVELS
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import Prompt, prompt
from models.language.protocol import json_in, rows_in

VOTES = 5
AT_ONCE = 10
"""The most claims of a question."""
INVALID = 0
"""A rating that is none of the three, which counts as a leak."""
COHERENCE = "coherence"
READABILITY, MEANING, FAITHFUL, UTILITY = "readability", "meaning", "faithful", "utility"
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks for the ratings of up to ten claims, each time with another seed, and takes the mode.

    Of equally frequent ratings the one that tells more counts. What is no rating counts as ``INVALID``, what
    was not rated in any answer as missing.
    """

    asker: Asker
    votes: int = VOTES

    @property
    def name(self) -> str:
        """The model, the prompt and the votes."""
        return f"judge[{self.asker.engine(prompt('judge_claims'))}, {self.votes} votes]"

    def ratings(self, claims: Sequence[str], text: str) -> list[Rating]:
        """One rating a claim."""
        return self.rated([(claims, text)])[0]

    def rated(self, asked: Sequence[Asked]) -> list[list[Rating]]:
        """The same for many texts.

        Raises:
            ModelUnavailable: The model could not be reached or failed.
        """
        questions = [_question(each) for each in _tens(asked)]
        given = [
            self.asker.all(prompt("judge_claims"), questions, _ratings_in, seed) for seed in range(self.votes)
        ]
        ballots = (_ballots(votes) for votes in zip(*given, strict=True))
        return [
            [
                _mode(ballot.get(number, Counter()))
                for first in range(0, len(claims), AT_ONCE)
                for ballot in (next(ballots),)
                for number, _ in enumerate(claims[first : first + AT_ONCE], start=1)
            ]
            for claims, _ in asked
        ]

    def plan(self, asked: Sequence[Asked]) -> Plan:
        """What rating takes: all votes."""
        return self.asker.plan(prompt("judge_claims"), [*map(_question, _tens(asked))]).times(self.votes)


def _tens(asked: Iterable[Asked]) -> Iterable[Asked]:
    for claims, text in asked:
        for first in range(0, len(claims), AT_ONCE):
            yield claims[first : first + AT_ONCE], text


def _question(asked: Asked) -> Slots:
    claims, text = asked
    return {"claims": "\n".join(f"{n}. {claim}" for n, claim in enumerate(claims, start=1)), "text": text}


def _ratings_in(answer: str) -> dict[int, int] | None:
    rows = rows_in(answer, "ratings")
    if rows is None:
        return None
    found: dict[int, int] = {}
    for row in rows:
        if isinstance(row, dict) and type(number := row.get("claim")) is int:
            rating = row.get("rating")
            found.setdefault(number, rating if type(rating) is int and rating in LEVELS else INVALID)
    return found or None


def _ballots(votes: Sequence[Mapping[int, int] | None]) -> dict[int, Counter[int]]:
    """The ratings of each claim, by its number, counted."""
    found: dict[int, Counter[int]] = {}
    for each in votes:
        for number, rating in (each or {}).items():
            found.setdefault(number, Counter())[rating] += 1
    return found


def _mode(ballot: Counter[int]) -> Rating:
    return min(ballot, key=lambda rating: (-ballot[rating], rating)) if ballot else None


@dataclass(frozen=True, slots=True)
class TextJudge:
    """Scores texts, each beside its original; None where no answer could be read, asked for twice."""

    asker: Asker
    prompt: Prompt
    read: Callable[[str], Scores | None] = field(repr=False)

    @property
    def name(self) -> str:
        """The model and the prompt."""
        return f"judge[{self.asker.engine(self.prompt)}]"

    def scores(self, texts: Sequence[tuple[str, str]]) -> list[Scores | None]:
        """Of each original and what became of it. Raises as ``ModelJudge.rated``."""
        return self.asker.all(self.prompt, _pairs(texts), self.read)

    def plan(self, texts: Sequence[tuple[str, str]]) -> Plan:
        """What scoring takes."""
        return self.asker.plan(self.prompt, _pairs(texts))


def _pairs(texts: Sequence[tuple[str, str]]) -> list[Slots]:
    return [{"original": original, "text": text} for original, text in texts]


def coherence_judge(asker: Asker) -> TextJudge:
    """Gives ``COHERENCE``, from 1 (none) to 5, without a look at the original."""
    return TextJudge(asker, prompt("judge_coherence"), _coherence)


def utility_judge(asker: Asker) -> TextJudge:
    """Gives ``READABILITY`` and ``MEANING`` from 1 to 10, ``FAITHFUL`` 0 or 1, and ``UTILITY`` in [0, 1].

    Utility is the mean of the three, the first two as tenths. A text is faithful that invents nothing.
    """
    return TextJudge(asker, prompt("judge_utility"), _utility)


def _coherence(answer: str) -> Scores | None:
    said = json_in(answer)
    rating = _whole(said.get("rating") if isinstance(said, dict) else None, 1, 5)
    return None if rating is None else {COHERENCE: rating}


def _utility(answer: str) -> Scores | None:
    said = json_in(answer)
    if not isinstance(said, dict):
        return None
    readability, meaning = (_whole(_score(said.get(part)), 1, 10) for part in (READABILITY, MEANING))
    faithful = _whole(_score(said.get(FAITHFUL)), 0, 1)
    if readability is None or meaning is None or faithful is None:
        return None
    utility = fmean((readability / 10, meaning / 10, faithful))
    return {READABILITY: readability, MEANING: meaning, FAITHFUL: faithful, UTILITY: utility}


def _score(part: Any) -> Any:
    return part.get("score") if isinstance(part, dict) else None


def _whole(value: Any, least: int, most: int) -> float | None:
    return float(value) if type(value) is int and least <= value <= most else None
