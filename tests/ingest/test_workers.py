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
        for document in documents:
            if "long" in document.text:
                for _ in range(20):
                    report(100)
                    time.sleep(0.1)
            if "hang" in document.text:
                time.sleep(600)
            if "die" in document.text:
                os.kill(os.getpid(), signal.SIGKILL)
        if any("foreign" in document.text for document in documents):
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


def test_batches_are_sanitized_in_order_beside_each_other() -> None:
    with Workers(Moody, 2, 60) as workers:
        waits = [workers.begin(documents(text, "poison")) for text in ("ash", "oak", "fir")]
        found = [told(wait()) for wait in waits]
        assert workers.begin([])() == []
    assert [each[0] for each in found] == ["ash", "oak", "fir"]
    assert {each[1] for each in found} == {
        "document 1 was not indexed: detection failed (RuntimeError); nothing of it was kept"
    }


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


def test_errors_come_back_as_they_are() -> None:
    with Workers(Moody, 1, 60) as workers:
        (found,) = workers.begin(documents("foreign"))()
    assert isinstance(found, ForeignDocument)
    assert (found.doc_id, found.language) == ("0", "Latin")
    assert str(found) == str(ForeignDocument("0", "Latin"))


def test_a_process_that_cannot_start_says_why() -> None:
    with (
        Workers(unavailable, 1, 60) as workers,
        pytest.raises(ModelUnavailable, match="The model is missing"),
    ):
        workers.begin(documents("ash"))()


def test_other_errors_of_the_start_do_not_quote() -> None:
    with Workers(broken, 1, 60) as workers, pytest.raises(LetheError) as told:
        workers.begin(documents("ash"))()
    assert str(told.value) == "A process that sanitizes could not start (RuntimeError)."


def test_processes_that_die_at_once_end_the_run_with_the_remedy() -> None:
    with Workers(never, 2, 60) as workers, pytest.raises(LetheError, match="Take fewer with --workers"):
        workers.begin(documents("ash"))()


def test_no_deadline_counts_the_start() -> None:
    with Workers(slow, 1, 1) as workers:
        assert told(workers.begin(documents("ash"))()) == ["ash"]


def test_a_process_that_dies_between_batches_costs_nothing() -> None:
    with Workers(Moody, 2, 60) as workers:
        waits = [workers.begin(documents(text)) for text in ("ash", "oak")]
        assert [told(wait()) for wait in waits] == [["ash"], ["oak"]]
        assert active_children()
        for child in active_children():
            child.kill()
        waits = [workers.begin(documents(text)) for text in ("fir", "elm", "yew")]
        assert [told(wait()) for wait in waits] == [["fir"], ["elm"], ["yew"]]


def test_the_end_of_the_process_that_forks_costs_no_document() -> None:
    with Workers(Moody, 2, 60, [__name__]) as workers:
        assert told(workers.begin(documents("ash"))()) == ["ash"]
        waits = [workers.begin(documents(text)) for text in ("oak", "fir", "elm", "yew")]
        (forking,) = {parent_of(child.pid) for child in active_children() if child.pid} - {os.getpid()}
        os.kill(forking, signal.SIGKILL)
        assert [told(wait()) for wait in waits] == [["oak"], ["fir"], ["elm"], ["yew"]]


def parent_of(process: int) -> int:
    return int((Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("folder", ["a" * 20, "a" * 120])
def test_processes_share_what_is_loaded_first_where_a_socket_has_a_name(folder: str, tmp_path: Path) -> None:
    code = (
        "from tests.ingest.test_workers import Sharing, documents, told; from ingest.workers import Workers\n"
        "if __name__ == '__main__':\n"
        "    with Workers(Sharing, 2, 60, ['tests.ingest.test_workers']) as workers:\n"
        "        print(*told(workers.begin(documents('ash'))()))\n"
    )
    script = tmp_path / "main.py"
    script.write_text(code)
    # Not below the test's own folder, whose name may be long already.
    with TemporaryDirectory(dir="/tmp") as short:
        (Path(short) / folder).mkdir()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(Path(short) / folder)}
        ran = subprocess.run([sys.executable, str(script)], capture_output=True, env=environment, check=True)
    assert ("forked" if len(folder) < 100 else "alone") in ran.stdout.decode()


def test_a_hung_process_ends_without_the_main_one(tmp_path: Path) -> None:
    code = (
        "from tests.ingest.test_workers import Moody, documents; from ingest.workers import Workers\n"
        "if __name__ == '__main__':\n"
        "    workers = Workers(Moody, 1, 3)\n"
        "    workers.begin(documents('ash'))()\n"
        "    workers.begin(documents('hang'))\n"
        "    print('hanging', flush=True)\n"
        "    import time; time.sleep(60)\n"
    )
    script = tmp_path / "main.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=environment, start_new_session=True
    ) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == b"hanging\n"
        main.kill()
    until = time.monotonic() + 30
    while alive := living(main.pid):
        assert time.monotonic() < until, alive
        time.sleep(0.5)


def living(session: int) -> list[int]:
    """The processes of a session that are no zombies."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "stat").read_text().rpartition(")")[2].split()
            if int(words[3]) == session and words[0] != "Z":
                found.append(int(place.name))
    return found


def test_the_first_batches_are_smaller() -> None:
    sizes = list[int]()

    def begin(batch: Sequence[Document]) -> Callable[[], Outcomes[CutDocument]]:
        sizes.append(len(batch))
        return at_once(Moody())(batch)

    readings = (Reading(Document(str(number), f"text {number}"), 0) for number in range(100))
    store = Store(None)
    arriving = map(Intake(lambda ids: ids, KEY).arriving, readings)
    Pipeline(begin, Limits(documents=32)).run(arriving, Writer(store))
    store.close()
    assert sizes == [4, 8, 16, 32, 32, 8]


def test_an_ingest_has_the_same_results_with_processes() -> None:
    texts = [*(f"text {number}" for number in range(40)), "text 3", "poison"]
    readings = [Reading(Document(str(number), text), 0) for number, text in enumerate(texts)]
    limits = Limits(documents=4)

    def carried(begin: Begin[Document, CutDocument], ahead: int) -> tuple[list[tuple[str, str]], Tally]:
        store = Store(None)
        arriving = map(Intake(lambda ids: ids, KEY).arriving, readings)
        tally = Pipeline(begin, limits, ahead).run(arriving, Writer(store))
        rows = store._connection.execute("SELECT doc_id, text FROM passages ORDER BY rowid").fetchall()
        store.close()
        return rows, tally

    alone, tally = carried(at_once(Moody()), 0)
    assert (tally.kept, tally.duplicates, tally.failed) == (40, 1, 1)
    with Workers(Moody, 2, 60) as workers:
        together, other = carried(workers.begin, 3)
    assert together == alone
    assert replace(other, seconds=0.0) == replace(tally, seconds=0.0)
