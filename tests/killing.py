"""Real processes that ingest invented records, and the moments at which they are killed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import load_settings
from ingest.read.sources import read_documents
from retrieval.index import vector_store
from tests.commands import READING, command, environment
from tests.doubles import WordEncoder

COLLECTION = "killed"
SETTINGS = {
    "LETHE_INGEST__BATCH_DOCUMENTS": "4",
    "LETHE_RETRIEVAL__PASSAGE_TOKENS": "48",
    "LETHE_THREADS": "1",
    "LETHE_NUMBERS": "float32",
}
"""One thread, because two that wait for each other on a busy machine take many times as long; single
precision, because what is left after a kill falls into other batches.
"""

TOPICS = (
    "a persistent cough", "the broken boiler", "back pain", "a parking fine", "her grandmother's will",
    "an old bicycle", "a sprained ankle", "the flooded cellar", "late wages", "a lost parcel",
)  # fmt: skip
ERRANDS = (
    "asked for a copy of the letter", "wants to be called after the harvest", "will bring the old keys",
    "was told to rest for three weeks", "left without an answer", "paid half of the sum in advance",
    "complained about the noise of the mill", "takes lisinopril 10 mg daily", "hopes for an early hearing",
    "was seen by the nurse first", "keeps bees behind the chapel", "needs a certificate for the insurance",
)  # fmt: skip
Moment = Callable[["subprocess.Popen[bytes]", Path], None]
"""Waits for the moment at which a process is to be killed."""


# -- the records and what must never be seen of them -------------------------------------------------------


def invented(count: int) -> tuple[list[str], list[bytes]]:
    """Texts, and the strings planted in them, each said once in all of the texts."""
    generator = random.Random(7)
    syllables = ("bra", "ke", "lun", "mo", "tis", "vor", "wen", "zil", "gra", "pu")
    surnames: set[str] = set()
    while len(surnames) < count:
        surnames.add("".join(generator.choices(syllables, k=4)).capitalize() + "mann")
    texts, planted = [], []
    for number, surname in enumerate(sorted(surnames)):
        given = generator.choice(["Tobias", "Martin", "Oliver", "Peter"])
        chart, mail = str(40_000_000 + 7919 * number), f"box{number:03d}@{surname.lower()}.example"
        topic, errand = TOPICS[number % len(TOPICS)], ERRANDS[number // len(TOPICS)]
        texts.append(
            f"Invented. Mr {given} {surname}, MRN {chart}, came about {topic} and {errand}. "
            f"Write to {mail}; Mr {surname} reads it in the evening."
        )
        planted += [surname.encode(), surname.lower().encode(), chart.encode()]
    return texts, planted


def seen(folder: Path, planted: Sequence[bytes]) -> list[str]:
    """The files with something planted in them, whatever they are called."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert files, folder
    return [
        path.name for path in files for content in [path.read_bytes()] if any(p in content for p in planted)
    ]


# -- running, and killing ----------------------------------------------------------------------------------


def cheap(records: Path) -> list[str]:
    """The same ingest with an encoder that starts at once; a byte on standard output marks its progress."""
    return [sys.executable, "-m", "tests.killing", str(records)]


def real(records: Path) -> list[str]:
    return command("ingest", str(records), "-c", COLLECTION)


def several(records: Path) -> list[str]:
    """The real command with processes that sanitize."""
    return [*real(records), "--workers", "2"]


def place_of(folder: Path) -> Path:
    return folder / "data" / "collections" / COLLECTION


def main(records: str) -> None:
    # Rows of a vector database in small batches, so that kills fall between them.
    vector_store.ROWS_AT_ONCE = 8
    settings = load_settings({})
    system = system_of(settings, encoder=WordEncoder())

    def tell(_: object = None) -> None:
        os.write(1, b".")

    tell()
    ingest(system, DataDir(settings), COLLECTION, read_documents([records]), tell)


def start(bench_arguments: Sequence[str], folder: Path) -> "subprocess.Popen[bytes]":
    """The process, with all that it may write on under ``folder``."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    with (folder / "stderr").open("wb") as errors:
        return subprocess.Popen(
            bench_arguments,
            env={**environment(folder / "data"), **READING, **SETTINGS, "TMPDIR": str(folder / "tmp")},
            cwd=folder,
            bufsize=0,
            stdout=subprocess.PIPE,
            stderr=errors,
        )


def run_to_the_end(arguments: Sequence[str], folder: Path) -> list[float]:
    """Seconds before each byte of its output and before its end."""
    times = [time.monotonic()]
    with start(arguments, folder) as process:
        assert process.stdout is not None
        while process.stdout.read(1):
            times.append(time.monotonic())
    assert process.returncode == 0, (folder / "stderr").read_text()
    return [later - earlier for earlier, later in pairwise([*times, time.monotonic()])]


def was_killed(arguments: Sequence[str], folder: Path, moment: Moment) -> bool:
    """Whether the process was still there at the moment; it must not have failed before."""
    with start(arguments, folder) as process:
        moment(process, folder)
        process.kill()
    assert process.returncode in (0, -signal.SIGKILL), (folder / "stderr").read_text()
    return process.returncode != 0


def at_times(generator: random.Random, count: int, seconds: float, writing: float) -> Iterator[Moment]:
    """By turns at any time from the start on, and within the ``writing`` seconds after the first write."""
    while True:
        for part in generator.sample(range(count), count):
            yield _once_it_writes(generator.uniform(0, writing))
            yield _after(0, seconds * (part + generator.random()) / count)


def at_steps(generator: random.Random, gaps: Sequence[float]) -> Iterator[Moment]:
    """In every round once while the scale is fitted, once after the last batch, twice in between."""
    last = len(gaps) - 1
    while True:
        others = [generator.randrange(2, last), generator.randrange(2, last), last]
        for step in (1, *generator.sample(others, len(others))):
            yield _after(step, generator.uniform(0, gaps[step]))


def _once_it_writes(delay: float) -> Moment:
    def moment(process: "subprocess.Popen[bytes]", folder: Path) -> None:
        log = place_of(folder) / "collection.db-wal"
        began = time.time()
        while process.poll() is None and not _written_since(began, log):
            time.sleep(0.002)
        time.sleep(delay)

    return moment


def _written_since(began: float, log: Path) -> bool:
    try:
        return log.stat().st_mtime > began
    except FileNotFoundError:  # not there yet, or taken away by a checkpoint
        return False


def once_all_are_kept(records: int, delay: float) -> Moment:
    """``delay`` seconds after all records lie in the database."""

    def moment(process: "subprocess.Popen[bytes]", folder: Path) -> None:
        place = place_of(folder) / "collection.db"
        while process.poll() is None and _kept(place) < records:
            time.sleep(0.005)
        time.sleep(delay)

    return moment


def _kept(place: Path) -> int:
    try:
        connection = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
        try:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def _after(step: int, delay: float) -> Moment:
    def moment(process: "subprocess.Popen[bytes]", folder: Path) -> None:
        assert process.stdout is not None
        for _ in range(step):
            process.stdout.read(1)
        time.sleep(delay)

    return moment


if __name__ == "__main__":
    main(sys.argv[1])
