"""What is claimed to be absent from a text is absent. All texts here are invented."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.corpora.examples import Example
from models.training.absences import surely_absent
from models.training.labels import LABELS
from models.training.synthetic.generate import synthetic_examples

PLAIN = "Quorin put up a shelf."
"""Holds nothing of any kind."""

ABSENT = """
reference number: No digit here
passport number: No digit here
zip postal code: She moved to Varde last spring
national id number: Ask the office about the form
case number: The lamp fell in the hall
religion: She went to the river with a lamp
religion: The boat was built by Talvik
language: She went to the river with a lamp
medication: The lamp fell on 3 May
disease: The boat was sold for 300 crowns
dosage: She bought two boats
symptom: They met Jorvik on the quay
email address: Write to Quorin soon
URL link: Write to Quorin. She reads letters
personal web link: Write to Quorin. She reads letters
phone number: In 1961 they sold 12 boats
phone number: Write to Quorin soon
IP address: The server is in the cellar
street address: Talvik is the mayor of Varde
date of birth: On 3 May 1961 the mill was sold
person age: The lamp is made of brass
person height: The lamp is made of brass
gender: The lamp is made of brass
marital status: The lamp is made of brass
time: On some days the ferry is late
duration: On arrival the ferry is full
monetary amount: The lamp is made of brass
currency full name: The lamp is 30 cm wide
currency symbol: The lamp is 30 cm wide
currency ISO code: The lamp from NO is made of brass
ordinal direction: The lamp is made of brass
"""

POSSIBLE = """
reference number: Your reference is K-7
passport number: It was passport 71
zip postal code: SW1A
case number: case no. ٣٤
religion: She is Catholic
religion: he converted to ISLAM
religion: they keep Kosher
language: He writes in Portuguese
language: is she a native speaker?
medication: two tablets daily
medication: He was given something for the pain
disease: treated for hepatitis
disease: He is HIV positive
diagnosis: diagnosed last spring
symptom: He is tired
dosage: 40mg
procedure: a hip operation
medical test: an X-ray of the hand
test result: The test was clear
email address: quorin@example.org
email address: quorin at example dot org
URL link: example.org
URL link: https://localhost
personal web link: WWW is all she said
phone number: +47 22 33
phone number: 0 1 - 2 3 4
phone number: oh seven double four
IP address: fe80::
IP address: 10.0.0.1
street address: Quiet Lane
street address: number 7
date of birth: born on a Sunday
date of birth: DOB unknown
date of birth: d.o.b. unknown
person age: in her thirties
person age: a 7th-grader
person age: young
person height: taller than six feet
gender: the woman
gender: M, divorced
marital status: his widow
marital status: Divorced
time: just after noon
time: a quarter to
time: 09.15
duration: for two weeks
duration: overnight
monetary amount: a million
monetary amount: €
monetary amount: some Euros
currency full name: in Swiss francs
currency symbol: £
currency symbol: Kr
currency ISO code: paid in NOK
ordinal direction: northeast of Varde
"""


def rows(table: str) -> list[tuple[str, str]]:
    return [(label, text) for label, _, text in (line.partition(": ") for line in table.strip().splitlines())]


@pytest.mark.parametrize(("label", "text"), rows(ABSENT))
def test_a_kind_of_which_there_is_no_word_is_absent(label: str, text: str) -> None:
    assert label in surely_absent(text)


@pytest.mark.parametrize(("label", "text"), rows(POSSIBLE))
def test_of_a_kind_of_which_there_is_a_word_nothing_is_claimed(label: str, text: str) -> None:
    assert label not in surely_absent(text)


def test_the_labels_are_known_and_each_may_be_absent_and_may_be_not() -> None:
    every = surely_absent(PLAIN)
    assert len(every) == len(set(every)) > 30
    assert set(every) <= set(LABELS)
    assert (
        set(every)
        == set(surely_absent(""))
        == {label for label, _ in rows(POSSIBLE)} | {"national id number"}
    )


@given(st.lists(st.sampled_from([text for _, text in rows(ABSENT + POSSIBLE)]), min_size=2, max_size=4))
def test_a_longer_text_has_no_more_absences(texts: list[str]) -> None:
    of_all = set(surely_absent(" ".join(texts)))
    assert all(of_all <= set(surely_absent(text)) for text in texts)


HARD = {
    # Of a date only its place tells that it is one of birth: behind a name, or in a table.
    "date of birth": r".*\d.*",
    # As short as any word.
    "ordinal direction": r"(?i:[nesw]{2,3})",
    "currency ISO code": r"[a-z]{3}",
    "currency symbol": r"(?i:fr\.)",
    "currency full name": r"(?i:(?:nigerian )?naira|reais)",
    "gender": r"non-binary",
}
"""Mentions that have no word of their kind about them."""
MANY_NAMES = {
    *("disease", "diagnosis", "symptom", "medication", "dosage", "procedure", "medical test", "test result")
}
"""Their names are too many for a list of words; but most stand beside a word of medicine."""


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    pytest.importorskip("faker", reason="the names of the invented texts come from faker")
    return [example for seed in (1, 2, 3) for example in synthetic_examples(900, seed)]


def is_hard(label: str, value: str) -> bool:
    return label in HARD and re.fullmatch(HARD[label], value) is not None


def test_hardly_a_label_of_an_invented_text_is_claimed_absent(examples: list[Example]) -> None:
    judged = Counter(mention.label for example in examples for mention in example.mentions)
    wrong = set()
    for example in examples:
        absent = set(surely_absent(example.text)) - MANY_NAMES
        for mention in example.mentions:
            value = example.text[mention.start : mention.end]
            if mention.label in absent and not is_hard(mention.label, value):
                wrong.add((mention.label, example.group, value))
    # A word that was scanned badly may be the only one of its kind.
    assert len(wrong) <= 5, wrong
    assert all(judged[label] > 20 for label in surely_absent(PLAIN))


def test_few_texts_of_medicine_have_no_word_of_medicine(examples: list[Example]) -> None:
    holding = wrong = 0
    for example in examples:
        marked = {mention.label for mention in example.mentions} & MANY_NAMES
        holding += len(marked)
        wrong += len(marked & set(surely_absent(example.text)))
    assert holding > 1_000
    assert wrong < 0.02 * holding


@pytest.mark.slow
def test_much_is_claimed_of_invented_texts(examples: list[Example]) -> None:
    claimed = Counter(label for example in examples for label in surely_absent(example.text))
    rare = {label for label in surely_absent(PLAIN) if claimed[label] < 0.05 * len(examples)}
    assert rare == set()
