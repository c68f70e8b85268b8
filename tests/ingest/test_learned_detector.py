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


def test_a_span_becomes_a_mention_under_the_riskiest_label_of_its_place() -> None:
    spans = FoundSpan(0, 6, "city name", 0.9), FoundSpan(0, 6, "person full name", 0.6)
    ((mention,),) = LearnedDetector(Spans(*spans)).detect([Document("d", "Quorin")])  # type: ignore[arg-type]
    assert (mention.label, mention.identifier) == ("person full name", Identifier.DIRECT)
    assert (mention.confidence, mention.source) == (0.6, "model:given")
