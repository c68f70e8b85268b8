"""Labels that a detector never learned: its mentions are called so where their words mean it.

A bi-encoder knows few labels from training, and what it makes of others is little more than chance. It does
find the mention, under a broad label that it knows; and a sentence encoder knows that "Labour Party" lies
nearer to "political party" than to "organization".
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from models.catalog import ModelRef
from models.embedded_detector import EmbeddedDetector, Profile, load_detector
from models.minilm import MiniLM
from models.windows import FoundSpan

MARGIN = 0.05
"""By so much, in cosine similarity, must a new label be nearer to a mention than the label it has."""


def load_finder(
    model: ModelRef,
    labels: Sequence[str],
    profile: Profile = "balanced",
    threshold: float | None = None,
    fixed: Collection[str] = (),
) -> "EmbeddedDetector | ByMeaning":
    """``load_detector``, with labels that the detector never learned given by meaning.

    Mentions of ``fixed`` labels keep them. Raises what ``load_detector`` does.
    """
    detector = load_detector(model, labels, profile, threshold)
    learned = {name.lower() for name in detector.learned}
    new = [label for label in detector.labels if label.lower() not in learned]
    return ByMeaning(detector, new, fixed) if new and learned else detector


class ByMeaning:
    """Finds what a detector finds, and names it by new labels where these are nearer to its words."""

    def __init__(self, detector: EmbeddedDetector, new: Sequence[str], fixed: Collection[str] = ()) -> None:
        self._detector = detector
        self._fixed = frozenset(fixed)
        self._new = tuple(new)
        self._encoder = MiniLM()
        self._vectors = dict(zip(detector.labels, self._encoder.encode(detector.labels), strict=True))

    @property
    def name(self) -> str:
        """That of the detector."""
        return self._detector.name

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        """The spans of each text, by start; of one label and place there is one, the surest."""
        found = self._detector.find(texts)
        nearer = self._nearer(
            {
                (s.label, text[s.start : s.end])
                for text, spans in zip(texts, found, strict=True)
                for s in spans
            }
        )
        return [
            _distinct(replace(s, label=nearer.get((s.label, text[s.start : s.end]), s.label)) for s in spans)
            for text, spans in zip(texts, found, strict=True)
        ]

    def _nearer(self, mentions: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """For labels with the words that have them: the new label to have instead, where one is nearer."""
        kept = self._fixed.union(self._new)
        open_to = sorted(mention for mention in mentions if mention[0] not in kept)
        vectors = self._encoder.encode([words for _, words in open_to])
        nearer: dict[tuple[str, str], str] = {}
        for (label, words), vector in zip(open_to, vectors, strict=True):
            likeness = {new: float(vector @ self._vectors[new]) for new in self._new}
            best = max(self._new, key=likeness.__getitem__)
            if likeness[best] - float(vector @ self._vectors[label]) >= MARGIN:
                nearer[label, words] = best
        return nearer


def _distinct(spans: Iterable[FoundSpan]) -> list[FoundSpan]:
    surest: dict[tuple[int, int, str], FoundSpan] = {}
    for span in sorted(spans, key=lambda s: s.score):
        surest[span.start, span.end, span.label] = span
    return sorted(surest.values(), key=lambda s: (s.start, s.end, s.label))
