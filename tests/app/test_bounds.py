"""What one caller can ask for at once leaves the server to all others; every text is invented."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from secrets import token_hex
from threading import Event, Thread
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

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
from app.server.quotas.slots import MODELS_AT_ONCE, Slots
from app.server.quotas.streams import MOST_OF_ALL, MOST_OF_ONE
from app.server.routes.documents import document_routes
from app.server.routes.erasing import erasing_routes
from app.server.routes.jobs import ASKS_AGAIN, job_routes
from app.server.routes.keys import key_routes
from app.server.routes.sanitizing import sanitizing_routes
from app.server.running import listening, url_of
from app.settings.load import load_settings
from retrieval.documents import RetrievedPassage
from tests.serving import One, no_detector

PLACE = "/v1/collections/x/documents"
NO_KEY = {"authorization": "Bearer no"}


class Finding:
    """A retriever that finds nothing."""

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return [[] for _ in questions]


class Hanging(Sanitizing):
    """Sanitizes nothing until it may."""

    def __init__(self, data: DataDir) -> None:
        super().__init__(data, lambda: system_of(data.settings))
        self.may_end = Event()

    def row(self, text: str, collection: str | None, policy: Mapping[str, Any]) -> Mapping[str, object]:
        assert self.may_end.wait(30)
        raise NotSanitized("The text was not sanitized.")


@dataclass(frozen=True)
class Server:
    """The app over real HTTP and with keys, and what stands behind it."""

    app: FastAPI
    keys: Keys
    jobs: Jobs
    hanging: Hanging
    url: str

    def client(self, header: Mapping[str, str] | None = None) -> httpx.Client:
        """With a new key, and without reading certificates, which takes long: no TLS is spoken."""
        headers, transport = header or self.new_key()[1], httpx.HTTPTransport(verify=False)
        return httpx.Client(base_url=self.url, headers=headers, transport=transport, timeout=30)

    def new_key(self) -> tuple[str, Mapping[str, str]]:
        made = self.keys.create("ward", frozenset(SCOPES), None)
        return made.key.key_id, {"authorization": f"Bearer {made.text}"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("bounds")
    settings = load_settings({"data_dir": folder})
    data, collections = DataDir(settings), One(Finding())
    with closing(Keys(folder)) as keys, listening("127.0.0.1", 0) as listener:
        runner = Runner(settings, Jobs(folder), Uploads(folder, data.key))
        hanging = Hanging(data)
        own = [
            sanitizing_routes(hanging, collections),
            erasing_routes(data, collections, hanging, runner),
            document_routes(data, collections, runner),
            job_routes(runner),
            key_routes(keys, collections),
        ]
        app = assemble(collections, no_detector, access=ByKeys(keys, alone=False), own=own)
        real = uvicorn.Server(
            uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        )
        thread = Thread(target=real.run, args=([listener],))
        thread.start()
        try:
            yield Server(app, keys, runner.jobs, hanging, url_of(listener))
        finally:
            hanging.may_end.set()
            real.should_exit = True
            thread.join(30)


def until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come true")


OWN_LIMIT = (
    "4 requests that run a model of this caller wait already, the most of one caller. Try again in 5 s."
)


def test_texts_that_hang_in_sanitizing_hold_nothing_and_nobody_else(server: Server) -> None:
    callers = [server.new_key()[1] for _ in range(3)]
    slots, chat = server.app.state.model_slots, {"messages": [{"role": "user", "content": "Who?"}]}

    def sanitize(header: Mapping[str, str]) -> httpx.Response:
        with server.client(header) as client:
            return client.post("/v1/sanitize", json={"text": "x" * LONGEST_SANITIZED})

    with server.client() as client, ThreadPoolExecutor(20) as pool:
        # Two run and four wait of the first, four of the second wait behind them: half of the queue each.
        first = [pool.submit(sanitize, callers[0]) for _ in range(MODELS_AT_ONCE + 4)]
        until(lambda: slots.counts() == {"running": MODELS_AT_ONCE, "waiting": 4})
        refused = sanitize(callers[0])
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert (refused.json()["code"], refused.json()["detail"]) == ("server_busy", OWN_LIMIT)
        second = [pool.submit(sanitize, callers[1]) for _ in range(4)]
        until(lambda: slots.counts() == {"running": MODELS_AT_ONCE, "waiting": 8})
        assert sanitize(callers[1]).json()["detail"] == OWN_LIMIT
        full = sanitize(callers[2])
        began = time.monotonic()
        assert client.get("/v1/me").status_code == client.get("/readyz").status_code == 200
        assert client.post("/v1/search", json={"question": "Who?"}).status_code == 200
        assert client.post("/v1/chat/completions", json=chat).status_code == 200
        assert time.monotonic() - began < 5
        server.hanging.may_end.set()
        assert {each.result().status_code for each in (*first, *second)} == {422}
        assert sanitize(callers[0]).status_code == 422
    told = "8 requests that run a model of all callers wait already. Try again in 5 s."
    assert (full.status_code, full.json()["code"], full.json()["detail"]) == (503, "server_busy", told)
    assert slots.counts() == {"running": 0, "waiting": 0}


RUN_A_MODEL: Sequence[tuple[str, str, Mapping[str, Any] | None]] = (
    ("POST", "/v1/sanitize", {"text": "boiler"}),
    ("POST", "/v1/collections/x/erase", {"ids": ["never"]}),
    ("DELETE", f"{PLACE}/never", None),
    ("POST", "/v1/embeddings", {"model": "lethe", "input": "boiler"}),
    ("POST", "/analyze", {"text": "boiler", "language": "en"}),
    ("GET", "/recognizers", None),
)


def test_only_callers_with_a_key_wait_for_a_model(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(server.app.state._state, "model_slots", Slots(0, "requests that run a model"))
    with server.client() as client:
        for method, path, body in RUN_A_MODEL:
            assert client.request(method, path, json=body, headers=NO_KEY).status_code == 401, path
            assert client.request(method, path, json=body).status_code == 503, path
        assert client.post("/v1/search", json={"question": "Who?"}).status_code == 200


def test_a_text_to_sanitize_may_not_be_longer_than_a_document_of_some_pages(server: Server) -> None:
    with server.client() as client:
        refused = client.post("/v1/sanitize", json={"text": "x" * (LONGEST_SANITIZED + 1)})
    assert (refused.status_code, refused.json()["param"]) == (400, "text")
    assert refused.json()["detail"] == "text: String should have at most 20000 characters."


@pytest.fixture
def job(server: Server) -> str:
    """A job that waits for ever."""
    return server.jobs.create(token_hex(8), "ingest", "x", key_id="", dry_run=False).job_id


def events(job_id: str) -> str:
    return f"/v1/jobs/{job_id}/events"


def test_streams_of_events_are_bounded_for_each_key_and_given_back(server: Server, job: str) -> None:
    with server.client() as client, server.client() as second, ExitStack() as opened:
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


def test_streams_are_bounded_for_all_keys_and_none_without_a_job_counts(server: Server, job: str) -> None:
    with ExitStack() as opened, server.client() as client:
        missing = [client.get(events("never")).status_code for _ in range(MOST_OF_ONE + 2)]
        for number in range(MOST_OF_ALL):
            opened.enter_context(server.app.state.streams.one(str(number)))
        refused = client.get(events(job))
    assert missing == [404] * (MOST_OF_ONE + 2)
    assert refused.status_code == 429
    assert refused.json()["detail"].startswith("All callers follow as many jobs as")


def test_the_stream_of_a_key_ends_when_it_is_revoked_and_others_go_on(server: Server, job: str) -> None:
    key_id, header = server.new_key()
    with (
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
    with server.client(header) as client:
        made, listed = client.post(PLACE, json=body).json(), client.get("/v1/jobs").text
    assert server.jobs.get(made["job_id"]).key_id == key_id
    assert "key_id" not in made
    assert key_id not in listed


def upload(server: Server, header: Mapping[str, str], may_end: Event | None = None) -> httpx.Response:
    """Documents without any, whose second half comes when it may."""

    def halves() -> Iterator[bytes]:
        yield b"{"
        assert may_end is None or may_end.wait(30)
        yield b"}"

    with server.client(header) as client:
        return client.post(PLACE, content=halves(), headers={"content-type": "application/json"})


def test_two_uploads_are_read_at_once_of_two_keys_and_others_wait_without_a_thread(server: Server) -> None:
    may_end, free = Event(), server.app.state.uploads.free
    one, other, third = (server.new_key()[1] for _ in range(3))
    with server.client() as client, ThreadPoolExecutor(60) as pool:
        try:
            waiting = [pool.submit(upload, server, one, may_end) for _ in range(5)]
            until(lambda: free._value == 1)
            assert upload(server, other).status_code == 400
            waiting += [pool.submit(upload, server, other, may_end)]
            until(free.locked)
            waiting += [pool.submit(upload, server, third) for _ in range(50)]
            time.sleep(0.5)
            assert not any(each.done() for each in waiting)
            assert client.get("/v1/me").status_code == 200
            assert client.post(PLACE, headers=NO_KEY).status_code == 401
        finally:
            may_end.set()
        answers = [each.result() for each in waiting]
    assert {answer.status_code for answer in answers} == {400}
    assert {answer.json()["detail"] for answer in answers} == {"documents: Field required."}


def test_documents_are_parsed_beside_the_loop(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    parsing, may_end = Event(), Event()
    parse = DocumentsBody.model_validate_json

    def slowly(content: bytes) -> DocumentsBody:
        parsing.set()
        assert may_end.wait(30)
        return parse(content)

    monkeypatch.setattr(DocumentsBody, "model_validate_json", slowly)
    with server.client() as other, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(upload, server, server.new_key()[1])
        try:
            assert parsing.wait(20)
            assert other.get("/livez", timeout=5).status_code == 200
        finally:
            may_end.set()
        assert asked.result().status_code == 400


def test_an_upload_that_does_not_come_ends(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms_module, "READING", 0.5)
    may_end = Event()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(upload, server, server.new_key()[1], may_end)
        until(lambda: server.app.state.uploads.free._value == 1)
        until(lambda: server.app.state.uploads.free._value == 2)
        may_end.set()
        refused = asked.result()
    assert (refused.status_code, refused.json()["code"]) == (408, "upload_too_slow")
    assert refused.json()["detail"] == "The upload has not come within 0.5 s. Send less at once."
