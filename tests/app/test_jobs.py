"""Jobs: their table, sealed uploads, the process that works on them. Every name here is invented."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
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
from app.jobs.table import KINDS, MOST_ATTEMPTS, Job, Jobs, Lane, UnknownJob, job_row
from app.jobs.uploads import Order, Upload, Uploads
from app.jobs.work import _work
from app.settings.load import Settings, load_settings
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.reading import ReadLimits
from ingest.read.sources import read_documents
from models.errors import LetheError
from retrieval.errors import CollectionError
from tests.commands import lethe, write_records
from tests.serving import served

KEY = b"k" * 32
NAME = "Zorvath Quellbaum"
NOTE = f"Invented note. Mr {NAME} keeps the lighthouse. He has had a cough for three weeks."


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path)


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path, KEY)


def created(jobs: Jobs, job_id: str, key_id: str = EVERYBODY.key_id, collection: str = "notes") -> Job:
    return jobs.create(job_id, "ingest", collection, key_id=key_id, dry_run=False)


def raw_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and NAME.encode() in path.read_bytes()]


# -- the table --------------------------------------------------------------------------------------------


def test_jobs_are_taken_in_their_order_and_once(jobs: Jobs) -> None:
    for number in range(20):
        created(jobs, f"job{number}", f"key{number}", f"of{number}")
    with ThreadPoolExecutor(8) as threads:
        taken = [job.job_id for job in threads.map(lambda _: jobs.take(), range(24)) if job]
    assert sorted(taken) == sorted(f"job{number}" for number in range(20))
    assert jobs.take() is None
    assert jobs.counts() == {"waiting": 0, "running": 20, "done": 0, "failed": 0, "cancelled": 0}
    assert [each.job_id for each in jobs.newest()] == [f"job{number}" for number in reversed(range(20))]


@dataclass(frozen=True)
class Turn:
    """What a runner may do next: the turn of whoever waits, or the end of the nth job that runs."""

    ends: int | None = None


@given(
    st.lists(
        st.one_of(
            st.builds(Turn, st.none() | st.integers(0, 3)),
            # Who orders something, and for which collection: one of a key's own, or one that all share.
            st.tuples(st.sampled_from("abcd"), st.sampled_from(["own", "else", "shared"])),
        ),
        max_size=40,
    )
)
def test_keys_take_turns_with_their_oldest_jobs(steps: Sequence[Turn | tuple[str, str]]) -> None:
    """The table against a list of what waits and a list of who was served when."""
    clock = count()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.jobs.table._now", lambda: f"{next(clock):09}")
        jobs = Jobs(Path(folder))
        waiting: list[tuple[str, str, str]] = []
        running: list[tuple[str, str, str]] = []
        served: list[str] = []
        for number, step in enumerate(steps):
            if isinstance(step, tuple):
                key, of = step
                of = of if of == "shared" else f"{of}-{key}"
                created(jobs, f"job{number}", key, of)
                waiting.append((f"job{number}", key, of))
            elif step.ends is None:
                busy = {key for _, key, _ in running} | {of for *_, of in running}
                free = [each for each in waiting if not busy & {each[1], each[2]}]
                expected = min(free, key=lambda each: _last(served, each[1]), default=None)
                taken = jobs.take()
                assert (taken and taken.job_id) == (expected and expected[0])
                if expected:
                    waiting.remove(expected)
                    running.append(expected)
                    served.append(expected[1])
            elif running:
                jobs.finish(running.pop(step.ends % len(running))[0], {})
            shown = {each.job_id: each.ahead for each in jobs.newest()}
            places = sorted(shown[job_id] or 0 for job_id, *_ in waiting)
            assert places == list(range(len(running), len(running) + len(waiting)))
            assert all(shown[job_id] is None for job_id, *_ in running)


def _last(served: Sequence[str], key: str) -> int:
    return max((turn for turn, each in enumerate(served) if each == key), default=-1)


def test_as_many_jobs_are_before_one_as_it_says(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    monkeypatch.setattr("app.jobs.table._now", lambda: f"{next(clock):09}")
    for number, key in enumerate("aaaabbca"):
        created(jobs, f"{key}{number}", key)
    jobs.finish(str((first := jobs.take()) and first.job_id), {})
    told = {each.job_id: each.ahead for each in jobs.unfinished()}
    begun = []
    while job := jobs.take():
        begun.append(job.job_id)
        jobs.finish(job.job_id, {})
    assert begun == sorted(told, key=lambda job_id: told[job_id] or 0)
    assert begun == ["b4", "c6", "a1", "b5", "a2", "a3", "a7"]


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
        taken = jobs.take(alone)
        assert taken is not None
        assert taken.job_id == "a"
        jobs.hand_back(alone, blame=True)
    taken = jobs.take(alone)
    assert taken is not None
    assert (taken.job_id, jobs.get("a").state) == ("b", "failed")


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


def test_a_job_whose_process_ends_each_time_is_given_up(jobs: Jobs) -> None:
    created(jobs, "one")
    for _ in range(MOST_ATTEMPTS):
        assert jobs.take() is not None
        jobs.hand_back(blame=True)
    assert jobs.take() is None
    assert jobs.get("one").state == "failed"
    assert str(jobs.get("one").error).startswith("Its process ended 3 times before it was done")


def test_an_end_that_was_asked_for_is_not_the_jobs_fault(jobs: Jobs) -> None:
    created(jobs, "one")
    for _ in range(3 * MOST_ATTEMPTS):
        assert jobs.take() is not None
        jobs.hand_back(blame=False)
    assert jobs.get("one").state == "waiting"


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
    old = """
        CREATE TABLE jobs (
            number INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
            collection TEXT NOT NULL, dry_run INTEGER NOT NULL, state TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, cancelling INTEGER NOT NULL DEFAULT 0, created TEXT NOT NULL,
            started TEXT, ended TEXT, progress TEXT NOT NULL DEFAULT '{}', summary TEXT, error TEXT
        ) STRICT
    """
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        connection.execute(old)
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


# -- uploads ----------------------------------------------------------------------------------------------


@given(st.binary(max_size=200), st.text(max_size=20), st.data())
def test_what_is_sealed_opens_at_its_place_and_unaltered_only(
    content: bytes, place: str, data: st.DataObject
) -> None:
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


def test_nothing_that_was_sent_is_on_the_disk_in_clear(uploads: Uploads, tmp_path: Path) -> None:
    order = Order(policy={"words": {"person full name": NAME}}, text_field=NAME)
    uploads.keep("one", order, [Upload(f"{NAME}.txt", NOTE.encode())])
    assert raw_in(tmp_path) == []
    assert not [path for path in tmp_path.rglob("*") if "Zorvath" in path.name]
    assert uploads.order("one") == order
    assert NAME not in repr((order, Upload(NAME, NOTE.encode())))
    uploads.forget("one")
    assert uploads.job_ids() == []


def test_uploads_are_read_under_numbers_and_their_documents_have_lasting_ids(uploads: Uploads) -> None:
    records = b'{"id": "a", "text": "The mill is broken."}\n{"text": "The pond is deep."}\n{broken'
    files = [
        Upload(f"{NAME}.txt", NOTE.encode()),
        Upload("some.records.jsonl", records),
        Upload("../../etc/passwd.xyz", b"?"),
        Upload("no extension", b"?"),
        Upload("empty.txt", b""),
    ]
    uploads.keep("one", Order(), files)
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


def test_what_was_sent_and_is_gone_or_altered_is_reported(uploads: Uploads, tmp_path: Path) -> None:
    with pytest.raises(LetheError, match="What was sent for this job is gone. Send it again."):
        uploads.order("never")
    uploads.keep("one", Order(), [])
    uploads.keep("two", Order(), [])
    # An order of another job is no order of this one.
    (tmp_path / "uploads" / "one" / "0").rename(tmp_path / "uploads" / "two" / "0")
    with pytest.raises(Unsealable):
        uploads.order("two")


# -- who ordered it ---------------------------------------------------------------------------------------


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"data_dir": str(tmp_path), "threads": 1})


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    with closing(Keys(tmp_path)) as opened:
        yield opened


def a_key(keys: Keys, *scopes: Scope, of: str = "notes") -> Key:
    return keys.create("ward", frozenset(scopes), frozenset((of,))).key


def ended(settings: Settings, key_id: str, order: Order | None = None) -> Job:
    """A job that holds an empty file only, after its turn; what was sent for it has to be gone."""
    data = DataDir(settings)
    jobs, uploads = Jobs(settings.data_dir), Uploads(settings.data_dir, data.key)
    uploads.keep("one", order or Order(), [Upload("a.txt", b"")])
    jobs.create("one", "ingest", "notes", key_id=key_id, dry_run=False)
    _work(settings)
    assert uploads.job_ids() == []
    return jobs.get("one")


REVOKED = "The key that ordered this was revoked. Send it again with another key."
LOST = "The key that ordered this may not do so any more. Send it again with another key."
NO_KEY = "This was ordered without a key, and the server asks for one now. Send it again with a key."


def test_an_order_of_a_key_is_carried_out(settings: Settings, keys: Keys) -> None:
    job = ended(settings, a_key(keys, "ingest").key_id)
    assert (job.state, job.error) == ("done", None)


def test_an_order_of_a_key_that_was_revoked_while_it_waited_is_refused(
    settings: Settings, keys: Keys
) -> None:
    key = a_key(keys, "ingest")
    keys.revoke(key.key_id)
    job = ended(settings, key.key_id)
    assert (job.state, job.error, job.summary) == ("failed", REVOKED, None)


def test_an_order_of_a_key_that_is_there_no_more_is_refused(settings: Settings, keys: Keys) -> None:
    assert ended(settings, "01234567").error == REVOKED


def test_an_order_into_a_collection_that_the_key_has_lost_is_refused(settings: Settings, keys: Keys) -> None:
    # Nothing takes a grant away by now: a key of another collection stands for one that has lost this one.
    assert ended(settings, a_key(keys, "ingest", of="other").key_id).error == LOST


def test_an_order_of_a_key_without_the_scope_is_refused(settings: Settings, keys: Keys) -> None:
    assert ended(settings, a_key(keys, "query", "erase").key_id).error == LOST


def test_originals_are_sanitized_again_only_for_a_key_that_sees_them(settings: Settings, keys: Keys) -> None:
    order = Order(source="others")
    assert ended(settings, a_key(keys, "ingest").key_id, order).error == LOST
    gone = "The collection whose originals were to be read is gone."
    sees = keys.create("vault", frozenset(("ingest", "reveal")), None).key.key_id
    Jobs(settings.data_dir)._update("one", "job_id = 'before'")
    assert ended(settings, sees, order).error == gone


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
    data = DataDir(settings)
    jobs, uploads = Jobs(settings.data_dir), Uploads(settings.data_dir, data.key)
    uploads.keep("one", Order(source=source), [])
    jobs.create("one", "audit", "notes", key_id=key.key_id, dry_run=False)
    _work(settings, LANES[-1])
    # There is no collection: whoever may order it learns that.
    assert (jobs.get("one").error == LOST) is (missing is not None)


# -- reports of audits ------------------------------------------------------------------------------------


def reported(settings: Settings, jobs: Jobs, job_id: str, *doc_ids: str, collection: str = "notes") -> Path:
    """The folder of an audit that is done."""
    folder = settings.data_dir / "audits" / job_id
    folder.mkdir(parents=True)
    report = {"collection": collection, "worst": [{"doc_id": each} for each in doc_ids]}
    (folder / "audit.json").write_text(json.dumps(report))
    jobs.create(job_id, "audit", collection, key_id="", dry_run=False)
    jobs.finish(job_id, {})
    return folder


def test_reports_that_name_a_document_that_is_gone_are_deleted(settings: Settings, jobs: Jobs) -> None:
    data = DataDir(settings)
    path = write_records(settings.data_dir / "notes.jsonl", [NOTE, "Invented. A mill."])
    system = system_of(settings)
    ingest(system, data, "notes", read_documents([str(path)]))
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
    goes_on, failed, forgotten = (
        settings.data_dir / "audits" / name for name in ("on", "failed", "forgotten")
    )
    for folder in (goes_on, failed, forgotten):
        folder.mkdir(parents=True)
        (folder / "rows.jsonl").write_text("{}")
    for folder in (goes_on, failed):
        jobs.create(folder.name, "audit", "notes", key_id="", dry_run=False)
    jobs.fail("failed", "why")
    forget_leftovers(settings, jobs)
    assert [each.exists() for each in (done, goes_on, failed, forgotten)] == [True, True, False, False]


def test_no_audit_begins_while_documents_are_erased_or_another_goes_on(tmp_path: Path) -> None:
    settings = load_settings({"data_dir": str(tmp_path)})
    jobs = Jobs(tmp_path)
    runner = Runner(settings, jobs, Uploads(tmp_path, KEY))
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


@pytest.mark.parametrize(
    ("host", "there_is_a_key", "error"),
    [
        ("127.0.0.1", False, None),
        ("127.0.0.1", True, None),
        ("0.0.0.0", False, None),
        ("0.0.0.0", True, NO_KEY),
    ],
)
def test_an_order_without_a_key_counts_as_long_as_none_is_asked_for(
    tmp_path: Path, keys: Keys, host: str, there_is_a_key: bool, error: str | None
) -> None:
    if there_is_a_key:
        a_key(keys, "ingest")
    settings = load_settings({"data_dir": str(tmp_path), "threads": 1, "server.host": host})
    assert ended(settings, EVERYBODY.key_id).error == error


# -- the process ------------------------------------------------------------------------------------------


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
    job = runner.submit(
        "ingest", "notes", Order(policy={"name": "redact"}), [Upload("a.txt", NOTE.encode())], key_id=""
    )
    until(runner, job.job_id, "running")
    (process,) = works()
    os.kill(process.pid, signal.SIGKILL)
    done = until(runner, job.job_id, "done", "failed")
    assert (done.state, done.error) == ("done", None)
    assert done.summary is not None
    assert done.summary["documents_kept"] == 1
    settled(runner)
    assert raw_in(tmp_path) == []


MANY = b"".join(b'{"id": "%d", "text": "Invented. The mill %d is broken."}\n' % (n, n) for n in range(20_000))
"""Documents for longer than a test lasts."""


def side_by_side(runner: Runner) -> tuple[Job, Job]:
    """Jobs of two keys that run, the first with many documents, in the one process."""
    with closing(Keys(runner._settings.data_dir)) as keys:
        ids = [a_key(keys, "ingest", of=name).key_id for name in ("many", "notes")]
    order = Order(policy={"name": "redact"})
    long = runner.submit("ingest", "many", order, [Upload("a.jsonl", MANY)], key_id=ids[0])
    until(runner, long.job_id, "running")
    while not runner.jobs.get(long.job_id).progress:
        time.sleep(0.05)
    few = runner.submit("ingest", "notes", order, [Upload("a.txt", NOTE.encode())], key_id=ids[1])
    return long, few


def test_a_small_job_of_another_key_does_not_wait_for_a_long_one(runner: Runner) -> None:
    long, few = side_by_side(runner)
    assert few.ahead == 1
    done = until(runner, few.job_id, "done", "failed")
    assert (done.state, done.error, done.ahead) == ("done", None, None)
    assert runner.jobs.get(long.job_id).state == "running"


def test_over_http_a_small_file_of_another_key_does_not_wait_for_one_very_long_document(
    tmp_path: Path,
) -> None:
    """One document, that no worker process takes: it is sanitized in the same process as the small one."""
    (tmp_path / "data").mkdir()
    headers = []
    for name in ("one", "other"):
        made = lethe(tmp_path / "data", "keys", "create", name, "--scope", "ingest")
        headers.append({"authorization": f"Bearer {json.loads(made.out)['key']}"})
    long = " ".join(f"Mr {NAME}{number} keeps the lighthouse {number}." for number in range(5000))
    with (
        served(tmp_path / "data", "--port", "0", LETHE_INGEST__WORKERS="1") as server,
        server.client(headers=headers[0]) as one,
        server.client(headers=headers[1]) as other,
    ):

        def sent(client: httpx.Client, collection: str, text: str) -> str:
            body = {"documents": [{"id": "a", "text": text}], "policy": {"name": "redact"}}
            answer = client.post(f"/v1/collections/{collection}/documents", json=body)
            assert answer.status_code == 202, answer.text
            assert answer.json()["ahead"] is not None
            return f"/v1/jobs/{answer.json()['job_id']}"

        first = sent(one, "long", long)
        while one.get(first).json()["state"] == "waiting":
            time.sleep(0.05)
        second = sent(other, "short", NOTE)
        while (job := other.get(second).json())["state"] in ("waiting", "running"):
            time.sleep(0.05)
        assert (job["state"], job["error"], job["ahead"]) == ("done", None, None)
        assert one.get(first).json()["state"] == "running"


def test_a_job_that_is_cancelled_ends_where_it_is_and_its_process_goes_on(runner: Runner) -> None:
    long, few = side_by_side(runner)
    until(runner, few.job_id, "done")
    before = [each.pid for each in works()]
    runner.cancel(long.job_id)
    another = runner.submit("ingest", "others", Order(), [Upload("a.txt", b"The mill.")], key_id="")
    until(runner, another.job_id, "done")
    assert until(runner, long.job_id, "cancelled").ended is not None
    kept = DataDir(runner._settings).open("many")
    assert kept.store.count_documents() > 0
    kept.store.close()
    assert [each.pid for each in works()] in (before, [])
    settled(runner)


def test_a_job_that_does_not_end_by_itself_costs_the_others_no_attempt(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.runner._CANCELS_WITHIN", -1.0)
    long, few = side_by_side(runner)
    until(runner, few.job_id, "running")
    runner.cancel(long.job_id)
    assert until(runner, few.job_id, "done", "failed").error is None
    assert runner.jobs.get(long.job_id).state == "cancelled"
    # One that was begun without blame is not done apart.
    with sqlite3.connect(runner._settings.data_dir / FILE) as connection:
        (attempts,) = connection.execute(
            "SELECT attempts FROM jobs WHERE job_id = ?", (few.job_id,)
        ).fetchone()
    assert attempts == 1


def test_a_process_that_dies_costs_other_keys_nothing_but_time(runner: Runner) -> None:
    long, few = side_by_side(runner)
    until(runner, few.job_id, "running", "done")
    (process,) = works()
    os.kill(process.pid, signal.SIGKILL)
    assert until(runner, few.job_id, "done", "failed").error is None
    until(runner, long.job_id, "running")
    # While the job that may have ended it is tried alone, new ones are done beside it.
    later = runner.submit("ingest", "others", Order(), [Upload("a.txt", b"The mill.")], key_id="")
    assert until(runner, later.job_id, "done", "failed").error is None
    assert runner.jobs.get(long.job_id).state in ("waiting", "running")


def test_a_running_job_is_cancelled_and_nothing_is_left_of_what_was_sent(runner: Runner) -> None:
    job = runner.submit("ingest", "notes", Order(), [Upload("a.txt", NOTE.encode())], key_id="")
    until(runner, job.job_id, "running")
    assert runner.cancel(job.job_id).state == "running"
    assert until(runner, job.job_id, "cancelled").ended is not None
    settled(runner)


def test_a_job_waits_for_the_next_start_when_the_runner_stops(runner: Runner) -> None:
    job = runner.submit(
        "ingest", "notes", Order(policy={"name": "redact"}), [Upload("a.txt", NOTE.encode())], key_id=""
    )
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


def test_a_job_that_fails_says_why_and_the_next_one_runs(runner: Runner) -> None:
    unusable = runner.submit(
        "ingest", "notes", Order(policy={"tau": "high"}), [Upload("a.txt", b"The mill.")], key_id=""
    )
    nothing = runner.submit("ingest", "notes", Order(), [Upload("a.txt", b"")], key_id="")
    failed = until(runner, unusable.job_id, "failed")
    assert failed.error == "policy.tau: Input should be a valid number, unable to parse string as a number."
    row = job_row(until(runner, nothing.job_id, "done"))
    assert row["failures"] == [
        {"place": "file 1", "reason": "is empty (0 bytes); fill it in or leave it out"}
    ]


@pytest.mark.parametrize(
    ("mention", "replacement", "sample"),
    [
        ("Zorvath Quellbaum", "Mr A", "Mr A"),
        ("on 3 May 1970", "in 1970", "in …"),
        ("1970-05-03", "1970-05", "…"),
        ("41,200 pounds", "20,000 to 50,000 pounds", "20,000 to 50,000 …"),
        ("the Quellbaum Mill", "the mill", "the …"),
        ("Quellbaum's", "Quellbaum", "…"),
        ("Berg", "Bergen", "Bergen"),
        ("47", "40 to 49", "40 to 49"),
    ],
)
def test_a_sample_has_no_word_of_what_it_replaces(mention: str, replacement: str, sample: str) -> None:
    assert sample_of(replacement, mention) == sample


def test_a_dry_run_keeps_no_word_that_it_replaced(runner: Runner, tmp_path: Path) -> None:
    text = f"{NOTE} He came on 3 May 1971."
    job = runner.submit("ingest", "notes", Order(), [Upload("a.txt", text.encode())], key_id="", dry_run=True)
    summary = until(runner, job.job_id, "done").summary
    assert summary is not None
    samples = {each["label"]: each["replacements"] for each in summary["decisions"]}
    assert samples["date"] == ["in … …"]
    settled(runner)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("server.db*"))
    assert job.job_id.encode() in kept
    assert not [word for word in (b"Zorvath", b"Quellbaum", b"1971", b"41,200", b"guilders") if word in kept]


def test_a_dry_run_counts_and_stores_nothing(runner: Runner, tmp_path: Path) -> None:
    files = [Upload("a.txt", NOTE.encode())]
    job = runner.submit("ingest", "notes", Order(policy={"name": "redact"}), files, dry_run=True, key_id="")
    summary = until(runner, job.job_id, "done").summary
    assert summary is not None
    assert {each["label"] for each in summary["decisions"]} >= {"person full name"}
    assert not (tmp_path / "data" / "collections").exists()
    settled(runner)
    assert raw_in(tmp_path) == []


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
    job = runner.submit(
        "ingest", "notes", Order(policy={"name": "redact"}), [Upload("a.txt", NOTE.encode())], key_id=""
    )
    assert until(runner, job.job_id, "done", "failed").error is None
    said = capfd.readouterr().err
    assert said.count("lethe: jobs wait (LetheError), and are tried again\n") == 2
    assert NAME not in said


def test_a_runner_that_was_not_started_stops(tmp_path: Path) -> None:
    settings = load_settings({"data_dir": str(tmp_path)})
    Runner(settings, Jobs(tmp_path), Uploads(tmp_path, KEY)).stop()
