import math
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS, Uniform
from ingest.documents import Action, Decision, Document
from ingest.labels import PERSON
from ingest.language.vocabulary import words
from ingest.linking.accounts import link_accounts
from ingest.linking.link import link
from ingest.scoring.prior import RiskPrior
from ingest.wording.aliases import ALPHABET, WIDTH, alias_of, aliases_of, is_person_alias, with_aliases
from ingest.wording.replace import apply
from tests.doubles import PhraseDetector, entity

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
ORGANIZATION = "organization"
MANY = settings(max_examples=200, deadline=None)

names = st.lists(
    st.text(alphabet="abcdeghijklmnoprstuvwéöñ", min_size=4, max_size=9).map(str.capitalize),
    min_size=2,
    max_size=2,
    unique=True,
).filter(
    lambda name: all(re.search("[aeiouéö]", word) and word.lower() not in words("titles") for word in name)
)


def annotated(text: str, **phrases: str) -> AnnotatedText:
    document = Document("d", text)
    found = PhraseDetector({phrase.replace("_", " "): label for phrase, label in phrases.items()})
    return AnnotatedText(text, link_accounts(document, link(document, found.detect([document])[0])))


def alias(said: str, label: str = PERSON, key: bytes = KEY) -> str | None:
    """The alias of what a text of one mention names."""
    text = AnnotatedText(said, link(Document("d", said), [entity(0, len(said), label)]))
    return aliases_of(text, key).get((label, 0))


def decided(text: AnnotatedText, method: Uniform = REDACT) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


def replaced(text: AnnotatedText, method: Uniform = REDACT, key: bytes = KEY) -> str:
    return apply(text, with_aliases(text, decided(text, method), key)).residual.text


# -- whose alias is whose ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        "ANNA KELLER",
        "Keller, Anna",
        "KELLER Anna",
        "Keller Anna",
        "Mrs Anna Keller",
        "Dr. Anna Keller, MD",
        "Anna B. Keller",
        "Anna Beate Keller",
        "Anna Keller's",
        "Ánna Këller",
        "Anna van Keller",
        "Anna de Keller",
    ],
)
def test_a_person_has_one_alias_however_the_name_is_written(other: str) -> None:
    assert alias(other) == alias("Anna Keller")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna Keller", "Anna Kramer"),
        ("Anna Keller", "Arno Keller"),
        ("John Smith Jr", "John Smith Sr"),
        ("Anna Keller", "Annak Eller"),
    ],
)
def test_other_people_have_other_aliases(one: str, other: str) -> None:
    assert alias(one) != alias(other)


@pytest.mark.parametrize(
    "said", ["Keller", "A. Keller", "Mr Keller", "A.K.", "Keller-Braun", "van der Berg", "al-Masri", "Ohm Jr"]
)
def test_who_is_not_named_in_full_has_none(said: str) -> None:
    assert alias(said) is None


@pytest.mark.parametrize(
    "said", ["Ben Keller", "Anita Das", "Ida van der Berg", "Anna Keller-Braun", "Jan Ng"]
)
def test_who_is_named_in_full_has_one(said: str) -> None:
    assert alias(said) is not None


def test_a_compound_is_known_with_and_without_its_hyphen() -> None:
    assert alias("Jean-Luc Martin") == alias("Jean Luc Martin")
    assert alias("Omar al-Masri") == alias("Omar Masri")


def test_organizations_have_aliases_without_their_legal_form() -> None:
    known = alias("Keller & Sons Ltd", ORGANIZATION)
    assert known is not None
    assert re.fullmatch(rf"Organization [{ALPHABET}]{{{WIDTH}}}", known)
    assert alias("KELLER AND SONS", ORGANIZATION) == known
    assert alias("Keller & Sons (KS)", ORGANIZATION) == known
    assert alias("Keller", ORGANIZATION) != known


def test_a_person_and_an_organization_of_one_name_share_no_alias() -> None:
    person, body = alias("Anna Keller"), alias("Anna Keller", ORGANIZATION)
    assert person and body
    assert person.split()[1] != body.split()[1]


@MANY
@given(names)
def test_order_case_and_the_run_do_not_matter(name: list[str]) -> None:
    first, last = name
    known = alias(f"{first} {last}")
    assert known is not None
    assert {alias(f"{last}, {first}"), alias(f"{first} {last}".swapcase()), alias(f"{last} {first}")} == {
        known
    }


@MANY
@given(names, st.binary(min_size=32, max_size=32))
def test_no_word_of_a_name_is_in_its_alias(name: list[str], key: bytes) -> None:
    known = alias(" ".join(name), key=key)
    assert known is not None
    assert is_person_alias(known)
    digits = known.split()[1].casefold()
    assert len(digits) == WIDTH
    assert set(digits.upper()) <= set(ALPHABET)
    assert not any(word.casefold() in digits for word in name)


