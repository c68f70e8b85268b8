"""The real server under strange requests, many clients and kills. Every name here is invented.

HAMMER_EXAMPLES, HAMMER_SECONDS and HAMMER_KILLS make the slow tests longer or shorter;
``-o junit_family=xunit1 --junitxml FILE`` keeps what they counted.
"""

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.server.running import listening
from tests.commands import READING, lethe
from tests.hammering import (
    EXPECTED,
    asked_by_many,
    check_folder,
    documents_of,
    ended,
    given_to,
    growth,
    memory_of,
    raw_in,
    shown,
    text_of,
)
from tests.serving import Served, served

MOST_GROWTH = 40 << 20
"""Bytes of memory in the second half. The first has what 40 threads take once."""
LONGEST = 6.0
"""Seconds for which a server that is to be killed works at most."""

CHECKS: list[Any] = [not_a_server_error, status_code_conformance, content_type_conformance]


def data_in(folder: Path) -> Path:
    (folder / "data").mkdir()
    (folder / "data" / "settings.toml").write_text("threads = 1\n[server]\nupload_megabytes = 1\n")
    return folder / "data"


@pytest.fixture(scope="module")
def hammered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str]]]:
    data = data_in(tmp_path_factory.mktemp("hammered"))
    # The header of a new key that may do everything.
    ran = lethe(data, "keys", "create", "hammer", "--scope", "query,ingest,reveal,erase,audit,admin")
    assert ran.code == 0, ran.err
    headers = {"authorization": f"Bearer {ran.summary['key']}"}
    with served(data, "--host", "127.0.0.1", **READING) as server:
        yield server, headers


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_route_answers_strange_requests_as_its_description_says(
    hammered: tuple[Served, dict[str, str]], mode: GenerationMode
) -> None:
    server, headers = hammered
    examples = int(os.environ.get("HAMMER_EXAMPLES", "12"))
    wrong: dict[str, str] = {}
    with server.client(headers=headers) as client, requests.Session() as session:
        session.trust_env = False
        # What the other mode has sent may still wait for this collection, with another policy.
        name = mode.value
        job = ended(client, given_to(client, name, "abcd"))
        assert (job["state"], job["error"]) == ("done", None)
        doc_id = documents_of(client, name)[0]["doc_id"]
        there = {"collection": name, "doc_id": doc_id, "job_id": job["job_id"], "model": f"kb:{name}"}
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        operations = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
        # What deletes comes last, so that the others have something to work on.
        for operation in sorted(operations, key=lambda each: (each.method == "delete", each.label)):
            known = {name: value for name, value in there.items() if f"{{{name}}}" in operation.path}
            for path_parameters in [None, known] if known else [None]:

                @settings(
                    max_examples=examples, deadline=None, database=None, derandomize=True,
                    suppress_health_check=list(HealthCheck), phases=[Phase.generate],
                )  # fmt: skip
                @given(operation.as_strategy(mode, path_parameters=path_parameters))
                def ask(case: Case[Any]) -> None:
                    answer = case.call(server.url, session=session, headers=headers, timeout=60)
                    assert len(answer.headers["x-request-id"][0]) == 32
                    # A schema of a stream is of the stream, which the library takes for that of each event.
                    whole = "event-stream" not in answer.headers["content-type"][0]
                    case.validate_response(answer, checks=[*CHECKS, *[response_schema_conformance] * whole])

                try:
                    ask()
                except Unsatisfiable:
                    continue  # nothing can be wrong with what has no parameters
                except BaseExceptionGroup as found:
                    wrong[operation.label] = "\n".join(str(each) for each in found.exceptions)
                except Exception as found:
                    wrong[operation.label] = f"{type(found).__name__} {found}"
        assert client.get("/readyz").status_code == 200
    assert not wrong, "\n\n".join(f"{label}\n{what}" for label, what in wrong.items())


def hammer(folder: Path, clients: int, seconds: float) -> float:
    """The bytes by which the server grew in the second half; every answer was right, and all is whole."""
    data = data_in(folder)
    with served(data, "--host", "127.0.0.1", **READING) as server, server.client() as client:
        first = [f"first-{number}" for number in range(20)]
        assert ended(client, given_to(client, "mixed", first))["state"] == "done"
        assert client.get("/readyz").status_code == 200
        done = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            memory = pool.submit(memory_of, server.process.pid, done.is_set)
            try:
                told = asked_by_many(server.url, clients, seconds)
            finally:
                done.set()
        assert not [kind for kind in told.answers if kind[1:] not in EXPECTED[kind[0]]], shown(told)
        assert {kind[0] for kind in told.answers} == {*EXPECTED}
        assert told.without_id == 0
        for job_id in told.given.values():
            job = ended(client, {"job_id": job_id})
            assert (job["state"], job["error"]) == ("done", None)
        assert client.get("/readyz").status_code == 200
        kept = {*first, *told.given} - told.erased
        assert {row["doc_id"] for row in documents_of(client, "mixed")} == kept
        code, _, out, err = server.ended_by(signal.SIGTERM)
    assert (code, out, err) == (0, "", server.line)
    check_folder(data, {"mixed": kept})
    return growth(memory.result())


