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

NAME, MAIL, STREET, NUMBER = "person full name", "email address", "street address", "reference number"


def put(text: str, *items: tuple[str, str, str], action: Action = Action.GENERALIZE) -> str:
    """The text with words in place of items, given as (item, label, words)."""
    decisions = []
    for number, (said, label, words) in enumerate(items):
        span = Span(text.index(said), text.index(said) + len(said))
        found = Entity(span, label, label_of(label).identifier, 1.0, "", number)
        decisions.append(Decision(found, None, action, "", words))
    return apply(AnnotatedText(text, [each.entity for each in decisions]), decisions).residual.text


def test_json_stays_json() -> None:
    text = '{"pan": 4556123412341234, "note": "Ann\\nMoss, n\\u00e9e Orr", "age": 44}'
    card = ("4556123412341234", "credit card number", "[credit card number]")
    new = json.loads(put(text, card, ("u00e9e Orr", NAME, "Person B")))
    assert (new["pan"], new["age"]) == ("[credit card number]", 44)
    text = json.dumps({"body": json.dumps({"badge": 20917, "name": "Ann Moss"})})
    within = put(text, ('": 20917', NUMBER, "[reference number]"))
    assert json.loads(json.loads(within)["body"])["badge"] == "[reference number]"
    suppressed = put('{"age": 44, "card": 4556}', ("44", "person age", ""), action=Action.SUPPRESS)
    assert json.loads(suppressed) == {"age": "", "card": 4556}


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_a_row_keeps_its_cells(sign: str) -> None:
    rows = [
        "id name street town sum",
        "1 Ann_Moss Elm_4 Varde 12",
        "2 Tom_Orr Oak_9 Lund 7",
        "3 Ida_Lind Ash_2 Ulm 5",
    ]
    text = "\n".join(rows).replace(" ", sign).replace("_", " ")
    new = put(text, (f"Elm 4{sign}Varde", STREET, "[address]"))
    assert [len(row) for row in csv.reader(io.StringIO(new), delimiter=sign)] == [5] * 4


@pytest.mark.parametrize(
    ("text", "said", "label", "words"),
    [
        ("He lives at *, now.", "Elm Row 4, Varde", STREET, "[address]"),
        ("level=info row=6 * rank=2", "to=ann@moss.example", MAIL, "to=[email address]"),
        ('He typed \\" once. Rooms 3, *, and 4', "Ann", NAME, "Person A"),
    ],
    ids=["a comma of prose", "the key of a pair of a log", "a quotation mark in code"],
)
def test_what_is_no_structure_or_a_key_stays(text: str, said: str, label: str, words: str) -> None:
    new = put(text.replace("*", said), (said, label, words.removeprefix("to=")))
    assert new == text.replace("*", words)


def test_tags_stay_and_say_nothing() -> None:
    text = '<p>Seen: <b title="Ann">Ann</b> Moss &amp; Orr, at <i>Varde</i>.</p>'
    new = put(text, ("Ann</b> Moss", NAME, "Person A"), ("amp; Orr", "organization", "Company A"))
    assert ElementTree.fromstring(new).tag == "p"
    assert "Moss" not in new and "Orr" not in new
    new = put("<list><Moss age='4'/></list>", ("Moss", NAME, "Person A"))
    assert [each.tag for each in ElementTree.fromstring(new)] == ["Person_A"]


def test_addresses_of_a_mail_stay_addresses() -> None:
    text = (
        "From: Ann Moss <ann@moss.example>\nTo: Tom Orr <tom@orr.example>,\n ida@lind.example\n"
        "Subject: =?utf-8?Q?Ann_M=C3=B6ss?=\n\nWrite to tom@orr.example.\n"
    )
    addresses = ("ann@moss.example", "tom@orr.example", "ida@lind.example")
    items = [(said, MAIL, f"[email address {sign}]") for said, sign in zip(addresses, "ABC", strict=True)]
    mail = message_from_string(put(text, *items, ("M=C3=B6ss", NAME, "Person A")))
    assert [len(getaddresses([mail[name]])) for name in ("From", "To")] == [1, 2]
    assert mail["Subject"] == "Person A"


@pytest.mark.parametrize(
    ("text", "said", "label"),
    [("<p>Letter</p> Seen in <Varde>, well.", "Varde", "place")]
    + [("x <br/> BMI<31 and age<63", "63", "person age"), ("<p>in <b>Varde</b></p>", "b>Varde", "place")]
    + [("<br/>\n<annmoss> hi", "<annmoss>", "account handle")]
    + [("<p>x</p> Ann Moss <annmoss> wrote", "Ann Moss <annmoss", "person full name")]
    + [("<p>x</p> Ref <KX-20917> paid", "Ref <KX-20917", "reference number")]
    + [("level=3 user=bob password is annmoss=2secretX now", "annmoss=2secretX", "password")]
    + [("<annmoss></annmoss> <p>hi</p>", "annmoss", "account handle")],
)
def test_structure_gives_nothing_back(text: str, said: str, label: str) -> None:
    new = put(text, (said, label, "[detail]"))
    for word in re.findall(r"[A-Za-z0-9]{4,}|63", said):
        assert word not in new
