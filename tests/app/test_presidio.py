"""The payloads of Presidio clients, sent to the real server; every text is invented."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from app.server.routes.presidio import type_of
from ingest.detection.presidio import TYPES
from ingest.labels import LABELS
from ingest.language.normalize import FixedText, fixed_text
from tests.serving import Served, ingested, served

TEXT = "Hello, my name is Tobias Keller. Write to tobias.keller@quellby.example or call 020 7946 0123."
MARK = "zyxomarkzyxo"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data = ingested(tmp_path_factory.mktemp("presidio"), "threads = 1\n", ["Invented note. The mill is old."])
    with served(data) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected


def analyzed(client: httpx.Client, text: str = TEXT, **more: object) -> list[dict[str, Any]]:
    answer = client.post("/analyze", json={"text": text, "language": "en", **more})
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()
    return rows


def found(client: httpx.Client, text: str = TEXT, **more: object) -> dict[str, str]:
    """What was found, by type."""
    return {each["entity_type"]: text[each["start"] : each["end"]] for each in analyzed(client, text, **more)}


def test_a_client_of_the_analyzer_gets_its_fields(client: httpx.Client) -> None:
    answer = analyzed(client)
    names = set("entity_type start end score analysis_explanation".split())
    assert all(set(each) == names for each in answer)
    assert all(each["analysis_explanation"] is None and 0 < each["score"] <= 1 for each in answer)
    assert [(each["start"], each["end"]) for each in answer] == sorted((e["start"], e["end"]) for e in answer)
    assert found(client) == {
        "PERSON": "Tobias Keller",
        "EMAIL_ADDRESS": "tobias.keller@quellby.example",
        "PHONE_NUMBER": "020 7946 0123",
    }
    asked = {"text": [TEXT, "The mill is old."], "language": "en", "correlation_id": "x", "unknown": 1}
    assert client.post("/analyze", json=asked).json() == [answer, []]
    why = analyzed(client, return_decision_process=True)
    assert all(each["analysis_explanation"]["recognizer"] for each in why)


DISGUISES = st.sampled_from(["", "", "", "\u00ad", "\u200b", "\u2060", "\ufeff", "\u200d"])


@st.composite
def disguised_names(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and the same name decomposed and with characters in it that do not show."""
    given = draw(st.sampled_from(["Zoë", "Søren", "José", "Çağla"]))
    name = f"{given} {draw(st.sampled_from(['Müllerová', 'Ibáñez', 'Keller']))}"
    written = unicodedata.normalize("NFD", name) if draw(st.booleans()) else name
    return name, "".join(f"{char}{draw(DISGUISES)}" for char in written[:-1]) + written[-1]


AROUND = (
    "She was seen by Dr {} today, and the nurse wrote down what was said.",
    "name: {}\r\nphone: 020 7946 0123",
)


@given(disguised_names(), st.sampled_from(AROUND))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_part_of_a_disguised_name_is_left(
    client: httpx.Client, drawn: tuple[str, str], around: str
) -> None:
    name, disguised = drawn
    text = around.format(disguised)
    results = analyzed(client, text)
    done = client.post("/anonymize", json={"text": text, "analyzer_results": results}).json()["text"]
    assert not [word for word in name.split() if word in fixed_text(done)]
    assert not any(map(unicodedata.combining, done)), "no mark is left behind"
    sanitized = client.post("/v1/sanitize", json={"text": text, "policy": {"name": "redact"}}).json()
    gone = [each for each in sanitized["decisions"] if each["action"] != "keep"]
    fixed = FixedText.of(text)
    covered = {place for each in gone for place in range(each["start"], each["end"])}
    there = {place for at in covered for place in range(*fixed.original(at, at + 1))}
    spans = {place for each in results for place in range(each["start"], each["end"])}
    # What hides between two characters that both go goes too.
    assert there <= spans and fixed_text("".join(text[at] for at in sorted(spans - there))) == ""


def test_what_is_found_can_be_chosen(client: httpx.Client) -> None:
    assert set(found(client, entities=["PERSON"])) == {"PERSON"}
    taken = "The patient takes ibuprofen for pain."
    assert found(client, taken, entities=["MEDICATION"]) == {"MEDICATION": "ibuprofen"}
    assert "MEDICATION" not in found(client, taken)
    assert found(client, entities=[]) == found(client)
    assert "PERSON" not in found(client, allow_list=["Tobias Keller"])
    assert "PERSON" in found(client, allow_list=["Tobias"])
    assert "PERSON" not in found(client, allow_list=["Tob.*ller"], allow_list_match="regex")
    german = "Frau Gudrun Wieczorek hat gestern angerufen, weil ihr Mann seit Januar hustet."
    assert found(client, german, language="de")["PERSON"] == "Gudrun Wieczorek"


