"""How far claims are from a text. All texts are invented."""

import numpy as np
import pytest

from eval.measures import claim_distance as measure
from eval.measures.claim_distance import LEXICAL_WARNING, ClaimDistance, Judge, LexicalJudge, Rating

JUDGE: Judge = LexicalJudge()


@pytest.mark.parametrize(
    ("claim", "text", "rating"),
    [
        # all five content words, in another order and with other endings
        ("The old mills burned in Varde twice", "Varde: twice an old mill was burning.", 1),
        # four of five, .8, are enough; three of five are not; two of five, .4, are something; one is nothing
        ("Old mill burned Varde twice", "The old mill burned in Varde.", 1),
        ("Old mill burned Varde twice", "The old mill burned.", 2),
        ("Old mill burned Varde twice", "The old mill.", 2),
        ("Old mill burned Varde twice", "The mill.", 3),
        ("Old mill burned Varde twice", "", 3),
        # a number that the text does not say: five of six words are not enough
        ("Old mill burned Varde twice 1907", "The old mill burned twice in Varde.", 2),
        ("Old mill burned Varde twice 1907", "The old mill burned twice in Varde, in 1907.", 1),
        ("The dam is 3.5 wide and old and grey", "The dam is 5 or 3 wide, old and grey.", 2),
        # negation: as in the sentence that says most of the claim
        ("He has no cough", "He had a cough.", 2),
        ("He denies a cough", "He has no cough.", 1),
        ("He has a cough", "He does not drink. He has a cough.", 1),
        ("He has a cough", "He drinks. He never has a cough.", 2),
        ("He hasn’t seen otters", "No otters were seen.", 1),
        # nothing that could be looked for
        ("He was not", "He was not.", None),
    ],
)
def test_the_lexical_judge(claim: str, text: str, rating: Rating) -> None:
    assert JUDGE.ratings([claim], text) == [rating]


def test_parts_decide_where_negations_are_compared() -> None:
    text = "He denies rash and reports cough."
    assert JUDGE.ratings(["He reports cough"], text) == [2]
    assert LexicalJudge(lambda text: text.split(" and ")).ratings(["He reports cough"], text) == [1]
    assert LEXICAL_WARNING.startswith(JUDGE.name) and "not the semantic distance" in LEXICAL_WARNING


def test_distances_by_hand() -> None:
    # (0 + .5 + 1 + 1) / 4; leaked are the 1 and the 2
    assert measure.claim_distance([1, 2, 3, 3]) == ClaimDistance(0.625, 4, 2, 0, 0)
    # 7 is invalid and counts as 1, None is missing: (0 + 1) / 2
    assert measure.claim_distance([7, 3, None]) == ClaimDistance(0.5, 2, 1, 1, 1)
    assert measure.claim_distance([]) == ClaimDistance(None, 0, 0, 0, 0)
    assert measure.claim_distance([None]) == ClaimDistance(None, 0, 0, 0, 1)


def test_embedding_distance_by_hand() -> None:
    # The first claim is there; the nearest to the second is (.6, .8), with the cosine .8: 1 - (1 + .8) / 2.
    claims = np.array([[1, 0], [0, 1]], np.float32)
    linked = np.array([[1, 0], [0.6, 0.8], [-1, 0]], np.float32)
    assert measure.embedding_distance(claims, linked) == pytest.approx(0.1)
    assert measure.embedding_distance(claims, claims) == pytest.approx(0)
    assert measure.embedding_distance(claims[:1], -claims[:1]) == pytest.approx(2)
    assert (
        measure.embedding_distance(claims, linked[:0])
        is measure.embedding_distance(claims[:0], linked)
        is None
    )
