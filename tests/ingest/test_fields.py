"""What stands in a field follows from its name and its cells, whatever the words. All is invented."""

import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from ingest.detection.cells import Cell
from ingest.detection.fields import Field, fields_of, off_names, with_fields
from ingest.detection.hybrid import HybridDetector
from ingest.detection.rules.hits import hit
from ingest.documents import Action, Decision, Document, Entity, Span
from ingest.labels import PERSON
from ingest.rendering.replace import apply
from tests.fields_table import SCHEMAS, Schema
from tests.strategies import linked

Records = Sequence[Mapping[str, str]]


def as_json_lines(records: Records) -> str:
    return "\n".join(json.dumps({**each}, ensure_ascii=False) for each in records)


def as_numbers(records: Records) -> str:
    """JSON in which all that can be a number is one."""

    def valued(said: str) -> object:
        return int(said) if said.isdigit() and (said == "0" or said[0] != "0") else said

    held = [{name: valued(said) for name, said in each.items()} for each in records]
    return json.dumps({"records": held}, ensure_ascii=False, indent=1)


def as_lines(records: Records) -> str:
    return "\n\n".join("\n".join(f"{name}: {said}" for name, said in each.items()) for each in records)


def as_table(separator: str) -> Callable[[Records], str]:
    def written(records: Records) -> str:
        rows = [list(records[0]), *(list(each.values()) for each in records)]
        return "\n".join(
            separator.join(f'"{cell}"' if separator in cell else cell for cell in row) for row in rows
        )

    return written


FORMS = {
    "json lines": as_json_lines,
    "numbers": as_numbers,
    "lines": as_lines,
    "semicolons": as_table(";"),
    "commas": as_table(","),
    "bars": as_table(" | "),
    "tabs": as_table("\t"),
}


def found_in(text: str, fields: Mapping[str, str] | None = None) -> list[Entity]:
    return HybridDetector(fields=fields).detect([Document("d", text)])[0]


def redacted(text: str, found: list[Entity]) -> str:
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in found]
    return apply(linked(text, found), decisions).residual.text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_what_fields_of_a_person_hold_goes_and_the_rest_stays(schema: Schema, form: str) -> None:
    text = FORMS[form](schema.records())
    found = found_in(text)
    covered = {place for each in found for place in range(each.span.start, each.span.end)}
    left, changed, at = [], [], 0
    for record in schema.records():
        for name, said in record.items():
            at = text.index(said, at)
            signs = {at + number for number, char in enumerate(said) if char.isalnum()}
            at += len(said)
            if name in schema.personal.split() and not signs <= covered:
                left.append((name, said))
            if name not in schema.personal.split() and signs & covered:
                changed.append((name, said))
    assert (left, changed) == ([], [])


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_names_of_fields_stay_and_json_stays_json(schema: Schema) -> None:
    text = as_numbers(schema.records())
    done = json.loads(redacted(text, found_in(text)))
    assert [list(each) for each in done["records"]] == [list(each) for each in schema.records()]


@pytest.mark.parametrize("nothing", ["n/a", "none", "-", "unknown", "N/A", ""])
def test_what_says_that_there_is_nothing_is_nothing(nothing: str) -> None:
    text = json.dumps({"first_name": nothing, "ssn": nothing, "town": nothing, "phone": nothing})
    assert found_in(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("employee: Art Best\nTown: Sandwich", ["Art Best", "Sandwich"]),
        ("Patient: stable", []),
        ("Doctor: How are you feeling today?\nPatient: I have been better.", []),
        ("Nurse: Will\nNote: seen by Will at nine", ["Will", "Will"]),
        ("Surname | Frost | Town | Ware", ["Frost", "Ware"]),
        (
            "Client | Contact |  | Balance\n| Phone | Mail\nArt Winters | 0471100 | a@b.example | 12.5",
            ["Art Winters", "0471100", "a@b.example"],
        ),
        ('{"first_name": "Will", "note": "asked will he come; seen by Will"}', ["Will", "Will"]),
        ('{"people": [{"given": "May", "tags": ["large", "blue"]}]}', ["May"]),
        ("name;price\nRose Soap;4.50\nDesk Lamp;9.10", []),
    ],
)
def test_fields_of_other_forms(text: str, names: list[str]) -> None:
    assert [text[each.span.start : each.span.end] for each in found_in(text)] == names


