"""Claims in other words, and how much of the wording is left. All texts are invented."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from eval.attacks.claims import PHRASES, OwnWords, Rewording, RuleRewording
from eval.tasks.linkage import bigram_precision

RULES: Rewording = RuleRewording()
NEGATION = re.compile(r"\b(?:no|not|never|without|cannot|can't)\b|n't\b")
WORDS = (
    "the a an heron Varde mill he she 3 40-year-old 2-day history of shows there is are has was not no"
    " because , On In after comes to mother often for weeks doctor"
).split()


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        # order
        ("On Monday, the heron was fed", "The heron was fed on Monday"),
        ("Because the dam broke, Varde is wet", "Varde is wet because the dam broke"),
        ("Tobias slept for three weeks", "For three weeks, Tobias slept"),
        ("The test shows rust in the boiler", "Rust in the boiler can be seen from the test"),
        ("There is a crack in the dam", "One finds a crack in the dam"),
        # ages and times
        ("A 40-year-old potter is here", "A potter aged 40 is here"),
        ("A 9-year-old otter is here", "An otter aged 9 is here"),
        ("She has a 2-week history of debts", "She has 2 weeks of debts"),
        # contractions, function words, general words
        ("It is not here", "It isn't here"),
        ("It isn't here", "It is not here"),
        ("More than 3 herons", "Over 3 herons"),
        ("His mother often bought bread", "His mum frequently purchased bread"),
        # what no rule may touch
        ("On Monday, Tuesday, and Friday, he works", "On Monday, Tuesday, and Friday, he works"),
        ("He left two weeks before Easter", "He left two weeks before Easter"),
        ("A 40-year-old Norse potter is here", "A 40-year-old Norse potter is here"),
        ("The test shows that nothing is wrong", "The test reveals that nothing is wrong"),
        ("", ""),
    ],
)
def test_a_claim_in_other_words(claim: str, other: str) -> None:
    assert RULES.reworded([claim]) == [other]
    assert OwnWords().reworded([claim]) == [claim]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=3))
def test_numbers_names_and_negations_stay(claims: list[str]) -> None:
    reworded = RULES.reworded(claims)
    assert len(reworded) == len(claims)
    for claim, other in zip(claims, reworded, strict=True):
        assert sorted(re.findall(r"\d+", other)) == sorted(re.findall(r"\d+", claim))
        assert other.lower().count("varde") == claim.lower().count("varde")
        assert len(NEGATION.findall(other)) == len(NEGATION.findall(claim))


def test_no_phrase_brings_or_takes_a_number_or_a_negation_and_articles_still_fit() -> None:
    for phrase, other in PHRASES.items():
        assert phrase == phrase.lower() and phrase != other
        assert not re.search(r"\d", phrase + other)
        assert len(NEGATION.findall(phrase)) == len(NEGATION.findall(other)), phrase
    # Behind "a" and "an" stand words, not verbs and prepositions.
    nouns = ("doctor", "physician", "father", "mother", "house", "big", "large", "difficult")
    assert all((noun[0] in "aeiou") == (PHRASES[noun][0] in "aeiou") for noun in nouns)


def test_bigrams_by_hand() -> None:
    # "the mill by": the mill, mill by; "mill by the": mill by, by the. The source has "the mill" alone.
    assert bigram_precision(["the mill by", "mill by the"], "The mill. A dam.") == pytest.approx(1 / 4)
    # Twice in a claim, once in the source: counts once.
    assert bigram_precision(["old mill old mill"], "an old mill") == pytest.approx(1 / 3)
    assert bigram_precision(["mill", ""], "the mill") is None


@given(*[st.lists(st.sampled_from(["mill", "mills", "dam", "by", "the"]), max_size=8).map(" ".join)] * 2)
def test_bigrams_of_one_text_are_those_of_rouge(text: str, source: str) -> None:
    expected = RougeScorer(["rouge2"], use_stemmer=True).score(source, text)["rouge2"].precision
    assert (bigram_precision([text], source) or 0) == pytest.approx(expected)
