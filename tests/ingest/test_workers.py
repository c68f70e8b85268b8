"""Real processes that sanitize, hang and die. All texts are invented."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ingest.deciding.baselines.uniform import REDACT
from ingest.documents import Document
from ingest.errors import ForeignDocument, SanitizationError
from ingest.pipeline import Begin, Intake, Limits, Pipeline, Tally, at_once
from ingest.protocols import Outcomes
from ingest.read.reading import Reading
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from ingest.workers import Workers
from models.errors import LetheError, ModelUnavailable
from models.progress import report, reported_to
from retrieval.passages import Writer, preparing
from retrieval.store.database import CutDocument, Store
from tests.commands import ROOT
from tests.doubles import FailingDetector, WordEncoder

KEY, IMPORTED_BY = b"k" * 32, os.getpid()


class Moody:
    """Prepares documents, unless a text says to hang, to die, or to be of another language."""

    def __init__(self) -> None:
        sanitizer = DecidingSanitizer(FailingDetector("poison"), REDACT, RiskPrior())
        self._prepare = preparing(sanitizer, WordEncoder(), 16)

    def __call__(self, documents: Sequence[Document]) -> Outcomes[CutDocument]:
        said = " ".join(document.text for document in documents)
        if "long" in said:
            for _ in range(20):
                report(100)
                time.sleep(0.1)
        if "hang" in said:
            time.sleep(600)
        if "die" in said:
            os.kill(os.getpid(), signal.SIGKILL)
        if "foreign" in said:
            return [ForeignDocument(document.doc_id, "Latin") for document in documents]
        return self._prepare(documents)


def unavailable() -> Moody:
    raise ModelUnavailable("The model is missing.", "Put it there.")


def broken() -> Moody:
    raise RuntimeError("Tobias Keller")


def never() -> Moody:
    os.kill(os.getpid(), signal.SIGKILL)
    return Moody()


def slow() -> Moody:
    time.sleep(4)
    return Moody()


def documents(*texts: str) -> list[Document]:
    return [Document(str(number), text) for number, text in enumerate(texts)]


class Sharing:
    """Says whether this module was imported by the process that forked this one."""

    def __call__(self, documents: Sequence[Document]) -> Outcomes[CutDocument]:
        said = "alone" if os.getpid() == IMPORTED_BY else "forked"
        return [SanitizationError(each.doc_id, said) for each in documents]


def told(outcomes: Outcomes[CutDocument]) -> list[str]:
    return [str(each) if isinstance(each, SanitizationError) else each.document.text for each in outcomes]


def test_batches_are_sanitized_in_order_and_a_process_that_dies_between_them_costs_nothing() -> None:
    with Workers(Moody, 2, 60) as workers:
        waits = [workers.begin(documents(text, "poison")) for text in ("ash", "oak", "fir")]
        found = [told(wait()) for wait in waits]
        assert workers.begin([])() == []
        (foreign,) = workers.begin(documents("foreign"))()
        assert active_children()
        for child in active_children():
            child.kill()
        waits = [workers.begin(documents(text)) for text in ("fir", "elm", "yew")]
        assert [told(wait()) for wait in waits] == [["fir"], ["elm"], ["yew"]]
    failed = "document 1 was not indexed: detection failed (RuntimeError); nothing of it was kept"
    assert found == [["ash", failed], ["oak", failed], ["fir", failed]]
    assert isinstance(foreign, ForeignDocument)
    assert (foreign.doc_id, foreign.language) == ("0", "Latin")
    assert str(foreign) == str(ForeignDocument("0", "Latin"))


def test_what_hangs_or_dies_costs_its_document_alone() -> None:
    with Workers(Moody, 2, 2) as workers:
        found = told(workers.begin(documents("ash", "hang", "die", "oak"))())
    assert found == [
        "ash",
        "document 1 was not indexed: sanitizing took too long; split it or raise "
        "LETHE_INGEST__SANITIZE_SECONDS; nothing of it was kept",
        "document 2 was not indexed: it ended the process that sanitizes (signal 9); nothing of it was kept",
        "oak",
    ]


def test_what_models_read_in_other_processes_is_reported_here_and_can_be_ended() -> None:
    seen: list[int] = []

    def ends(tokens: int) -> None:
        seen.append(tokens)
        if sum(seen) > 500:
            raise LetheError("Ended.")

    with Workers(Moody, 2, 60) as workers, reported_to(ends), pytest.raises(LetheError, match="Ended"):
        workers.begin(documents("a long one"))()
    assert 500 < sum(seen) < 2_000


@pytest.mark.parametrize(
    ("make", "processes", "error", "told"),
    [
        (unavailable, 1, ModelUnavailable, "The model is missing"),
        (broken, 1, LetheError, r"^A process that sanitizes could not start \(RuntimeError\)\.$"),
        (never, 2, LetheError, "Take fewer with --workers"),
    ],
)
def test_a_process_that_cannot_start_says_why_and_quotes_nothing(
    make: Callable[[], Moody], processes: int, error: type[LetheError], told: str
) -> None:
    with Workers(make, processes, 60) as workers, pytest.raises(error, match=told):
        workers.begin(documents("ash"))()


def test_no_deadline_counts_the_start() -> None:
    with Workers(slow, 1, 1) as workers:
        assert told(workers.begin(documents("ash"))()) == ["ash"]


def test_the_end_of_the_process_that_forks_costs_no_document() -> None:
    with Workers(Moody, 2, 60, [__name__]) as workers:
        assert told(workers.begin(documents("ash"))()) == ["ash"]
        waits = [workers.begin(documents(text)) for text in ("oak", "fir", "elm", "yew")]
        parents = {int(stat_of(child.pid)[1]) for child in active_children() if child.pid}
        (forking,) = parents - {os.getpid()}
        os.kill(forking, signal.SIGKILL)
        assert [told(wait()) for wait in waits] == [["oak"], ["fir"], ["elm"], ["yew"]]


def stat_of(process: int | str) -> list[str]:
    """What the system says of a process, from its state on."""
    return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()


STARTS = (
    "import time; from tests.ingest.test_workers import Moody, Sharing, documents, told\n"
    "from ingest.workers import Workers\n"
    "if __name__ == '__main__':\n"
)
SHARES = (
    "    with Workers(Sharing, 2, 60, ['tests.ingest.test_workers']) as workers:\n"
    "        print(*told(workers.begin(documents('ash'))()))\n"
)
HANGS = (
    "    workers = Workers(Moody, 1, 3)\n"
    "    workers.begin(documents('ash'))()\n"
    "    workers.begin(documents('hang'))\n"
    "    print('hanging', flush=True); time.sleep(60)\n"
)


def started(script: Path, code: str, **variables: str) -> subprocess.Popen[str]:
    script.write_text(STARTS + code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, str(script)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment, start_new_session=True, text=True
    )


@pytest.mark.parametrize("folder", ["a" * 20, "a" * 120])
def test_processes_share_what_is_loaded_first_where_a_socket_has_a_name(folder: str, tmp_path: Path) -> None:
    # Not below the test's own folder, whose name may be long already.
    with TemporaryDirectory(dir="/tmp") as short:
        (Path(short) / folder).mkdir()
        with started(tmp_path / "main.py", SHARES, TMPDIR=str(Path(short) / folder)) as main:
            said, _ = main.communicate()
    assert main.returncode == 0
    assert ("forked" if len(folder) < 100 else "alone") in said


def test_a_hung_process_ends_without_the_main_one(tmp_path: Path) -> None:
    with started(tmp_path / "main.py", HANGS) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "hanging\n"
        main.kill()
    until = time.monotonic() + 30
    while alive := living(main.pid):
        assert time.monotonic() < until, alive
        time.sleep(0.5)


def living(session: int) -> list[str]:
    """The processes of a session that are no zombies."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = stat_of(place.name)
            if int(words[3]) == session and words[0] != "Z":
                found.append(place.name)
    return found


