"""Ids, logs, figures, health, limits and the end of the server; every note, name and question is invented."""

import asyncio
import json
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from app.access.keys import Keys
from app.server.access import ByKeys
from app.server.app import assemble
from app.server.middleware.answered import Answered, write_line
from app.server.middleware.limits import BODY_BYTES
from app.server.middleware.watching import METHODS
from app.server.quotas.later import TryLater
from app.server.quotas.rates import MOST_CALLERS, Rates
from app.server.quotas.slots import WAITING_PER_SLOT, Slots
from app.settings.load import ServerSettings
from retrieval.documents import RetrievedPassage
from retrieval.errors import CollectionError
from tests.chat_server import Reply, chat_server, says
from tests.commands import ROOT, environment
from tests.serving import One, Served, ask, ingested, no_detector, running, served

NOTES = ["Invented note. The boiler of the mill is broken.", "Invented note. The heron was fed at noon."]
PLAIN = 'threads = 1\n[detector]\nlearned = false\n[risk]\nkind = "prior"\n'
MARK = "zyxomarkzyxo"
ID = re.compile(r"[0-9a-f]{32}")


class Finding:
    """A retriever that finds nothing, or raises for one question."""

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        if "raise" in questions[0]:
            raise RuntimeError(f"cannot read {questions[0]}")
        return [[]]


def client_of(**limits: Any) -> TestClient:
    app = assemble(One(Finding()), no_detector, limits=ServerSettings(**limits))
    return TestClient(app, base_url="http://127.0.0.1")


def chat(client: Any, **more: object) -> Any:
    asked = {"messages": [{"role": "user", "content": MARK}], **more}
    return client.post("/v1/chat/completions", json=asked)


def search(client: Any, question: str = "Who?", **options: Any) -> Any:
    return client.post("/v1/search", json={"question": question}, **options)


def figures(client: Any) -> dict[tuple[str, ...], float]:
    """Every figure by its name and the values of its labels, in the order of the labels' names."""
    text = client.get("/metrics").text
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


# -- ids, headers and logs -----------------------------------------------------------------------------


@pytest.fixture
def client() -> Iterator[TestClient]:
    with client_of(log="requests") as connected:
        yield connected


REQUESTS: Mapping[int, Callable[[Any], Any]] = {
    200: search,
    400: lambda client: search(client, headers={"host": "rebinding.example"}),
    404: lambda client: client.get(f"/v1/{MARK}"),
    405: lambda client: client.get("/v1/search"),
    413: lambda client: search(client, "x" * BODY_BYTES),
    500: lambda client: search(client, "raise"),
}


@pytest.mark.parametrize("status", REQUESTS)
def test_every_answer_has_a_new_id_and_safe_headers(client: TestClient, status: int) -> None:
    client.headers["x-request-id"] = MARK
    first, second = (REQUESTS[status](client) for _ in range(2))
    assert first.status_code == second.status_code == status
    numbers = {response.headers["x-request-id"] for response in (first, second)}
    assert len(numbers) == 2 and all(ID.fullmatch(each) for each in numbers)
    safe = [first.headers[each] for each in ("x-content-type-options", "referrer-policy", "cache-control")]
    assert safe == ["nosniff", "no-referrer", "no-store"]
    assert (first.headers["x-request-id"] in first.text) == (status == 500)


def test_a_page_may_be_kept_and_a_stream_may_not(client: TestClient) -> None:
    assert client.get("/").headers.get_list("cache-control") == ["no-cache"]
    streamed = chat(client, stream=True)
    assert (streamed.status_code, streamed.headers["cache-control"]) == (200, "no-store")


