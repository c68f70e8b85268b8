import math
import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS, Uniform
from ingest.documents import Action, Decision, Document
from ingest.labels import PERSON
from ingest.language.vocabulary import words
from ingest.linking.link import link
from ingest.scoring.prior import RiskPrior
from ingest.wording.aliases import ALPHABET, WIDTH, alias_of, aliases_of, is_person_alias, with_aliases
from ingest.wording.replace import apply
from tests.doubles import PhraseDetector, entity
from tests.strategies import linked

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
ORGANIZATION = "organization"
MANY = settings(max_examples=200, deadline=None)

letters = st.text("abcdeghijklmnoprstuvwéöñ", min_size=4, max_size=9)
spoken = letters.filter(lambda word: re.search("[aeiouéö]", word) and word not in words("titles"))
names = st.lists(spoken.map(str.capitalize), min_size=2, max_size=2, unique=True)


def annotated(text: str, **phrases: str) -> AnnotatedText:
    found = PhraseDetector({phrase.replace("_", " "): label for phrase, label in phrases.items()})
    return linked(text, found.detect([Document("d", text)])[0])


def alias(said: str, label: str = PERSON, key: bytes = KEY) -> str | None:
    """The alias of what a text of one mention names."""
    text = AnnotatedText(said, link(Document("d", said), [entity(0, len(said), label)]))
    return aliases_of(text, key).get((label, 0))


def decided(text: AnnotatedText, method: Uniform = REDACT) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


def replaced(text: AnnotatedText, key: bytes = KEY) -> str:
    return apply(text, with_aliases(text, decided(text), key)).residual.text


def cells(table: str) -> list[str]:
    return [cell.strip() for cell in table.split("|")]