def test_recognizers_of_one_request(client: httpx.Client) -> None:
    own: dict[str, Any] = {
        "name": "Mill",
        "supported_language": "en",
        "supported_entity": "MILL",
        "patterns": [{"name": "number", "regex": r"mill \d{2}", "score": 0.6}],
        "deny_list": ["Old Mill"],
        "context": ["mill"],
    }
    assert found(client, "See the old mill.", ad_hoc_recognizers=[own])["MILL"] == "old mill"
    alone: dict[str, Any] = {"ad_hoc_recognizers": [own], "entities": ["MILL"]}
    assert found(client, "See the old mills.", **alone) == {}
    for least, expected in ((0.0, {"MILL": "mill 42"}), (0.6, {"MILL": "mill 42"}), (0.7, {})):
        assert found(client, "See mill 42.", **alone, score_threshold=least) == expected
    words = {"supported_entity": "MILL", "patterns": None, "deny_list": ["mill"], "deny_list_score": 0.2}
    assert "MILL" not in found(client, "mill", ad_hoc_recognizers=[words], score_threshold=0.3)


def of_pattern(regex: str, text: str = MARK, **more: object) -> dict[str, Any]:
    """A request to analyze with a regular expression of its own."""
    pattern = {"name": "x", "regex": regex, "score": 1}
    own = [{"supported_entity": "X", "patterns": [pattern]}]
    return {"text": text, "language": "en", "ad_hoc_recognizers": own, **more}


def of_result(anonymizer: object = None, end: int = 4, times: int = 1) -> dict[str, Any]:
    """A request to anonymize what was found."""
    results = [{"start": 0, "end": end, "score": 1, "entity_type": "X"}] * times
    chosen = {"anonymizers": {"X": anonymizer}} if anonymizer else {}
    return {"text": MARK, "analyzer_results": results, **chosen}


def of_key(**deanonymizers: object) -> dict[str, Any]:
    results = [{"start": 0, "end": 4, "entity_type": "X"}]
    return {"text": MARK, "anonymizer_results": results, "deanonymizers": deanonymizers}


LONG = {"type": "replace", "new_value": "x" * 20_000}
LARGE = ("(((a{50}){50}){50}){40}", "((a{50}){50}){50}b{0}", "(?R)", "(" * 100 + "a" + ")" * 100)
ALLOWED = {"text": TEXT, "language": "en", "allow_list_match": "regex"}
DENYING = {"supported_entity": "X", "deny_list": ["x" * 90_000] * 2}
MASKING = {"type": "mask", "masking_char": "*", "from_end": False}
SLOWLY = of_pattern("(?:a|a)+$", "a" * 60 + "!", allow_list=["(a+)+$"], allow_list_match="regex")


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("analyze", {"text": MARK}, 400, "language: Field required"),
        ("analyze", {"text": MARK, "language": "pl"}, 422, "is one of en, de, fr, es, it, nl, pt"),
        ("analyze", {"text": 5, "language": "en"}, 400, "text: send a text or a list of up to 2048,"),
        ("analyze", {"text": [MARK, 5], "language": "en"}, 400, "text: send a text or a list of up to 2048,"),
        ("analyze", {**ALLOWED, "allow_list": ["{" + "9" * 5000 + "}"]}, 422, "longer than 500 characters."),
        ("analyze", {**ALLOWED, "allow_list": ["a{" + "9" * 490 + "}"]}, 422, "repeats, nests or recurs"),
        ("analyze", of_pattern("a", ad_hoc_recognizers=[DENYING]), 422, "send up to 100000 characters"),
        ("analyze", of_pattern(f"({MARK}"), 422, "is not one that can be read."),
        ("analyze", SLOWLY, 422, "A regular expression of the request takes too long."),
        *(("analyze", of_pattern(each), 422, "repeats, nests or recurs too much") for each in LARGE),
        ("anonymize", of_result({"type": ["a"]}), 422, "Invalid input: operator 1, or one"),
        (
            "anonymize",
            of_result({"type": "hash", "salt": 5}),
            422,
            "the place of result 1, or its operator. GET",
        ),
        *(
            ("anonymize", of_result({**MASKING, "chars_to_mask": many}), 422, "operator 1. Send 0 to 100000.")
            for many in (-5, 100_001)
        ),
        ("anonymize", of_result(LONG, 1, 500), 422, "Too much would be written"),
        ("anonymize", {"text": "", "analyzer_results": []}, 400, "text"),
        ("anonymize", {"text": MARK}, 400, "analyzer_results: Field required"),
        ("anonymize", of_result(end=900), 422, "the place of result 1, or its operator. GET"),
        ("anonymize", of_result({"type": MARK}), 422, "GET /anonymizers lists"),
        ("anonymize", of_result({"type": "custom", "lambda": MARK}, times=0), 422, "not taken over HTTP"),
        ("deanonymize", of_key(), 422, "the place of result 1, or its operator. GET"),
        ("deanonymize", of_key(X={"type": "decrypt", "key": "short"}), 422, "128, 192 or 256 bits"),
    ],
)
def test_errors_are_a_sentence_without_the_request(
    client: httpx.Client, path: str, body: object, status: int, reason: str
) -> None:
    answer = client.post(f"/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    assert reason in answer.json()["error"]
    assert MARK not in answer.text


OPERATORS: list[dict[str, dict[str, Any]]] = [
    {},
    {"DEFAULT": {"type": "replace", "new_value": "ANONYMIZED"}},
    {"PHONE_NUMBER": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True}},
    {"PERSON": {"type": "redact"}, "EMAIL_ADDRESS": {"type": "keep"}},
]


