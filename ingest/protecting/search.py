"""Attribute protection without a language model: a search over true edits.

An adversary reads the text. Of the edits that are offered, the one is made that takes most of its certainty
for what the text's vector moves, until it is hardly more certain than of texts that tell nothing. With a
language model as the writer this is the feedback of Staab et al. (2024), Large Language Models are Advanced
Anonymizers; here nothing is written but what tables and ladders hold. Each edit keeps the truth and leaves
whole sentences, so a text whose every sentence tells an attribute cannot be protected, and says so. It is
meant for posts: each try reads a whole text, so time grows with the square of its length.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from statistics import median
from typing import Literal

from ingest.annotated import AnnotatedText
from ingest.protecting.adversary import Adversary
from ingest.protecting.edits import Edit, Kind, deletions, written
from ingest.protecting.wordings import entity_edits, wordings
from ingest.protocols import Encoder

MARGIN = 0.05
"""How much more certain than of what tells nothing the adversary may stay."""
TELLS_NOTHING = (
    "The kettle is broken again.",
    "It rained all day and the road was wet.",
    "Has anybody else had this problem?",
    "The second part of it was better than the first.",
    "There is a long queue and nobody knows why.",
    "Thanks, this was helpful.",
    "The door does not close since it was painted.",
    "This took longer than expected, but it works now.",
    "The light on the left stays off.",
)
"""Invented texts: what an adversary says of their authors, it says without reading."""
NEAREST = 0.7
"""The least cosine of the result with the text."""
LEAST_GAIN = 0.15
"""The least that an edit has to take of log-odds: any change of a vector does less."""
STEP = 0.01
"""Added to what an edit moves, so that one that moves next to nothing is not made for next to nothing."""
_ALL_BUT = 1e-12

End = Literal["already safe", "protected", "no edit helps"]


@dataclass(frozen=True, slots=True)
class Searched:
    """What became of a text. Private, but for counts.

    By attribute, ``stops`` says what the search came to, ``before`` and ``after`` how certain the adversary
    is; ``edits`` counts those that were made, by kind.
    """

    text: str = field(repr=False)
    stops: Mapping[str, End]
    edits: Mapping[Kind, int]
    before: Mapping[str, float]
    after: Mapping[str, float]

    @property
    def rounds(self) -> Mapping[str, int]:
        """How many edits were made, of the text as a whole."""
        return {"text": sum(self.edits.values())}


class Search:
    """Protects ``attributes`` against ``adversary``; ``encoder`` says how far an edit moves a text."""

    name, truthful = "search", True

    def __init__(self, adversary: Adversary, encoder: Encoder, attributes: Sequence[str]) -> None:
        self._adversary, self._encoder, self._attributes = adversary, encoder, tuple(attributes)
        unread = self._certain(TELLS_NOTHING)
        self._limits = {name: median(told[name] for told in unread) + MARGIN for name in self._attributes}
        self.outcomes: dict[str, Searched] = {}

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The texts after the edits that were chosen. Raises as the adversary does."""
        self.outcomes |= {each.text: self.search(each) for each in texts}
        return [self.outcomes[each.text].text for each in texts]

    def search(self, text: AnnotatedText) -> Searched:
        """The outcome of one text."""
        (before,) = self._certain([text.text])
        tried = offered = offered_edits(text) if self._excess(before) > 0 else []
        said, now, made = text.text, before, list[Edit]()
        while (excess := self._excess(now)) > 0:
            tries = dict[str, list[Edit]]()
            for edit in tried:
                tries.setdefault(written(text.text, [*made, edit]) or said, [*made, edit])
            tries.pop(said, None)
            certain = dict(zip(tries, self._certain(list(tries)), strict=True))
            gains = {new: excess - self._excess(told) for new, told in certain.items()}
            worth = self._worth(text.text, {new: gain for new, gain in gains.items() if gain >= LEAST_GAIN})
            if worth:
                said = max(worth, key=worth.__getitem__)
                now, made, tried = certain[said], tries[said], [tries[new][-1] for new in worth]
            elif tried is offered:
                break
            else:
                # Trying takes nearly all of the time: what did not help is tried again at the end alone.
                tried = offered
        stops: dict[str, End] = {
            name: "already safe"
            if before[name] <= most
            else "protected"
            if now[name] <= most
            else "no edit helps"
            for name, most in self._limits.items()
        }
        return Searched(said, stops, dict(Counter(each.kind for each in made)), before, now)

    def _certain(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        return [
            {name: told[name].certainty if name in told else 0.0 for name in self._attributes}
            for told in self._adversary.infer(texts)
        ]

    def _excess(self, certain: Mapping[str, float]) -> float:
        """How far log-odds lie above their limits: of several cues, each takes some of them when it goes."""
        return sum(
            max(0.0, _log_odds(certain[name]) - _log_odds(most)) for name, most in self._limits.items()
        )

    def _worth(self, original: str, gains: Mapping[str, float]) -> dict[str, float]:
        """What each text takes for what it moves, of those near enough to the original."""
        first, *others = self._encoder.encode([original, *gains])
        near = {text: float(first @ other) for text, other in zip(gains, others, strict=True)}
        return {text: gains[text] / (1 - near[text] + STEP) for text in gains if near[text] >= NEAREST}


def _log_odds(certain: float) -> float:
    return log(max(certain, _ALL_BUT)) - log(max(1 - certain, _ALL_BUT))


def offered_edits(text: AnnotatedText) -> list[Edit]:
    """All edits of a text, in the order of their kinds."""
    reworded = wordings(text.text)
    return [*deletions(text.text), *reworded, *entity_edits(text, reworded)]