def test_a_user_says_what_stands_in_a_field() -> None:
    text = '{"zorgle": "Will", "patient": {"town": "Ware"}, "code": "A 471"}'
    assert found_in(text, {"zorgle": "free text", "patient.town": "none", "code": "none"}) == []
    (name, town, code) = found_in(text, {"Zorgle": "name", "town": "city", "code": "passport"})
    assert (name.label, town.label, code.label) == (PERSON, "city name", "passport number")


def test_a_field_shows_its_kind_and_not_its_name_or_cells() -> None:
    (field,) = fields_of('{"surname": "Zorvathian"}')
    assert field.kind == "family name"
    assert "surname" not in repr(field) and "Zorvathian" not in repr(field)


@pytest.mark.parametrize(
    "name", ["Ortwin", "Samuele", "Tancrède", "Garthwaite", "Úlfar", "Zinaida", "Maxamed", "rimma"]
)
def test_who_speaks_is_no_name_of_a_field(name: str) -> None:
    said = f"{name}: I have had pain for weeks.\nDoctor: Where does it hurt?\n{name}: On the inside, mostly."
    somebody = hit(Span(0, len(name)), PERSON, 0.9, "test")
    assert off_names(said, [somebody], fields_of(said)) == [somebody]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"town": "Ware", "Kommentar": "", "age": "44"}', "Kommentar"),
        ("Bemerkung:\nVorname: Hanne\nOrt: Aurich", "Bemerkung"),
        ("Vorname: Hanne\nOrt: Aurich\nBemerkung: ruft an", "Bemerkung"),
        ("dob: 3 May 1970\ntown: Ware", "dob"),
    ],
)
def test_the_name_of_a_field_stays_also_of_an_empty_one(text: str, name: str) -> None:
    at = text.index(name)
    assert off_names(text, [hit(Span(at, at + len(name)), PERSON, 0.9, "test")], fields_of(text)) == []


def test_a_sentence_between_signs_is_no_name_of_a_field_and_hides_no_number() -> None:
    said = (
        "Invented. Mr Orrin Vexling, MRN 40546411, came about a lost parcel and complained about the noise. "
        "Write to box069@vexling.example; Mr Vexling reads it in the evening."
    )
    (found,) = HybridDetector().detect([Document("d", said)])
    gone = {said[each.span.start : each.span.end] for each in found}
    assert {"40546411", "box069@vexling.example"} <= gone
    number = hit(Span(said.index("40546411"), said.index("40546411") + 8), PERSON, 0.9, "pattern:x")
    long = [
        Field((said[:90],), "phone number", 1.0, [Cell("labels", (said[:90],), Span(0, 90), Span(91, 95))])
    ]
    assert off_names(said, [number], long) == [number]


def test_a_number_with_a_rigid_format_goes_whatever_its_field_is_taken_for() -> None:
    said = "town: box069@vexling.example"
    mail = hit(Span(6, len(said)), "email address", 0.9, "pattern:email")
    town = [Field(("town",), "city", 1.0, [Cell("lines", ("town",), Span(0, 4), Span(6, len(said)))])]
    assert mail in with_fields(said, [mail], town)


@pytest.mark.parametrize("line", ["Status: with Vexling", "Type: Vexling visit", "State: seen by Vexling"])
def test_a_name_within_a_field_that_holds_nothing_stays_found(line: str) -> None:
    at = line.index("Vexling")
    name = hit(Span(at, at + 7), PERSON, 0.9, "model")
    assert name in with_fields(line, [name], fields_of(line))
