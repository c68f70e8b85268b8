"""What a GLiNER model's spans become. Every text here is invented."""

from collections.abc import Sequence

from ingest.detection.learned import LearnedDetector
from ingest.documents import Document, Identifier
from models.gliner_model import FoundSpan


class Spans:
    """Finds what it is given."""

    name = "given"

    def __init__(self, *spans: FoundSpan) -> None:
        self._spans = list(spans)

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        return [self._spans for _ in texts]


def test_a_span_becomes_a_mention_with_the_class_of_its_label() -> None:
    detector = LearnedDetector(Spans(FoundSpan(3, 8, "person full name", 0.9)))  # type: ignore[arg-type]
    ((mention,),) = detector.detect([Document("d", "of Quorin")])
    assert (mention.identifier, mention.confidence, mention.source) == (
        Identifier.DIRECT,
        0.9,
        "model:given",
    )


def test_of_two_labels_of_one_place_the_riskier_stays() -> None:
    spans = FoundSpan(0, 6, "city name", 0.9), FoundSpan(0, 6, "person full name", 0.6)
    ((mention,),) = LearnedDetector(Spans(*spans)).detect([Document("d", "Quorin")])  # type: ignore[arg-type]
    assert mention.label == "person full name"