SAME = """
ANNA KELLER|Keller, Anna|KELLER Anna|Keller Anna|Mrs Anna Keller|Dr. Anna Keller, MD|Anna B. Keller
|Anna Beate Keller|Anna Keller's|Ánna Këller|Anna van Keller|Anna de Keller
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [("Anna Keller", each) for each in cells(SAME)]
    + [("Jean-Luc Martin", "Jean Luc Martin"), ("Omar al-Masri", "Omar Masri")],
)
def test_a_person_has_one_alias_however_the_name_is_written(one: str, other: str) -> None:
    assert alias(one) == alias(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [("Anna Keller", "Anna Kramer"), ("Anna Keller", "Arno Keller"), ("John Smith Jr", "John Smith Sr")]
    + [("Anna Keller", "Annak Eller")],
)
def test_other_people_have_other_aliases(one: str, other: str) -> None:
    assert alias(one) != alias(other)


def test_only_who_is_named_in_full_has_one() -> None:
    short = cells("Keller|A. Keller|Mr Keller|A.K.|Keller-Braun|van der Berg|al-Masri|Ohm Jr")
    full = cells("Ben Keller|Anita Das|Ida van der Berg|Anna Keller-Braun|Jan Ng")
    assert [said for said in short if alias(said) is not None] == []
    assert [said for said in full if alias(said) is None] == []


def test_organizations_have_aliases_without_their_legal_form_and_none_of_a_person() -> None:
    known = alias("Keller & Sons Ltd", ORGANIZATION)
    assert known is not None
    assert re.fullmatch(rf"Organization [{ALPHABET}]{{{WIDTH}}}", known)
    assert alias("KELLER AND SONS", ORGANIZATION) == known == alias("Keller & Sons (KS)", ORGANIZATION)
    assert alias("Keller", ORGANIZATION) != known
    person, body = alias("Anna Keller"), alias("Anna Keller", ORGANIZATION)
    assert person and body and person.split()[1] != body.split()[1]


@MANY
@given(names, st.binary(min_size=32, max_size=32))
def test_no_word_of_a_name_is_in_its_alias_and_its_order_and_case_do_not_matter(
    name: list[str], key: bytes
) -> None:
    first, last = name
    known = alias(f"{first} {last}", key=key)
    assert known is not None and is_person_alias(known)
    others = (f"{last}, {first}", f"{first} {last}".swapcase(), f"{last} {first}")
    assert {alias(each, key=key) for each in others} == {known}
    digits = known.split()[1].casefold()
    assert len(digits) == WIDTH and set(digits.upper()) <= set(ALPHABET)
    assert not any(word.casefold() in digits for word in name)


def test_aliases_are_spread_evenly_and_under_another_key_none_comes_again() -> None:
    people = [(f"n{n}", "keller") for n in range(2400)]
    one, other = ([alias_of(PERSON, name, key) for name in people] for key in (KEY, OTHER_KEY))
    assert not {*one} & {*other}
    for place in range(WIDTH):
        counts = Counter(each.split()[1][place] for each in one)
        # 100 of each are expected, with a standard deviation of 10
        assert set(counts) == set(ALPHABET) and 50 < min(counts.values()) <= max(counts.values()) < 150


def test_no_alias_can_be_a_word_or_be_misread_and_collisions_are_as_likely_as_is_told() -> None:
    assert not set(ALPHABET) & set("AEIOUYL01")
    assert not any(one in ALPHABET and other in ALPHABET for one, other in ("5S", "8B", "0O", "1I"))
    assert len(set(ALPHABET)) == len(ALPHABET)
    aliases = len(ALPHABET) ** WIDTH
    assert aliases // 1_000_000 == 191
    for people, told in ((1000, 0.0026), (10_000, 0.23)):
        assert -math.expm1(-people * (people - 1) / 2 / aliases) == pytest.approx(told, rel=0.02)


def test_every_form_of_a_name_gets_the_alias_and_nothing_else_does() -> None:
    text = annotated(
        "Anna Keller, 61, came. Keller wrote from akeller@mill.example. Tom left.",
        Anna_Keller=PERSON,
        Keller=PERSON,
        Tom=PERSON,
        **{"61": "person age", "akeller@mill.example": "email address"},
    )
    known = alias("Anna Keller")
    assert replaced(text) == (
        f"{known}, a certain age, came. {known} wrote from an email address. Somebody left."
    )
    people = dict.fromkeys(("Anna_Keller", "Tom_Keller", "Keller"), PERSON)
    text = annotated("Anna Keller met Tom Keller. Keller left.", **people)
    assert replaced(text) == f"{known} met {alias('Tom Keller')}. Somebody left."


def test_two_documents_speak_of_one_person() -> None:
    one = annotated("Mrs Anna Keller came.", Anna_Keller=PERSON)
    other = annotated("We saw KELLER, Anna.", **{"KELLER, Anna": PERSON})
    known = alias("Anna Keller")
    assert replaced(one) == f"Mrs {known} came."
    assert replaced(other) == f"We saw {known}."
    assert replaced(one, key=OTHER_KEY) != replaced(one)


def test_a_later_acronym_has_the_alias_of_the_name() -> None:
    bodies = dict.fromkeys(("World_Heron_Office", "WHO"), ORGANIZATION)
    text = annotated("The World Heron Office (WHO) met. WHO left.", **bodies)
    known = alias("World Heron Office", ORGANIZATION)
    assert replaced(text) == f"The {known} ({known}) met. {known} left."


def test_an_aliased_mention_is_told_as_a_surrogate_and_what_is_kept_or_removed_gets_no_alias() -> None:
    text = annotated("Anna Keller of Ulm", Anna_Keller=PERSON, Ulm="city name")
    told = with_aliases(text, decided(text), KEY)
    assert [each.action for each in told] == [Action.SURROGATE, Action.GENERALIZE]
    assert {each.reason for each in told} == {REDACT.reason}
    assert told[0].replacement == alias("Anna Keller")
    for method in (ORIGIN, SUPPRESS):
        decisions = decided(text, method)
        assert with_aliases(text, decisions, KEY) == decisions


def test_words_that_stand_for_a_person_are_known() -> None:
    known = alias("Anna Keller")
    assert known is not None
    assert is_person_alias(known) and is_person_alias(f"a {known}")
    others = (known.lower(), f"{known} left", "somebody", alias("Keller Ltd", ORGANIZATION) or "")
    assert not any(map(is_person_alias, others))


def test_the_text_with_aliases_holds_no_name() -> None:
    number = {"Keller-ID44871": "medical record number"}
    text = annotated("Anna Keller-ID44871 left", Anna_Keller=PERSON, **number)
    applied = apply(text, with_aliases(text, decided(text), KEY))
    assert applied.residual.text == f"{alias('Anna Keller')} left"
    assert [hazards.total for hazards in RiskPrior().hazards([applied.residual])] == [0.0]
