"""Labels not seen in training: relabel a detector's mentions by the similarity of their words.

A bi-encoder has seen few labels in training, and its predictions for others are little better than chance.
But it finds such mentions under a broad known label, and a sentence encoder puts "Labour Party" nearer to
"political party" than to "organization".
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from models.catalog import ModelRef
from models.detectors.embedded import EmbeddedDetector, Profile, load_detectors
from models.detectors.need import WordNeeds
from models.detectors.words import FoundSpan
from models.encoders.minilm import MiniLM
from models.encoders.numbers import Numbers

MARGIN = 0.05
"""Minimum advantage in cosine similarity of a new label over a mention's current label."""


def load_finders(
    model: ModelRef,
    labels: Sequence[str],
    profiles: Sequence[Profile] = ("balanced",),
    threshold: float | None = None,
    fixed: Collection[str] = (),
    numbers: Numbers = "float32",
    device: str = "cpu",
) -> "list[EmbeddedDetector | ByMeaning]":
    """``load_detectors``, with labels that the detector never learned given by meaning.

    Mentions of ``fixed`` labels keep them. Raises what ``load_detectors`` does.
    """
    detectors = load_detectors(model, labels, profiles, threshold, numbers, device)
    learned = {name.lower() for name in detectors[0].learned}
    new = [label for label in detectors[0].labels if label.lower() not in learned]
    return [ByMeaning(each, new, fixed, device) if new and learned else each for each in detectors]


class ByMeaning:
    """A detector's mentions, relabeled where a new label is nearer to their words."""

    def __init__(
        self,
        detector: EmbeddedDetector,
        new: Sequence[str],
        fixed: Collection[str] = (),
        device: str = "cpu",
    ) -> None:
        self._detector = detector
        self._fixed = frozenset(fixed)
        self._new = tuple(new)
        self._encoder = MiniLM(device)
        self._vectors = dict(zip(detector.labels, self._encoder.encode(detector.labels), strict=True))

    @property
    def name(self) -> str:
        """That of the detector."""
        return self._detector.name

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        """The spans of each text, by start; of one label and place there is one, the surest."""
        return [spans for spans, _ in self.judged(texts)]

    def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
        """The same, and what the words of each text need."""
        read = self._detector.judged(texts)
        found = [spans for spans, _ in read]
        nearer = self._nearer(
            {
                (s.label, text[s.start : s.end])
                for text, spans in zip(texts, found, strict=True)
                for s in spans
            }
        )
        return [
            (
                _distinct(
                    replace(s, label=nearer.get((s.label, text[s.start : s.end]), s.label)) for s in spans
                ),
                needs,
            )
            for text, (spans, needs) in zip(texts, read, strict=True)
        ]

    def _nearer(self, mentions: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """For pairs of label and words the new label, where one is nearer."""
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
