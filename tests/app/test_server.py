"""The real ``lethe serve`` over real HTTP; every note, name and question here is invented."""

import http.client
import json
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from starlette.testclient import TestClient

from app.server.app import assemble
from app.server.asked import question_of
from app.server.docs_page import docs_page
from app.server.errors import PROBLEM, SHOWN_PROBLEMS
from app.server.middleware.limits import BODY_BYTES
from app.server.openapi import PATH, openapi_text
from app.server.running import listening, url_of
from app.settings.load import ServerSettings
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from models.language.protocol import PromptTooLong
from retrieval.documents import RetrievedPassage
from retrieval.errors import CollectionError
from retrieval.guards.questions import SOMEBODY_ELSE
from tests.chat_server import ChatServer, Reply, chat_server, says
from tests.commands import ROOT, command, environment, lethe
from tests.serving import One, Served, ingested, no_detector, served

NOTES = [
    "Invented note. Mr Tobias Keller keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. The heron by the pond was fed with herring this morning.",
]
QUESTIONS = ["What is broken at the mill?", "Who has a cough?", "What was the heron fed with?"]
MODELS = ["lethe", "kb:notes"]
MARK = "zyxomarkzyxo"
"""A word that stands in questions only, so that it shows wherever a question is repeated."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # More threads than free cores make small models many times slower.
    return ingested(tmp_path_factory.mktemp("server"), "threads = 1\n", NOTES)


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Served]:
    # A copy: other servers of these tests serve the folder itself.
    copy = data.parent / "served" / "data"
    shutil.copytree(data, copy)
    with served(copy) as running_server:
        yield running_server


@pytest.fixture
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected


@pytest.fixture
def sdk(server: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0) as connected:
        yield connected


def chat(sdk: openai.OpenAI, content: Any = QUESTIONS[0], model: str = "lethe", **fields: Any) -> Any:
    messages: list[Any] = [{"role": "user", "content": content}]
    return sdk.chat.completions.create(model=model, messages=messages, **fields)


def asked(client: httpx.Client, question: str = QUESTIONS[0], **fields: Any) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": question}], **fields}
    return client.post("/v1/chat/completions", json=body)


def error_of(response: Any) -> dict[str, Any]:
    """The error, after a look at its shape and its silence."""
    assert MARK not in response.text
    if response.headers["content-type"] == PROBLEM:
        problem: dict[str, Any] = response.json()
        assert set(problem) == {"type", "title", "status", "detail", "code", "param"}
        assert problem["status"] == response.status_code
        assert problem["title"]
        assert problem["type"] == (f"urn:lethe:{problem['code']}" if problem["code"] else "about:blank")
        assert problem["detail"]
        return {"message": problem["detail"], "param": problem["param"], "code": problem["code"]}
    (name,) = response.json()
    assert name == "error"
    error: dict[str, Any] = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == ("server_error" if response.status_code >= 500 else "invalid_request_error")
    assert error["message"]
    return error


def test_port_0_is_told_as_the_port_that_was_taken(server: Served, client: httpx.Client) -> None:
    assert re.fullmatch(r"lethe: serving notes on http://127\.0\.0\.1:[1-9]\d+ .*\n", server.line)
    for path in ("/livez", "/readyz"):
        assert client.get(path).json() == {"status": "ok"}


def test_search(client: httpx.Client) -> None:
    (best,) = client.post("/v1/search", json={"question": QUESTIONS[0], "k": 1}).json()["passages"]
    assert set(best) == {"passage_id", "doc_id", "title", "score", "similarity", "text", "warnings"}
    assert best["doc_id"] == "r0001"
    assert "boiler" in best["text"]


@pytest.mark.parametrize("model", MODELS)
def test_the_openai_client_gets_an_answer_with_citations(sdk: openai.OpenAI, model: str) -> None:
    answer = chat(sdk, model=model)
    assert (answer.model, answer.object, answer.id[:9]) == (model, "chat.completion", "chatcmpl-")
    (choice,) = answer.choices
    assert "boiler" in choice.message.content
    assert (choice.message.role, choice.finish_reason) == ("assistant", "stop")
    assert answer.model_extra["engine"] == "extractive"
    assert answer.model_extra["citations"][0].keys() == {"mark", "doc_id", "title", "passage_id"}
    assert answer.model_extra["citations"][0]["doc_id"] == "r0001"


def test_the_openai_client_streams_the_same_answer(sdk: openai.OpenAI) -> None:
    whole = chat(sdk)
    chunks = list(chat(sdk, stream=True, stream_options={"include_usage": True}))
    assert {(chunk.object, chunk.model) for chunk in chunks} == {("chat.completion.chunk", "lethe")}
    assert len({chunk.id for chunk in chunks}) == 1
    *texts, counted = chunks
    choices = [chunk.choices[0] for chunk in texts]
    assert len(choices) >= 3
    assert "".join(choice.delta.content or "" for choice in choices) == whole.choices[0].message.content
    assert [choice.delta.role for choice in choices] == ["assistant", *[None] * (len(choices) - 1)]
    assert [choice.finish_reason for choice in choices] == [*[None] * (len(choices) - 1), "stop"]
    assert texts[-1].model_extra["citations"] == whole.model_extra["citations"]
    assert (counted.choices, counted.usage) == ([], whole.usage)
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens > 9


def streamed(response: httpx.Response) -> list[dict[str, Any]]:
    """The chunks of a stream of events, which counts no tokens unless it is asked to."""
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    *events, done, nothing = response.text.split("\n\n")
    assert all(event.startswith("data: {") and "\n" not in event for event in events)
    assert (done, nothing) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert all(chunk["choices"] and not chunk.get("usage") for chunk in chunks)
    return [chunk["choices"][0] for chunk in chunks]


@pytest.mark.parametrize(
    "fields", [{"max_tokens": 3}, {"max_completion_tokens": 3}, {"max_tokens": 3, "max_completion_tokens": 9}]
)
def test_an_answer_is_cut_after_the_tokens_that_are_asked_for(
    client: httpx.Client, fields: dict[str, Any]
) -> None:
    whole, cut = asked(client).json(), asked(client, **fields).json()
    chunks = streamed(asked(client, stream=True, **fields))
    (before,), (choice,) = whole["choices"], cut["choices"]
    assert (before["finish_reason"], choice["finish_reason"]) == ("stop", "length")
    assert cut["usage"]["completion_tokens"] == 3
    said = choice["message"]["content"]
    assert said
    assert before["message"]["content"].startswith(said)
    # The mark of what was cited is not among the first words.
    assert (cut["citations"], len(whole["citations"])) == ([], 1)
    assert "".join(each["delta"].get("content", "") for each in chunks) == said
    assert [each["finish_reason"] for each in chunks if each["finish_reason"]] == ["length"]
    enough = asked(client, max_tokens=whole["usage"]["completion_tokens"]).json()
    assert enough["choices"] == whole["choices"]


def test_what_openai_clients_send_beside_the_question_is_taken(sdk: openai.OpenAI) -> None:
    parts = [{"type": "text", "text": "What is broken"}, {"type": "text", "text": "at the mill?"}]
    plain = chat(sdk, "What is broken\nat the mill?")
    named: Any = [{"role": "user", "content": parts, "name": "somebody"}]
    full = sdk.chat.completions.create(
        model="lethe", messages=named, stream=False, stop=["never said", "nor this"], n=1, temperature=0.3,
        response_format={"type": "text"}, top_p=0.9, presence_penalty=-0.5, frequency_penalty=0.5,
        max_tokens=4000, max_completion_tokens=4000, seed=7, user="somebody",
    )  # fmt: skip
    assert full.choices == plain.choices
    fields = "stream stream_options stop response_format n temperature top_p presence_penalty seed user"
    assert chat(sdk, parts, extra_body=dict.fromkeys(fields.split())).choices == plain.choices


@pytest.mark.parametrize("stop", [" to repair", ["nowhere", " to repair", " it"]])
def test_an_answer_ends_before_the_words_that_are_to_end_it(client: httpx.Client, stop: object) -> None:
    answer = asked(client, stop=stop).json()
    text = answer["choices"][0]["message"]["content"]
    assert text.endswith(" euros")
    assert all(f"[{citation['mark']}]" in text for citation in answer["citations"])


@pytest.mark.parametrize("one", ["a cough", ["a cough", "a broken mill"]])
def test_the_openai_client_encodes_texts(sdk: openai.OpenAI, one: str | list[str]) -> None:
    # The client asks for base64 by itself.
    found = sdk.embeddings.create(model="lethe", input=one)
    plain = sdk.embeddings.create(model=found.model, input=one, encoding_format="float", dimensions=384)
    assert [each.index for each in found.data] == list(range(len(one) if isinstance(one, list) else 1))
    for packed, numbers in zip(found.data, plain.data, strict=True):
        assert len(packed.embedding) == 384
        assert packed.embedding == pytest.approx(numbers.embedding)
        assert sum(number**2 for number in packed.embedding) == pytest.approx(1)
    assert found.usage.total_tokens == found.usage.prompt_tokens > 0


def test_texts_that_cannot_be_encoded_as_asked(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="the models are lethe and all-MiniLM-L6-v2"):
        sdk.embeddings.create(model="text-embedding-3-small", input="a")
    with pytest.raises(openai.BadRequestError, match="has 384 dimensions: leave dimensions out"):
        sdk.embeddings.create(model="lethe", input="a", dimensions=256)
    with pytest.raises(openai.BadRequestError, match="input"):
        sdk.embeddings.create(model="lethe", input=[[1, 2, 3]])


GO_ON = ("And since when?", "Is he at home?")
STAND_ALONE = (
    "What is broken at the mill?", "Why is the boiler broken?", "Is there a note that names it?",
    "So far, which notes name a heron?",
)  # fmt: skip


def test_a_question_that_goes_on_takes_those_before() -> None:
    for each in GO_ON:
        assert question_of(["Who has a cough?", each]) == f"Who has a cough?\n{each}"
        assert question_of(["", each]) == question_of([each]) == each
    assert question_of(["Who coughs?", *GO_ON]) == "\n".join(["Who coughs?", *GO_ON])
    for each in STAND_ALONE:
        assert question_of(["Who coughs?", each]) == each


def test_the_question_is_the_last_user_turn(client: httpx.Client) -> None:
    turns = [("system", "Be brief."), ("user", QUESTIONS[1]), ("assistant", "So."), ("user", QUESTIONS[0])]
    messages = [{"role": role, "content": content} for role, content in turns]
    assert asked(client, messages=messages).json()["choices"] == asked(client).json()["choices"]


def test_answers_are_the_same_from_eight_threads_at_once(client: httpx.Client) -> None:
    def answer(question: str) -> object:
        said = asked(client, question).json()
        found = client.post("/v1/search", json={"question": question}).json()
        return said["choices"], said["citations"], found

    expected = {question: answer(question) for question in QUESTIONS}
    assert len({str(each) for each in expected.values()}) == len(QUESTIONS)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answer, QUESTIONS * 8)) == [*expected.values()] * 8


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_is_not_here(sdk: openai.OpenAI, stream: bool) -> None:
    with pytest.raises(
        openai.NotFoundError, match="no such model; the models are lethe and kb:notes"
    ) as told:
        chat(sdk, model=MARK, stream=stream)
    assert (told.value.code, told.value.param) == ("model_not_found", "model")
    assert MARK not in told.value.message
    assert [(each.id, each.owned_by) for each in sdk.models.list()] == [(each, "lethe") for each in MODELS]
    assert [sdk.models.retrieve(each).id for each in MODELS] == MODELS
    with pytest.raises(openai.NotFoundError):
        sdk.models.retrieve(MARK)


USER = {"role": "user", "content": MARK}
TEXT_PART = {"type": "text", "text": MARK}


def saying(content: object, role: str = "user") -> dict[str, object]:
    return {"messages": [{"role": role, "content": content}]}


SEARCHES: list[tuple[object, str | None, str]] = [
    ({"question": MARK, "k": 0}, "k", "k: Input should be greater than or equal to 1"),
    ({"question": MARK, "k": 101}, "k", "k: Input should be less than or equal to 100"),
    ({"question": ""}, "question", "question: String should have at least 1 character"),
    ({"question": MARK * 2000}, "question", "should have at most 20000 characters"),
    ({}, "question", "question: Field required"),
    ({"question": " \n"}, None, "question: it is blank. Write a question."),
    ({"question": MARK, "top_k": 2}, "top_k", "top_k: this field is not supported, leave it out"),
    ({"question": MARK, MARK + " x": 2}, "(a field)", "(a field): this field is not supported"),
    ([MARK], None, "the body: "),
]
IMAGE = {"type": "image_url", "image_url": {"url": MARK}}
CHATS: list[tuple[dict[str, object], str | None, str]] = [
    ({"n": 2}, "n", "one answer is given, leave it out or send 1"),
    ({"tools": []}, "tools", "tools: this field is not supported"),
    ({"top_p": 2}, "top_p", "less than or equal to 1"),
    ({"stop": [MARK] * 17}, "stop", "at most 16 items"),
    ({"stop": [""]}, "stop.0", "at least 1 character"),
    ({"response_format": {"type": "json_object"}}, "response_format.type", "type: Input should be 'text'"),
    (saying([TEXT_PART, IMAGE]), "messages.0.content", "type image_url are not read, send parts"),
    (saying([TEXT_PART, {"type": MARK}]), "messages.0.content", "send text, or parts of type text with th"),
    (saying([{"type": "text", "text": [MARK]}]), "messages.0.content", "or parts of type text with their te"),
    (saying([TEXT_PART | {"text": "x" * 60_000}] * 2), "messages.0.content", "at most 100000 characters"),
    ({"messages": []}, "messages", "messages: List should have at least 1 item"),
    (saying(MARK, role=MARK), "messages.0.role", "Input should be 's"),
    (saying("  "), None, "The chat holds no question"),
    (saying(" ") | {"stream": True}, None, "The chat holds no question"),
    (saying(MARK, role="system"), None, "last user message is missing"),
]


@pytest.mark.parametrize(
    ("path", "body", "param", "message"),
    [
        *(("search", *each) for each in SEARCHES),
        *(("chat/completions", {"messages": [USER], **fields}, *told) for fields, *told in CHATS),
    ],
)
def test_what_is_wrong_with_a_body_is_told_by_field(
    client: httpx.Client, path: str, body: object, param: str | None, message: str
) -> None:
    response = client.post(f"/v1/{path}", json=body)
    error = error_of(response)
    assert (response.status_code, error["param"], message in error["message"]) == (400, param, True), error


WHOLE, NUMBERS, FLAGS = ("5", 5.0, True, [5]), ("0.5", True, [1]), ("true", 1, "", [True])
"""What is no integer, no number and no boolean."""
CHAT_TYPES = {
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "seed", "n"), WHOLE),
    **dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty"), NUMBERS),
    **dict.fromkeys(("stream", "stream_options.include_usage"), FLAGS),
}
TYPED: list[tuple[str, Mapping[str, object], str, object]] = [
    *(("search", {"question": MARK}, "k", wrong) for wrong in WHOLE),
    *(("embeddings", {"input": MARK, "model": "lethe"}, "dimensions", wrong) for wrong in WHOLE),
    *(("chat/completions", saying(MARK), name, each) for name, wrong in CHAT_TYPES.items() for each in wrong),
]


@pytest.mark.parametrize(("path", "body", "name", "wrong"), TYPED)
def test_a_value_of_another_type_is_refused_by_field(
    client: httpx.Client, path: str, body: Mapping[str, object], name: str, wrong: object
) -> None:
    outer, _, inner = name.partition(".")
    response = client.post(f"/v1/{path}", json={**body, outer: {inner: wrong} if inner else wrong})
    assert (response.status_code, error_of(response)["param"]) == (400, name)


def test_many_problems_are_told_in_part(client: httpx.Client) -> None:
    body = {"question": MARK} | {f"field_{number}": 1 for number in range(5000)}
    told = error_of(client.post("/v1/search", json=body))["message"]
    assert told.endswith(f"; and {5000 - SHOWN_PROBLEMS} more.")
    assert len(told) < 1000


JSON = "application/json"
UNREADABLE = {
    "cut": (f'{{"question": "{MARK}", '.encode(), JSON),
    "not UTF-8": (f'{{"question": "{MARK}\xe9"}}'.encode("latin-1"), JSON),
    "deep": (b'{"question": ' + b"[" * 500_000, JSON),
    "surrogate": (f'{{"question": "{MARK} \\ud800"}}'.encode(), JSON),
    "not a number": (f'{{"question": "{MARK}", "k": NaN}}'.encode(), JSON),
    "empty": (b"", JSON),
    # What a web page can send without asking.
    "text": (json.dumps({"question": MARK}).encode(), "text/plain"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_body_that_is_not_json_in_utf_8(client: httpx.Client, name: str) -> None:
    content, content_type = UNREADABLE[name]
    response = client.post("/v1/search", content=content, headers={"content-type": content_type})
    told = error_of(response)["message"]
    assert response.status_code == 400
    assert "send one JSON object as application/json" in told or content_type == JSON


def test_unknown_paths_and_methods(client: httpx.Client) -> None:
    absent = client.get(f"/v1/{MARK}")
    assert (absent.status_code, error_of(absent)["code"]) == (404, "not_found")
    assert "GET /openapi.json lists all paths" in error_of(absent)["message"]
    wrong = client.get("/v1/search")
    assert (wrong.status_code, error_of(wrong)["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"
    assert error_of(wrong)["message"] == "Method not allowed; use POST."
    assert error_of(client.post("/v1/models"))["message"] == "Method not allowed; use GET."
    assert client.get("/v1/models/").status_code == 404


def test_the_routes_are_described_on_a_page_that_loads_nothing(client: httpx.Client) -> None:
    response = client.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    page = response.text
    assert not re.findall(r"<script|<link|<img|@import|src=|url\(", page)
    assert set(re.findall(r'href="([^"#]+)"', page)) == {"/openapi.json"}
    description = client.get("/openapi.json").json()
    schemas = description["components"]["schemas"]
    routes = [f"{method.upper()} {path}" for path, each in description["paths"].items() for method in each]
    fields = [field for schema in schemas.values() for field in schema["properties"]]
    assert all(f"<code>{route}</code>" in page for route in routes)
    assert all(f"<th><code>{field}</code></th>" in page for field in fields)
    places = set(re.findall(r'id="(\w+)"', page))
    assert places == set(schemas)
    assert set(re.findall(r'href="#(\w+)"', page)) <= places


def test_the_page_of_routes_shows_words_of_a_description_as_words() -> None:
    bad = "<script>"
    paths = {bad: {"get": {"summary": bad, "responses": {"200": {}}}}}
    schemas = {bad: {"properties": {bad: {"type": bad, "description": bad, "default": bad}}}}
    info = {"title": bad, "version": bad}
    page = docs_page({"info": info, "paths": paths, "components": {"schemas": schemas}})
    assert bad not in page
    assert page.count("&lt;script&gt;") == 11


def pieces(size: int) -> Iterator[bytes]:
    yield b'{"question": "'
    for _ in range(size // 4096):
        yield MARK.encode().ljust(4096, b"x")
    yield b'"}'


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_beyond_two_megabytes(client: httpx.Client, chunked: bool) -> None:
    for size, status in ((BODY_BYTES - 8192, 400), (BODY_BYTES, 413), (10 * BODY_BYTES, 413)):
        content = pieces(size) if chunked else b"".join(pieces(size))
        response = client.post("/v1/search", content=content, headers={"content-type": "application/json"})
        assert response.status_code == status
        if status == 413:
            assert error_of(response)["message"] == f"The body is larger than {BODY_BYTES} bytes; send less."
    assert client.get("/livez").status_code == 200


def test_a_sender_that_reads_only_when_all_is_sent_still_learns_why(server: Served) -> None:
    with closing(http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=30)) as connection:
        connection.request("POST", "/v1/search", b"x" * (10 * BODY_BYTES))
        assert connection.getresponse().status == 413


OWN_HOSTS = ["127.0.0.1:8000", "localhost", "[::1]:8000"]
OTHER_HOSTS = [
    "rebinding.example",
    "localhost.rebinding.example",
    "127.0.0.1@rebinding.example",
    "10.0.0.1:80",
]


@pytest.mark.parametrize("host", [*OWN_HOSTS, *OTHER_HOSTS, ""])
def test_only_names_of_this_machine_are_answered(client: httpx.Client, host: str) -> None:
    response = client.get("/v1/models", headers={"host": host})
    own = host in OWN_HOSTS
    assert (response.status_code, "kb:notes" in response.text) == (200 if own else 400, own)
    if not own:
        assert error_of(response)["code"] == "host_not_allowed"
        assert "set LETHE_SERVER__HOSTS to a JSON list of allowed names" in response.text
        assert "rebinding" not in response.text


def test_a_proxy_may_call_it_by_its_name_with_a_key(data: Path, tmp_path: Path) -> None:
    data = shutil.copytree(data, tmp_path / "data")
    names = json.dumps(["Lethe.example"])
    variables = environment(data) | {"LETHE_SERVER__HOSTS": names}
    refused = subprocess.run(command("serve"), env=variables, capture_output=True, text=True, check=False)
    assert (refused.returncode, "nobody has a key" in refused.stderr) == (2, True)
    key = {"authorization": f"Bearer {lethe(data, 'keys', 'create', 'proxy').summary['key']}"}
    with served(data, LETHE_SERVER__HOSTS=names) as server, server.client() as client:
        for host in ("lethe.example", "LETHE.EXAMPLE:8443", "localhost"):
            assert client.get("/v1/models", headers={"host": host, **key}).status_code == 200
        for host in ("other.example", "a.lethe.example"):
            assert client.get("/v1/models", headers={"host": host, **key}).status_code == 400
        assert client.get("/v1/models", headers={"host": "lethe.example"}).status_code == 401


@contextmanager
def with_model(data: Path, *replies: Reply, trust: str = "local") -> Iterator[tuple[Served, ChatServer]]:
    """A server of the collection that answers by a language model."""
    with chat_server(*replies) as backend:
        generator = {"KIND": "openai_compatible", "BASE_URL": backend.url, "MODEL": "mute", "TRUST": trust}
        with served(data, **{f"LETHE_GENERATOR__{name}": each for name, each in generator.items()}) as server:
            yield server, backend


TURNS = [
    {"role": "user", "content": "Who is Tobias Keller?"},
    {"role": "user", "content": "Has Tobias Keller, NHS 943 476 5919, a cough?"},
]
SECRETS = ("Tobias", "Keller", "943", "5919")


def test_a_remote_model_behind_the_chat_reads_no_name_or_no_question(data: Path) -> None:
    polish = "Od jak dawna kaszle pan Tobias Keller z Krakowa i co na to przyjmuje każdego dnia?"
    with with_model(data, says("Yes [1]."), trust="remote") as (server, backend), server.client() as client:
        answer = asked(client, messages=TURNS).json()
        refused, short = asked(client, polish), asked(client, "keller cough").json()
    sent = json.dumps(backend.requests)
    assert len(backend.requests) == 2
    assert not [part for part in SECRETS if part in sent]
    assert answer["question_sent"].startswith("Has Person A, ")
    assert answer["question_sent"] in sent
    assert (refused.status_code, error_of(refused)["code"]) == (400, "question_not_sent")
    assert "it is in Polish, and only English, German, French" in error_of(refused)["message"]
    assert short["warnings"][0].startswith("entities may have been missed in the question: ")


def test_pages_of_other_sites_are_not_let_in(client: httpx.Client) -> None:
    foreign = {"origin": "http://elsewhere.example", "access-control-request-method": "POST"}
    for response in (client.options("/v1/search", headers=foreign), client.get("/livez", headers=foreign)):
        assert not [name for name in response.headers if name.startswith("access-control")]
    refused = client.post("/v1/search", headers=foreign, json={"question": MARK})
    assert (refused.status_code, error_of(refused)["code"]) == (403, "foreign_origin")
    own = str(client.base_url).rstrip("/")
    elsewhere = ("null", "http://127.0.0.1:1", "http://127.0.0.1.elsewhere.example")
    answers = [client.get("/livez", headers={"origin": each}).status_code for each in (own, *elsewhere)]
    assert answers == [200, 403, 403, 403]


def test_where_it_may_not_or_cannot_listen(data: Path) -> None:
    ran = lethe(data, "serve", "-c", "notes", "--host", "0.0.0.0")
    assert (ran.code, ran.out) == (2, "")
    assert "others can reach this server, and nobody has a key. Make one:" in ran.err
    assert not ServerSettings(host="example.org").alone
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        ran = lethe(data, "serve", "-c", "notes", "--port", str(port))
    told = f"server.port: cannot listen on 127.0.0.1:{port} (Address already in use). Choose another"
    assert (ran.code, told in ran.err) == (1, True), ran.err


def test_an_ipv6_url_has_brackets() -> None:
    try:
        with listening("::1", 0) as listener:
            url = url_of(listener)
    except LetheError:
        pytest.skip("this machine has no IPv6")
    assert re.fullmatch(r"http://\[::1\]:[1-9]\d+", url)


def test_an_interrupt_ends_it_at_once_and_it_has_said_one_line(data: Path) -> None:
    with served(data) as server, server.client() as client:
        assert asked(client, f"{MARK}: {QUESTIONS[0]}").status_code == 200
        assert client.post("/v1/search", json={"question": MARK, MARK: 1}).status_code == 400
        code, seconds, out, err = server.ended_by(signal.SIGINT)
    assert (code, out, err) == (0, "", server.line)
    assert seconds < 5


def test_a_local_model_that_is_slow_neither_blocks_nor_holds_the_server(data: Path) -> None:
    slow = Reply(says("Invented.").body, seconds=0.5)
    replies = says("The boiler is broken [1]."), Reply(b"", 500), slow
    with with_model(data, *replies) as (server, backend), server.client() as client:

        def ask_in_vain() -> None:
            with server.client() as other:
                try:
                    assert asked(other, MARK).status_code >= 500
                except httpx.HTTPError:
                    assert len(backend.requests) == 3

        answer = asked(client, messages=TURNS).json()
        assert answer["choices"][0]["message"]["content"] == f"The boiler is broken [1].{SOMEBODY_ELSE}"
        # A model of this machine reads the question as it is.
        assert all(part in json.dumps(backend.requests) for part in SECRETS)
        assert answer["question_sent"] is None
        failed = asked(client, MARK)
        assert (failed.status_code, error_of(failed)["code"]) == (503, "model_unavailable")
        long = asked(client, f"{MARK} " * 7000)
        assert (long.status_code, error_of(long)["code"]) == (413, "context_length_exceeded")
        assert re.search(r"the prompt takes \d+ tokens and mute at", error_of(long)["message"])
        waiting = threading.Thread(target=ask_in_vain)
        waiting.start()
        while len(backend.requests) < 3:
            time.sleep(0.01)
        assert client.get("/livez", timeout=2).status_code == 200
        code, seconds, out, err = server.ended_by(signal.SIGTERM)
        waiting.join()
    assert (code, out, err) == (0, "", server.line)
    assert seconds < 5


class Raising:
    """A retriever that raises what it was given."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        raise self._error


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ConfigurationError("Told."), 400, "invalid_value"),
        (PromptTooLong("invented", 9, 5), 413, "context_length_exceeded"),
        (CollectionError("Told."), 409, "collection_error"),
        (ModelUnavailable("Told:", "do."), 503, "model_unavailable"),
        (LetheError("Told."), 500, "internal_error"),
        (KeyError(MARK), 500, "internal_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_each_kind_of_error_has_its_status(error: Exception, status: int, code: str) -> None:
    app = assemble(One(Raising(error)), no_detector)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        response = client.post("/v1/search", json={"question": MARK})
    assert (response.status_code, error_of(response)["code"]) == (status, code)
    if isinstance(error, KeyError):
        # It says nothing of what went wrong; the log of requests knows the number.
        number = response.headers["x-request-id"]
        told = f"Internal error KeyError. Try again, or tell the operator the request id {number}."
        assert error_of(response)["message"] == told


def test_the_committed_description_is_current() -> None:
    # `python -m app.server.openapi` writes it anew.
    assert (ROOT / PATH).read_text(encoding="utf-8") == openapi_text()
    assert "422" not in openapi_text()