def test_under_another_key_no_alias_comes_again() -> None:
    people = [(f"anna{n}", f"keller{n}") for n in range(3000)]
    one = {alias_of(PERSON, name, KEY) for name in people}
    other = {alias_of(PERSON, name, OTHER_KEY) for name in people}
    assert not one & other
    assert all(alias_of(PERSON, name, KEY) in one for name in people)


def test_aliases_are_spread_evenly() -> None:
    letters = [alias_of(PERSON, (f"n{n}", "keller"), KEY).split()[1] for n in range(2400)]
    for place in range(WIDTH):
        counts = [sum(each[place] == letter for each in letters) for letter in ALPHABET]
        # 100 of each are expected, with a standard deviation of 10
        assert min(counts) > 50
        assert max(counts) < 150


def test_no_alias_can_be_a_word_or_be_misread() -> None:
    assert not set(ALPHABET) & set("AEIOUYL01")
    assert not any(one in ALPHABET and other in ALPHABET for one, other in ("5S", "8B", "0O", "1I"))
    assert len(set(ALPHABET)) == len(ALPHABET)


@pytest.mark.parametrize(("people", "told"), [(1000, 0.0026), (10_000, 0.23)])
def test_collisions_are_as_likely_as_is_told(people: int, told: float) -> None:
    aliases = len(ALPHABET) ** WIDTH
    assert aliases // 1_000_000 == 191
    assert -math.expm1(-people * (people - 1) / 2 / aliases) == pytest.approx(told, rel=0.02)


# -- in a text ---------------------------------------------------------------------------------------------


def test_every_form_of_a_name_gets_the_alias_and_nothing_else_does() -> None:
    text = annotated(
        "Anna Keller, 61, came. Keller wrote from akeller@mill.example. Tom left.",
        Anna_Keller=PERSON,
        **{
            ". Keller"[2:]: PERSON,
            "61": "person age",
            "akeller@mill.example": "email address",
            "Tom": PERSON,
        },
    )
    known = alias("Anna Keller")
    assert replaced(text) == (
        f"{known}, a certain age, came. {known} wrote from an email address. Somebody left."
    )


def test_a_form_that_fits_two_people_keeps_the_descriptor() -> None:
    text = annotated(
        "Anna Keller met Tom Keller. Keller left.", Anna_Keller=PERSON, Tom_Keller=PERSON, Keller=PERSON
    )
    assert replaced(text) == f"{alias('Anna Keller')} met {alias('Tom Keller')}. Somebody left."


def test_two_documents_speak_of_one_person() -> None:
    one = annotated("Mrs Anna Keller came.", Anna_Keller=PERSON)
    other = annotated("We saw KELLER, Anna.", **{"KELLER, Anna": PERSON})
    known = alias("Anna Keller")
    assert replaced(one) == f"Mrs {known} came."
    assert replaced(other) == f"We saw {known}."
    assert replaced(one, key=OTHER_KEY) != replaced(one)


def test_a_later_acronym_has_the_alias_of_the_name() -> None:
    text = annotated(
        "The World Heron Office (WHO) met. WHO left.", World_Heron_Office=ORGANIZATION, WHO=ORGANIZATION
    )
    known = alias("World Heron Office", ORGANIZATION)
    assert replaced(text) == f"The {known} ({known}) met. {known} left."


def test_an_aliased_mention_is_told_as_a_surrogate() -> None:
    text = annotated("Anna Keller of Ulm", Anna_Keller=PERSON, Ulm="city name")
    told = with_aliases(text, decided(text), KEY)
    assert [(each.action, each.reason) for each in told] == [
        (Action.SURROGATE, REDACT.reason),
        (Action.GENERALIZE, REDACT.reason),
    ]
    assert told[0].replacement == alias("Anna Keller")


@pytest.mark.parametrize("method", [ORIGIN, SUPPRESS])
def test_what_is_kept_or_removed_gets_no_alias(method: Uniform) -> None:
    text = annotated("Anna Keller left", Anna_Keller=PERSON)
    decisions = decided(text, method)
    assert with_aliases(text, decisions, KEY) == decisions


def test_words_that_stand_for_a_person_are_known() -> None:
    known = alias("Anna Keller")
    assert known is not None
    assert is_person_alias(known)
    assert is_person_alias(f"a {known}")
    assert not is_person_alias(known.lower())
    assert not is_person_alias(f"{known} left")
    assert not is_person_alias("somebody")
    assert not is_person_alias(alias("Keller Ltd", ORGANIZATION) or "")


def test_the_text_with_aliases_holds_no_name() -> None:
    text = annotated(
        "Anna Keller-ID44871 left", Anna_Keller=PERSON, **{"Keller-ID44871": "medical record number"}
    )
    applied = apply(text, with_aliases(text, decided(text), KEY))
    assert applied.residual.text == f"{alias('Anna Keller')} left"
    assert [hazards.total for hazards in RiskPrior().hazards([applied.residual])] == [0.0]
