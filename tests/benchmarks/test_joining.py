"""B-cubed figures by hand."""

import pytest

from benchmarks.joining import LABELS, b_cubed, long_texts, sums_of
from ingest.detection.hybrid import HybridDetector
from ingest.detection.reading import ReadingDetector
from ingest.protocols import EntityDetector
from models.corpora.passages import Mark, Passage, passages
from tests.small_models import shipped_reader


@pytest.mark.parametrize(
    ("found", "precision", "recall"),
    [("aab", 3.0, 3.0), ("aaa", 5 / 3, 3.0), ("abc", 3.0, 2.0), ("abb", 2.0, 2.0)],
)
def test_b_cubed_by_hand(found: str, precision: float, recall: float) -> None:
    assert b_cubed("xxy", found) == pytest.approx((precision, recall, 3))


def test_marks_of_a_long_text_stand_at_their_words_and_nobody_is_in_two_passages() -> None:
    one = Passage("p", "note", "English", "", "aside", "Vex ran.", (Mark(0, 3, "PERSON", "DIRECT", 2, 1),))
    (text,) = long_texts([one, one])
    assert [text.text[mark.start : mark.end] for mark in text.marks] == ["Vex", "Vex"]
    assert len({mark.entity for mark in text.marks}) == 2


@pytest.mark.slow
def test_the_reader_joins_people_better_than_their_words() -> None:
    dense = [each for each in passages("aside") if sum(mark.kind in LABELS for mark in each.marks) > 12][:60]

    def f1(detector: EntityDetector | None) -> float:
        precision, recall, _ = map(sum, zip(*(sums_of(each, detector) for each in dense), strict=True))
        n = sum(sums_of(each, None)[2] for each in dense)
        return 2 * precision * recall / (precision + recall) / n

    assert f1(HybridDetector(ReadingDetector(shipped_reader()))) > max(0.93, f1(None) + 0.02)
