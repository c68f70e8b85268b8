"""Windows over long texts and the merging of what they found. All texts here are invented."""

import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.encoders.windows import Limits, Window, windows
from models.gliner_model import FoundSpan, merge


@st.composite
def tokenized(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """A text's length and its tokens: gaps and widths at random, gaps at both ends too."""
    gaps = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=60))
    tokens: list[tuple[int, int]] = []
    at = 0
    for gap, width in gaps:
        tokens.append((at + gap, at + gap + width))
        at += gap + width
    return at + draw(st.integers(0, 3)), tokens


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    n_tokens = draw(st.integers(1, 20))
    return Limits(n_tokens, draw(st.integers(0, n_tokens // 2)))


@given(tokenized(), limits())
def test_windows_cover_all_hold_their_tokens_and_overlap_by_just_as_much_as_asked(
    text: tuple[int, list[tuple[int, int]]], limit: Limits
) -> None:
    length, tokens = text
    made = windows(length, tokens, limit)
    assert {t for w in made for t in range(w.first, w.last)} == set(range(len(tokens)))
    assert {c for w in made for c in range(w.start, w.end)} == set(range(length))
    assert all(w.last - w.first <= limit.tokens for w in made)
    assert all(left.last - right.first == limit.overlap for left, right in pairwise(made))
    for window in made:
        for start, end in tokens[window.first : window.last]:
            assert window.start <= start < end <= window.end


@given(tokenized(), limits(), st.integers(1, 30), st.data())
def test_sized_windows_cover_advance_and_fit(
    text: tuple[int, list[tuple[int, int]]], limit: Limits, size: int, data: st.DataObject
) -> None:
    length, tokens = text
    n_tokens = len(tokens)
    sizes = data.draw(st.lists(st.integers(0, 40), min_size=n_tokens, max_size=n_tokens))
    made = windows(length, tokens, Limits(limit.tokens, limit.overlap, size), sizes)
    assert {t for w in made for t in range(w.first, w.last)} == set(range(n_tokens))
    assert {c for w in made for c in range(w.start, w.end)} == set(range(length))
    assert all(left.first < right.first and left.last < right.last for left, right in pairwise(made))
    for window in made:
        total = sum(sizes[window.first : window.last])
        assert total <= size or window.last - window.first == 1


def test_an_empty_text_has_no_window_a_blank_one_has_one_and_half_is_the_most_overlap() -> None:
    assert windows(0, [], Limits(8, 2)) == []
    assert windows(3, [], Limits(8, 2)) == [Window(0, 0, 0, 3)]
    with pytest.raises(ValueError, match="windows of 8 tokens cannot overlap by 5: the overlap"):
        Limits(8, 5)


@st.composite
def entity_in_text(draw: st.DrawFn) -> tuple[int, Limits, tuple[int, int]]:
    """A number of one-character tokens, limits, and an entity no wider than the overlap."""
    limit = Limits(draw(st.integers(2, 20)), 0)
    limit = Limits(limit.tokens, draw(st.integers(1, limit.tokens // 2)))
    n_tokens = draw(st.integers(1, 80))
    first = draw(st.integers(0, n_tokens - 1))
    width = draw(st.integers(1, limit.overlap))
    return n_tokens, limit, (first, min(first + width, n_tokens))


@given(entity_in_text())
def test_an_entity_no_wider_than_the_overlap_is_found_once_and_whole(
    case: tuple[int, Limits, tuple[int, int]],
) -> None:
    n_tokens, limit, entity = case
    tokens = [(2 * i, 2 * i + 1) for i in range(n_tokens)]
    whole = (tokens[entity[0]][0], tokens[entity[1] - 1][1])
    found: list[tuple[Window, list[FoundSpan]]] = []
    for window in windows(2 * n_tokens, tokens, limit):
        # A detector that marks as much of the entity as it can see.
        first, last = max(entity[0], window.first), min(entity[1], window.last)
        seen = [FoundSpan(tokens[first][0], tokens[last - 1][1], "name", 0.9)] if first < last else []
        found.append((window, seen))
    assert [(s.start, s.end) for s in merge(found, tokens)] == [whole]


Drawn = list[list[tuple[int, int, str, float]]]
drawn_span = st.tuples(
    st.integers(0, 9), st.integers(1, 5), st.sampled_from(["name", "town"]), st.floats(0, 1)
)
drawn_spans = st.lists(st.lists(drawn_span, max_size=4), min_size=5, max_size=5)
TOKENS = [(2 * i, 2 * i + 1) for i in range(34)]
WINDOWS = windows(68, TOKENS, Limits(10, 4))


def placed(drawn: Drawn) -> list[tuple[Window, list[FoundSpan]]]:
    """What was drawn, put into the five windows."""
    found = []
    for window, spans in zip(WINDOWS, drawn, strict=True):
        in_window = []
        for first, width, label, score in spans:
            left = min(window.first + first, window.last - 1)
            right = min(left + width, window.last)
            in_window.append(FoundSpan(TOKENS[left][0], TOKENS[right - 1][1], label, score))
        found.append((window, in_window))
    return found


def marked(spans: list[FoundSpan]) -> set[tuple[int, str]]:
    return {(at, span.label) for span in spans for at in range(span.start, span.end)}


@example([[], [], [], [(5, 2, "name", 0.0), (5, 4, "name", 0.0)], [(0, 3, "name", 0.0)]], random.Random(0))
@given(drawn_spans, st.randoms(use_true_random=False))
def test_merging_keeps_every_character_once_with_its_best_score_and_invents_none_whatever_the_order(
    drawn: Drawn, chance: random.Random
) -> None:
    found = placed(drawn)
    merged, spans = merge(found, TOKENS), [span for _, spans in found for span in spans]
    assert marked(merged) == marked(spans)
    assert merged == sorted(merged, key=lambda span: (span.start, span.end, span.label))
    assert len({(span.start, span.end, span.label) for span in merged}) == len(merged)
    for label in {span.label for span in spans}:
        best = [max(span.score for span in some if span.label == label) for some in (merged, spans)]
        assert best[0] == best[1]
    chance.shuffle(found)
    assert merge(found, TOKENS) == merged


def test_what_one_of_two_windows_saw_is_kept_and_a_fragment_joins_the_whole() -> None:
    left, right = WINDOWS[:2]
    inside_both = FoundSpan(14, 15, "name", 0.6)
    assert max(left.start, right.start) <= 14 < min(left.end, right.end)
    for seen in ([(left, [inside_both]), (right, [])], [(left, []), (right, [inside_both])]):
        assert merge(seen, TOKENS) == [inside_both]
    edge = TOKENS[left.last - 1][1]
    fragment, whole = FoundSpan(16, edge, "name", 0.7), FoundSpan(16, edge + 4, "name", 0.9)
    assert merge([(left, [fragment]), (right, [whole])], TOKENS) == [whole]
    # Spans inside of one window stay apart.
    inner, outer = FoundSpan(4, 7, "name", 0.7), FoundSpan(4, 9, "name", 0.9)
    assert merge([(left, [inner, outer])], TOKENS) == [inner, outer]
