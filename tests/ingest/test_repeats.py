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
NAME = "person full name"


def marked(text: str, words: str, label: str = NAME, confidence: float = 0.9) -> Entity:
    start = text.index(words)
    return entity(start, start + len(words), label, confidence=confidence)


def found(text: str, *known: Entity) -> list[str]:
    return [text[e.span.start : e.span.end] for e in repeats(text, known)]


@pytest.mark.parametrize(
    ("text", "name", "again"),
    [
        ("Amara Okoye left. Later Amara Okoye came back; Okoye too.", "Amara Okoye", "Amara Okoye|Okoye"),
        (
            "Amara Okoye left. Amara\nOkoye, amara  okoye and AMARA OKOYE came.",
            "Amara Okoye",
            "Amara\nOkoye|amara  okoye|AMARA OKOYE",
        ),
        ("We saw Joaquim de Souza. The de Souza results are in.", "Joaquim de Souza", "Souza"),
        ("Dr van der Meer came. The file van der Meer was closed.", "van der Meer", "van der Meer"),
        ("Omar al-Rashid went. The al-Rashid scan was clear.", "Omar al-Rashid", "al-Rashid"),
        ("It was O'Brien. And O’Brien again.", "O'Brien", "O’Brien"),
        ("We met Okoye. Okoye's car, Okoye-Lind, (Okoye) and Okoye_2.", "Okoye", "|".join(["Okoye"] * 4)),
        ("We met Amara Okoye, or okoye_a7 and a.okoye.", "Amara Okoye", "okoye_a7|a.okoye"),
        ("(08:24 okoye) Noted. (09:05 okoye) Done. Okoye left the okoyes.", "okoye", "okoye|Okoye"),
        ("(08:24 hope) Noted. I hope so, hope is here.", "hope", ""),
        ("The patient, Mr Sheikh, was seen. Sheikh has asthma.", "Sheikh", "Sheikh"),
        ("It was Ms Fatima Sheikh. Then Sheikh lost.", "Fatima Sheikh", "Sheikh"),
        ("It was Claudia Cardinal. Then Cardinal left.", "Claudia Cardinal", "Cardinal"),
        ("We met the Prime Minister. The Minister left.", "Prime Minister", ""),
        ("It was Judge Okoye. Then the Judge left.", "Judge Okoye", ""),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str, name: str, again: str) -> None:
    assert "|".join(found(text, marked(text, name))) == again


USERS = (
    "/home/okoye_a/notes|C:\\Users\\okoye\\x|okoye_visit|okoye_a|a.okoye|a_okoye2|OKOYE-A|aokoye|okoyea|"
    "amaraokoye|OkoyeAmara|https://host.example/people/okoye/|okoye.pdf|scan-okoye_2.JPG|okoye.txt.zip"
)
EVERYDAY = "green_light|/etc/green/x|red/green/blue|t.green-field"
NO_USERS = "okoye|and/okoye|okoyes|mokoye|okoye.example|okoye-like|bokoyea|okoyeas"


@pytest.mark.parametrize(
    ("name", "written", "is_found"),
    [("Amara Okoye", each, True) for each in USERS.split("|")]
    + [("Amara Okoye", each, False) for each in NO_USERS.split("|")]
    + [("Tomas Green", each, False) for each in EVERYDAY.split("|")],
)
def test_users_folders_and_files_say_names_in_any_case(name: str, written: str, is_found: bool) -> None:
    text = f"We met {name}. It is {written} there."
    again = found(text, marked(text, name))
    assert [each for each in again if "okoye" in each.casefold()] if is_found else again == []


def test_names_of_another_text_are_looked_for() -> None:
    other = "It was Amara Okoye."
    again = repeats("Okoye was there.", [], (other, [marked(other, "Amara Okoye")]))
    assert [(each.span.start, each.span.end) for each in again] == [(0, 5)]


def test_an_organization_does_not_take_a_persons_name_over() -> None:
    text = "Amara Okoye founded Okoye. Later Okoye resigned."
    at = text.index("Okoye.")
    again = repeats(text, [marked(text, "Amara Okoye"), entity(at, at + 5, "organization", confidence=0.95)])
    assert [(e.span.start, e.label) for e in again] == [(at, NAME), (text.index("Okoye resigned"), NAME)]


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.9])
def test_a_name_is_searched_for_however_unsure_it_is(confidence: float) -> None:
    text = "Amara Okoye wrote; so did Tomas Vask. Later Okoye left."
    known = [marked(text, "Amara Okoye", NAME, confidence), marked(text, "Tomas Vask", NAME, 0.3)]
    (again,) = repeats(text, known)
    assert (again.span.start, again.confidence) == (text.index("Okoye left"), confidence)


def test_the_longest_name_is_taken_and_each_place_once() -> None:
    text = "Okoye, then Amara Okoye. Again: Amara Okoye, Okoye."
    again = repeats(text, [marked(text, "Amara Okoye"), marked(text, "Okoye")])
    assert [text[e.span.start : e.span.end] for e in again] == ["Amara Okoye", "Okoye"]
    assert {(e.label, e.source) for e in again} == {(NAME, SOURCE)}
    # Where the longer name is taken the shorter is looked for.
    text = "Larkmoor Vale, Larkmoor; Larkmoor Vale"
    known = [entity(0, 13, "place"), entity(15, 23, "city name"), entity(34, 38, "organization")]
    assert [e.span.start for e in repeats(text, known)] == [25]


def test_of_several_labels_the_riskiest_is_repeated_and_so_is_a_users_own() -> None:
    text = "Jordan, Jordan and Jordan"
    known = [entity(0, 6, NAME, confidence=0.6), entity(8, 14, "country", confidence=0.95)]
    assert [e.label for e in repeats(text, known)][-1] == NAME
    text = "The Labour Party won. The Labour Party lost."
    assert found(text, marked(text, "Labour Party", "political party")) == ["Labour Party"]


@pytest.mark.parametrize(
    ("text", "words", "label"),
    [("Will came. Will you come?", "Will", NAME), ("It was May. May I?", "May", NAME)]
    + [("the harbor, the harbor", "the harbor", "place"), ("AB and AB", "AB", NAME)]
    + [("on 3 May; on 3 May", "3 May", "date"), ("Larkmoor and Larkmoorland", "Larkmoor", "city name")]
    + [("Amara Parkinson has Parkinson's disease", "Amara Parkinson", NAME)]
    + [("Amara Camp went to Camp", "Amara Camp", NAME)],
)
def test_what_is_no_name_by_itself_is_left(text: str, words: str, label: str) -> None:
    known = [entity(m.start(), m.end(), label) for m in re.finditer(rf"\b{re.escape(words)}\b", text)][-1:]
    assert repeats(text, known) == []


@pytest.mark.parametrize(
    ("label", "holder", "is_found"),
    [(NAME, "medical test", True), (NAME, "organization", True), (NAME, NAME, False)]
    + [("city name", "medical test", True), ("city name", "organization", False)],
)
def test_only_what_identifies_as_well_keeps_a_name_from_being_found(
    label: str, holder: str, is_found: bool
) -> None:
    text = "We know Varde. The Varde Clinic was closed."
    again = found(text, marked(text, "Varde", label), marked(text, "Varde Clinic", holder))
    assert again == ["Varde"] * is_found


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
