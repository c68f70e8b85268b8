"""What stands in a field follows from its name and its cells, whatever the words. All is invented."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from ingest.detection.cells import Cell
from ingest.detection.fields import Field, fields_of, off_names, with_fields
from ingest.detection.hybrid import HybridDetector
from ingest.detection.sources import by_rule
from ingest.documents import Action, Decision, Document, Entity, Span
from ingest.labels import PERSON, label_of
from ingest.language.json_text import json_values
from ingest.linking.link import link
from ingest.wording.replace import apply
from tests.doubles import PhraseDetector
from tests.fields_table import MARKED, SCHEMAS, Schema
from tests.strategies import linked

Records = Sequence[Mapping[str, str]]


def as_numbers(records: Records) -> str:
    """JSON in which all that can be a number is one."""

    def valued(said: str) -> object:
        return int(said) if said.isdigit() and (said == "0" or said[0] != "0") else said

    held = [{name: valued(said) for name, said in each.items()} for each in records]
    return json.dumps({"records": held}, ensure_ascii=False, indent=1)


def as_table(separator: str) -> Callable[[Records], str]:
    def joined(row: Iterable[str]) -> str:
        return separator.join(f'"{cell}"' if separator in cell else cell for cell in row)

    return lambda records: "\n".join([joined(records[0]), *(joined(each.values()) for each in records)])


FORMS: dict[str, Callable[[Records], str]] = {
    "json lines": lambda records: "\n".join(json.dumps({**each}, ensure_ascii=False) for each in records),
    "numbers": as_numbers,
    "lines": lambda records: "\n\n".join("\n".join(map(": ".join, each.items())) for each in records),
    "semicolons": as_table(";"),
    "commas": as_table(","),
    "bars": as_table(" | "),
    "tabs": as_table("\t"),
}


def found_in(text: str, fields: Mapping[str, str] | None = None) -> list[Entity]:
    return HybridDetector(fields=fields).detect([Document("d", text)])[0]


def said_by(text: str, found: Sequence[Entity]) -> list[str]:
    return [text[each.span.start : each.span.end] for each in found]


def redacted(text: str, found: list[Entity]) -> str:
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in found]
    return apply(linked(text, found), decisions).residual.text


def by_model(text: str, said: str, label: str = PERSON, source: str = "test") -> Entity:
    """The first place of the words, as something finds it by itself."""
    at = text.index(said)
    return by_rule(Span(at, at + len(said)), label, 0.9, source)


def all_marked(text: str, words: Sequence[str], label: str = PERSON) -> list[Entity]:
    """Every place of the words, as a model that errs finds it."""
    places = {Span(*match.span()) for word in words if word for match in re.finditer(re.escape(word), text)}
    return [Entity(place, label, label_of(label).identifier, 0.9, "model:test") for place in sorted(places)]


def masked(text: str, found: Sequence[Entity], fields: Mapping[str, str] | None = None) -> str:
    """The text with a sign for each character of a mention that its fields leave."""
    left = with_fields(text, list(found), fields_of(text, fields))
    gone = {place for each in left for place in range(each.span.start, each.span.end)}
    return "".join("█" if place in gone else char for place, char in enumerate(text))


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
    "text",
    [
        "employee: ‹Art Best›\nTown: ‹Sandwich›",
        "Patient: stable",
        "Doctor: How are you feeling today?\nPatient: I have been better.",
        "Nurse: ‹Will›\nNote: seen by ‹Will› at nine",
        "Surname | ‹Frost› | Town | ‹Ware›",
        "Client | Contact |  | Balance\n| Phone | Mail\n‹Art Winters› | ‹0471100› | ‹a@b.example› | 12.5",
        '{"first_name": "‹Will›", "note": "asked will he come; seen by ‹Will›"}',
        '{"people": [{"given": "‹May›", "tags": ["large", "blue"]}]}',
        "name;price\nRose Soap;4.50\nDesk Lamp;9.10",
    ],
)
def test_fields_of_other_forms(text: str) -> None:
    said = re.sub("[‹›]", "", text)
    assert said_by(said, found_in(said)) == re.findall("‹(.+?)›", text)


def test_a_user_says_what_stands_in_a_field_and_no_field_shows_its_name_or_cells() -> None:
    text = '{"zorgle": "Will", "patient": {"town": "Ware"}, "code": "A 471"}'
    assert found_in(text, {"zorgle": "free text", "patient.town": "none", "code": "none"}) == []
    found = found_in(text, {"Zorgle": "name", "town": "city", "code": "passport"})
    assert [each.label for each in found] == [PERSON, "city name", "passport number"]
    (field,) = fields_of('{"surname": "Zorvathian"}')
    assert field.kind == "family name"
    assert "surname" not in repr(field) and "Zorvathian" not in repr(field)


@pytest.mark.parametrize(
    "name",
    "Ortwin Samuele Tancrède Garthwaite Úlfar Zinaida Maxamed rimma".split()
    + "Eirlys Ghislain Swantje Baldomero Ruaridh Ximena".split(),
)
def test_who_speaks_is_no_name_of_a_field(name: str) -> None:
    said = f"{name}: I have had pain for weeks.\nDoctor: Where does it hurt?\n{name}: On the inside, mostly."
    somebody = by_model(said, name)
    assert off_names(said, [somebody], fields_of(said)) == [somebody]


@pytest.mark.parametrize(
    "text",
    ['{"town": "Ware", "‹Kommentar›": "", "age": "44"}', "‹Bemerkung›:\nVorname: Hanne\nOrt: Aurich"]
    + ["Vorname: Hanne\nOrt: Aurich\n‹Bemerkung›: ruft an", "‹dob›: 3 May 1970\ntown: Ware"],
)
def test_the_name_of_a_field_stays_also_of_an_empty_one(text: str) -> None:
    said, (name,) = re.sub("[‹›]", "", text), re.findall("‹(.+?)›", text)
    assert off_names(said, [by_model(said, name)], fields_of(said)) == []


def test_a_sentence_between_signs_is_no_name_of_a_field_and_hides_no_number() -> None:
    said = (
        "Invented. Mr Orrin Vexling, MRN 40546411, came about a lost parcel and complained about the noise. "
        "Write to box069@vexling.example; Mr Vexling reads it in the evening."
    )
    assert "box069@vexling.example" in said_by(said, found_in(said))
    number = by_model(said, "40546411", source="pattern:x")
    cell = Cell("labels", (said[:90],), Span(0, 90), Span(91, 95))
    assert off_names(said, [number], [Field((said[:90],), "phone number", 1.0, [cell])]) == [number]


def test_a_number_with_a_rigid_format_goes_whatever_its_field_is_taken_for() -> None:
    said = "town: box069@vexling.example"
    mail = by_model(said, said[6:], "email address", "pattern:email")
    town = [Field(("town",), "city", 1.0, [Cell("lines", ("town",), Span(0, 4), Span(6, len(said)))])]
    assert mail in with_fields(said, [mail], town)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("schema", MARKED, ids=lambda schema: schema.name)
def test_a_detector_that_errs_changes_no_name_of_a_field_no_amount_and_no_status(
    schema: Schema, form: str
) -> None:
    records = schema.records()
    text = FORMS[form](records)
    words = {each for record in records for pair in record.items() for each in pair}
    personal = {record[name] for record in records for name in schema.personal.split()}
    done = masked(text, all_marked(text, sorted(words)))
    assert {each for each in personal if each in done} == set()
    assert {each for each in words - personal if each and done.count(each) < text.count(each)} == set()


def test_of_a_mention_that_reaches_over_a_field_s_name_the_value_is_left() -> None:
    text = "town: Ware\ndob: -281836800\nscore: 4.5"
    (wide,) = all_marked(text, ["dob: -281836800"], "phone IMEI")
    assert masked(text, [wide]) == "town: ████\ndob: ██████████\nscore: 4.5"
    assert said_by(text, off_names(text, [wide], fields_of(text)))[0] == "281836800"
    text = "code postal: 22100\nville: Dinan\nprix: 4.50\nstatut: clos"
    wider = all_marked(text, ["22100\nville", "ville"], "street address")
    assert "\nville: " in masked(text, wider)


NAMING = """
Phone: Fax (work)|Kontakt: Handy (privat)|contact: Email (home)|Teléfono: Móvil|note: Date of birth
Hinweis: Telefon|Commento: Cellulare|comment: Postcode|remarque: Prénom|Next of kin: Mobile phone
"""
STATUS = """
Status: in transit|status: not billed|estado: sin abonar|état: en souffrance|stato: da saldare
toestand: niet voldaan|situação: por liquidar|Zustand: gebraucht|priority: very low|Stage: under review
"""


@pytest.mark.parametrize("line", re.split("[|\n]", NAMING.strip()))
def test_a_cell_that_only_names_a_field_names_nobody(line: str) -> None:
    text, said = f"id: 4\n{line}\ntown: Ware", line.split(": ")[1]
    assert said in masked(text, all_marked(text, [said, said.split()[0]]))


@pytest.mark.parametrize("line", re.split("[|\n]", STATUS.strip()))
def test_words_of_status_stay_as_they_are(line: str) -> None:
    text, said = f"id: 4\n{line}\nTotal: 12.50", line.split(": ")[1]
    assert said in masked(text, all_marked(text, [said]))


KIN = (
    "Hazel Orme Linnet|Davin Strake Una|Lowri Penhale Gethin|Frauke Dierksen Onno|Solenn Kerdraon Yann|"
    "Iker Zubigar Naroa|Ilaria Vezzani Tullio|Jurre Wiarda Sietske|Telma Falcato Duarte|Will Frost Summer"
).split("|")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", KIN)
def test_a_surname_of_a_field_is_not_the_next_of_kin(names: str, form: str) -> None:
    given, family, other_name = names.split()
    kin = f"{other_name} {family}"
    one = {"first_name": given, "last_name": family, "next_of_kin": kin, "town": "Ware"}
    other = {"first_name": "Corwin", "last_name": "Haddow", "next_of_kin": "Edda Tarn", "town": "Rye"}
    document = Document("d", FORMS[form]([one, other, {**one, "town": "Goes"}]))
    numbers: dict[str, set[int]] = {}
    for each in link(document, found_in(document.text)):
        numbers.setdefault(document.text[each.span.start : each.span.end], set()).add(each.link)
    assert {len(numbers[name]) for name in (given, family, kin)} == {1}
    assert numbers[family] != numbers[kin]


PASSED_ON = """
Status: with *Mercy|Zustand: liegt bei *Dierksen|état: transmis à *Solenn|estado: en manos de *Iker
stato: passato a *Vezzani|betaalstatus: wacht op *Wiarda|situação: com *Telma|stage: called *Orme twice
priority: ask *Strake first|type: visit by *Penhale
"""


@pytest.mark.parametrize("line", re.split("[|\n]", PASSED_ON.strip()))
def test_a_name_in_a_field_that_holds_nothing_stays_found_in_every_line(line: str) -> None:
    somebody, line = line.partition("*")[2].split()[0], line.replace("*", "")
    lines, said = f"{line}\nTicket: 4\n\n" * 84, line.split(": ")[1]
    for found in (all_marked(lines, [somebody])[41:42], all_marked(lines, [said], "identifying detail")[:1]):
        assert somebody not in masked(lines, found)


@pytest.mark.parametrize("line", ["Status: with Vexling", "Type: Vexling visit", "State: seen by Vexling"])
def test_a_name_within_a_field_that_holds_nothing_stays_found(line: str) -> None:
    assert "Vexling" not in masked(line, [by_model(line, "Vexling", source="model")])


@pytest.mark.parametrize("separator", ["\t", " | ", ";"])
def test_the_name_of_a_last_column_that_is_empty_stays(separator: str) -> None:
    text = separator.join(("town", "price", "Kommentar")) + "\n" + separator.join(("Ware", "4.50"))
    marked = all_marked(text, ["Kommentar", "price", "town"])
    assert masked(text, marked).startswith(text.splitlines()[0])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["name", "Name", "naam", "full name", "nombre", "owner", "Ansprechpartner"])
def test_what_is_found_in_a_field_called_name_goes_whatever_stands_beside_it(name: str, form: str) -> None:
    records = [{name: "Tjark Thoms", "status": "open", "product": "Rose Soap", "price": "3.50"}] * 2
    text = FORMS[form](records)
    found = all_marked(text, ["Tjark Thoms"])
    assert "Thoms" not in masked(text, found) and "Rose Soap" in masked(text, found)
    assert "Thoms" in masked(text, found, {name: "none"})


def test_deep_json_takes_linear_space() -> None:
    (shallow, deep) = (list(json_values('{"a":' * depth + "1" + "}" * depth)) for depth in (100, 4_000))
    assert max(len(each.names) for each in deep) == max(len(each.names) for each in shallow) == 8


@pytest.mark.parametrize(
    "text",
    [json.dumps({"log": "called\nAnna Keller\na@b.example\n\t12 Larch Road, Ashdale\nborn\t3 May 1970"})]
    + ['["1970-01-01", "Anna Keller", 9434765919]', '[{"": 4111111111111111}, {"name": "Anna Keller"}]'],
)
def test_json_is_json_afterwards(text: str) -> None:
    read = HybridDetector(PhraseDetector({"Anna Keller": PERSON, "12 Larch Road, Ashdale": "street address"}))
    (found,) = read.detect([Document("d", text)])
    after = redacted(text, found)
    json.loads(after)
    assert "Keller" not in after and "Larch" not in after and "4111" not in after


def test_columns_and_fields_of_a_message_stay_apart_and_so_do_relatives() -> None:
    text = "admitted\tdischarged\n2023-05-03\t2023-05-19"
    assert redacted(text, found_in(text)).count("\t") == 2
    text = (
        "MSH|^~\\&|LARCH|CEDAR|LAB|CEDAR|202405121030||ADT^A01|445|T|2.3\r"
        "PID|1||21090445^^^HOSP^MR||Keller^Anna^M||19560530|F\r"
        "NK1|1|Keller^Orrin|BRO"
    )
    read = HybridDetector(PhraseDetector({"T|2.3": "test result"}))
    (found,) = read.detect([Document("d", text)])
    assert redacted(text, found).count("|") == text.count("|")
    linked_found = link(Document("d", text), found)
    said = dict(zip(said_by(text, linked_found), (each.link for each in linked_found), strict=True))
    assert said["Anna"] != said["Orrin"]
    assert said["Keller^Anna^M"] != said["Keller^Orrin"]
