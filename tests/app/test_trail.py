"""The trail: what it holds, what it sees, and that nothing happens which it would not hold."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.access.database import FILE
from app.access.keys import EVERYBODY, Key, Scope
from app.access.trail import BEGUN, DONE, FAILED, Entry, Trail, TrailNotWritten, recorded
from app.data_dir import DataDir
from app.server.access import Everybody, needs
from app.server.errors import add_error_handlers
from app.server.middleware.noted import Noted, note
from app.server.middleware.trailing import Trailing
from app.server.quotas.rates import Rates
from app.server.routes.trail import trail_routes
from app.settings.load import load_settings
from models.errors import ConfigurationError, LetheError
from tests.commands import PLAIN, ROOT, environment, in_process

ASKED = Entry("0a1b2c3d", "POST /v1/search", ("query",), 200, "notes", counts={"passages": 5})
NOTE = "Invented note. Mr Tobias Zorvathian, MRN 88213407, came about the boiler of the mill."


def data_in(folder: Path) -> DataDir:
    return DataDir(load_settings({"data_dir": folder}))


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return data_in(tmp_path / "data")


@pytest.fixture
def trail(data: DataDir) -> Iterator[Trail]:
    with closing(Trail(data)) as opened:
        yield opened


def changed(data: DataDir, *statements: str) -> None:
    """What somebody does who may write the file and knows no key."""
    with closing(sqlite3.connect(data.settings.data_dir / FILE, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def outcomes(trail: Trail) -> list[object]:
    return [row["outcome"] for row in trail.rows()]


def test_an_entry_holds_what_was_done_and_no_more(trail: Trail) -> None:
    assert trail.head() is None
    assert trail.first_broken() is trail.first_broken((0, "")) is None
    assert trail.first_broken((1, "0" * 64)) == 1
    trail.write(ASKED)
    (row,) = trail.rows()
    said = {name: row[name] for name in row if name not in ("at", "digest")}
    done = {"key_id": ASKED.key_id, "action": ASKED.action, "scopes": ["query"], "outcome": 200}
    assert said == {"entry": 1, **done, "collection": "notes", "counts": {"passages": 5}}
    assert trail.first_broken() is None


ENTRIES = 6
CHANGES = {
    "edited": "UPDATE trail SET event = replace(event, '0a1b2c3d', 'ffffffff') WHERE seq = {n}",
    "moved in time": "UPDATE trail SET at = '2020-01-01T00:00:00+00:00' WHERE seq = {n}",
    "given another digest": "UPDATE trail SET digest = upper(digest) || 'é' WHERE seq = {n}",
    "removed": "DELETE FROM trail WHERE seq = {n}",
    "renumbered": "UPDATE trail SET seq = seq + 100 WHERE seq = {n}",
    "replaced by another": "UPDATE trail SET (at, event, digest) = "
    "(SELECT at, event || ' ', digest FROM trail WHERE seq = {n} % 6 + 1) WHERE seq = {n}",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(CHANGES)), st.integers(1, ENTRIES))
def test_the_first_entry_that_was_changed_is_named(data: DataDir, change: str, number: int) -> None:
    with closing(Trail(data)) as trail:
        changed(data, "DELETE FROM trail")
        for _ in range(ENTRIES):
            trail.write(ASKED)
        last = trail.head()
        assert last is not None
        assert trail.first_broken() is None
        changed(data, CHANGES[change].format(n=number))
        # Cut off at the end: seen with a head alone.
        cut_off = (change, number) == ("removed", ENTRIES)
        assert trail.first_broken() == (None if cut_off else number)
        assert trail.first_broken((last.number, last.digest)) == number


COPY = "INSERT INTO trail SELECT * FROM other.trail"


def test_a_chain_that_was_rewritten_is_seen(data: DataDir, trail: Trail, tmp_path: Path) -> None:
    other = data_in(tmp_path / "other")
    with closing(Trail(other)) as forged:
        for _ in range(3):
            trail.write(ASKED)
            forged.write(ASKED)
    kept = trail.head()
    assert kept is not None
    changed(data, f"ATTACH '{tmp_path / 'other' / FILE}' AS other", "DELETE FROM trail", COPY)
    assert trail.first_broken() == 1
    changed(data, "DELETE FROM trail")
    for number in range(5):
        trail.write(Entry("ffffffff", "lethe erase", ("erase",), number))
    assert trail.first_broken() is None
    assert trail.first_broken((kept.number, kept.digest)) == 3


WRITING = """
import sys
from contextlib import closing
from threading import Thread
from app.access.trail import Entry, Trail
from app.data_dir import DataDir
from app.settings.load import load_settings
with closing(Trail(DataDir(load_settings({})))) as trail:
    def write(name):
        for number in range(40):
            trail.write(Entry(name, "POST /v1/search", ("query",), number), lasting=number % 10 == 0)
    threads = [Thread(target=write, args=(f"{sys.argv[1]}-{each}",)) for each in range(2)]
    for each in threads: each.start()
    for each in threads: each.join()