@pytest.mark.parametrize("operators", OPERATORS)
def test_what_is_found_is_replaced_as_presidio_does(
    client: httpx.Client, operators: dict[str, dict[str, Any]]
) -> None:
    results = analyzed(client)
    asked = {"text": TEXT, "analyzer_results": results, "anonymizers": operators}
    answer = client.post("/anonymize", json=asked).json()
    places = [RecognizerResult(e["entity_type"], e["start"], e["end"], e["score"]) for e in results]
    configured = {name: OperatorConfig.from_json({**each}) for name, each in operators.items()}
    expected = AnonymizerEngine().anonymize(TEXT, places, configured or None)
    assert answer["text"] == expected.text
    assert [each["operator"] for each in answer["items"]] == [each.operator for each in expected.items]
    for each in answer["items"]:
        assert answer["text"][each["start"] : each["end"]] == each["text"]


def test_what_is_encrypted_comes_back_with_the_key_alone(client: httpx.Client) -> None:
    key = {"type": "encrypt", "key": "WmZq4t7w!z%C&F)J"}
    results = [{"start": 18, "end": 31, "score": 0.9, "entity_type": "PERSON"}]
    asked = {"text": TEXT, "analyzer_results": results, "anonymizers": {"PERSON": key}}
    hidden = client.post("/anonymize", json=asked).json()
    assert "Keller" not in hidden["text"].partition("Write")[0]
    back = {"text": hidden["text"], "anonymizer_results": hidden["items"]}
    back["deanonymizers"] = {"PERSON": {**key, "type": "decrypt"}}
    assert client.post("/deanonymize", json=back).json()["text"] == TEXT
    back["deanonymizers"] = {"PERSON": {"type": "decrypt", "key": "another key 1234"}}
    assert client.post("/deanonymize", json=back).status_code == 422


def test_the_lists_of_what_there_is(client: httpx.Client) -> None:
    types = client.get("/supportedentities", params={"language": "en"}).json()
    assert {"PERSON", "LOCATION", "DATE_TIME", "NRP", "ORGANIZATION", "US_SSN", "IBAN_CODE"} <= set(types)
    assert client.get("/recognizers").json()[:2] == ["patterns", "model:lethe-reader"]
    assert set(client.get("/anonymizers").json()) == {"encrypt", "hash", "keep", "mask", "redact", "replace"}
    assert client.get("/deanonymizers").json() == ["decrypt", "deanonymize_keep"]
    assert client.get("/health").text == "Lethe is up"
    for language, status in (("pt", 200), ("pl", 422)):
        assert client.get("/recognizers", params={"language": language}).status_code == status


def test_every_type_of_presidio_that_is_found_keeps_its_name() -> None:
    named = {name: type_of(label) for name, label in TYPES.items()}
    assert {name for name, again in named.items() if name != again} == {"MEDICAL_LICENSE", "UUID", "UK_NHS"}
    assert type_of("health insurance number", "pattern:gb.nhs") == "UK_NHS"
    assert type_of("health insurance number", "pattern:health-insurance") == "HEALTH_INSURANCE_NUMBER"
    assert type_of("medical record number") == "MEDICAL_RECORD_NUMBER"
    assert all(type_of(label).replace("_", "").isalnum() and type_of(label).isupper() for label in LABELS)
