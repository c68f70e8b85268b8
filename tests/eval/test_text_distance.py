"""How far a text is from a linked one by its words. All texts are invented."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.linkage import Hidden, hidden_details, lexical_distance, source_sentences
from ingest.documents import Span

SENTENCES = ["The heron was fed at noon.", "Tobias mended the old boiler.", "The mill is in Varde."]
TEXT = " ".join(SENTENCES)


def spans(text: str, *details: str) -> list[Span]:
    return [Span(*match.span()) for detail in details for match in re.finditer(re.escape(detail), text)]


def test_the_source_of_a_claim_is_the_sentence_that_says_most_of_it() -> None:
    assert source_sentences(SENTENCES, ["Tobias mended boilers", "noon"]) == {0, 1}
    # Nothing in common: the first of equals, as the published code takes it.
    assert source_sentences(SENTENCES, ["zebra"]) == {0}
    assert source_sentences(SENTENCES, []) == source_sentences([], ["noon"]) == set()


def test_lexical_distance_by_hand() -> None:
    # 16 words; the linked text has the first 6 and then "the mill is in", so 10 of 16 in the same order.
    linked = "The heron was fed at noon. The mill is in Ostby."
    assert lexical_distance(TEXT, linked) == pytest.approx(1 - 10 / 16)
    # F of 10/16 and 10/11 is 20/27.
    # Without the first sentence: 10 words, of which "the" and "the mill is in" stand there.
    assert lexical_distance(TEXT, linked, ["the heron was fed"]) == pytest.approx(1 - 5 / 10)
    assert lexical_distance(TEXT, TEXT) == 0
    assert lexical_distance(TEXT, "") == 1
    assert lexical_distance("", TEXT) is lexical_distance(SENTENCES[0], TEXT, ["noon"]) is None


def test_hidden_details_by_hand() -> None:
    details = spans(TEXT, "Tobias", "Varde", "noon")
    linked = "TOBIAS mended the old boiler in a town."
    # "Tobias" stands there in capitals; "Varde" and "noon" do not.
    assert hidden_details(TEXT, details, linked) == Hidden(2, 3)
    # What is in the source sentence of a known claim is not looked for.
    assert hidden_details(TEXT, details, linked, ["The mill is in Varde"]) == Hidden(1, 2)
    assert hidden_details(TEXT, details, linked, SENTENCES) == Hidden(0, 0)
    assert hidden_details(TEXT, [], linked) == Hidden(0, 0)
    # A detail that only touches a known sentence is not looked for.
    text = "The heron was fed.\n\nTobias  slept."
    across, behind = spans(text, "fed.\n\nTobias", "slept")
    assert hidden_details(text, [across], "", ["The heron was fed"]) == Hidden(0, 0)
    assert hidden_details(text, [behind], "", ["The heron was fed"]) == Hidden(1, 1)


@given(
    st.lists(st.sampled_from(["Tobias", "noon", "heron", "fed"]), min_size=1, max_size=6),
    st.sampled_from([" ", "  ", "\n", "\n\n", "\t"]),
)
def test_white_space_does_not_move_a_sentence(words: list[str], gap: str) -> None:
    first, second = " ".join([*words, "stood"]) + ".", "Varde slept."
    text = f"{gap.join(first.split(' '))}{gap}{second}"
    (detail,) = spans(text, "Varde")
    assert hidden_details(text, [detail], "", ["Varde slept"]) == Hidden(0, 0)
    assert hidden_details(text, [detail], "", [first]) == Hidden(1, 1)