def test_a_request_is_logged_as_one_line(client: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    response = search(client)
    search(client, "raise")
    client.get(f"/v1/models/{MARK}")
    client.get("/v1/nothing/of/ours")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["method"], line["route"], line["status"], line["error"]) for line in lines] == [
        ("POST", "/v1/search", 200, None),
        ("POST", "/v1/search", 500, "RuntimeError"),
        ("GET", "/v1/models/{model}", 404, None),
        ("GET", "other", 404, None),
    ]
    first = lines[0]
    names = "time request_id method route status ms key_id bytes_in bytes_out error"
    assert list(first) == names.split()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first["time"])
    assert first["request_id"] == response.headers["x-request-id"]
    assert (first["bytes_in"], first["bytes_out"]) == (len('{"question":"Who?"}'), len(response.content))
    assert first["key_id"] is None and first["ms"] > 0


def test_a_log_that_nobody_reads_stops_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(text: str) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=write))
    write_line(Answered("1", "GET", "/livez", 200, 0.1, 0, 2, None, None))


MARKED: Sequence[Callable[[Any], Any]] = (
    lambda client: search(client, MARK),
    lambda client: search(client, f"raise {MARK}"),
    lambda client: client.post("/v1/search", json={MARK: MARK}),
    lambda client: client.post("/v1/search", content=MARK),
    lambda client: client.get(f"/v1/{MARK}"),
    lambda client: client.get(f"/v1/models/{MARK}"),
    lambda client: client.get(f"/v1/collections/{MARK}"),
    lambda client: client.get("/livez", params={MARK: MARK}),
    lambda client: client.get("/livez", headers={MARK: MARK, "x-request-id": MARK, "user-agent": MARK}),
    lambda client: client.get("/livez", headers={"host": f"{MARK}.example"}),
    lambda client: client.get("/v1/models", headers={"authorization": f"Bearer {MARK}", "cookie": MARK}),
    lambda client: client.request(MARK.upper(), "/livez"),
    lambda client: client.post("/analyze", json={"text": MARK, "language": MARK}),
    chat,
)


def test_no_word_that_was_sent_is_shown(client: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    for send in MARKED:
        send(client)
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == len(MARKED)
    assert MARK not in (said.out + said.err).lower()
    shown = client.get("/metrics").text
    assert MARK not in shown.lower()
    assert 'method="other"' in shown


WATCHED = assemble(One(Finding()), no_detector)
LINES: list[Answered] = []
next(each for each in WATCHED.user_middleware if "log" in each.kwargs).kwargs["log"] = LINES.append
TEMPLATES = {"other", "/docs", "/metrics", "/", "/web/{name}", *WATCHED.openapi()["paths"]}


async def reach(method: str, path: str, query: str, header: str) -> None:
    """Ask as no client would let us: any text as method, path, query and header."""
    scope = {"type": "http", "scheme": "http", "method": method, "path": path, "query_string": query.encode()}
    headers = [(b"host", b"127.0.0.1"), (b"x-request-id", header.encode())]

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": header.encode()}

    async def send(message: object) -> None:
        pass

    await WATCHED({**scope, "headers": headers, "client": ("127.0.0.1", 1)}, receive, send)


ANYTHING = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.sampled_from(["GET", "POST"]) | ANYTHING,
    st.sampled_from(["/", "/v1/models/", "/v1/collections/", "/web/", "/analyze"]),
    *[ANYTHING] * 3,
)
def test_a_line_names_a_template_whatever_was_sent(
    method: str, begins: str, ends: str, query: str, header: str
) -> None:
    LINES.clear()
    asyncio.run(reach(method, begins + ends, query, header))
    (line,) = LINES
    assert line.route in TEMPLATES and line.method in METHODS | {"other"}
    assert ID.fullmatch(line.request_id) and line.request_id != header
    assert (line.key_id, line.error, line.status is not None) == (None, None, True)


# -- figures -------------------------------------------------------------------------------------------