def test_twenty_clients_with_mixed_requests_are_answered_and_all_is_whole(tmp_path: Path) -> None:
    hammer(tmp_path, 20, 5)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_hundred_clients_are_answered_and_memory_stays_flat(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seconds = float(os.environ.get("HAMMER_SECONDS", "40"))
    grown = hammer(tmp_path, 200, seconds)
    record_property("grown", f"{grown / 2**20:.1f} MiB")
    assert grown < MOST_GROWTH


def test_sockets_say_their_protocol_so_that_small_answers_are_sent_at_once() -> None:
    with listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


class Killed:
    """A data folder whose server is killed again and again, and what it was given and asked to erase.

    A document is unsure from when its erasure is asked for until an answer says what became of it.
    """

    def __init__(self, data: Path, generator: random.Random) -> None:
        self.data, self.kills, self.hits = data, 0, 0
        self.kept: set[str] = set()
        self.erased: set[str] = set()
        self._generator = generator
        self._job: tuple[str, list[str]] | None = None
        self._erasing: str | None = None
        self._number = 0

    def live(self, *, to_be_killed: bool) -> None:
        """Start the server, take up what was left, give it more, and kill it at some moment."""
        with served(self.data, "--host", "127.0.0.1", **READING) as server, server.client() as client:
            self._look(client)
            if not to_be_killed:
                while self._job or self._erasing:
                    self._look(client, wait=True)
                    self._erase(client)
                assert {row["doc_id"] for row in documents_of(client, "killed")} == self.kept
                for name in sorted(self.erased):
                    body = {"collection": "killed", "question": text_of(name), "k": 100}
                    found = client.post("/v1/search", json=body).json()["passages"]
                    assert not [each for each in found if each["doc_id"] in self.erased]
                assert server.ended_by(signal.SIGTERM)[0] == 0
                return
            if self._job is None:
                names = [f"d{self._number + each}" for each in range(3)]
                self._number += len(names)
                self._job = given_to(client, "killed", names)["job_id"], names
            if self._erasing is None and self.kept:
                self._erasing = self._generator.choice(sorted(self.kept))
            with ThreadPoolExecutor(1) as pool:
                erasing = pool.submit(self._erase, client)
                time.sleep(self._generator.uniform(0, LONGEST))
                left = psutil.Process(server.process.pid).children(recursive=True)
                jobs = client.get("/v1/jobs").json()["jobs"]
                self.hits += self._erasing is not None or any(each["state"] == "running" for each in jobs)
                server.process.kill()
                server.process.wait()
                with suppress(httpx.HTTPError):
                    erasing.result()
            self.kills += 1
            gone, alive = psutil.wait_procs(left, timeout=20)
            assert not alive, "a process of a killed server goes on"
        assert raw_in(self.data) == []

    def _look(self, client: httpx.Client, wait: bool = False) -> None:
        if self._job is None:
            return
        job_id, names = self._job
        job = ended(client, {"job_id": job_id}) if wait else client.get(f"/v1/jobs/{job_id}").json()
        if job["state"] == "done":
            self.kept |= {*names}
            self._job = None
        elif job["state"] == "failed":
            # Begun as often as a job may be: it is sent again.
            assert job["error"].startswith("Its process ended"), job["error"]
            self._job = given_to(client, "killed", names)["job_id"], names
        else:
            assert job["state"] in ("waiting", "running"), job

    def _erase(self, client: httpx.Client) -> None:
        if (name := self._erasing) is None:
            return
        answer = client.post("/v1/collections/killed/erase", json={"ids": [name]})
        if answer.status_code == 409:
            return  # a job is writing
        # After a kill it may be gone already.
        assert answer.status_code in (200, 404), answer.text
        self.kept.discard(name)
        self.erased.add(name)
        self._erasing = None


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_nothing_is_lost_doubled_or_raw_when_the_server_is_killed(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kills = int(os.environ.get("HAMMER_KILLS", "6"))
    seconds = float(os.environ.get("HAMMER_SECONDS", "3000"))
    data = data_in(tmp_path)
    killed, began = Killed(data, random.Random(7)), time.monotonic()
    while killed.kills < kills and time.monotonic() - began < seconds:
        killed.live(to_be_killed=True)
        if killed.kills % 3 == 0:
            killed.live(to_be_killed=False)
    killed.live(to_be_killed=False)
    counts = {"kills": killed.kills, "hits": killed.hits}
    counts |= {"documents kept": len(killed.kept), "documents erased": len(killed.erased)}
    for name, count in counts.items():
        record_property(name, count)
    assert killed.hits >= killed.kills / 2
    assert killed.kept and killed.erased
    check_folder(data, {"killed": killed.kept})
