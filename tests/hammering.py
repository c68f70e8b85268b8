"""What tests that hammer the real server share: documents, clients, and what must hold afterwards.

Every name is invented, and stands in every text, so that one search of all bytes finds what is raw.
"""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

from app.data_dir import DataDir
from app.settings.load import load_settings
from tests.commands import lethe

RAW = (b"orvathmann", b"quellbaum.example")
"""What no file may hold."""
POLICY = {"name": "redact"}


def text_of(name: str) -> str:
    """An invented document, which no other is like."""
    return (
        f"Invented note {name}. Mr Tobias Zorvathmann, MRN 40007919, keeps the mill {name} and has a cough. "
        "Write to tobias@quellbaum.example; Mr Zorvathmann reads it in the evening."
    )


def raw_in(folder: Path) -> list[Path]:
    """The files with something raw."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files for content in [path.read_bytes()] if any(each in content for each in RAW)]


def ended(client: httpx.Client, job: Mapping[str, Any]) -> Any:
    """A job at its end."""
    while (now := client.get(f"/v1/jobs/{job['job_id']}").json())["state"] in ("waiting", "running"):
        time.sleep(0.1)
    return now


def body_of(names: Sequence[str]) -> dict[str, Any]:
    """The body that gives documents."""
    return {"documents": [{"id": each, "text": text_of(each)} for each in names], "policy": POLICY}


def given_to(client: httpx.Client, collection: str, names: Sequence[str]) -> Any:
    """The job that stores documents."""
    answer = client.post(f"/v1/collections/{collection}/documents", json=body_of(names))
    assert answer.status_code == 202, answer.text
    return answer.json()


def documents_of(client: httpx.Client, collection: str) -> list[dict[str, Any]]:
    """All rows of a collection."""
    rows: list[dict[str, Any]] = []
    while True:
        after = {"after": rows[-1]["doc_id"]} if rows else {}
        more = client.get(f"/v1/collections/{collection}/documents", params={"limit": 1000, **after})
        assert more.status_code == 200, more.text
        if not (found := more.json()["documents"]):
            return rows
        rows += found


def check_folder(data: Path, expected: Mapping[str, set[str]]) -> None:
    """The data folder of a server that has ended holds these documents, once and sanitized.

    The index holds the passages of the database and no other; audit logs and the trail are whole.
    """
    opened = DataDir(load_settings({"data_dir": str(data)}))
    for name, documents in expected.items():
        with opened.open(name) as collection:
            store = collection.store
            rows = list(store.documents())
            assert Counter(each.doc_id for each in rows) == Counter(documents)
            assert not [each for each in rows if each.aliases]
            assert sum(each.passages for each in rows) == store.count_passages()
            assert store.broken_audit_entry() is None
            assert not store.pending_erasures()
            assert not store.interrupted()
            assert sorted(collection.load_index().ids().tolist()) == sorted(store.passage_ids())
    assert raw_in(data) == []
    assert not [*(data / "uploads").glob("*")]
    verified = lethe(data, "trail", "verify")
    assert (verified.code, verified.summary.get("first_broken")) == (0, None), verified.err


# -- many clients ----------------------------------------------------------------------------------------

Answered = tuple[str, int, str]
"""What was asked, the status, and the code of an error."""


@dataclass
class Told:
    """What clients were told in all."""

    answers: Counter[Answered] = field(default_factory=Counter)
    without_id: int = 0
    given: dict[str, str] = field(default_factory=dict)
    """Documents with the id of their job."""
    erased: set[str] = field(default_factory=set)

    def note(self, what: str, answer: httpx.Response) -> None:
        self.without_id += len(answer.headers.get("x-request-id", "")) != 32
        self.answers[what, answer.status_code, _code(answer)] += 1


def _code(answer: httpx.Response) -> str:
    if answer.status_code < 400:
        return ""
    found = answer.json()
    return str(found.get("code") or found["error"]["code"])


EXPECTED: Mapping[str, set[tuple[int, str]]] = {
    "search": {(200, "")},
    # As many as may wait do; the others are told to come back.
    "chat": {(200, ""), (503, "server_busy")},
    "stream": {(200, ""), (503, "server_busy")},
    "embeddings": {(200, ""), (503, "server_busy")},
    "sanitize": {(200, ""), (503, "server_busy")},
    "upload": {(202, "")},
    "jobs": {(200, "")},
    "job": {(200, "")},
    # It may not be stored yet, or a job may be writing.
    "erase": {(200, ""), (404, "document_not_found"), (409, "collection_error"), (503, "server_busy")},
    "bad": {
        (400, "invalid_value"), (400, "invalid_json"), (404, "collection_not_found"), (404, "job_not_found"),
        (404, "not_found"), (413, "request_too_large"), (405, "method_not_allowed"), (503, "server_busy"),
    },
}  # fmt: skip
WEIGHTS = {
    "search": 40, "chat": 15, "stream": 10, "embeddings": 15, "sanitize": 3, "upload": 1, "jobs": 2, "job": 5,
    "erase": 1, "bad": 10,
}  # fmt: skip
_MIXED = "/v1/collections/mixed"
_Request = tuple[str, str, dict[str, Any]]
_BAD: Sequence[_Request] = (
    ("POST", "/v1/search", {"content": b"{"}),
    ("POST", "/v1/search", {"json": {"question": ""}}),
    ("POST", "/v1/search", {"json": {"collection": "nowhere", "question": "What?"}}),
    ("POST", "/v1/sanitize", {"json": {"text": "x" * 20_001}}),
    ("POST", "/v1/embeddings", {"content": b"x" * (2 * 2**20 + 1)}),
    ("POST", f"{_MIXED}/documents", {"json": {"documents": []}}),
    ("GET", "/v1/jobs/never", {}),
    ("GET", "/nowhere", {}),
    ("PUT", "/v1/search", {}),
)


@dataclass
class _Client:
    """Asks this and that, the same in each run as far as time allows."""

    number: int
    told: Told
    mine: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._generator = random.Random(self.number)

    async def ask(self, client: httpx.AsyncClient, until: float) -> None:
        """Ask until then; the first time what no other of the next clients asks first."""
        what = [*WEIGHTS][self.number % len(WEIGHTS)]
        while time.monotonic() < until:
            method, path, sent = self._request(what)
            answer = await client.request(method, path, **sent)
            self.told.note(what, answer)
            if what == "upload" and answer.status_code == 202:
                self.mine.append(sent["json"]["documents"][0]["id"])
                self.told.given[self.mine[-1]] = answer.json()["job_id"]
            if what == "erase" and answer.status_code == 200:
                self.told.erased |= {*sent["json"]["ids"]}
            if what == "stream" and answer.status_code == 200:
                assert answer.text.endswith("data: [DONE]\n\n")
            (what,) = self._generator.choices([*WEIGHTS], [*WEIGHTS.values()])

    def _request(self, what: str) -> _Request:
        """Method, path and what goes with them."""
        generator = self._generator
        if what == "bad":
            return generator.choice(_BAD)
        if what in ("jobs", "job"):
            jobs = [*self.told.given.values()]
            return "GET", f"/v1/jobs/{generator.choice(jobs)}" if what == "job" and jobs else "/v1/jobs", {}
        asked = f"Who keeps the mill {generator.randrange(99)}?"
        chat = {"model": "kb:mixed", "messages": [{"role": "user", "content": asked}]}
        path, body = {
            "search": ("/v1/search", {"collection": "mixed", "question": asked}),
            "chat": ("/v1/chat/completions", chat),
            "stream": ("/v1/chat/completions", {**chat, "stream": True}),
            "embeddings": ("/v1/embeddings", {"model": "lethe", "input": [asked] * generator.randint(1, 4)}),
            "sanitize": ("/v1/sanitize", {"text": text_of("s"), "policy": POLICY}),
            "upload": (f"{_MIXED}/documents", body_of([f"c{self.number}-{len(self.mine)}"])),
            "erase": (f"{_MIXED}/erase", {"ids": [generator.choice(self.mine or ["never"])]}),
        }[what]
        return "POST", path, {"json": body}


async def _all(url: str, clients: int, seconds: float, told: Told) -> None:
    until = time.monotonic() + seconds

    async def one(number: int) -> None:
        # A connection each: a pool of many would take the time of the test.
        async with httpx.AsyncClient(base_url=url, trust_env=False, verify=False, timeout=120) as client:
            await _Client(number, told).ask(client, until)

    await asyncio.gather(*(one(number) for number in range(clients)))


def asked_by_many(url: str, clients: int, seconds: float) -> Told:
    """What so many clients at once were told."""
    told = Told()
    asyncio.run(_all(url, clients, seconds, told))
    return told


def growth(samples: Sequence[tuple[float, int]]) -> float:
    """Bytes by which memory grew in the second half of the time, after the line of least squares."""
    times, sizes = np.array(samples, dtype=float).T
    second = times >= (times[0] + times[-1]) / 2
    slope = np.polyfit(times[second], sizes[second], 1)[0]
    return float(slope * (times[-1] - times[0]) / 2)


def memory_of(pid: int, ending: Callable[[], bool]) -> list[tuple[float, int]]:
    """Resident bytes of a process, twice a second until the end."""
    process, samples = psutil.Process(pid), list[tuple[float, int]]()
    while not ending():
        samples.append((time.monotonic(), process.memory_info().rss))
        time.sleep(0.5)
    return samples


def shown(told: Told) -> str:
    """Every kind of answer with its number."""
    return json.dumps(
        {" ".join(map(str, kind)).strip(): n for kind, n in sorted(told.answers.items())}, indent=1
    )