"""


def test_threads_of_several_processes_write_one_chain(data: DataDir, trail: Trail) -> None:
    env = environment(data.settings.data_dir)
    words = [sys.executable, "-c", WRITING]
    running = [subprocess.Popen([*words, str(number)], env=env, cwd=ROOT) for number in range(3)]
    assert [each.wait(120) for each in running] == [0, 0, 0]
    rows = list(trail.rows())
    assert trail.first_broken() is None
    for writer in (f"{process}-{thread}" for process in range(3) for thread in range(2)):
        assert [row["outcome"] for row in rows if row["key_id"] == writer] == list(range(40))
    assert len(rows) == 240


class Route:
    """A small app with a route of each kind, and what they did."""

    def __init__(self, data: DataDir, trail: Trail, key: Key = EVERYBODY) -> None:
        self.done: list[str] = []
        app = FastAPI()
        app.add_middleware(Trailing)
        add_error_handlers(app)
        app.state.access = Everybody()
        app.state.access.caller = lambda text: key
        app.state.rates = Rates(None)
        app.state.trail = lambda: Noted(trail, lambda name: name == "there")

        def route(scope: Scope | None) -> Any:
            def act(collection: str, key: Annotated[Key, needs(scope)]) -> dict[str, str]:
                self.done.append(collection)
                if collection == "failing":
                    raise ConfigurationError("It failed.")
                if collection == "breaking":
                    raise KeyError("zorvathian")
                note(passages=3)
                return {"secret": NOTE}

            return act

        app.get("/read/{collection}")(route("query"))
        app.post("/ask/{collection}")(route("query"))
        app.post("/erase/{collection}")(route("erase"))
        app.get("/free")(lambda: {})
        self.client = TestClient(app, raise_server_exceptions=False)


def test_a_request_has_an_entry_and_a_change_one_before_it_begins(data: DataDir, trail: Trail) -> None:
    client = Route(data, trail).client
    asked = [
        client.post("/ask/there", params={"q": NOTE}),
        client.get("/read/there"),
        # Words in a path that name no collection are not kept, nor that they were read.
        client.get("/read/zorvathian"),
        client.post("/erase/zorvathian"),
        client.get("/free"),
        client.post("/erase/failing"),
        client.post("/erase/breaking"),
    ]
    assert [answer.status_code for answer in asked] == [200, 200, 200, 200, 200, 400, 500]
    rows = list(trail.rows())
    assert [(row["action"], row.get("collection"), row["outcome"], row.get("counts")) for row in rows] == [
        ("POST /ask/{collection}", "there", 200, {"passages": 3}),
        ("GET /read/{collection}", "there", 200, {"passages": 3}),
        ("POST /erase/{collection}", None, BEGUN, None),
        ("POST /erase/{collection}", None, 200, {"passages": 3}),
        ("POST /erase/{collection}", None, BEGUN, None),
        ("POST /erase/{collection}", None, 400, None),
        ("POST /erase/{collection}", None, BEGUN, None),
        ("POST /erase/{collection}", None, FAILED, None),
    ]
    assert "orvathian" not in json.dumps(rows)
    for path in data.settings.data_dir.iterdir():
        assert b"orvathian" not in path.read_bytes()


def test_a_key_without_the_scope_leaves_an_entry_and_does_nothing(data: DataDir, trail: Trail) -> None:
    key = Key("0a1b2c3d", "reader", frozenset(("query",)), None, "")
    route = Route(data, trail, key)
    assert route.client.post("/erase/there").status_code == 403
    (row,) = trail.rows()
    assert (row["key_id"], row["outcome"], row["scopes"]) == ("0a1b2c3d", 403, ["erase"])
    assert route.done == []


def test_without_a_trail_nothing_is_changed_and_nothing_is_answered(data: DataDir, trail: Trail) -> None:
    route = Route(data, trail)
    changed(data, "DROP TABLE trail")
    with pytest.raises(TrailNotWritten, match="cannot be written, so this was refused.*SQLITE_ERROR"):
        trail.write(ASKED)
    for answer in (route.client.post("/erase/there"), route.client.get("/read/there")):
        assert (answer.status_code, answer.json()["code"]) == (503, "trail_unavailable")
        assert "so this was refused" in answer.json()["detail"]
        assert "Zorvathian" not in answer.text
    # What only reads may run, but its answer is withheld.
    assert route.done == ["there"]


def test_an_answer_is_withheld_if_only_its_own_entry_fails(
    data: DataDir, trail: Trail, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Entry] = []

    def write(entry: Entry, *, lasting: bool = False) -> None:
        assert lasting
        if written:
            raise TrailNotWritten(LetheError("Full."))
        written.append(entry)

    monkeypatch.setattr(trail, "write", write)
    answer = Route(data, trail).client.post("/erase/there")
    assert (answer.status_code, "Zorvathian" in answer.text) == (503, False)
    assert [each.outcome for each in written] == [BEGUN]


def read_by(trail: Trail, key: Key, **asked: Any) -> dict[str, Any]:
    """What the route answers to a key."""
    app = FastAPI()
    app.state.access, app.state.rates = Everybody(), Rates(None)
    app.state.access.caller = lambda text: key
    app.include_router(trail_routes(trail))
    found: dict[str, Any] = TestClient(app).get("/v1/trail", params=asked).json()
    return found


def test_the_trail_is_read_from_either_end_and_by_collection(data: DataDir, trail: Trail) -> None:
    for name in ("notes", "gone", "notes", "other", "notes"):
        trail.write(replace(ASKED, collection=name))

    def numbers(key: Key = EVERYBODY, **asked: Any) -> list[int]:
        return [each["entry"] for each in read_by(trail, key, **asked)["entries"]]

    assert numbers() == [1, 2, 3, 4, 5]
    assert numbers(newest=True, most=2) == [5, 4]
    assert numbers(newest=True, before=4) == [3, 2, 1]
    assert numbers(after=1, before=4) == [2, 3]
    assert numbers(newest=True, collection="notes") == [5, 3, 1]
    # One that was deleted has its entries all the same.
    assert numbers(collection="gone") == [2]
    some = Key("0a1b2c3d", "some", frozenset(("audit",)), frozenset(("notes",)), "")
    assert numbers(some, newest=True) == [5, 3, 1]
    assert numbers(some, collection="notes", before=5) == [1, 3]
    assert numbers(some, collection="other") == numbers(collection="never") == []
    head = trail.head()
    assert head
    whole = read_by(trail, some, most=1)
    assert (whole["whole"], whole["first_broken"]) == (True, None)
    assert whole["head"] == {"entry": 5, "digest": head.digest}
    changed(data, "UPDATE trail SET event = 'x' WHERE seq = 2")
    broken = read_by(trail, EVERYBODY, newest=True, before=3)
    assert (broken["whole"], broken["first_broken"]) == (False, 2)
    assert [(each["entry"], each["action"]) for each in broken["entries"]] == [(2, None), (1, ASKED.action)]


def test_the_command_line_is_noted_before_and_after(data: DataDir, trail: Trail) -> None:
    with recorded(data, "lethe erase", "erase", "zorvathian") as found:
        assert outcomes(trail) == [BEGUN]
        found.counts["documents"] = 2
    with pytest.raises(LetheError), recorded(data, "lethe vault reveal", "reveal"):
        raise LetheError("It failed.")
    assert outcomes(trail) == [BEGUN, DONE, BEGUN, FAILED]
    rows = list(trail.rows())
    assert rows[1]["counts"] == {"documents": 2}
    assert {row["key_id"] for row in rows} == {"console"}
    assert "zorvathian" not in str(rows)


def test_keys_and_erasures_are_in_the_trail_and_its_checks_see_what_is_changed(
    small_corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    lethe = partial(in_process, capsys)
    for name in ("one", "two"):
        (small_corpus / f"{name}.txt").write_text(f"Invented note {name}. {NOTE}", encoding="utf-8")
    ingest = ("ingest", str(small_corpus), "-c", "notes")
    assert lethe(*ingest).code == 0
    (small_corpus / "two.txt").unlink()
    assert lethe(*ingest, "--sync").summary["documents_erased"] == 1
    made = lethe("keys", "create", "ward").summary["key_id"]
    assert lethe("keys", "revoke", made).code == 0
    erased = lethe("erase", str(small_corpus / "one.txt"), "-c", "notes").summary["doc_id"]
    assert lethe("collections", "delete", "notes", "--yes").code == 0
    rows = lethe("trail").rows
    assert [row["outcome"] for row in rows] == [BEGUN, DONE] * 5
    assert [(row["action"], row.get("about"), row.get("counts")) for row in rows[1::2]] == [
        ("lethe ingest --sync", None, {"documents": 1}),
        ("lethe keys create", made, None),
        ("lethe keys revoke", made, None),
        ("lethe erase", erased, {"documents": 1}),
        ("lethe collections delete", None, None),
    ]
    assert [row.get("collection") for row in rows[1::2]] == ["notes", None, None, "notes", "notes"]
    head, kept = lethe("trail", "head"), small_corpus / "head.json"
    assert head.summary["entry"] == 10
    kept.write_text(head.out)
    check = ("trail", "verify", "--head", str(kept))
    whole = lethe(*check)
    assert (whole.code, whole.summary) == (0, {"entries": 10, "first_broken": None})
    data = data_in(small_corpus.with_name("data"))
    changed(data, "DELETE FROM trail WHERE seq > 8")
    assert lethe("trail", "verify").code == 0
    cut = lethe(*check)
    assert (cut.code, cut.summary["first_broken"]) == (1, 9)
    assert "the trail is broken at entry 9" in cut.err
    changed(data, "UPDATE trail SET event = '{}' WHERE seq = 2")
    assert lethe("trail", "verify").summary["first_broken"] == 2
    kept.write_text("[]")
    wrong = lethe(*check)
    assert (wrong.code, "this is no head of a trail" in wrong.err) == (2, True)
    # A command that cannot be noted does nothing.
    changed(data, "CREATE TRIGGER full BEFORE INSERT ON trail BEGIN SELECT raise(ABORT, 'full'); END")
    keys, refused = lethe("keys").out, lethe("keys", "create", "other")
    assert (refused.code, refused.out, lethe("keys").out) == (1, "", keys)
    assert "so this was refused" in refused.err
