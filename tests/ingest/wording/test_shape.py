"""Files in texts stay what they are when words stand in place of items. All texts are invented."""

import csv
import io
import json
import re
from email import message_from_string
from email.utils import getaddresses
from xml.etree import ElementTree

import pytest

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import label_of
from ingest.wording.replace import apply


def put(text: str, *items: tuple[str, str, str]) -> str:
    """The text with words in place of items, given as (item, label, words)."""
    entities, decisions = [], []
    for number, (said, label, words) in enumerate(items):
        start = text.index(said)
        span = Span(start, start + len(said))
        entity = Entity(span, label, label_of(label).identifier, 1.0, "", number)
        entities.append(entity)
        decisions.append(Decision(entity, None, Action.GENERALIZE, "", words))
    return apply(AnnotatedText(text, entities), decisions).residual.text


def test_a_number_of_json_becomes_a_text_and_escapes_stay_whole() -> None:
    text = '{"pan": 4556123412341234, "note": "Ann\\nMoss, n\\u00e9e Orr", "age": 44}'
    new = put(
        text,
        ("4556123412341234", "credit card number", "[credit card number]"),
        ("u00e9e Orr", "person full name", "Person B"),
    )
    assert json.loads(new)["pan"] == "[credit card number]"
    assert json.loads(new)["age"] == 44


def test_json_within_a_string_of_json_stays_json() -> None:
    text = json.dumps({"body": json.dumps({"badge": 20917, "name": "Ann Moss"})})
    new = put(text, ('": 20917', "reference number", "[reference number]"))
    assert json.loads(json.loads(new)["body"])["badge"] == "[reference number]"


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_a_row_keeps_its_cells(sign: str) -> None:
    rows = [["id", "name", "street", "town", "sum"], ["1", "Ann Moss", "Elm Row 4", "Varde", "12"]]
    rows += [["2", "Tom Orr", "Oak Row 9", "Lund", "7"], ["3", "Ida Lind", "Ash Row 2", "Ulm", "5"]]
    text = "\n".join(sign.join(row) for row in rows)
    new = put(text, (f"Elm Row 4{sign}Varde", "street address", "[address]"))
    assert [len(row) for row in csv.reader(io.StringIO(new), delimiter=sign)] == [5] * 4


def test_a_comma_of_prose_is_no_separator() -> None:
    assert put("He lives at Elm Row 4, Varde, now.", ("Elm Row 4, Varde", "street address", "[address]")) == (
        "He lives at [address], now."
    )


def test_tags_stay_and_say_nothing() -> None:
    text = '<p>Seen: <b title="Ann">Ann</b> Moss &amp; Orr, at <i>Varde</i>.</p>'
    new = put(
        text, ("Ann</b> Moss", "person full name", "Person A"), ("amp; Orr", "organization", "Company A")
    )
    assert ElementTree.fromstring(new).tag == "p"
    assert "Moss" not in new and "Orr" not in new


def test_a_name_within_a_tag_is_a_name_of_xml() -> None:
    new = put("<list><Moss age='4'/></list>", ("Moss", "person full name", "Person A"))
    assert [each.tag for each in ElementTree.fromstring(new)] == ["Person_A"]


def test_addresses_of_a_mail_stay_addresses() -> None:
    text = (
        "From: Ann Moss <ann@moss.example>\nTo: Tom Orr <tom@orr.example>,\n ida@lind.example\n"
        "Subject: =?utf-8?Q?Ann_M=C3=B6ss?=\n\nWrite to tom@orr.example.\n"
    )
    new = put(
        text,
        ("ann@moss.example", "email address", "[email address A]"),
        ("tom@orr.example", "email address", "[email address B]"),
        ("ida@lind.example", "email address", "[email address C]"),
        ("M=C3=B6ss", "person full name", "Person A"),
    )
    mail = message_from_string(new)
    assert len(getaddresses([mail["From"]])) == 1
    assert len(getaddresses([mail["To"]])) == 2
    assert mail["Subject"] == "Person A"


def test_a_pair_of_a_log_keeps_its_key() -> None:
    text = "level=info row=6 to=ann@moss.example rank=2"
    assert put(text, ("to=ann@moss.example", "email address", "[email address]")) == (
        "level=info row=6 to=[email address] rank=2"
    )


@pytest.mark.parametrize(
    ("text", "said", "label"),
    [
        ("<p>Letter</p> Seen in <Varde>, well.", "Varde", "place"),
        ("x <br/> BMI<31 and age<63", "63", "person age"),
        ("<p>in <b>Varde</b></p>", "b>Varde", "place"),
        ("<br/>\n<annmoss> hi", "<annmoss>", "account handle"),
        ("<p>x</p> Ann Moss <annmoss> wrote", "Ann Moss <annmoss", "person full name"),
        ("<p>x</p> Ref <KX-20917> paid", "Ref <KX-20917", "reference number"),
        ("level=3 user=bob password is annmoss=2secretX now", "annmoss=2secretX", "password"),
        ("<annmoss></annmoss> <p>hi</p>", "annmoss", "account handle"),
    ],
)
def test_structure_gives_nothing_back(text: str, said: str, label: str) -> None:
    new = put(text, (said, label, "[detail]"))
    for word in re.findall(r"[A-Za-z0-9]{4,}|63", said):
        assert word not in new


def test_what_is_suppressed_leaves_json_valid() -> None:
    text = '{"age": 44, "card": 4556123412341234}'
    entity = Entity(Span(8, 10), "person age", label_of("person age").identifier, 1.0, "", 0)
    new = apply(AnnotatedText(text, [entity]), [Decision(entity, None, Action.SUPPRESS, "")]).residual.text
    assert json.loads(new) == {"age": "", "card": 4556123412341234}


def test_a_quotation_mark_in_code_quotes_no_prose() -> None:
    assert put('He typed \\" once. Rooms 3, Ann, and 4', ("Ann", "person full name", "Person A")) == (
        'He typed \\" once. Rooms 3, Person A, and 4'
    )
