"""Messages and logs keep their structure, and what names somebody in them goes. All of it is invented."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.fields import fields_of, with_fields
from ingest.detection.hl7_fields import with_messages
from ingest.detection.hybrid import HybridDetector
from ingest.detection.structured import by_fields
from ingest.documents import Action, Decision, Document, Entity
from ingest.rendering.replace import apply
from tests.doubles import entity
from tests.strategies import linked
from tests.timing import cost

MESSAGE = r"""MSH|^~\&|LABSYS|NORTHFIELD|EHR|NORTHFIELD|20240305102231||ORU^R01^ORU_R01|MSG00482|P|2.5.1
PID|1||00482913^^^NFD^MR||ASHDOWN^MARGUERITE^L||19620714|F|||14 Quillon St^^Larkmoor^NY^12207||(518)555-0143
PV1|1|I|4W^412^B||||3391^OKONJO^PETER^^^DR
OBR|1|ORD7781|LAB5512|24323-8^Comprehensive metabolic panel^LN|||20240305081500|||||||||3391^OKONJO^PETER
OBX|1|NM|2951-2^Sodium^LN||138|mmol/L|136-145|N|||F
OBX|2|NM|2823-3^Potassium^LN||5.9|mmol/L|3.5-5.1|H|||F
OBX|3|ST|8310-5^Comment^LN||Specimen haemolysed, repeat advised||||||F
NTE|1|L|Discussed with Hugh Brightwell"""

LOG = """2024-03-05 10:22:31,553 INFO  [main] c.e.orders.OrderService - Started in 2.318 seconds
2024-03-05 10:22:32,001 DEBUG [pool-2-thread-14] c.e.cache.Manager - hits=10234 misses=723 ratio=0.934
2024-03-05 10:22:33,118 WARN  [exec-3] c.e.Filter - user=p.okonjo ip=203.0.113.42 status=401 duration=12.4ms
2024-03-05 10:22:34,002 ERROR [worker-7] c.e.jobs.Mail - no answer for h.brightwell@example.org after 30000ms
level=error ts=2024-03-05T10:22:36Z msg="query failed" code=40001 customer="Amara Okoye" retries=3
{"level":"INFO","logger":"billing","msg":"invoice created","amount":1204.5,"customer":"Tomas Oster","ms":88}
{"level":"WARN","logger":"billing","login":"moster","attempts":5}"""


def redacted(text: str, *more: Entity) -> str:
    found = [*HybridDetector(Finds(*more)).detect([Document("d", text)])[0]]
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in found]
    return apply(linked(text, found), decisions).residual.text


class Finds:
    """A learned detector (test double) that finds what it was given."""

    name = "finds (test double)"

    def __init__(self, *found: Entity) -> None:
        self._found = found

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [list(self._found) for _ in documents]


def model(text: str, said: str, label: str) -> Entity:
    return entity(text.index(said), text.index(said) + len(said), label)


def test_what_names_the_patient_of_a_message_goes_and_nothing_else() -> None:
    done = redacted(MESSAGE)
    for name in ("ASHDOWN", "MARGUERITE", "00482913", "19620714", "Quillon", "Larkmoor", "12207", "555-0143"):
        assert name not in done
    for name in ("OKONJO", "PETER", "3391", "Brightwell"):
        assert name not in done
    for left in ("2951-2^Sodium^LN||138|mmol/L|136-145|N", "5.9|mmol/L|3.5-5.1|H", "haemolysed, repeat"):
        assert left in done
    assert [line[:4] for line in done.splitlines()] == [line[:4] for line in MESSAGE.splitlines()]
    assert [line.count("|") for line in done.splitlines()] == [
        line.count("|") for line in MESSAGE.splitlines()
    ]
    assert done.count("^") == MESSAGE.count("^")


def test_what_a_model_reads_into_codes_of_a_message_is_no_mention() -> None:
    wrong = [
        model(MESSAGE, "ORU^R01^ORU_R01", "national id number"),
        model(MESSAGE, "2951-2^Sodium", "quantity"),
        model(MESSAGE, "138|mmol/L|136-145", "quantity"),
        model(MESSAGE, "2.5.1\nPID", "quantity"),
        model(MESSAGE, "MSG00482", "national id number"),
        model(MESSAGE, "LABSYS", "person full name"),
    ]
    assert redacted(MESSAGE, *wrong) == redacted(MESSAGE)


def test_the_facility_of_a_message_is_an_organization_and_nobody() -> None:
    done = redacted(MESSAGE, model(MESSAGE, "NORTHFIELD", "person full name"))
    assert done.splitlines()[0].startswith(r"MSH|^~\&|LABSYS|an organization|EHR|an organization|")
    assert "somebody" not in done.splitlines()[0].lower()


def test_who_stands_in_a_log_goes_and_its_structure_stays() -> None:
    done = redacted(LOG)
    for name in ("okonjo", "203.0.113.42", "brightwell", "Amara", "Okoye", "Tomas", "Oster", "moster"):
        assert name not in done
    for left in (
        "INFO  [main] c.e.orders.OrderService - Started in 2.318 seconds",
        "hits=10234 misses=723 ratio=0.934",
        "status=401 duration=12.4ms",
        "ERROR [worker-7] c.e.jobs.Mail - no answer for",
        "after 30000ms",
        'msg="query failed" code=40001 customer="',
        '" retries=3',
        '{"level":"INFO","logger":"billing","msg":"invoice created","amount":1204.5,"customer":"',
        '","ms":88}',
        '","attempts":5}',
    ):
        assert left in done
    assert len(done.splitlines()) == len(LOG.splitlines())


def test_what_a_model_reads_into_the_frame_of_a_log_is_no_mention() -> None:
    wrong = [
        model(LOG, "553 INFO  [main] c.e.orders.OrderService", "organization"),
        model(LOG, "10234 misses=723", "quantity"),
        model(LOG, "12.4ms", "date"),
        model(LOG, "1204.5", "quantity"),
        model(LOG, 'customer":"Tomas Oster', "person full name"),
    ]
    done = redacted(LOG, *wrong)
    for left in (
        "INFO  [main] c.e.orders.OrderService",
        "hits=10234 misses=723",
        "duration=12.4ms",
        "1204.5",
    ):
        assert left in done
    assert '"customer":"' in done


@pytest.mark.parametrize(
    ("text", "said", "label", "pieces"),
    [
        (
            "Anna Oster | Brandt Ltd | Ulm",
            "Anna Oster | Brandt Ltd",
            "organization",
            ["Anna Oster", "Brandt Ltd"],
        ),
        ("Oster\tAnna\tUlm", "Oster\tAnna", "person full name", ["Oster", "Anna"]),
        ("a=1 name=Oster town=Ulm", "Oster town=Ulm", "place", ["Oster", "Ulm"]),
        ('{"a": "Oster", "b": "Ulm"}', 'Oster", "b": "Ulm', "place", ["Oster", "Ulm"]),
        ("ERROR in b\nby Anna\nOster", "b\nby Anna\nOster", "person full name", ["b", "by Anna", "Oster"]),
        ("in Ulm\nby Anna", "Ulm\nby Anna", "person full name", ["Ulm\nby Anna"]),
        ("we saw Ulm; Jena = Trier", "Ulm; Jena = Trier", "place", ["Ulm; Jena = Trier"]),
        ("Age | 45 | IBM | x", "45", "person age", ["45"]),
        ("Age | 45 | IBM | x", "IBM", "organization", ["IBM"]),
        ("Year | 1998 | x", "1998", "date", ["1998"]),
        ('{"Oster": 5, "n": 3}', "Oster", "person full name", ["Oster"]),
        ("Na | 138 | mmol/L", "138", "quantity", []),
        ("We took 138 mmol of it", "138", "quantity", ["138"]),
    ],
)
def test_a_mention_stays_in_its_field(text: str, said: str, label: str, pieces: list[str]) -> None:
    found = by_fields(text, [model(text, said, label)])
    assert [text[each.span.start : each.span.end] for each in found] == pieces


def test_a_word_beside_a_number_is_not_part_of_it() -> None:
    text = "a | USA | 518 555 0143 | b"
    found = replace(model(text, "USA | 518 555 0143", "phone number"), source="model:test")
    assert [text[each.span.start : each.span.end] for each in by_fields(text, [found])] == ["518 555 0143"]


@pytest.mark.parametrize("said", ["c", ".", "c.e"])
def test_the_frame_of_a_log_names_nobody(said: str) -> None:
    text = "10:22:31 INFO [main] c.e.orders.Service - Started"
    assert by_fields(text, [model(text, said, "person full name")]) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("user=p.okonjo status=200", ["p.okonjo"]),
        ('{"customer": "Amara Okoye", "n": 3}', ["Amara Okoye"]),
        ('last_name="Oster" x=1', ["Oster"]),
        ("user=null owner=root login=none", []),
        ("user=getUser(3) customer=${name}", []),
        ('"sender_id": "usr_41873", "patient_id": "90417", "id": "msg_1"', ["usr_41873", "90417"]),
        ("user_id=12 account_id=41873", ["41873"]),
        ("user=12 name=worker-7 logger=billing", []),
    ],
)
def test_a_key_tells_who_its_value_is(text: str, values: list[str]) -> None:
    found = with_fields(text, [], fields_of(text))
    assert [text[each.span.start : each.span.end] for each in found] == values


def test_a_text_that_is_no_message_is_left_alone() -> None:
    text = "PID|1||00482913||ASHDOWN^MARGUERITE"
    assert with_messages(text, []) == []


pieces = st.sampled_from(
    ["|", "\t", "=", "key=", '"key": "', '"', "\n", " ", "Oster", "Anna", "12", "ERROR ", "^"]
)


def test_a_name_that_is_a_key_behind_a_level_stays() -> None:
    text = "ERROR Oster=12"
    (left,) = by_fields(text, [entity(0, 11, "person full name")])
    assert "Oster" in text[left.span.start : left.span.end]


@given(st.lists(pieces, min_size=1, max_size=20).map("".join), st.data())
def test_every_word_of_a_name_stays_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    left = by_fields(text, [entity(start, end, "person full name")])
    covered = "".join(text[each.span.start : each.span.end] for each in left)
    assert covered.count("Oster") == text[start:end].count("Oster")
    assert covered.count("Anna") == text[start:end].count("Anna")
    for each in left:
        assert start <= each.span.start < each.span.end <= end


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a=b ", '"a": "b", ', "Oster|", "Oster\t", "Oster\n", "a=", "ERROR "])
def test_time_grows_linearly(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * size
        found = [entity(at, at + 1, "person full name") for at in range(0, len(text), 7)]
        return cost(lambda: (by_fields(text, found), fields_of(text)), tries=2)

    small, large = seconds(2_000), seconds(8_000)
    assert large < 0.2 or large < 10 * small


def test_what_is_found_behind_a_disguise_stays_in_its_field_too() -> None:
    message = MESSAGE.replace("Discussed with", "Discussed%20with")

    class Joins(Finds):
        def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
            return [self._in_one(document.text) for document in documents]

        def _in_one(self, text: str) -> list[Entity]:
            said = next((said for said in ("NY^12207", "NY 12207") if said in text), None)
            return [replace(model(text, said, "national id number"), source="model:test")] if said else []

    decided = HybridDetector(Joins()).detect([Document("d", message)])[0]
    assert not [each for each in decided if "^" in message[each.span.start : each.span.end]]