def test_an_app_counts_its_own_requests_and_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with client_of() as client, client_of() as other:
        for question in ("Who?", "Who?", "raise"):
            search(client, question)
        client.get("/v1/models/elsewhere")
        found = figures(client)
        assert not [name for name in figures(other) if "/v1/search" in name]
    assert capsys.readouterr().err == ""
    assert found["lethe_requests_total", "POST", "/v1/search", "200"] == 2
    assert found["lethe_requests_total", "POST", "/v1/search", "500"] == 1
    assert found["lethe_requests_total", "GET", "/v1/models/{model}", "404"] == 1
    assert found["lethe_request_seconds_count", "POST", "/v1/search"] == 3
    assert found["lethe_request_seconds_bucket", "+Inf", "POST", "/v1/search"] == 3
    assert found[("lethe_requests_in_flight",)] == 1, "the one that asks"
    assert found["lethe_answers", "running"] == found["lethe_answers", "waiting"] == 0
    assert found[("process_resident_memory_bytes",)] > 1e6


@contextmanager
def keyed(folder: Path, alone: bool = True, **limits: Any) -> Iterator[tuple[Keys, TestClient]]:
    """Keys, and a client on this machine of a server that asks for them."""
    with closing(Keys(folder)) as keys:
        access, chosen = ByKeys(keys, alone=alone), ServerSettings(**limits)
        app = assemble(One(Finding()), no_detector, access=access, limits=chosen)
        with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as client:
            yield keys, client


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def test_figures_need_a_key_that_may_audit_once_there_are_keys(tmp_path: Path) -> None:
    with keyed(tmp_path) as (keys, client):
        assert client.get("/metrics").status_code == 200
        query, audit = (keys.create("x", frozenset((scope,)), None).text for scope in ("query", "audit"))
        assert client.get("/metrics").status_code == 401, "a proxy on this machine is loopback too"
        assert client.get("/metrics", headers=bearer(query)).status_code == 403
        assert client.get("/metrics", headers=bearer(audit)).status_code == 200
        assert client.get("/livez").status_code == client.get("/readyz").status_code == 200


def test_the_line_of_a_request_names_its_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with keyed(tmp_path, log="requests") as (keys, client):
        new = keys.create(MARK, frozenset(("query",)), None)
        search(client, headers=bearer(new.text))
        search(client, headers=bearer(f"{new.text[:-1]}!"))
    said = capsys.readouterr().err
    assert [json.loads(line)["key_id"] for line in said.splitlines()] == [new.key.key_id, None]
    assert new.text not in said and MARK not in said


# -- health --------------------------------------------------------------------------------------------


class Opening(One):
    """Collections of which some do not open, and an encoder that may fail."""

    def __init__(self, opens: Mapping[str, bool], encodes: bool = True) -> None:
        super().__init__(Finding())
        self._opens = opens
        if not encodes:
            self.encoder.encode = self._fail  # type: ignore[method-assign]

    def _fail(self, texts: Sequence[str]) -> Any:
        raise RuntimeError(f"device lost at {MARK}")

    def names(self) -> list[str]:
        return list(self._opens)

    def get(self, name: str) -> Any:
        if not self._opens[name]:
            raise CollectionError(f"/srv/{MARK}: damaged")
        return super().get(name)


UNOPENED = "Not ready: no collection can be opened."
NO_ENCODER = "Not ready: the encoder cannot encode (RuntimeError)."


@pytest.mark.parametrize(
    ("collections", "reason"),
    [
        (Opening({}), None),
        (Opening({"a": True}), None),
        (Opening({"a": False, "b": True}), None),
        (Opening({"a": False, "b": False}), UNOPENED),
        (Opening({"a": True}, encodes=False), NO_ENCODER),
    ],
    ids=["none yet", "opens", "one is damaged", "all are damaged", "no encoder"],
)
def test_readyz_says_which_part_is_not_ready(collections: One, reason: str | None) -> None:
    with TestClient(assemble(collections, no_detector), base_url="http://127.0.0.1") as client:
        response = client.get("/readyz")
        assert client.get("/livez").json() == {"status": "ok"}
    told = response.json()
    if reason is None:
        assert (response.status_code, told) == (200, {"status": "ok"})
    else:
        assert (response.status_code, told["detail"], told["code"]) == (503, reason, "not_ready")
        assert response.headers["retry-after"] == "1"


