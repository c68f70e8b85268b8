"""Re-identification by TF-IDF, by hand, by properties, and on published cases. Texts here are invented."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.uncertainty import wilson
from eval.studies.intact import order
from ingest.documents import Span
from ingest.spans import merged, substitute
from tests.commands import public_data

BACKGROUNDS = {
    "anna": "Anna Keller repairs boilers in Bremen.",
    "bert": "Bert Quell keeps herons in Lucerne.",
    "cleo": "Cleo repairs bridges in Bremen.",
}
WORDS = st.lists(st.from_regex(r"q[a-z]{3,6}", fullmatch=True), min_size=1, max_size=12, unique=True)


def test_the_most_similar_background_is_named() -> None:
    texts = [
        "The boilers are repaired.",
        "A heron? Herons!",
        "BRIDGES of Bremen",
        "Nothing alike",
        "in the",
        "",
    ]
    assert order.most_similar_individuals(BACKGROUNDS, texts) == ["anna", "bert", "cleo", None, None, None]
    assert order.most_similar_individuals(BACKGROUNDS, []) == []
    # A rare word weighs more than a common one: two backgrounds repair in Bremen, one keeps herons.
    assert order.most_similar_individuals(BACKGROUNDS, ["repairs herons"]) == ["bert"]
    # By plain counts "pond" would be nearly all of the first background, and the second the more similar.
    backgrounds = {"one": "heron " + "pond " * 30, "two": "heron heron pond lake"}
    assert order.most_similar_individuals(backgrounds, ["heron pond"]) == ["one"]
    # The first of equals is named.
    assert order.most_similar_individuals({"b": "heron", "a": "heron"}, ["heron"]) == ["b"]


def test_a_share_by_hand() -> None:
    sanitized = {"cleo": "She repairs bridges.", "anna": "She lives in Lucerne.", "bert": "He keeps herons."}
    found = order.reidentified(BACKGROUNDS, sanitized)
    assert found.engine == "trir[tfidf]"
    assert found.named == {"cleo": True, "anna": False, "bert": True}
    assert found.estimate.value == pytest.approx(2 / 3)
    assert found.estimate.interval == wilson(2, 3)
    assert found.n_individuals == 3
    # Individuals without a document are candidates all the same.
    alone = order.reidentified(BACKGROUNDS, {"anna": "He keeps herons."})
    assert (alone.estimate.value, alone.estimate.n, alone.n_individuals) == (0, 1, 3)
    assert order.reidentified(BACKGROUNDS, {}).estimate.value is None


@given(WORDS, st.randoms())
def test_backgrounds_themselves_are_all_named_and_exchanged_ones_never(words: list[str], random: Any) -> None:
    backgrounds = {f"i{number}": f"{word} of the mill" for number, word in enumerate(words)}
    shuffled = list(backgrounds)
    random.shuffle(shuffled)
    documents = {each: backgrounds[each] for each in shuffled}
    assert order.reidentified(backgrounds, documents).estimate.value == 1
    if len(words) > 1:
        exchanged = dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))
        wrong = {each: backgrounds[other] for each, other in exchanged.items()}
        assert order.reidentified(backgrounds, wrong).estimate.value == 0


def test_a_difference_by_hand() -> None:
    one = order.reidentified(BACKGROUNDS, BACKGROUNDS)
    other = order.reidentified(BACKGROUNDS, {**BACKGROUNDS, "anna": "herons"})
    found = order.reidentified_difference(one, other)
    assert found.value == pytest.approx(1 / 3)
    assert found.low is not None and found.high is not None
    assert 0 <= found.low <= 1 / 3 <= found.high <= 1
    back = order.reidentified_difference(other, one)
    assert (back.value, back.low, back.high) == pytest.approx((-1 / 3, -found.high, -found.low))
    same = order.reidentified_difference(one, one)
    assert (same.value, same.interval) == (0, None)


def test_what_cannot_be_measured_is_refused_without_naming_anybody() -> None:
    with pytest.raises(ValueError, match="^1 of 2 individuals have no background: give one of each$"):
        order.reidentified(BACKGROUNDS, {"anna": "x", "zorvathian": "y"})
    with pytest.raises(ValueError, match="^2 backgrounds hold no words but stop words: give one with words$"):
        order.reidentified({"anna": "of the", "bert": "?"}, {"anna": "mill"})
    with pytest.raises(ValueError, match="^0 backgrounds hold no words"):
        order.most_similar_individuals({}, [])
    one, other = (order.reidentified(BACKGROUNDS, {each: "mill"}) for each in ("anna", "bert"))
    with pytest.raises(ValueError, match="^the two methods were measured on different individuals$"):
        order.reidentified_difference(one, other)


def test_suppression_hides_cases_and_the_rest_of_the_text_still_names_some() -> None:
    tab = public_data("tab/dev.jsonl") / "tab"
    cases = [json.loads(line) for line in (tab / "dev.jsonl").read_text(encoding="utf-8").splitlines()]
    public = json.loads((tab / "background_public10_train_dev.json").read_text(encoding="utf-8"))
    backgrounds = {case["doc_id"]: public[case["doc_id"]] for case in cases}

    def measured(suppressing: bool) -> order.Reidentified:
        texts = {
            case["doc_id"]: substitute(
                case["text"],
                merged((Span(each["start"], each["end"]), "") for each in case["mentions"] if suppressing),
            )
            for case in cases
        }
        return order.reidentified(backgrounds, texts)

    original, suppressed = measured(False), measured(True)
    difference = order.reidentified_difference(original, suppressed)
    assert difference.low is not None and difference.low > 0
    assert suppressed.estimate.low is not None and suppressed.estimate.low > 1 / suppressed.n_individuals