def carried(
    texts: Sequence[str], begin: Begin[Document, CutDocument], limits: Limits, ahead: int = 0
) -> tuple[list[tuple[str, str]], Tally]:
    """What an ingest of these texts stores, and its counts."""
    store = Store(None)
    readings = (Reading(Document(str(number), text), 0) for number, text in enumerate(texts))
    arriving = map(Intake(lambda ids: ids, KEY).arriving, readings)
    tally = Pipeline(begin, limits, ahead).run(arriving, Writer(store))
    rows = store._connection.execute("SELECT doc_id, text FROM passages ORDER BY rowid").fetchall()
    store.close()
    return rows, replace(tally, seconds=0.0)


def test_the_first_batches_are_smaller() -> None:
    sizes = list[int]()

    def begin(batch: Sequence[Document]) -> Callable[[], Outcomes[CutDocument]]:
        sizes.append(len(batch))
        return at_once(Moody())(batch)

    carried([f"text {number}" for number in range(100)], begin, Limits(documents=32))
    assert sizes == [4, 8, 16, 32, 32, 8]


def test_an_ingest_has_the_same_results_with_processes() -> None:
    texts, limits = [*(f"text {number}" for number in range(40)), "text 3", "poison"], Limits(documents=4)
    rows, tally = carried(texts, at_once(Moody()), limits)
    assert (tally.kept, tally.duplicates, tally.failed) == (40, 1, 1)
    with Workers(Moody, 2, 60) as workers:
        assert carried(texts, workers.begin, limits, 3) == (rows, tally)
