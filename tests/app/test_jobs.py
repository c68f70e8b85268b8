"""Jobs: their table, sealed uploads, the process that works on them. Every name here is invented."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.database import FILE
from app.access.keys import EVERYBODY, Key, Keys, Scope
from app.access.vault import Sealer, Unsealable
from app.compose import system_of
from app.data_dir import DataDir
from app.dry_run import sample_of
from app.ingesting import ingest
from app.jobs.audits import forget_leftovers, forget_reports
from app.jobs.rights import missing_scope
from app.jobs.runner import LANES, Runner
from app.jobs.table import EVERY, KINDS, MOST_ATTEMPTS, Job, Jobs, Lane, UnknownJob, job_row
from app.jobs.uploads import Order, Upload, Uploads
from app.jobs.work import _work
from app.settings.load import Settings, load_settings
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.reading import ReadLimits
from ingest.read.sources import read_documents
from models.errors import LetheError
from retrieval.errors import CollectionError
from tests.commands import write_records

KEY = b"k" * 32
NAME = "Zorvath Quellbaum"
NOTE = f"Invented note. Mr {NAME} keeps the lighthouse. He has had a cough for three weeks."


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path)


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path, KEY)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"data_dir": str(tmp_path), "threads": 1})


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    with closing(Keys(tmp_path)) as opened:
        yield opened


def a_key(keys: Keys, *scopes: Scope, of: str = "notes") -> Key:
    return keys.create("ward", frozenset(scopes), frozenset((of,))).key


def created(jobs: Jobs, job_id: str, key_id: str = EVERYBODY.key_id, collection: str = "notes") -> Job:
    return jobs.create(job_id, "ingest", collection, key_id=key_id, dry_run=False)


def raw_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and NAME.encode() in path.read_bytes()]


def test_jobs_are_taken_in_their_order_and_once(jobs: Jobs) -> None:
    for number in range(20):
        created(jobs, f"job{number}", f"key{number}", f"of{number}")
    with ThreadPoolExecutor(8) as threads:
        taken = [job.job_id for job in threads.map(lambda _: jobs.take(), range(24)) if job]
    assert sorted(taken) == sorted(f"job{number}" for number in range(20))
    assert jobs.take() is None
    assert jobs.counts() == {"waiting": 0, "running": 20, "done": 0, "failed": 0, "cancelled": 0}
    assert [each.job_id for each in jobs.newest()] == [f"job{number}" for number in reversed(range(20))]


@given(
    st.lists(
        st.one_of(
            # The turn of whoever waits, or the end of the nth job that runs.
            st.none() | st.integers(0, 3),
            # Who orders something, and for which collection: one of a key's own, or one that all share.
            st.tuples(st.sampled_from("abcd"), st.sampled_from(["own", "else", "shared"])),
        ),
        max_size=40,
    )
)
def test_keys_take_turns_with_their_oldest_jobs(steps: Sequence[int | None | tuple[str, str]]) -> None:
    """The table against a list of what waits and a list of who was served when."""
    clock = count()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.jobs.table._now", lambda: f"{next(clock):09}")
        jobs = Jobs(Path(folder))
        waiting: list[tuple[str, str, str]] = []
        running: list[tuple[str, str, str]] = []
        served: list[str] = []
        shown: dict[str, int | None] = {}
        for number, step in enumerate(steps):
            if isinstance(step, tuple):
                key, of = step
                of = of if of == "shared" else f"{of}-{key}"
                created(jobs, f"job{number}", key, of)
                waiting.append((f"job{number}", key, of))
            elif step is None:
                busy = {key for _, key, _ in running} | {of for *_, of in running}
                free = [each for each in waiting if not busy & {each[1], each[2]}]
                last = {each: turn for turn, each in enumerate(served)}
                expected = min(free, key=lambda each: last.get(each[1], -1), default=None)
                taken = jobs.take()
                assert (taken and taken.job_id) == (expected and expected[0])
                # As many jobs are before one as it says.
                assert not expected or running or shown[expected[0]] == 0
                if expected:
                    waiting.remove(expected)
                    running.append(expected)
                    served.append(expected[1])
            elif running:
                jobs.finish(running.pop(step % len(running))[0], {})
            shown = {each.job_id: each.ahead for each in jobs.newest()}
            places = sorted(shown[job_id] or 0 for job_id, *_ in waiting)
            assert places == list(range(len(running), len(running) + len(waiting)))
            assert all(shown[job_id] is None for job_id, *_ in running)


def test_jobs_that_shared_a_process_which_died_are_done_apart_from_new_ones(jobs: Jobs) -> None:
    beside, alone, *_ = LANES
    for key in ("a", "b"):
        created(jobs, key, key, key)
        assert jobs.take(beside)
    jobs.hand_back(beside, blame=True)
    assert (jobs.take(beside), jobs.waits(beside), jobs.waits(alone)) == (None, False, True)
    created(jobs, "c", "c", "c")
    assert [each and each.job_id for each in (jobs.take(beside), jobs.take(alone))] == ["c", "a"]
    # The end of one lane's process is not the other's, and an end that was asked for keeps them apart.
    jobs.hand_back(alone, blame=False)
    assert (jobs.get("a").state, jobs.get("c").state) == ("waiting", "running")
    assert not jobs.waits(beside)
    for _ in range(MOST_ATTEMPTS - 1):
        assert jobs.take(alone) == jobs.get("a")
        jobs.hand_back(alone, blame=True)
    assert (jobs.take(alone), jobs.get("a").state) == (jobs.get("b"), "failed")


def test_audits_and_other_jobs_are_taken_apart(jobs: Jobs) -> None:
    jobs.create("audit", "audit", "notes", key_id="", dry_run=False)
    created(jobs, "ingest")
    writing, again, _, reading = LANES
    assert sorted((*writing.kinds, *reading.kinds)) == sorted(KINDS)
    assert again.kinds == writing.kinds
    assert [each.job_id for each in (jobs.take(writing), jobs.take(reading)) if each] == ["ingest", "audit"]
    assert not jobs.end_audits("notes")
    assert jobs.end_audits("others")
    assert (jobs.cancelling(writing), jobs.cancelling(reading)) == ([], ["audit"])
    jobs.hand_back(writing, blame=False)
    assert (jobs.waits(writing), jobs.waits(reading)) == (True, False)
    jobs.hand_back(reading, blame=False)
    ended = jobs.get("audit")
    assert (ended.state, str(ended.error)[:40]) == ("cancelled", "Documents of the collection were to be e")
    assert jobs.end_audits("notes")
    assert jobs.get("ingest").state == "waiting"


def test_a_job_tells_how_far_it_is_and_how_it_ended(jobs: Jobs) -> None:
    created(jobs, "one")
    assert jobs.take() is not None
    jobs.report("one", {"bytes_read": 3, "bytes_total": 9})
    assert job_row(jobs.get("one"))["progress"] == {"bytes_read": 3, "bytes_total": 9}
    failures = [{"place": "file 1", "reason": "is empty"}]
    jobs.finish("one", {"documents_kept": 2, "failures": failures})
    row = job_row(jobs.get("one"))
    assert (row["state"], row["summary"], row["failures"]) == ("done", {"documents_kept": 2}, failures)
    assert jobs.get("one").over
    with pytest.raises(UnknownJob, match="There is no such job; GET /v1/jobs lists"):
        jobs.get("two")


def test_a_job_is_given_up_after_ends_that_nobody_asked_for(jobs: Jobs) -> None:
    created(jobs, "one")
    for blame, ends in ((False, 3 * MOST_ATTEMPTS), (True, MOST_ATTEMPTS)):
        for _ in range(ends):
            assert jobs.take() is not None
            jobs.hand_back(blame=blame)
    assert (jobs.take(), jobs.get("one").state) == (None, "failed")
    assert str(jobs.get("one").error).startswith("Its process ended 3 times before it was done")


def test_a_waiting_job_is_cancelled_at_once_and_a_running_one_when_its_process_is_gone(jobs: Jobs) -> None:
    created(jobs, "waits")
    assert jobs.cancel("waits").state == "cancelled"
    created(jobs, "runs")
    jobs.take()
    assert jobs.cancel("runs").state == "running"
    assert jobs.cancelling()
    jobs.hand_back(blame=False)
    assert jobs.get("runs").state == "cancelled"
    assert not jobs.cancelling()


def test_jobs_of_an_older_version_are_taken_as_orders_of_everybody(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        connection.execute(
            "CREATE TABLE jobs (number INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL UNIQUE, "
            "kind TEXT NOT NULL, collection TEXT NOT NULL, dry_run INTEGER NOT NULL, state TEXT NOT NULL, "
            "attempts INTEGER NOT NULL DEFAULT 0, cancelling INTEGER NOT NULL DEFAULT 0, "
            "created TEXT NOT NULL, started TEXT, ended TEXT, progress TEXT NOT NULL DEFAULT '{}', "
            "summary TEXT, error TEXT) STRICT"
        )
        connection.execute(
            "INSERT INTO jobs (job_id, kind, collection, dry_run, state, created, summary) "
            "VALUES ('one', 'ingest', 'notes', 1, 'done', '2026', '{\"documents_kept\": 2}')"
        )
        connection.execute("PRAGMA user_version = 1")
    # Keys come first where the server starts.
    Keys(tmp_path).close()
    jobs = Jobs(tmp_path)
    done = Job("one", "ingest", "notes", True, "", "done", "2026", summary={"documents_kept": 2})
    assert jobs.get("one") == done
    assert jobs.create("two", "ingest", "notes", key_id="0" * 8, dry_run=False) == jobs.get("two")
    assert jobs.get("two").key_id == "0" * 8
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)


@given(st.binary(max_size=200), st.text(max_size=20), st.data())
def test_what_is_sealed_opens_at_its_place_and_unaltered_only(content: bytes, place: str, data: Any) -> None:
    sealer = Sealer(KEY, "tests")
    sealed = sealer.seal(content, place)
    assert sealer.opened(sealed, place) == content
    at = data.draw(st.integers(0, len(sealed) - 1))
    altered = sealed[:at] + bytes((sealed[at] ^ data.draw(st.integers(1, 255)),)) + sealed[at + 1 :]
    for other, elsewhere, cipher in (
        (altered, place, sealer),
        (sealed[:at], place, sealer),
        (sealed, f"{place}x", sealer),
        (sealed, place, Sealer(KEY, "others")),
        (sealed, place, Sealer(b"o" * 32, "tests")),
    ):
        with pytest.raises(Unsealable, match="It was altered, or sealed under another key"):
            cipher.opened(other, elsewhere)


def test_what_was_sent_is_sealed_and_read_under_numbers(uploads: Uploads, tmp_path: Path) -> None:
    order = Order(policy={"words": {"person full name": NAME}}, text_field=NAME)
    records = b'{"id": "a", "text": "The mill is broken."}\n{"text": "The pond is deep."}\n{broken'
    contents = {
        f"{NAME}.txt": NOTE.encode(), "some.records.jsonl": records,
        "../../etc/passwd.xyz": b"?", "no extension": b"?", "empty.txt": b"",
    }  # fmt: skip
    files = [Upload(*each) for each in contents.items()]
    assert NAME not in repr((order, files))
    uploads.keep("one", Order(), files)
    uploads.keep("own", order, [])
    assert raw_in(tmp_path) == [path for path in tmp_path.rglob("*") if "Zorvath" in path.name] == []
    assert uploads.order("own") == order
    with uploads.readings("one", ReadLimits()) as readings:
        items = [each.item for each in readings]
    documents = [each for each in items if isinstance(each, Document)]
    assert [each.doc_id for each in documents] == [f"{NAME}.txt", "a", "some.records.jsonl#2"]
    assert [each.place for each in documents] == ["file 1", "file 2, line 1", "file 2, line 2"]
    assert documents[0].text == NOTE
    failed = [each for each in items if isinstance(each, UnreadableDocument)]
    assert [each.place for each in failed] == ["file 2, line 3", "file 3", "file 4", "file 5"]
    assert failed[-1].reason.startswith("is empty")
    assert not any(NAME in str(each) or "/" in each.place for each in failed)
    # An order of another job is no order of this one.
    (tmp_path / "uploads" / "own" / "0").rename(tmp_path / "uploads" / "one" / "0")
    with pytest.raises(Unsealable):
        uploads.order("one")
    for job_id in ("one", "own"):
        uploads.forget(job_id)
    assert uploads.job_ids() == []
    with pytest.raises(LetheError, match="What was sent for this job is gone. Send it again."):
        uploads.order("one")


def ended(settings: Settings, key_id: str, source: str | None = None, lane: Lane = EVERY) -> Job:
    """A job that holds an empty file only, after its turn; what was sent for it has to be gone."""
    jobs, uploads = Jobs(settings.data_dir), Uploads(settings.data_dir, DataDir(settings).key)
    job_id = f"job{len(jobs.newest())}"
    uploads.keep(job_id, Order(source=source), [Upload("a.txt", b"")])
    jobs.create(job_id, lane.kinds[0], "notes", key_id=key_id, dry_run=False)
    _work(settings, lane)
    assert uploads.job_ids() == []
    return jobs.get(job_id)


REVOKED = "The key that ordered this was revoked. Send it again with another key."
LOST = "The key that ordered this may not do so any more. Send it again with another key."
NO_KEY = "This was ordered without a key, and the server asks for one now. Send it again with a key."


@pytest.mark.parametrize(
    ("scopes", "of", "then", "error"),
    [
        (("ingest",), "notes", "is kept", None),
        # Nothing takes a grant away by now: a key of another collection is as one that has lost this one.
        (("ingest",), "other", "is kept", LOST),
        (("query", "erase"), "notes", "is kept", LOST),
        (("ingest",), "notes", "is revoked", REVOKED),
        (("ingest",), "notes", "is gone", REVOKED),
    ],
)
def test_an_order_of_a_key_is_carried_out_if_the_key_may_still_give_it(
    settings: Settings, keys: Keys, scopes: Sequence[Scope], of: str, then: str, error: str | None
) -> None:
    key = a_key(keys, *scopes, of=of)
    if then == "is revoked":
        keys.revoke(key.key_id)
    job = ended(settings, "01234567" if then == "is gone" else key.key_id)
    assert (job.state, job.error, job.summary is None) == ("failed" if error else "done", error, bool(error))


@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_an_order_counts_without_a_key_unless_asked_for(
    tmp_path: Path, keys: Keys, host: str, made: bool
) -> None:
    if made:
        a_key(keys, "ingest")
    settings = load_settings({"data_dir": str(tmp_path), "threads": 1, "server.host": host})
    asked_for = made and host == "0.0.0.0"
    assert ended(settings, EVERYBODY.key_id).error == (NO_KEY if asked_for else None)


def test_originals_are_sanitized_again_only_for_a_key_that_sees_them(settings: Settings, keys: Keys) -> None:
    sees = keys.create("vault", frozenset(("ingest", "reveal")), None).key
    gone = "The collection whose originals were to be read is gone."
    for key, error in ((a_key(keys, "ingest"), LOST), (sees, gone)):
        assert ended(settings, key.key_id, "others").error == error


@pytest.mark.parametrize(
    ("scopes", "source", "missing"),
    [
        (("audit", "ingest"), None, None),
        (("audit", "reveal"), None, None),
        (("audit", "reveal"), "notes", None),
        (("audit", "ingest"), "notes", "reveal"),
        (("audit", "query", "erase", "admin"), None, "ingest"),
        (("ingest", "reveal"), None, "audit"),
    ],
)
def test_an_audit_needs_originals_that_its_key_may_read_or_bring(
    settings: Settings, keys: Keys, scopes: Sequence[Scope], source: str | None, missing: Scope | None
) -> None:
    key = a_key(keys, *scopes)
    assert missing_scope(key, "audit", "notes", source) == missing
    assert missing_scope(key, "audit", "others", source) == "audit"
    # There is no collection: whoever may order it learns that.
    assert (ended(settings, key.key_id, source, LANES[-1]).error == LOST) is (missing is not None)


def reported(
    settings: Settings, jobs: Jobs, job_id: str, *doc_ids: str, collection: str = "notes", over: bool = True
) -> Path:
    """The folder of an audit that is done, or goes on."""
    folder = settings.data_dir / "audits" / job_id
    folder.mkdir(parents=True)
    report = {"collection": collection, "worst": [{"doc_id": each} for each in doc_ids]}
    (folder / "audit.json").write_text(json.dumps(report))
    jobs.create(job_id, "audit", collection, key_id="", dry_run=False)
    if over:
        jobs.finish(job_id, {})
    return folder


def test_reports_that_name_a_document_that_is_gone_are_deleted(settings: Settings, jobs: Jobs) -> None:
    data = DataDir(settings)
    path = write_records(settings.data_dir / "notes.jsonl", [NOTE, "Invented. A mill."])
    ingest(system_of(settings), data, "notes", read_documents([str(path)]))
    with data.open("notes") as collection:
        one, two = (each.doc_id for each in collection.store.documents())
    names, not_named = reported(settings, jobs, "names", one, two), reported(settings, jobs, "not", two)
    torn, elsewhere = reported(settings, jobs, "torn"), reported(settings, jobs, "else", two, collection="no")
    (torn / "audit.json").write_text('{"collection": "notes", "wor')
    forget_reports(data)
    assert [each.exists() for each in (names, not_named, torn, elsewhere)] == [True, True, True, False]
    with data.open("notes") as collection:
        collection.erase_all([one])
    forget_reports(data)
    assert [each.exists() for each in (names, not_named)] == [False, True]


def test_what_audits_leave_that_are_not_done_is_deleted(settings: Settings, jobs: Jobs) -> None:
    done = reported(settings, jobs, "done")
    goes_on, failed = reported(settings, jobs, "on", over=False), reported(settings, jobs, "no", over=False)
    jobs.fail("no", "why")
    forgotten = settings.data_dir / "audits" / "forgotten"
    forgotten.mkdir()
    forget_leftovers(settings, jobs)
    assert [each.exists() for each in (done, goes_on, failed, forgotten)] == [True, True, False, False]


def test_no_audit_begins_beside_an_erasure(settings: Settings, jobs: Jobs, uploads: Uploads) -> None:
    runner = Runner(settings, jobs, uploads)
    begin = partial(runner.submit, "audit", "notes", Order(source="notes"), key_id="")
    first = begin()
    with pytest.raises(CollectionError, match="An audit of this collection is not over: wait for it, or"):
        begin()
    with runner.erasing("notes"):
        assert jobs.get(first.job_id).state == "cancelled"
        with pytest.raises(CollectionError, match="Documents of this collection are being erased. Send this"):
            begin()
        # What writes is refused elsewhere, and other collections are not concerned.
        assert runner.submit("audit", "others", Order(source="others"), key_id="").state == "waiting"
    assert begin().state == "waiting"
    # One that was never started.
    runner.stop()


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    """One whose processes end with their last job."""
    monkeypatch.setattr("app.jobs.runner.LANES", [replace(each, stays=0.0) for each in LANES])
    settings = load_settings({"data_dir": str(tmp_path / "data"), "threads": 1, "ingest.workers": 1})
    key = DataDir(settings).key
    made = Runner(settings, Jobs(settings.data_dir), Uploads(settings.data_dir, key))
    made.start()
    yield made
    made.stop()


def submitted(
    runner: Runner, text: str = NOTE, collection: str = "notes", file: str = "a.txt", **more: Any
) -> Job:
    given: dict[str, Any] = {"order": Order(policy={"name": "redact"}), "key_id": ""} | more
    return runner.submit("ingest", collection, files=[Upload(file, text.encode())], **given)


def until(runner: Runner, job_id: str, *states: str) -> Job:
    for _ in range(1200):
        if (job := runner.jobs.get(job_id)).state in states:
            return job
        time.sleep(0.05)
    raise AssertionError(f"{job.state} after a minute")


def works() -> list[psutil.Process]:
    found = []
    for each in psutil.Process().children():
        # One that has ended, and whose parent has not asked for its code yet, has no command any more.
        with suppress(psutil.Error):
            found += [each] if "spawn_main" in " ".join(each.cmdline()) else []
    return found


def settled(runner: Runner) -> None:
    """Nothing that was sent is left, and no process: both go once the end of the last job is written."""
    for _ in range(400):
        if not runner._uploads.job_ids() and not works():
            return
        time.sleep(0.05)
    raise AssertionError("something is left of a job that is over")


def test_a_job_whose_process_is_killed_is_begun_again(runner: Runner, tmp_path: Path) -> None:
    job = submitted(runner)
    until(runner, job.job_id, "running")
    (process,) = works()
    os.kill(process.pid, signal.SIGKILL)
    done = until(runner, job.job_id, "done", "failed")
    assert (done.state, done.error) == ("done", None)
    assert done.summary is not None
    assert done.summary["documents_kept"] == 1
    settled(runner)
    assert raw_in(tmp_path) == []


def test_a_job_waits_for_the_next_start_when_the_runner_stops(runner: Runner) -> None:
    job = submitted(runner)
    until(runner, job.job_id, "running")
    runner.stop()
    assert works() == []
    assert runner.jobs.get(job.job_id).state == "waiting"
    again = Runner(runner._settings, runner.jobs, runner._uploads)
    again.start()
    try:
        assert until(again, job.job_id, "done", "failed").error is None
    finally:
        again.stop()


MANY = "".join(f'{{"id": "{n}", "text": "Invented. The mill {n} is broken."}}\n' for n in range(20_000))
"""Documents for longer than a test lasts."""
LONG = json.dumps({"text": " ".join(f"Mr {NAME}{n} keeps the lighthouse {n}." for n in range(5000))})
"""One document for as long, that no worker process takes: it is sanitized in the process of the job."""


def side_by_side(runner: Runner, records: str = MANY) -> tuple[Job, Job]:
    """Jobs of two keys that run, the first for long, in the one process."""
    with closing(Keys(runner._settings.data_dir)) as keys:
        ids = [a_key(keys, "ingest", of=name).key_id for name in ("many", "notes")]
    long = submitted(runner, records, "many", "a.jsonl", key_id=ids[0])
    until(runner, long.job_id, "running")
    while not runner.jobs.get(long.job_id).progress:
        time.sleep(0.05)
    return long, submitted(runner, key_id=ids[1])


@pytest.mark.parametrize("records", [MANY, LONG], ids=["many", "long"])
def test_a_small_job_of_another_key_does_not_wait_for_a_long_one(runner: Runner, records: str) -> None:
    long, few = side_by_side(runner, records)
    assert few.ahead == job_row(few)["ahead"] == 1
    done = until(runner, few.job_id, "done", "failed")
    assert (done.state, done.error, done.ahead) == ("done", None, None)
    assert runner.jobs.get(long.job_id).state == "running"


def test_a_job_that_is_cancelled_ends_where_it_is_and_its_process_goes_on(runner: Runner) -> None:
    long, few = side_by_side(runner)
    until(runner, few.job_id, "done")
    before = [each.pid for each in works()]
    runner.cancel(long.job_id)
    another = submitted(runner, "The mill.", "others")
    until(runner, another.job_id, "done")
    assert until(runner, long.job_id, "cancelled").ended is not None
    with DataDir(runner._settings).open("many") as kept:
        assert kept.store.count_documents() > 0
    assert [each.pid for each in works()] in (before, [])
    settled(runner)


def test_a_job_that_does_not_end_costs_no_other(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.runner._CANCELS_WITHIN", -1.0)
    long, few = side_by_side(runner)
    until(runner, few.job_id, "running")
    runner.cancel(long.job_id)
    assert until(runner, few.job_id, "done", "failed").error is None
    assert runner.jobs.get(long.job_id).state == "cancelled"
    # One that was begun without blame is not done apart.
    with sqlite3.connect(runner._settings.data_dir / FILE) as connection:
        attempts = connection.execute("SELECT attempts FROM jobs WHERE job_id = ?", (few.job_id,)).fetchone()
    assert attempts == (1,)


def test_a_process_that_dies_costs_other_keys_nothing_but_time(runner: Runner) -> None:
    long, few = side_by_side(runner)
    until(runner, few.job_id, "running", "done")
    (process,) = works()
    os.kill(process.pid, signal.SIGKILL)
    assert until(runner, few.job_id, "done", "failed").error is None
    until(runner, long.job_id, "running")
    # While the job that may have ended it is tried alone, new ones are done beside it.
    later = submitted(runner, "The mill.", "others")
    assert until(runner, later.job_id, "done", "failed").error is None
    assert runner.jobs.get(long.job_id).state in ("waiting", "running")


def test_a_job_that_fails_says_why_and_the_next_one_runs(runner: Runner) -> None:
    unusable = submitted(runner, "The mill.", order=Order(policy={"tau": "high"}))
    nothing = submitted(runner, "")
    failed = until(runner, unusable.job_id, "failed")
    assert failed.error == "policy.tau: Input should be a valid number, unable to parse string as a number."
    row = job_row(until(runner, nothing.job_id, "done"))
    empty = {"place": "file 1", "reason": "is empty (0 bytes); fill it in or leave it out"}
    assert row["failures"] == [empty]


def test_a_sample_has_no_word_of_what_it_replaces() -> None:
    for mention, replacement, sample in (
        ("Zorvath Quellbaum", "Mr A", "Mr A"),
        ("on 3 May 1970", "in 1970", "in …"),
        ("1970-05-03", "1970-05", "…"),
        ("41,200 pounds", "20,000 to 50,000 pounds", "20,000 to 50,000 …"),
        ("Quellbaum's", "Quellbaum", "…"),
        ("Berg", "Bergen", "Bergen"),
    ):
        assert sample_of(replacement, mention) == sample


def test_a_dry_run_counts_and_keeps_no_word_that_it_replaced(runner: Runner, tmp_path: Path) -> None:
    job = submitted(runner, f"{NOTE} He came on 3 May 1971.", order=Order(), dry_run=True)
    summary = until(runner, job.job_id, "done").summary
    assert summary is not None
    samples = {each["label"]: each["replacements"] for each in summary["decisions"]}
    assert samples["date"] == ["in … …"]
    assert "person full name" in samples
    assert not (tmp_path / "data" / "collections").exists()
    settled(runner)
    assert raw_in(tmp_path) == []
    kept = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("server.db*"))
    assert job.job_id.encode() in kept
    assert not [word for word in (b"Zorvath", b"Quellbaum", b"1971") if word in kept]


def test_a_runner_that_meets_a_full_disk_tries_again(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.jobs.runner._TRIED_AGAIN", 0.1)
    turns, failures = runner.jobs.next, iter([LetheError(NAME), LetheError(NAME)])

    def unlucky(lane: Lane) -> list[str]:
        for failure in failures if not lane.again and "ingest" in lane.kinds else ():
            raise failure
        return turns(lane)

    monkeypatch.setattr(runner.jobs, "next", unlucky)
    job = submitted(runner)
    assert until(runner, job.job_id, "done", "failed").error is None
    said = capfd.readouterr().err
    assert said.count("lethe: jobs wait (LetheError), and are tried again\n") == 2
    assert NAME not in said
