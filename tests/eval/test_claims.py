"""Claims of texts, and those that an attacker knows. All texts are invented."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks.claims import Access, Atomizer, RuleAtomizer
from models.errors import ConfigurationError

ATOMS: Atomizer = RuleAtomizer()
WORDS = (
    "heron mill boiler Varde he she the and but or so , ; : . has was is denies sleeps who which because with"
    ' including ( ) " 72/min 3 May 2019 quickly cold no not'
).split()


HISTORY = "They came with a history of"


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("", ""),
        ("Stop.", "Stop"),
        ("The roof leaks. The mill is shut!", "The roof leaks | The mill is shut!"),
        ("Her oven is old; the roof leaks.", "Her oven is old | the roof leaks"),
        # coordinated clauses, with a subject of their own and without
        ("He is of Varde and his father was a potter.", "He is of Varde | his father was a potter"),
        ("The heron was fed, but it died.", "The heron was fed | it died"),
        ("He has asthma and takes tea, but never smokes.", "He has asthma | He takes tea | He never smokes"),
        ("The boiler is 114 and pressure is 130.", "The boiler is 114 | pressure is 130"),
        ("Water is cold, the air is warm, and tea is hot.", "Water is cold | the air is warm | tea is hot"),
        ("In May, water is cold, and milk is sour.", "In May, water is cold | milk is sour"),
        # enumerations: each item with what it follows
        ("He reports cough, fever, and chills.", "He reports cough | He reports fever | He reports chills"),
        ("In May he is pale, weak and cold.", "In May he is pale | In May he is weak | In May he is cold"),
        (f"{HISTORY} floods, fires, and thefts.", f"{HISTORY} floods | {HISTORY} fires | {HISTORY} thefts"),
        ("Its tank is 7, wheel 8/min, and oil 6 (old).", "Its tank is 7 | wheel 8/min | oil 6 (old)"),
        # alternatives hold together, unless both are denied
        ("They sell bread, cakes or tea.", "They sell bread, cakes or tea"),
        ("She denies debts, theft, or fraud.", "She denies debts | She denies theft | She denies fraud"),
        # what stays whole
        *(
            (f"{whole}.", whole)
            for whole in (
                "A heron and a mill are old",
                "On Monday, he has bread and butter",
                "If he is ill, he is at home",
                "The man who has bread and fish is full",
                "He has a mill, which burned, and a barn",
                "The red, green, and blue herons sleep",
                "He saw “red, green, and blue” signs",
            )
        ),
        ("He met Anna on May 3, 2019, and she was glad.", "He met Anna on May 3, 2019 | she was glad"),
    ],
)
def test_a_text_is_cut_into_its_claims(text: str, claims: str) -> None:
    assert [" | ".join(each) for each in ATOMS.claims([text])] == [claims]


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[\w/]+", text))


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_no_word_but_the_joining_ones_is_lost_and_none_is_added(text: str) -> None:
    (claims,) = ATOMS.claims([text])
    assert all(claim and claim == " ".join(claim.split()) for claim in claims)
    said = words_of(" ".join(claims))
    assert words_of(text) - {"and", "but", "or", "so"} <= said <= words_of(text)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=4))
def test_claims_do_not_depend_on_the_batch(texts: list[str]) -> None:
    assert ATOMS.claims(texts) == [ATOMS.claims([text])[0] for text in texts]


def test_the_first_and_the_last_claims_are_known() -> None:
    assert Access(2, "first").known(5, 0) == [0, 1]
    assert Access(2, "last").known(5, 0) == [3, 4]
    assert Access(4, "last").known(2, 0) == Access(4, "first").known(2, 0) == [0, 1]
    assert Access(1, "first").known(0, 0) == []


@given(st.integers(1, 5), st.integers(0, 20), st.integers(0, 9), st.integers(0, 9))
def test_random_claims_depend_on_seed_and_number_alone(k: int, claims: int, number: int, seed: int) -> None:
    known = Access(k, seed=seed).known(claims, number)
    assert known == Access(k, seed=seed).known(claims, number)
    assert len(known) == min(k, claims) and known == sorted(set(known)) and set(known) <= set(range(claims))


def test_another_seed_or_document_has_other_random_claims() -> None:
    drawn = [Access(3, seed=seed).known(15, number) for seed in range(5) for number in range(5)]
    assert len({tuple(each) for each in drawn}) > 20
    assert {place for each in drawn for place in each} == set(range(15))


@pytest.mark.parametrize("k", [0, 6])
def test_an_attacker_who_knows_nothing_or_too_much_is_refused(k: int) -> None:
    with pytest.raises(ConfigurationError, match=f"^an attacker who knows {k} claims: ask for 1 to 5, as"):
        Access(k)
