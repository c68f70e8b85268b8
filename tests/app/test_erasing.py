"""What the receipt of an erasure leaves open. All texts are invented."""

from app.erasing import MOST_ASKED, NotProved, _ask, _Search, not_proved
from retrieval.collection import Erasure
from retrieval.documents import Passage, RetrievedPassage

SAID = [Passage(number, f"d{number}", 0, 9, f"Invented {number}.") for number in range(4)]


class Found:
    """Finds passages with fixed similarities, whatever is asked."""

    def __init__(self, *similar: dict[int, float]) -> None:
        self._similar = similar

    def retrieve(self, questions: list[str], k: int) -> list[list[RetrievedPassage]]:
        return [
            [RetrievedPassage(SAID[number], score, score) for number, score in similar.items()]
            for similar in self._similar
        ]


def erasure(doc_id: str, passages: int, *, resumed: bool = False) -> Erasure:
    return Erasure(doc_id, (), passages, 0, 9, 0, resumed)


def test_each_search_that_says_nothing_is_counted_with_its_cause() -> None:
    searches = [_Search(each) for each in SAID[:3]]
    # The first is nearer than all others, the second is not, and the third is not found.
    before = _ask(Found({0: 0.9, 3: 0.5}, {1: 0.9, 3: 0.9}, {3: 0.5}), searches)  # type: ignore[arg-type]
    assert (before.passages, before.found, before.members) == (3, 2, 1)
    erasures = [erasure(each.doc_id, 1) for each in SAID[:3]]
    assert not_proved(erasures[:1], searches[:1]) == []
    assert not_proved(erasures, searches) == [NotProved("not_found", 1, 1), NotProved("not_nearest", 1, 1)]


def test_passages_beyond_those_that_are_searched_for_are_not_taken_for_proved() -> None:
    passages = [Passage(number, "long", 0, 9, f"Invented {number}.") for number in range(MOST_ASKED + 3)]
    left_open = not_proved([erasure("long", len(passages))], [], passages[MOST_ASKED:])
    assert left_open == [NotProved("too_many", 1, 3)]
    assert str(MOST_ASKED) in str(left_open[0].row()["reason"])


def test_documents_that_were_never_searched_for_are_counted_with_their_passages() -> None:
    resumed = [erasure("b", 3, resumed=True), erasure("c", 4, resumed=True)]
    erasures = [erasure("a", 2), *resumed, erasure("d", 0)]
    assert not_proved(erasures, []) == [NotProved("resumed", 2, 7), NotProved("no_passages", 1, 0)]
    assert not_proved(erasures)[-1] == NotProved("not_tried", 1, 2)
