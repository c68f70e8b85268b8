"""From hit words to mentions, against a slow version that follows the definition."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.detectors.words import FoundSpan, WordHit, by_label, spans_of

# Some words touch the one before, as a full stop does.
WORDS = [(3 * number - (number % 4 == 1), 3 * number + 2) for number in range(20)]

hits_drawn = st.lists(
    st.builds(WordHit, st.integers(0, 19), st.sampled_from("abc"), st.floats(0.05, 1), st.booleans()),
    max_size=60,
)


def kept_of(label: str, hits: Sequence[WordHit]) -> dict[int, tuple[float, bool]]:
    """Score and beginning of each hit word of a label."""
    kept = {}
    for number in range(len(WORDS)):
        seen = [hit for hit in hits if (hit.word, hit.label) == (number, label)]
        if seen:
            kept[number] = max(hit.score for hit in seen), seen[0].begins
    return kept


def slow_spans(hits: Sequence[WordHit]) -> list[FoundSpan]:
    """From every word at which a mention begins, as far as it goes."""
    spans = []
    for label in {hit.label for hit in hits}:
        kept = kept_of(label, hits)
        for first, (_, begins) in kept.items():
            if first - 1 in kept and not begins:
                continue
            last = first
            while last + 1 in kept and not kept[last + 1][1]:
                last += 1
            scores = [kept[number][0] for number in range(first, last + 1)]
            spans.append(FoundSpan(WORDS[first][0], WORDS[last][1], label, sum(scores) / len(scores)))
    return sorted(spans, key=lambda span: (span.start, span.end, span.label))


def placed(spans: Sequence[FoundSpan]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in spans]


@given(hits_drawn)
def test_spans_are_those_of_the_slow_version(hits: list[WordHit]) -> None:
    found, expected = spans_of(hits, WORDS), slow_spans(hits)
    assert placed(found) == placed(expected)
    assert [span.score for span in found] == pytest.approx([span.score for span in expected])


@given(hits_drawn)
def test_just_the_hit_words_are_covered_and_each_by_one_span_of_its_label(hits: list[WordHit]) -> None:
    found = spans_of(hits, WORDS)
    covered = [
        (number, span.label)
        for span in found
        for number, (start, end) in enumerate(WORDS)
        if span.start <= start and end <= span.end
    ]
    assert sorted(covered) == sorted({(hit.word, hit.label) for hit in hits})
    for label in "abc":
        of_label = [span for span in found if span.label == label]
        assert all(one.end <= other.start for one, other in pairwise(of_label))


@given(hits_drawn, st.randoms(use_true_random=False))
def test_labels_know_nothing_of_each_other(hits: list[WordHit], chance: random.Random) -> None:
    waiting = {label: iter([hit for hit in hits if hit.label == label]) for label in "abc"}
    mixed = [next(waiting[label]) for label in chance.sample([hit.label for hit in hits], len(hits))]
    assert spans_of(mixed, WORDS) == spans_of(hits, WORDS)
    alone = [span for label in "abc" for span in spans_of([h for h in hits if h.label == label], WORDS)]
    assert sorted(placed(alone)) == sorted(placed(spans_of(hits, WORDS)))


@given(hits_drawn)
def test_a_word_is_kept_once_with_its_best_score_and_its_first_beginning(hits: list[WordHit]) -> None:
    kept = by_label(hits)
    assert set(kept) == {hit.label for hit in hits}
    for label, words in kept.items():
        assert {number: (hit.score, hit.begins) for number, hit in words.items()} == kept_of(label, hits)
        assert all((hit.word, hit.label) == (number, label) for number, hit in words.items())


def run_of(*begins: bool) -> list[WordHit]:
    return [WordHit(number, "a", 0.25 * (1 + number), each) for number, each in enumerate(begins)]


def test_a_run_ends_before_a_word_that_begins_another_mention() -> None:
    assert spans_of(run_of(True, False, False), WORDS) == [FoundSpan(0, 8, "a", 0.5)]
    assert spans_of(run_of(True, False, True), WORDS) == [
        FoundSpan(0, 5, "a", 0.375),
        FoundSpan(6, 8, "a", 0.75),
    ]
    assert placed(spans_of(run_of(True, True, True), WORDS)) == [(0, 2, "a"), (2, 5, "a"), (6, 8, "a")]


def test_a_run_needs_no_beginning_and_is_ended_by_a_word_that_is_not_hit() -> None:
    assert placed(spans_of(run_of(False, False), WORDS)) == [(0, 5, "a")]
    apart = [WordHit(2, "a", 0.5, False), WordHit(4, "a", 0.5, False)]
    assert placed(spans_of(apart, WORDS)) == [(6, 8, "a"), (12, 14, "a")]
    assert spans_of([], WORDS) == []


def test_the_second_window_may_be_surer_but_does_not_say_what_begins() -> None:
    first = [WordHit(3, "a", 0.5, True), WordHit(4, "a", 0.5, False)]
    second = [WordHit(4, "a", 0.9, True), WordHit(5, "a", 0.7, False)]
    assert by_label([*first, *second])["a"][4] == WordHit(4, "a", 0.9, False)
    assert placed(spans_of([*first, *second], WORDS)) == [(9, 17, "a")]
    less_sure = [WordHit(4, "a", 0.4, True)]
    assert by_label([*first, *less_sure])["a"][4] == first[1]