def test_readyz_turns_first_when_the_server_is_to_stop() -> None:
    app = assemble(One(Finding()), no_detector)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/readyz").status_code == 200
        app.state.stopping.set()
        assert client.get("/readyz").json()["detail"] == "Not ready: the server stops."
        assert client.get("/livez").status_code == search(client).status_code == 200


def test_readyz_that_takes_long_is_looked_at_once_at_a_time() -> None:
    opening, may_open = threading.Event(), threading.Event()

    class Slow(One):
        def get(self, name: str) -> Any:
            opening.set()
            assert may_open.wait(20)
            return super().get(name)

    app = assemble(Slow(Finding()), no_detector)
    with TestClient(app, base_url="http://127.0.0.1") as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.get, "/readyz")
        assert opening.wait(20)
        second = client.get("/readyz")
        may_open.set()
        assert second.json()["detail"] == "Not ready: the collections are being opened."
        assert first.result().status_code == client.get("/readyz").status_code == 200


# -- limits of requests --------------------------------------------------------------------------------


@given(st.integers(1, 120), st.lists(st.floats(0, 30), max_size=60))
@example(1, [0.0] * 6 + [1.0182949618272747, 1.6957260305107695, 1.179075326835747, 0.0])
def test_no_caller_sends_more_than_its_minutes_allow(per_minute: int, pauses: list[float]) -> None:
    now, let_through = 0.0, 0
    rates = Rates(per_minute, lambda: now)
    for pause in pauses:
        now += pause
        try:
            rates.take("a")
        except TryLater as refused:
            assert refused.status == 429
            assert 1 <= refused.seconds <= 60 // per_minute + 1
            now += refused.seconds
            rates.take("a")
        let_through += 1
        assert let_through <= per_minute + now * per_minute / 60 + 1e-6


def test_callers_do_not_share_and_are_forgotten_in_time_or_at_once_without_a_limit() -> None:
    rates, none = Rates(1, lambda: 0.0), Rates(None)
    for number in range(MOST_CALLERS + 500):
        rates.take(str(number))
        none.take(str(number))
    assert (len(rates), len(none)) == (MOST_CALLERS, 0)
    with pytest.raises(TryLater):
        rates.take(str(MOST_CALLERS))
    rates.take("0")


def test_too_many_requests_are_told_in_the_shape_of_the_route() -> None:
    with client_of(requests_per_minute=3) as client:
        assert [search(client).status_code for _ in range(3)] == [200] * 3
        native, openai, presidio = (search(client), chat(client), client.get("/anonymizers"))
        assert client.get("/livez").status_code == client.get("/readyz").status_code == 200
    for response in (native, openai, presidio):
        assert response.status_code == 429
        # What came back while the others were asked is taken off.
        assert response.headers["retry-after"] in ("18", "19", "20")
    told = "This caller has sent more than 3 requests in a minute. Try again in "
    assert native.json()["detail"].startswith(f"{told}{native.headers['retry-after']} s, or")
    assert native.headers["content-type"] == "application/problem+json"
    assert openai.json()["error"]["code"] == "rate_limit_exceeded"
    assert presidio.json()["error"].startswith(told)


def test_a_key_is_limited_alone_and_a_forged_one_takes_nothing_from_it(tmp_path: Path) -> None:
    with keyed(tmp_path, alone=False, requests_per_minute=2) as (keys, client):
        one, other = (keys.create(name, frozenset(("query",)), None).text for name in "ab")

        def statuses(text: str, times: int) -> list[int]:
            return [search(client, headers=bearer(text)).status_code for _ in range(times)]

        assert statuses(f"{one[:15]}{'A' * 43}", 4) == [401, 401, 429, 429]
        assert (statuses(one, 3), statuses(other, 1)) == ([200, 200, 429], [200])


# -- limits of answers ---------------------------------------------------------------------------------


