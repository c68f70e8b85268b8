from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import Action, Decision, Span
from ingest.spans import Shift, merged, resolve, substitute
from tests.strategies import decided_texts, spans

MANY = settings(max_examples=300, deadline=None)


def covered(decisions: Sequence[Decision]) -> set[int]:
    return {
        place
        for decision in decisions
        if decision.action is not Action.KEEP
        for place in range(decision.entity.span.start, decision.entity.span.end)
    }


@MANY
@given(decided_texts())
def test_exactly_the_characters_that_some_decision_replaces_are_covered(
    case: tuple[str, list[Decision]],
) -> None:
    _, decisions = case
    assert covered(resolve(decisions)) == covered(decisions)


@MANY
@given(decided_texts())
def test_resolved_spans_are_disjoint_and_in_order(case: tuple[str, list[Decision]]) -> None:
    resolved = [d.entity.span for d in resolve(case[1])]
    assert all(one.end <= other.start for one, other in zip(resolved, resolved[1:], strict=False))


@MANY
@given(decided_texts())
def test_no_character_gets_less_than_the_strictest_decision_on_it(case: tuple[str, list[Decision]]) -> None:
    _, decisions = case
    for result in resolve(decisions):
        inside = [d.action.strictness for d in decisions if d.entity.span.overlaps(result.entity.span)]
        assert result.action.strictness == max(inside)


@MANY
@given(decided_texts(), st.randoms(use_true_random=False))
def test_order_of_detection_does_not_matter(case: tuple[str, list[Decision]], random: object) -> None:
    _, decisions = case
    shuffled = list(decisions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object
    assert resolve(shuffled) == resolve(decisions)


@MANY
@given(decided_texts())
def test_resolving_twice_is_resolving_once(case: tuple[str, list[Decision]]) -> None:
    once = resolve(case[1])
    assert resolve(once) == once


@MANY
@given(decided_texts())
def test_substituting_each_span_by_itself_changes_nothing(case: tuple[str, list[Decision]]) -> None:
    text, decisions = case
    pairs = [(d.entity.span, text[d.entity.span.start : d.entity.span.end]) for d in resolve(decisions)]
    assert substitute(text, pairs) == text


@MANY
@given(decided_texts())
def test_nothing_to_be_replaced_survives_and_nothing_else_is_lost(case: tuple[str, list[Decision]]) -> None:
    text, decisions = case
    replaced = covered(decisions)
    left = "".join(c for place, c in enumerate(text) if place not in replaced)
    assert substitute(text, [(d.entity.span, "") for d in resolve(decisions)]) == left


@MANY
@given(decided_texts(), st.data())
def test_shift_finds_what_was_not_touched(case: tuple[str, list[Decision]], data: st.DataObject) -> None:
    text, decisions = case
    replacements = merged((d.entity.span, "somebody") for d in decisions)
    new, shift = substitute(text, replacements), Shift(replacements)
    span = data.draw(spans(len(text)))
    moved = shift(span)
    if any(other.overlaps(span) for other, _ in replacements):
        assert moved is None
    else:
        assert moved is not None
        assert new[moved.start : moved.end] == text[span.start : span.end]
    for number in range(len(replacements)):
        start, end = shift.of_replacement(number)
        assert new[start:end] == "somebody"


def test_overlapping_replacements_are_refused() -> None:
    with pytest.raises(ValueError, match="overlapping spans"):
        substitute("abcdef", [(Span(0, 3), ""), (Span(2, 4), "")])


def test_a_span_past_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="runs past the text, 3 characters long"):
        substitute("abc", [(Span(1, 4), "")])


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 1)])
def test_an_empty_or_backward_span_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not a span"):
        Span(start, end)
