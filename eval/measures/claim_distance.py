"""How far the claims of a person are from the document that was linked to them: 0 says all, 1 says nothing.

The distances of Xin et al., A False Sense of Privacy, of the claims that the attacker did not know already.
The paper's ``semantic distance`` is ``claim_distance`` under a language model: three levels, five times
each, the mode counts. ``LexicalJudge`` compares words, so it shares the weakness that the paper is about: a
paraphrase that says the same looks private to it. Show ``LEXICAL_WARNING`` beside its figures, and never
call them semantic.

Language models also judge how coherent a text is, and what it is still good for, as in Staab et al. (2024),
Large Language Models are Advanced Anonymizers. The prompts are our own, so figures are of the papers' kind
and not theirs.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import fmean
from typing import Any, Protocol

from eval.measures.leakage import facts_in
from ingest.language.sentences import split_sentences
from models.judges import LEVELS, PARTLY, SAME, UNSUPPORTED, ClaimSupport
from models.language.asking import Asker, Plan, Slots
from models.language.prompts import Prompt, prompt
from models.language.protocol import json_in, rows_in
from models.packs import packs
from models.remembering import remembering
from models.vectors import Vectors

LEXICAL_WARNING = (
    "judge[lexical-3level] compares words: a text that says the same in other words counts as private, so "
    "the distance overstates privacy and is not the semantic distance of the paper"
)
Rating = int | None
"""A rating as a judge gave it; None where it gave none. Other numbers than 1, 2 and 3 are invalid."""
Asked = tuple[Sequence[str], str]
"""Claims, and the text that may tell them."""


class Judge(Protocol):
    """Rates how well a text supports each claim, in order; ``rated`` is for many texts at once."""

    @property
    def name(self) -> str: ...

    def ratings(self, claims: Sequence[str], text: str) -> list[Rating]: ...

    def rated(self, asked: Sequence[Asked]) -> list[list[Rating]]: ...


def rating_once(judge: Judge) -> Judge:
    """The judge with its answers to ``rated`` cached, by digests: systems often have the same texts."""

    def digest(asked: Asked) -> bytes:
        return blake2b("\0".join([*asked[0], asked[1]]).encode(), digest_size=16).digest()

    return remembering(judge, "rated", key=digest)


ENOUGH, SOME = 0.8, 0.4
"""The shares of a claim's words from which a text says the same, and from which something like it."""
_NEGATION = re.compile(
    r"\b(?:no|not|nor|never|none|neither|without|cannot|den(?:y|ies|ied|ying))\b|n['’]t\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class LexicalJudge:
    """``judge[lexical-3level]``: the share of a claim's content words, as stems, that the text says.

    1 from 0.8 where the text also says all numbers and the part of it that says most of the claim is negated
    just as the claim is, 3 below 0.4, else 2; None for a claim without content words. ``parts`` cuts the
    text: into sentences, or better into its claims.
    """

    parts: Callable[[str], Sequence[str]] = split_sentences

    name = "judge[lexical-3level]"

    def ratings(self, claims: Sequence[str], text: str) -> list[Rating]:
        """One rating a claim."""
        said = _content(text)
        parts = [(_content(part), _negated(part)) for part in self.parts(text)]
        return [_rating(_content(claim), _negated(claim), said, parts) for claim in claims]

    def rated(self, asked: Sequence[Asked]) -> list[list[Rating]]:
        """One after the other."""
        return [self.ratings(claims, text) for claims, text in asked]


@dataclass(frozen=True, slots=True)
class EmbeddedJudge:
    """The rating that a small trained model over MiniLM finds likeliest: ``models.judges``.

    It compares word pieces in their context, so other words for the same thing count as the same. Claims
    without a word have no rating.
    """

    model: ClaimSupport

    @property
    def name(self) -> str:
        """The model's."""
        return f"judge[{self.model.name}-3level]"

    def ratings(self, claims: Sequence[str], text: str) -> list[Rating]:
        """One rating a claim; a text without a sentence tells nothing."""
        return self.rated([(claims, text)])[0]

    def rated(self, asked: Sequence[Asked]) -> list[list[Rating]]:
        """The same in batches of claims of all texts."""
        pairs = [
            (claim, parts)
            for claims, text in asked
            for parts in (split_sentences(text),)
            for claim in claims
            if _worded(claim)
        ]
        levels = iter(self.model.levels(pairs))
        return [
            [_likeliest(next(levels)) if _worded(claim) else None for claim in claims] for claims, _ in asked
        ]


def _worded(claim: str) -> bool:
    return any(map(str.isalnum, claim))


def _likeliest(levels: Sequence[float] | None) -> Rating:
    return UNSUPPORTED if levels is None else SAME + levels.index(max(levels))


def _rating(
    claim: frozenset[str], negated: bool, said: frozenset[str], parts: Sequence[tuple[frozenset[str], bool]]
) -> Rating:
    if not claim:
        return None
    recall = len(claim & said) / len(claim)
    if recall < SOME:
        return UNSUPPORTED
    numbers = {word for word in claim if word[:1].isdigit()}
    most = max((len(claim & words) for words, _ in parts), default=0)
    agrees = any(other == negated for words, other in parts if len(claim & words) == most)
    return SAME if recall >= ENOUGH and numbers <= said and agrees else PARTLY


def _content(text: str) -> frozenset[str]:
    return facts_in(_NEGATION.sub(" ", text))


def _negated(text: str) -> bool:
    return _NEGATION.search(text) is not None


@dataclass(frozen=True, slots=True)
class ClaimDistance:
    """The distance of a document's claims, in [0, 1], None if no claim was rated.

    ``leaked`` counts the claims of which the text says the same or something like it, of ``rated``.
    An ``invalid`` rating counts as 1, so as a leak, as in the published code; ``missing`` ones count nowhere.
    """

    value: float | None
    rated: int
    leaked: int
    invalid: int
    missing: int


def claim_distance(ratings: Sequence[Rating]) -> ClaimDistance:
    """The mean of (rating - 1) / 2 over the rated claims."""
    given = [each for each in ratings if each is not None]
    valid = [each if SAME <= each <= UNSUPPORTED else SAME for each in given]
    return ClaimDistance(
        value=fmean((each - SAME) / (UNSUPPORTED - SAME) for each in valid) if valid else None,
        rated=len(valid),
        leaked=sum(map(leaks, given)),
        invalid=sum(not SAME <= each <= UNSUPPORTED for each in given),
        missing=len(ratings) - len(given),
    )


def leaks(rating: Rating) -> bool:
    """Whether a claim leaked: rated 1 or 2, or invalid. The paper's "2 or higher" contradicts its scale."""
    return rating is not None and rating != UNSUPPORTED


def embedding_distance(claims: Vectors, linked: Vectors) -> float | None:
    """1 - the mean over claims of the highest cosine with a claim of the linked document.

    Takes unit vectors, shapes (n, dim) and (m, dim). In [0, 2]; None where one side has no claim.
    """
    if not len(claims) or not len(linked):
        return None
    return 1 - float((claims @ linked.T).max(axis=1).mean())


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
        questions = _questions(asked)
        given = [
            self.asker.all(prompt("judge_claims"), questions, _ratings_in, seed) for seed in range(self.votes)
        ]
        votes = list(zip(*given, strict=True))
        found: list[list[Rating]] = []
        first = 0
        for claims, _ in asked:
            found.append([_mode(votes[first + n // AT_ONCE], 1 + n % AT_ONCE) for n in range(len(claims))])
            first += -(-len(claims) // AT_ONCE)
        return found

    def plan(self, asked: Sequence[Asked]) -> Plan:
        """What rating takes: all votes."""
        return self.asker.plan(prompt("judge_claims"), _questions(asked)).times(self.votes)


def _questions(asked: Sequence[Asked]) -> list[Slots]:
    asked_at_once = ((pack, text) for claims, text in asked for pack in packs(claims, AT_ONCE))
    return [
        {"claims": "\n".join(f"{n}. {claim}" for n, claim in enumerate(pack, start=1)), "text": text}
        for pack, text in asked_at_once
    ]


def _ratings_in(answer: str) -> dict[int, int] | None:
    found: dict[int, int] = {}
    for row in rows_in(answer, "ratings") or ():
        if isinstance(row, dict) and type(number := row.get("claim")) is int:
            rating = row.get("rating")
            found.setdefault(number, rating if type(rating) is int and rating in LEVELS else INVALID)
    return found or None


def _mode(votes: Sequence[Mapping[int, int] | None], number: int) -> Rating:
    """Of all answers to a question the rating of one claim, by its number."""
    ballot = Counter(each[number] for each in votes if each and number in each)
    return min(ballot, key=lambda rating: (-ballot[rating], rating), default=None)


@dataclass(frozen=True, slots=True)
class TextJudge:
    """Scores texts, each beside its original; None where no answer could be read, asked for twice.

    ``same`` are the scores of a text that is its original, for which nothing is asked.
    """

    asker: Asker
    prompt: Prompt
    read: Callable[[str], Scores | None] = field(repr=False)
    same: Scores | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The model and the prompt."""
        return f"judge[{self.asker.engine(self.prompt)}]"

    def scores(self, texts: Sequence[tuple[str, str]]) -> list[Scores | None]:
        """Of each original and what became of it. Raises as ``ModelJudge.rated``."""
        asked = iter(self.asker.all(self.prompt, self._slots(texts), self.read))
        return [self.same if self._known(*pair) else next(asked) for pair in texts]

    def plan(self, texts: Sequence[tuple[str, str]]) -> Plan:
        """What scoring takes."""
        return self.asker.plan(self.prompt, self._slots(texts))

    def _known(self, original: str, text: str) -> bool:
        return self.same is not None and text == original

    def _slots(self, texts: Sequence[tuple[str, str]]) -> list[Slots]:
        return [{"original": pair[0], "text": pair[1]} for pair in texts if not self._known(*pair)]


def coherence_judge(asker: Asker) -> TextJudge:
    """Gives ``COHERENCE``, from 1 (none) to 5, without a look at the original."""
    return TextJudge(asker, prompt("judge_coherence"), _coherence)


def utility_judge(asker: Asker) -> TextJudge:
    """Gives ``READABILITY`` and ``MEANING`` from 1 to 10, ``FAITHFUL`` 0 or 1, and ``UTILITY`` in [0, 1].

    Utility is the mean of the three, the first two as tenths. A text is faithful that invents nothing.
    """
    return TextJudge(asker, prompt("judge_utility"), _utility, _utilities(10.0, 10.0, 1.0))


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
    return _utilities(readability, meaning, faithful)


def _utilities(readability: float, meaning: float, faithful: float) -> Scores:
    utility = fmean((readability / 10, meaning / 10, faithful))
    return {READABILITY: readability, MEANING: meaning, FAITHFUL: faithful, UTILITY: utility}


def _score(part: Any) -> Any:
    return part.get("score") if isinstance(part, dict) else None


def _whole(value: Any, least: int, most: int) -> float | None:
    return float(value) if type(value) is int and least <= value <= most else None