def test_slots_are_given_in_turn_and_given_back() -> None:
    async def use() -> None:
        slots, order = Slots(1, "chats"), list[int]()

        async def one(number: int) -> None:
            async with slots.one(None):
                order.append(number)
                await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(one(number)) for number in range(1 + WAITING_PER_SLOT)]
        await asyncio.sleep(0)
        assert slots.counts() == {"running": 1, "waiting": WAITING_PER_SLOT}
        with pytest.raises(TryLater, match="4 chats of all callers wait already") as refused:
            await one(9)
        assert refused.value.status == 503
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == [0, 1, 3, 4]
        assert slots.counts() == {"running": 0, "waiting": 0}

    asyncio.run(use())


@pytest.mark.parametrize(("most", "share"), [(4, 2), (12, 6), (1, 1)])
def test_a_caller_waits_in_half_of_the_places_and_in_one_at_least(most: int, share: int) -> None:
    async def use() -> None:
        slots = Slots(1, "chats")
        slots._most_waiting = most

        async def one(caller: str | None) -> None:
            async with slots.one(caller):
                await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(one("c"))]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(one("a")) for _ in range(share)]
        await asyncio.sleep(0)
        told = f"{share} chats of this caller wait already, the most of one caller."
        with pytest.raises(TryLater, match=told):
            await one("a")
        tasks += [asyncio.create_task(one("b"))] * (share < most)
        await asyncio.gather(*tasks)
        assert not slots._waiting_of

    asyncio.run(use())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested(tmp_path_factory.mktemp("operating"), PLAIN, NOTES)


def asking(url: str) -> dict[str, str]:
    generator = {"KIND": "openai_compatible", "BASE_URL": url, "MODEL": "invented"}
    return {f"LETHE_GENERATOR__{name}": value for name, value in generator.items()}


def asked_on_its_own(server: Served) -> httpx.Response:
    # No TLS is spoken, and reading the certificates takes long for many clients.
    with server.client(verify=False) as client:
        response: httpx.Response = ask(client, "What is broken at the mill?")
        return response


def until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_forty_chats_that_hang_neither_hold_a_search_nor_the_health(data: Path) -> None:
    hanging = Reply(says("Invented.").body, seconds=5)
    sent = 45
    with chat_server(hanging) as backend, ThreadPoolExecutor(sent) as pool:
        variables = {**asking(backend.url), "LETHE_SERVER__ANSWERS_AT_ONCE": "8"}
        with served(data, **variables) as server, server.client() as client:
            search(client)
            chats = [pool.submit(asked_on_its_own, server) for _ in range(sent)]
            until(lambda: sum(chat.done() for chat in chats) == sent - 8 * (1 + WAITING_PER_SLOT))
            until(lambda: len(backend.requests) == 8)
            began = time.monotonic()
            assert search(client).status_code == client.get("/livez").status_code == 200
            assert client.get("/readyz").status_code == 200
            assert time.monotonic() - began < 2
            found = figures(client)
            assert (found["lethe_answers", "running"], found["lethe_answers", "waiting"]) == (8, 32)
            for chat in [chat for chat in chats if chat.done()]:
                refused = chat.result()
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
                assert refused.json()["error"]["code"] == "server_busy"
            code, seconds, out, err = server.ended_by(signal.SIGTERM)
        answers = [chat.exception() or chat.result().status_code for chat in chats]
    assert (code, out, err) == (0, "", server.line)
    assert seconds < 6
    assert all(answer == 503 or isinstance(answer, httpx.HTTPError) for answer in answers)


