from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import Action, Decision, Span
from ingest.spans import Shift, merged, resolve, substitute
from tests.strategies import decided_texts, spans

MANY = settings(max_examples=300, deadline=None)


def covered(decisions: Sequence[Decision]) -> set[int]:
    spans = [each.entity.span for each in decisions if each.action is not Action.KEEP]
    return {place for span in spans for place in range(span.start, span.end)}


@MANY
@given(decided_texts(), st.randoms(use_true_random=False))
def test_decisions_are_resolved_strictly_and_whatever_their_order(
    case: tuple[str, list[Decision]], random: object
) -> None:
    text, decisions = case
    resolved = resolve(decisions)
    spans = [each.entity.span for each in resolved]
    assert covered(resolved) == covered(decisions)
    assert all(one.end <= other.start for one, other in zip(spans, spans[1:], strict=False))
    for result in resolved:
        inside = [d.action.strictness for d in decisions if d.entity.span.overlaps(result.entity.span)]
        assert result.action.strictness == max(inside), "no character gets less than the strictest on it"
    shuffled = list(decisions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types its Random as object
    assert resolve(shuffled) == resolve(resolved) == resolved
    assert substitute(text, [(span, text[span.start : span.end]) for span in spans]) == text
    left = "".join(c for place, c in enumerate(text) if place not in covered(decisions))
    assert substitute(text, [(span, "") for span in spans]) == left


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


def test_spans_that_overlap_run_past_the_text_or_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="overlapping spans"):
        substitute("abcdef", [(Span(0, 3), ""), (Span(2, 4), "")])
    with pytest.raises(ValueError, match="runs past the text, 3 characters long"):
        substitute("abc", [(Span(1, 4), "")])
    for start, end in ((-1, 2), (2, 2), (3, 1)):
        with pytest.raises(ValueError, match="not a span"):
            Span(start, end)
