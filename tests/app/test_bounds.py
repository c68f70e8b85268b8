"""What one caller can ask for at once leaves the server to all others; every text is invented."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.testclient import TestClient

from app.access.keys import SCOPES, Keys
from app.compose import system_of
from app.data_dir import DataDir
from app.jobs.runner import Runner
from app.jobs.table import Jobs
from app.jobs.uploads import Uploads
from app.sanitizing import NotSanitized, Sanitizing
from app.server import forms as forms_module
from app.server.access import ByKeys
from app.server.app import assemble
from app.server.bodies import LONGEST_SANITIZED, DocumentsBody
from app.server.quotas.slots import MODELS_AT_ONCE, WAITING_PER_SLOT, Slots
from app.server.quotas.streams import MOST_OF_ALL, MOST_OF_ONE
from app.server.routes.documents import document_routes
from app.server.routes.erasing import erasing_routes
from app.server.routes.jobs import ASKS_AGAIN, job_routes
from app.server.routes.keys import key_routes
from app.server.routes.sanitizing import sanitizing_routes
from app.server.running import listening, url_of
from app.settings.load import Settings, load_settings
from retrieval.documents import RetrievedPassage
from tests.serving import One, no_detector

PLACE = "/v1/collections/x/documents"


class Finding:
    """A retriever that finds nothing."""

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return [[] for _ in questions]


class Hanging(Sanitizing):
    """Sanitizes nothing until it may."""

    def __init__(self, data: DataDir) -> None:
        super().__init__(data, lambda: system_of(data.settings))
        self.may_end = threading.Event()

    def row(self, text: str, collection: str | None, policy: Mapping[str, Any]) -> Mapping[str, object]:
        assert self.may_end.wait(30)
        raise NotSanitized("The text was not sanitized.")


@dataclass
class Server:
    """The app with keys, and what stands behind it."""

    app: FastAPI
    keys: Keys
    jobs: Jobs
    hanging: Hanging
    header: Mapping[str, str] = field(repr=False)
    url: str = ""

    def client(self, header: Mapping[str, str] | None = None) -> httpx.Client:
        """Without reading certificates, which takes long for many clients: no TLS is spoken."""
        transport = httpx.HTTPTransport(verify=False)
        headers = self.header if header is None else header
        return httpx.Client(base_url=self.url, headers=headers, transport=transport, timeout=30)

    def new_key(self) -> tuple[str, Mapping[str, str]]:
        made = self.keys.create("ward", frozenset(SCOPES), None)
        return made.key.key_id, {"authorization": f"Bearer {made.text}"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    settings: Settings = load_settings({"data_dir": tmp_path})
    data = DataDir(settings)
    collections = One(Finding())
    with closing(Keys(tmp_path)) as keys:
        runner = Runner(settings, Jobs(tmp_path), Uploads(tmp_path, data.key))
        hanging = Hanging(data)
        own = [
            sanitizing_routes(hanging, collections),
            erasing_routes(data, collections, hanging, runner),
            document_routes(data, collections, runner),
            job_routes(runner),
            key_routes(keys, collections),
        ]
        app = assemble(collections, no_detector, access=ByKeys(keys, alone=False), own=own)
        made = Server(app, keys, runner.jobs, hanging, {})
        made.header = made.new_key()[1]
        yield made


@contextmanager
def reached(server: Server) -> Iterator[Server]:
    """The server over real HTTP, in a thread of its own."""
    with listening("127.0.0.1", 0) as listener:
        config = uvicorn.Config(server.app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        real = uvicorn.Server(config)
        thread = threading.Thread(target=real.run, args=([listener],))
        thread.start()
        server.url = url_of(listener)
        try:
            yield server
        finally:
            server.hanging.may_end.set()
            real.should_exit = True
            thread.join(30)


def until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come true")


# -- requests that run a model ---------------------------------------------------------------------------


def test_texts_that_hang_in_sanitizing_hold_neither_keys_nor_searches(server: Server) -> None:
    # One caller has half of the queue.
    waiting = MODELS_AT_ONCE * WAITING_PER_SLOT // 2
    sent, taken = 45, MODELS_AT_ONCE + waiting

    def sanitize() -> httpx.Response:
        with server.client() as client:
            return client.post("/v1/sanitize", json={"text": "x" * LONGEST_SANITIZED})

    with reached(server), server.client() as client, ThreadPoolExecutor(sent) as pool:
        asked = [pool.submit(sanitize) for _ in range(sent)]
        until(lambda: sum(each.done() for each in asked) == sent - taken)
        assert server.app.state.model_slots.counts() == {
            "running": MODELS_AT_ONCE,
            "waiting": waiting,
        }
        began = time.monotonic()
        assert client.get("/v1/me").status_code == client.get("/readyz").status_code == 200
        assert client.post("/v1/search", json={"question": "Who?"}).status_code == 200
        chat = {"messages": [{"role": "user", "content": "Who?"}]}
        assert client.post("/v1/chat/completions", json=chat).status_code == 200
        assert time.monotonic() - began < 5
        refused = next(each.result() for each in asked if each.done())
        server.hanging.may_end.set()
        statuses = sorted(each.result().status_code for each in asked)
    assert refused.headers["retry-after"] == "5"
    assert refused.json()["code"] == "server_busy"
    assert refused.json()["detail"] == OWN_LIMIT
    assert statuses == [422] * taken + [503] * (sent - taken)


OWN_LIMIT = (
    "4 requests that run a model of this caller wait already, the most of one caller. Try again in 5 s."
)


def test_a_caller_leaves_half_of_the_queue_to_others(server: Server) -> None:
    callers = [dict(server.header), *(dict(server.new_key()[1]) for _ in range(2))]

    def sanitize(header: Mapping[str, str]) -> httpx.Response:
        with server.client(header) as client:
            return client.post("/v1/sanitize", json={"text": "boiler"})

    slots = server.app.state.model_slots
    with reached(server), ThreadPoolExecutor(20) as pool:
        # Two run and four wait of the first, four of the second wait behind them.
        first = [pool.submit(sanitize, callers[0]) for _ in range(6)]
        until(lambda: slots.counts() == {"running": 2, "waiting": 4})
        assert sanitize(callers[0]).json()["detail"] == OWN_LIMIT
        second = [pool.submit(sanitize, callers[1]) for _ in range(4)]
        until(lambda: slots.counts() == {"running": 2, "waiting": 8})
        assert sanitize(callers[1]).json()["detail"] == OWN_LIMIT
        full = sanitize(callers[2])
        server.hanging.may_end.set()
        statuses = {each.result().status_code for each in (*first, *second)}
        assert sanitize(callers[0]).status_code == 422
    assert full.status_code == 503
    told = "8 requests that run a model of all callers wait already. Try again in 5 s."
    assert (full.json()["code"], full.json()["detail"]) == ("server_busy", told)
    assert statuses == {422}
    assert slots.counts() == {"running": 0, "waiting": 0}


RUN_A_MODEL: Sequence[tuple[str, str, Mapping[str, Any] | None]] = (
    ("POST", "/v1/sanitize", {"text": "boiler"}),
    ("POST", "/v1/collections/x/erase", {"ids": ["never"]}),
    ("DELETE", f"{PLACE}/never", None),
    ("POST", "/v1/embeddings", {"model": "lethe", "input": "boiler"}),
    ("POST", "/analyze", {"text": "boiler", "language": "en"}),
    ("GET", "/recognizers", None),
)


@pytest.mark.parametrize(("method", "path", "body"), RUN_A_MODEL, ids=[row[1] for row in RUN_A_MODEL])
def test_only_callers_with_a_key_wait_for_a_model(
    server: Server, method: str, path: str, body: Mapping[str, Any] | None
) -> None:
    server.app.state.model_slots = Slots(0, "requests that run a model")
    with TestClient(server.app, base_url="http://127.0.0.1") as client:
        assert client.request(method, path, json=body).status_code == 401
        assert client.request(method, path, json=body, headers=server.header).status_code == 503
        asked = {"question": "Who?"}
        assert client.post("/v1/search", json=asked, headers=server.header).status_code == 200


def test_a_text_to_sanitize_may_not_be_longer_than_a_document_of_some_pages(server: Server) -> None:
    server.hanging.may_end.set()
    with TestClient(server.app, base_url="http://127.0.0.1", headers=dict(server.header)) as client:
        taken, refused = (
            client.post("/v1/sanitize", json={"text": "x" * length})
            for length in (LONGEST_SANITIZED, LONGEST_SANITIZED + 1)
        )
    assert taken.json()["code"] == "not_sanitized"
    assert (refused.status_code, refused.json()["param"]) == (400, "text")
    assert refused.json()["detail"] == "text: String should have at most 20000 characters."


# -- events of jobs --------------------------------------------------------------------------------------


def events(job_id: str) -> str:
    return f"/v1/jobs/{job_id}/events"


@pytest.fixture
def job(server: Server) -> str:
    """A job that waits for ever."""
    return server.jobs.create("0" * 16, "ingest", "x", key_id="", dry_run=False).job_id


def test_streams_of_events_are_bounded_for_each_key_and_given_back(server: Server, job: str) -> None:
    _, other = server.new_key()
    with reached(server), server.client() as client, server.client(other) as second, ExitStack() as opened:
        for _ in range(MOST_OF_ONE):
            stream = opened.enter_context(client.stream("GET", events(job)))
            assert stream.status_code == 200
        refused = client.get(events(job))
        with second.stream("GET", events(job)) as stream:
            assert stream.status_code == 200
        assert client.get("/v1/me").status_code == 200
        opened.close()

        def again() -> bool:
            with client.stream("GET", events(job)) as stream:
                return stream.status_code == 200

        until(again)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.json()["code"] == "too_many_streams"
    told = "This caller follows as many jobs as the server sends events of (4 for each caller, 40 in all). "
    assert refused.json()["detail"] == f"{told}Close one, or try again in 5 s."


def test_streams_of_events_are_bounded_for_all_keys_together(server: Server, job: str) -> None:
    with ExitStack() as opened:
        for number in range(MOST_OF_ALL):
            opened.enter_context(server.app.state.streams.one(str(number)))
        with TestClient(server.app, base_url="http://127.0.0.1", headers=dict(server.header)) as client:
            refused = client.get(events(job))
    assert refused.status_code == 429
    assert refused.json()["detail"].startswith("All callers follow as many jobs as")


def test_a_stream_that_is_refused_or_finds_no_job_is_not_counted(server: Server) -> None:
    with TestClient(server.app, base_url="http://127.0.0.1", headers=dict(server.header)) as client:
        statuses = [client.get(events("never")).status_code for _ in range(MOST_OF_ONE + 2)]
    assert statuses == [404] * (MOST_OF_ONE + 2)


def test_the_stream_of_a_key_ends_when_it_is_revoked_and_others_go_on(server: Server, job: str) -> None:
    key_id, header = server.new_key()
    with (
        reached(server),
        server.client(header) as client,
        server.client() as other,
        client.stream("GET", events(job)) as stream,
        other.stream("GET", events(job)) as going_on,
    ):
        lines, others = stream.iter_lines(), going_on.iter_lines()
        assert next(lines).startswith("data: ")
        assert next(others).startswith("data: ")
        began = time.monotonic()
        server.keys.revoke(key_id)
        assert [*lines] == [""]
        assert time.monotonic() - began < ASKS_AGAIN + 4
        server.jobs.cancel(job)
        assert '"cancelled"' in "".join(others)


def test_a_job_knows_the_key_that_ordered_it_and_tells_nobody(server: Server) -> None:
    key_id, header = server.new_key()
    body = {"documents": [{"id": "a", "text": "The mill is broken."}], "policy": {"name": "redact"}}
    with TestClient(server.app, base_url="http://127.0.0.1", headers=dict(header)) as client:
        made = client.post(PLACE, json=body).json()
        listed = client.get("/v1/jobs").text
    assert server.jobs.get(made["job_id"]).key_id == key_id
    assert "key_id" not in made
    assert key_id not in listed


# -- uploads ---------------------------------------------------------------------------------------------


JSON = {"content-type": "application/json"}


def test_two_uploads_are_read_at_once_and_others_wait_without_a_thread(server: Server) -> None:
    may_end = threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b"{"
        assert may_end.wait(30)
        yield b"}"

    def upload(content: Any, header: Mapping[str, str] | None = None) -> httpx.Response:
        with server.client(header) as client:
            return client.post(PLACE, content=content, headers=JSON)

    with reached(server), server.client() as client, ThreadPoolExecutor(52) as pool:
        try:
            slow = [pool.submit(upload, slowly(), server.new_key()[1]) for _ in range(2)]
            until(server.app.state.uploads.free.locked)
            waiting = [pool.submit(upload, b"{}") for _ in range(50)]
            time.sleep(1)
            assert not any(each.done() for each in (*slow, *waiting))
            assert client.get("/v1/me").status_code == 200
            assert client.post(PLACE, headers={"authorization": "Bearer no"}).status_code == 401
        finally:
            may_end.set()
        answers = [each.result() for each in (*slow, *waiting)]
    assert {answer.status_code for answer in answers} == {400}
    assert {answer.json()["detail"] for answer in answers} == {"documents: Field required."}


def test_uploads_of_one_key_do_not_keep_another_waiting(server: Server) -> None:
    may_end = threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b"{"
        assert may_end.wait(30)
        yield b"}"

    def upload() -> httpx.Response:
        with server.client() as client:
            return client.post(PLACE, content=slowly(), headers=JSON)

    with reached(server), server.client(server.new_key()[1]) as other, ThreadPoolExecutor(5) as pool:
        slow = [pool.submit(upload) for _ in range(5)]
        try:
            until(lambda: server.app.state.uploads.free._value == 1)
            assert other.post(PLACE, content=b"{}", headers=JSON, timeout=10).status_code == 400
            assert not any(each.done() for each in slow)
        finally:
            may_end.set()
        assert {each.result().status_code for each in slow} == {400}


def test_documents_are_parsed_beside_the_loop_that_answers(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsing, may_end = threading.Event(), threading.Event()
    parse = DocumentsBody.model_validate_json

    def slowly(content: bytes) -> DocumentsBody:
        parsing.set()
        assert may_end.wait(30)
        return parse(content)

    monkeypatch.setattr(DocumentsBody, "model_validate_json", slowly)
    with reached(server), server.client() as client, server.client() as other, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.post, PLACE, content=b"{}", headers=JSON)
        try:
            assert parsing.wait(20)
            assert other.get("/livez", timeout=5).status_code == 200
        finally:
            may_end.set()
        assert asked.result().status_code == 400


def test_an_upload_that_does_not_come_gives_its_turn_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms_module, "READING", 0.5)
    may_end = threading.Event()

    def never() -> Iterator[bytes]:
        yield b"{"
        may_end.wait(30)

    with reached(server), server.client() as client, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.post, PLACE, content=never(), headers=JSON)
        until(lambda: server.app.state.uploads.free._value == 1)
        until(lambda: server.app.state.uploads.free._value == 2)
        may_end.set()
        refused = asked.result()
    assert (refused.status_code, refused.json()["code"]) == (408, "upload_too_slow")
    assert refused.json()["detail"] == "The upload has not come within 0.5 s. Send less at once."
