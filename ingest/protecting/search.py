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
from ingest.protecting.clauses import deletions
from ingest.protecting.edits import Edit, Kind, written
from ingest.protecting.protocols import Adversary
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

    @property
    def truthful(self) -> bool:
        """Always: each kind of edit keeps the truth."""
        return True


@dataclass(slots=True)
class _State:
    """A text in the course of the search: what it was, is, and could become."""

    original: str = field(repr=False)
    offered: Sequence[Edit] = field(repr=False)
    tried: Sequence[Edit] = field(repr=False)
    before: Mapping[str, float]
    text: str = field(repr=False)
    now: Mapping[str, float]
    made: list[Edit] = field(default_factory=list, repr=False)
    retried: bool = False
    is_open: bool = True

    def tries(self) -> dict[str, list[Edit]]:
        """Each text that is one edit away, with the edits that make it."""
        found: dict[str, list[Edit]] = {}
        for edit in self.tried:
            if edit not in self.made:
                text = written(self.original, [*self.made, edit])
                if text and text != self.text:
                    found.setdefault(text, [*self.made, edit])
        return found


class Search:
    """Protects ``attributes`` against ``adversary``; ``encoder`` says how far an edit moves a text."""

    name = "search"

    def __init__(
        self, adversary: Adversary, encoder: Encoder, attributes: Sequence[str], margin: float = MARGIN
    ) -> None:
        self._adversary, self._encoder, self._attributes = adversary, encoder, tuple(attributes)
        unread = self._certain(TELLS_NOTHING)
        self._limits = {name: median(told[name] for told in unread) + margin for name in self._attributes}
        self.outcomes: dict[str, Searched] = {}

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The texts after the edits that were chosen. Raises as the adversary does."""
        found = self.search(texts)
        self.outcomes |= {each.text: searched for each, searched in zip(texts, found, strict=True)}
        return [each.text for each in found]

    def search(self, texts: Sequence[AnnotatedText]) -> list[Searched]:
        """The outcome of each text; it does not depend on the other texts."""
        told = self._certain([each.text for each in texts])
        states = []
        for each, said in zip(texts, told, strict=True):
            offered = offered_edits(each) if self._excess(said) > 0 else ()
            states.append(_State(each.text, offered, offered, said, each.text, said))
        while tried := [(each, each.tries()) for each in states if each.is_open]:
            certain = iter(self._certain([text for _, texts in tried for text in texts]))
            for state, found in tried:
                self._take(state, found, {text: next(certain) for text in found})
        return [self._outcome(each) for each in states]

    def _certain(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        return [
            {name: told[name].certainty if name in told else 0.0 for name in self._attributes}
            for told in self._adversary.infer(texts)
        ]

    def _excess(self, certain: Mapping[str, float]) -> float:
        """How far log-odds lie above their limits: of several cues, each takes some of them when it goes."""
        return sum(
            max(0.0, _log_odds(said) - _log_odds(self._limits[name])) for name, said in certain.items()
        )

    def _take(
        self, state: _State, tries: Mapping[str, list[Edit]], certain: Mapping[str, Mapping[str, float]]
    ) -> None:
        """Make the best edit of a text, or close it where there is none."""
        before = self._excess(state.now)
        gains = {text: before - self._excess(certain[text]) for text in tries}
        helping = [text for text, gain in gains.items() if gain >= LEAST_GAIN]
        near = dict(zip(helping, self._nearness(state.original, helping), strict=True))
        fitting = [text for text in helping if near[text] >= NEAREST]
        if not fitting:
            # What did not help before may help now: once, since trying takes nearly all of the time.
            state.is_open = before > 0 and not state.retried and len(state.tried) < len(state.offered)
            state.tried, state.retried = state.offered, True
            return
        best = max(fitting, key=lambda text: gains[text] / (1 - near[text] + STEP))
        state.text, state.made, state.now = best, tries[best], certain[best]
        state.tried = [tries[text][-1] for text in fitting]
        state.is_open = self._excess(state.now) > 0

    def _nearness(self, original: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        first, *others = self._encoder.encode([original, *texts])
        return [float(first @ other) for other in others]

    def _outcome(self, state: _State) -> Searched:
        stops: dict[str, End] = {
            name: "already safe"
            if state.before[name] <= limit
            else "protected"
            if state.now[name] <= limit
            else "no edit helps"
            for name, limit in self._limits.items()
        }
        edits = Counter(each.kind for each in state.made)
        return Searched(state.text, stops, dict(edits), state.before, state.now)


def _log_odds(certain: float) -> float:
    return log(max(certain, _ALL_BUT)) - log(max(1 - certain, _ALL_BUT))


def offered_edits(text: AnnotatedText) -> list[Edit]:
    """All edits of a text, in the order of their kinds."""
    reworded = wordings(text.text)
    return [*deletions(text.text), *reworded, *entity_edits(text, reworded)]
