import pytest

from ingest.documents import Document
from ingest.link import link
from tests.doubles import PhraseDetector

PERSON = "person full name"


def links(text: str, *phrases: str, label: str = PERSON) -> list[int]:
    document = Document("d", text)
    found = PhraseDetector(dict.fromkeys(phrases, label)).detect([document])[0]
    return [entity.link for entity in link(document, found)]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("Anna Keller came. KELLER left.", ["Anna Keller", "KELLER"]),
        ("Anna Keller came. Anna left.", ["Anna Keller", "Anna left"[:4]]),
        ("Anna B. Keller; A. Keller", ["Anna B. Keller", "A. Keller"]),
        ("Keller, Anna and Anna Keller", ["Keller, Anna", "Anna Keller"]),
        ("Keller's desk, Keller's", ["Keller's"]),
        ("Jean-Luc Martin, Martin", ["Jean-Luc Martin", "Martin"]),
    ],
)
def test_forms_of_one_name_are_one_person(text: str, phrases: list[str]) -> None:
    assert len(set(links(text, *phrases))) == 1


def test_a_surname_that_two_people_share_stays_by_itself() -> None:
    assert links("Anna Keller, Tom Keller, Keller", "Anna Keller", "Tom Keller", ", Keller"[2:]).count(0) == 1


def test_the_same_words_under_another_label_are_another_thing() -> None:
    document = Document("d", "Austin lives in Austin.")
    found = [
        *PhraseDetector({"Austin lives": PERSON}).detect([document])[0],
        *PhraseDetector({"in Austin": "city name"}).detect([document])[0],
    ]
    assert [entity.link for entity in link(document, found)] == [0, 1]


def test_numbers_follow_the_order_of_the_text() -> None:
    assert links("Bremen, Ulm, BREMEN", "Bremen", "Ulm", "BREMEN", label="city name") == [0, 1, 0]


def test_every_mention_is_linked_and_none_is_lost() -> None:
    document = Document("d", "--- 42 ---")
    found = PhraseDetector({"---": "symptom", "42": "person age"}).detect([document])[0]
    assert [entity.link for entity in link(document, found)] == [0, 1, 0]
