"""Names found once are found wherever they stand. Every text here is invented."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.repeats import SOURCE, repeats
from ingest.documents import Entity
from tests.doubles import entity
from tests.timing import cost

NAMES = ("Okoye", "Amara Okoye", "Larkmoor", "Brandt & Oster")


def marked(text: str, words: str, label: str = "person full name") -> Entity:
    start = text.index(words)
    return entity(start, start + len(words), label)


def found(text: str, *known: Entity) -> list[str]:
    return [text[e.span.start : e.span.end] for e in repeats(text, known)]


def test_a_name_is_found_again() -> None:
    text = "Amara Okoye left. Later Amara Okoye came back; Okoye too."
    assert found(text, marked(text, "Amara Okoye")) == ["Amara Okoye", "Okoye"]


@pytest.mark.parametrize(
    ("text", "name", "again"),
    [
        ("Amara Okoye left. Amara\nOkoye, amara  okoye and AMARA OKOYE came.", "Amara Okoye", 3),
        ("We saw Joaquim de Souza. The de Souza results are in.", "Joaquim de Souza", 1),
        ("Dr van der Meer came. The file van der Meer was closed.", "van der Meer", 1),
        ("Omar al-Rashid went. The al-Rashid scan was clear.", "Omar al-Rashid", 1),
        ("It was O'Brien. And O’Brien again.", "O'Brien", 1),
        ("We met Okoye. Okoye's car, Okoye-Lind, (Okoye) and Okoye_2.", "Okoye", 4),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str, name: str, again: int) -> None:
    assert len(found(text, marked(text, name))) == again


@pytest.mark.parametrize(
    ("file", "again"),
    [("okoye.pdf", 1), ("scan-okoye_2.JPG", 1), ("okoye.txt.zip", 1), ("okoye", 0), ("okoye.example", 0)],
)
def test_a_name_of_a_file_says_a_name_in_any_case(file: str, again: int) -> None:
    text = f"We met Amara Okoye. Her letter is {file}, as sent."
    assert len(found(text, marked(text, "Amara Okoye"))) == again


@pytest.mark.parametrize(
    "written",
    ["/home/okoye_a/notes", "C:\\Users\\okoye\\x", "okoye_visit", "okoye_a", "a.okoye", "a_okoye2", "OKOYE-A"]
    + ["aokoye", "okoyea", "amaraokoye", "OkoyeAmara", "https://host.example/people/okoye/"],
)
def test_a_name_of_a_user_or_folder_says_a_name_in_any_case(written: str) -> None:
    text = f"We met Amara Okoye. It is {written} there."
    assert [each for each in found(text, marked(text, "Amara Okoye")) if "okoye" in each.casefold()]


@pytest.mark.parametrize(
    "written", ["okoye", "and/okoye", "okoyes", "mokoye", "okoye.example", "okoye-like", "bokoyea", "okoyeas"]
)
def test_a_small_word_beside_no_initial_is_no_user(written: str) -> None:
    text = f"We met Amara Okoye. It is {written} there."
    assert found(text, marked(text, "Amara Okoye")) == []


@pytest.mark.parametrize("written", ["green_light", "/etc/green/x", "red/green/blue", "t.green-field"])
def test_an_everyday_word_is_no_user(written: str) -> None:
    text = f"We met Tomas Green. It is {written} there."
    assert found(text, marked(text, "Tomas Green")) == []


def test_a_user_goes_with_the_initial() -> None:
    text = "We met Amara Okoye, or okoye_a7 and a.okoye."
    assert found(text, marked(text, "Amara Okoye")) == ["okoye_a7", "a.okoye"]


def test_names_of_another_text_are_looked_for() -> None:
    other = "It was Amara Okoye."
    again = repeats("Okoye was there.", [], (other, [marked(other, "Amara Okoye")]))
    assert [(each.span.start, each.span.end) for each in again] == [(0, 5)]


@pytest.mark.parametrize(
    ("text", "name", "again"),
    [
        ("The patient, Mr Sheikh, was seen. Sheikh has asthma.", "Sheikh", 1),
        ("It was Ms Fatima Sheikh. Then Sheikh lost.", "Fatima Sheikh", 1),
        ("It was Claudia Cardinal. Then Cardinal left.", "Claudia Cardinal", 1),
        ("We met the Prime Minister. The Minister left.", "Prime Minister", 0),
        ("It was Judge Okoye. Then the Judge left.", "Judge Okoye", 0),
    ],
)
def test_a_title_is_a_surname_behind_a_title_or_a_given_name(text: str, name: str, again: int) -> None:
    assert len(found(text, marked(text, name))) == again


def test_a_name_in_small_letters_is_found_in_small_letters() -> None:
    text = "(08:24 okoye) Noted. (09:05 okoye) Done. Okoye left the okoyes."
    assert found(text, marked(text, "okoye")) == ["okoye", "Okoye"]
    text = "(08:24 hope) Noted. I hope so, hope is here."
    assert found(text, marked(text, "hope")) == []


def test_an_organization_does_not_take_a_persons_name_over() -> None:
    text = "Amara Okoye founded Okoye. Later Okoye resigned."
    at = text.index("Okoye.")
    again = repeats(text, [marked(text, "Amara Okoye"), entity(at, at + 5, "organization", confidence=0.95)])
    assert [(e.span.start, e.label) for e in again] == [
        (place, "person full name") for place in (at, text.index("Okoye resigned"))
    ]


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.9])
def test_a_name_is_searched_for_however_unsure_it_is(confidence: float) -> None:
    text = "Amara Okoye wrote; so did Tomas Vask. Later Okoye left."
    first, other = text.index("Amara Okoye"), text.index("Tomas Vask")
    known = [
        entity(first, first + 11, "person full name", confidence=confidence),
        entity(other, other + 10, "person full name", confidence=0.3),
    ]
    assert [(e.span.start, e.confidence) for e in repeats(text, known)] == [
        (text.index("Okoye left"), confidence)
    ]


def test_the_longest_name_is_taken_and_each_place_once() -> None:
    text = "Okoye, then Amara Okoye. Again: Amara Okoye, Okoye."
    again = repeats(text, [marked(text, "Amara Okoye"), marked(text, "Okoye")])
    assert [text[e.span.start : e.span.end] for e in again] == ["Amara Okoye", "Okoye"]
    assert {(e.label, e.source) for e in again} == {("person full name", SOURCE)}


def test_of_several_labels_the_riskiest_is_repeated() -> None:
    text = "Jordan, Jordan and Jordan"
    known = [entity(0, 6, "person full name", confidence=0.6), entity(8, 14, "country", confidence=0.95)]
    assert [e.label for e in repeats(text, known)][-1] == "person full name"


def test_where_the_longer_name_is_taken_the_shorter_is_looked_for() -> None:
    text = "Larkmoor Vale, Larkmoor; Larkmoor Vale"
    known = [
        entity(0, 13, "place"),
        entity(15, 23, "city name"),
        entity(34, 38, "organization"),
    ]
    assert [e.span.start for e in repeats(text, known)] == [25]


def test_a_users_own_label_is_repeated() -> None:
    text = "The Labour Party won. The Labour Party lost."
    assert found(text, marked(text, "Labour Party", "political party")) == ["Labour Party"]


@pytest.mark.parametrize(
    ("text", "words", "label"),
    [
        ("Will came. Will you come?", "Will", "person full name"),
        ("It was May. May I?", "May", "person full name"),
        ("the harbor, the harbor", "the harbor", "place"),
        ("AB and AB", "AB", "person full name"),
        ("on 3 May; on 3 May", "3 May", "date"),
        ("Larkmoor and Larkmoorland", "Larkmoor", "city name"),
        ("Amara Parkinson has Parkinson's disease", "Amara Parkinson", "person full name"),
        ("Amara Camp went to Camp", "Amara Camp", "person full name"),
    ],
)
def test_what_is_no_name_by_itself_is_left(text: str, words: str, label: str) -> None:
    known = [entity(m.start(), m.end(), label) for m in re.finditer(rf"\b{re.escape(words)}\b", text)][-1:]
    assert repeats(text, known) == []


@pytest.mark.parametrize(
    ("label", "holder", "again"),
    [
        ("person full name", "medical test", ["Varde"]),
        ("person full name", "organization", ["Varde"]),
        ("person full name", "person full name", []),
        ("city name", "medical test", ["Varde"]),
        ("city name", "organization", []),
    ],
)
def test_only_what_identifies_as_well_keeps_a_name_from_being_found(
    label: str, holder: str, again: list[str]
) -> None:
    text = "We know Varde. The Varde Clinic was closed."
    assert found(text, marked(text, "Varde", label), marked(text, "Varde Clinic", holder)) == again


@given(st.lists(st.sampled_from((*NAMES, " ", ", ", "and ", "x", "\n", "_", "é")), max_size=30).map("".join))
def test_no_free_occurrence_of_a_name_is_left(text: str) -> None:
    places = [re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in NAMES]
    known = [entity(*place.span(), "person full name") for place in places if place]
    covered = bytearray(len(text))
    for each in [*known, *repeats(text, known)]:
        covered[each.span.start : each.span.end] = b"1" * len(each.span)
    for each in known:
        name = text[each.span.start : each.span.end]
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            assert all(covered[match.start() : match.end()])


@pytest.mark.slow
def test_time_does_not_grow_with_names_times_places() -> None:
    def seconds(number: int) -> float:
        text = " ".join(f"John Okoye{n % 997}x{n}" for n in range(number))
        known = [entity(m.start(), m.end(), "person full name") for m in re.finditer(r"John \w+", text)]
        return cost(lambda: repeats(text, known))

    assert seconds(20_000) < 12 * max(seconds(4_000), 1e-3)