PART = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + MARK.encode()
BROKEN = {
    "no boundary": ("", PART),
    "garbage": ("; boundary=b", MARK.encode()),
    "another boundary": ("; boundary=c", PART + b"\r\n--b--\r\n"),
    "a head without a colon": ("; boundary=b", b"--b\r\nContent Disposition\r\n\r\nx\r\n--b--\r\n"),
    "line ends of another system": ("; boundary=b", PART.replace(b"\r", b"") + b"\n--b--\n"),
    "no name": ("; boundary=b", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"),
    "cut": ("; boundary=b", PART),
    "more behind its end": ("; boundary=b", PART + b"\r\n--b--\r\nmore " + MARK.encode()),
    "two ends": ("; boundary=b", PART + b"\r\n--b--\r\n--b--\r\n"),
}


def test_a_broken_form_is_answered_in_our_words_and_nothing_is_printed(data: Path) -> None:
    with served(data) as server, server.client() as client:
        for name, (boundary, body) in BROKEN.items():
            headers = {"content-type": f"multipart/form-data{boundary}"}
            answer = client.post("/v1/collections/notes/documents", content=body, headers=headers)
            assert answer.status_code in (400, 202), name
            said = "The form could not be read: ", "files: send one file or more, "
            assert answer.status_code == 202 or answer.json()["detail"].startswith(said), name
            assert MARK not in answer.text
        assert server.ended_by(signal.SIGTERM)[2:] == ("", server.line)


# -- the end -------------------------------------------------------------------------------------------


def test_a_server_that_stops_says_so_first_and_finishes_what_runs(data: Path) -> None:
    body = says("The boiler is broken [1].").body
    with chat_server(Reply(body, seconds=3 / len(body))) as backend, ThreadPoolExecutor(1) as pool:
        limits = {"DRAIN_SECONDS": "2", "FINISH_SECONDS": "20", "LOG": "requests"}
        variables = {f"LETHE_SERVER__{name}": value for name, value in limits.items()}
        with served(data, **asking(backend.url), **variables) as server, server.client() as client:
            assert client.get("/readyz").status_code == 200
            asked = pool.submit(asked_on_its_own, server)
            until(lambda: len(backend.requests) == 1)
            server.process.send_signal(signal.SIGTERM)
            until(lambda: client.get("/readyz").status_code == 503)
            assert search(client).status_code == client.get("/livez").status_code == 200
            assert asked.result().status_code == 200
            out, err = server.process.communicate(timeout=30)
    assert (server.process.returncode, out) == (0, "")
    lines = [json.loads(line) for line in err.splitlines()]
    statuses = [line["status"] for line in lines if line["route"] == "/readyz"]
    assert (statuses[0], statuses[-1], sorted(statuses)) == (200, 503, statuses)
    assert [line["status"] for line in lines if line["route"] == "/v1/chat/completions"] == [200]


def test_what_does_not_finish_is_told_to_come_back(data: Path) -> None:
    with chat_server(Reply(says("Invented.").body, seconds=5)) as backend, ThreadPoolExecutor(1) as pool:
        with served(data, **asking(backend.url), LETHE_SERVER__FINISH_SECONDS="0") as server:
            asked = pool.submit(asked_on_its_own, server)
            until(lambda: len(backend.requests) == 1)
            code, seconds, _, _ = server.ended_by(signal.SIGTERM)
        refused = asked.result()
    assert (code, seconds < 4) == (0, True)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert refused.json()["error"]["code"] == "stopping"


STOPPING = """
import sys, time
from app.server.app import assemble
from app.server.running import listening, serve, url_of
from tests.serving import One, no_detector

def hand_back():
    time.sleep({seconds})
    print("handed back", flush=True)
    {then}

with listening("127.0.0.1", 0) as listener:
    print(url_of(listener), file=sys.stderr, flush=True)
    serve(assemble(One(None), no_detector), listener, on_stop=hand_back)
"""


@pytest.mark.parametrize(
    ("seconds", "then", "said"),
    [
        (3, "pass", ""),
        (0, f"raise RuntimeError('{MARK}')", "lethe: jobs were not handed back in order (RuntimeError)\n"),
    ],
)
def test_jobs_are_handed_back_before_the_process_ends(
    tmp_path: Path, seconds: int, then: str, said: str
) -> None:
    code = STOPPING.format(seconds=seconds, then=then)
    with running([sys.executable, "-c", code], environment(tmp_path), ROOT) as server:
        with server.client() as client:
            assert client.get("/livez").status_code == 200
        ended, took, out, err = server.ended_by(signal.SIGTERM)
    assert (ended, out, err) == (0, "handed back\n", server.line + said)
    assert seconds <= took < 7
