"""An ingest that is killed again and again ends as one that was left alone. All records are invented.

``KILLS=100 pytest -s tests/test_kill.py`` kills more often than the default run and tells where it hit.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.compose import Services
from app.ingesting import ingest
from app.settings import load_settings
from ingest.keys import content_key, secret_key
from ingest.protocols import Encoder
from ingest.read.sources import read_documents
from models.vectors import Vectors
from tests.commands import command, environment, write_records
from tests.doubles import WordEncoder

KILLS = int(os.environ.get("KILLS", "16"))
REAL_KILLS = max(4, KILLS // 8)
KILLS_A_ROUND = 4
"""After so many kills a run is left to end, its collection is compared, and a new one is begun."""

RECORDS, BATCH, PASSAGE_TOKENS = 120, 4, 48
COLLECTION = "killed"
SETTINGS = {
    "LETHE_INGEST__BATCH_DOCUMENTS": str(BATCH),
    "LETHE_RETRIEVAL__PASSAGE_TOKENS": str(PASSAGE_TOKENS),
}

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
QUESTIONS = ("Who came about the boiler?", "lisinopril", "bees behind the chapel", "an unpaid fine")

Moment = Callable[["subprocess.Popen[bytes]"], None]
"""Waits for the moment at which a process is to be killed."""


@dataclass(frozen=True)
class Content:
    """What a collection holds, in the order of the documents."""

    documents: list[tuple[Any, ...]]
    passages: list[tuple[Any, ...]]
    ledger: list[tuple[Any, ...]]
    vectors: Vectors
    manifest: dict[str, Any]
    found: list[list[tuple[str, str]]]


@dataclass(frozen=True)
class Bench:
    """One way of running the ingest, and how it goes when nobody disturbs it."""

    arguments: Callable[[Path], list[str]]
    encoder: Encoder
    records: Path
    texts: Sequence[str]
    planted: Sequence[bytes]
    undisturbed: Content
    gaps: Sequence[float]
    """Seconds before each byte that the process writes, and before its end."""


# -- the records and what must never be seen of them -------------------------------------------------------


def invented() -> tuple[list[str], list[bytes]]:
    """Texts, and the strings planted in them, each said once in all of the texts."""
    generator = random.Random(7)
    syllables = ("bra", "ke", "lun", "mo", "tis", "vor", "wen", "zil", "gra", "pu")
    surnames: set[str] = set()
    while len(surnames) < RECORDS:
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
    return [sys.executable, "-m", "tests.test_kill", str(records)]


def real(records: Path) -> list[str]:
    return command("ingest", str(records), "-c", COLLECTION)


def main(records: str) -> None:
    services = Services(load_settings({}))
    vars(services)["encoder"] = WordEncoder()

    def tell(_: object = None) -> None:
        os.write(1, b".")

    tell()
    ingest(services, COLLECTION, read_documents([records]), tell)


def start(bench_arguments: Sequence[str], folder: Path) -> "subprocess.Popen[bytes]":
    """The process, with all that it may write on under ``folder``."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    with (folder / "stderr").open("wb") as errors:
        return subprocess.Popen(
            bench_arguments,
            env={**environment(folder / "data"), **SETTINGS, "TMPDIR": str(folder / "tmp")},
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
        moment(process)
        process.kill()
    assert process.returncode in (0, -signal.SIGKILL), (folder / "stderr").read_text()
    return process.returncode != 0


def at_times(generator: random.Random, count: int, seconds: float) -> Iterator[Moment]:
    """Spread over the whole time that an undisturbed run takes, start-up included, without end."""
    while True:
        for place in generator.sample(range(count), count):
            delay = seconds * (place + generator.random()) / count
            yield lambda _, delay=delay: time.sleep(delay)  # type: ignore[misc]  # a default binds it now


def at_steps(generator: random.Random, gaps: Sequence[float]) -> Iterator[Moment]:
    """While the scale is fitted, among the batches, after the last one: each as often as the others."""
    while True:
        last = len(gaps) - 1
        step = generator.choice([1, generator.randrange(2, last), generator.randrange(2, last), last])
        yield _after(step, generator.uniform(0, gaps[step]))


def _after(step: int, delay: float) -> Moment:
    def moment(process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        for _ in range(step):
            process.stdout.read(1)
        time.sleep(delay)

    return moment


# -- looking at what is there ------------------------------------------------------------------------------


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the database as a reader sees them."""
    path = folder / "data" / "collections" / COLLECTION / "collection.db"
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def phase(folder: Path) -> str:
    """What the kill interrupted, judged by what it left."""
    place = folder / "data" / "collections" / COLLECTION
    if not (place / "manifest.json").is_file():
        return "before the manifest"
    if not (place / "collection.db").is_file() or not query(folder, "PRAGMA user_version")[0][0]:
        return "while the database was made"
    ((documents,),) = query(folder, "SELECT count(*) FROM documents")
    if documents < RECORDS:
        return "among the batches"
    states = [state for (state,) in query(folder, "SELECT state FROM jobs ORDER BY job_id")]
    if states[-1] == "running":
        return "when all was kept and the job not done"
    return "after the job was done"


def content_of(folder: Path, encoder: Encoder) -> Content:
    services = Services(load_settings({"data_dir": str(folder / "data")}))
    vars(services)["encoder"] = encoder
    passages = query(folder, "SELECT doc_id, start, stop, text, vector FROM passages ORDER BY 1, 2, 3")
    vectors = np.stack([np.frombuffer(row[-1], dtype=np.float32) for row in passages])
    with services.open(COLLECTION) as collection:
        assert collection.store.broken_audit_entry() is None
        assert not collection.store.interrupted()
        retrieved = services.retriever(collection).retrieve(QUESTIONS, 5)
    manifest = json.loads((folder / "data" / "collections" / COLLECTION / "manifest.json").read_text())
    del manifest["created"]
    return Content(
        query(folder, "SELECT doc_id, characters, risk_before, risk_after FROM documents ORDER BY 1"),
        [row[:-1] for row in passages],
        query(folder, "SELECT * FROM ledger ORDER BY doc_id, start, stop, label, source"),
        vectors,
        manifest,
        [[(each.passage.doc_id, each.passage.text) for each in row] for row in retrieved],
    )


def check_same(folder: Path, bench: Bench) -> None:
    """The collection is the undisturbed one, nothing twice, no job under way, no file left over."""
    content, expected = content_of(folder, bench.encoder), bench.undisturbed
    assert content.documents == expected.documents
    assert content.passages == expected.passages
    assert content.ledger == expected.ledger
    assert content.manifest == expected.manifest
    assert content.found == expected.found
    np.testing.assert_allclose(content.vectors, expected.vectors, rtol=0, atol=1e-5)
    key = secret_key(folder / "data")
    keys = {row[0] for row in query(folder, "SELECT content_key FROM documents")}
    assert keys == {content_key(text, key) for text in bench.texts}
    states = Counter(row[0] for row in query(folder, "SELECT state FROM jobs"))
    assert states["running"] == 0
    assert [(states["done"],)] == query(folder, "SELECT count(*) FROM audit_log")
    files = {path.name for path in (folder / "data" / "collections" / COLLECTION).iterdir()}
    assert files == {"lock", "manifest.json", "collection.db", "vectors.faiss"}


# -- the tests ---------------------------------------------------------------------------------------------


def bench_of(folder: Path, arguments: Callable[[Path], list[str]], encoder: Encoder) -> Bench:
    texts, planted = invented()
    records = write_records(folder / "records.jsonl", texts)
    gaps = run_to_the_end(arguments(records), folder / "undisturbed")
    assert seen(folder / "undisturbed", planted) == []
    content = content_of(folder / "undisturbed", encoder)
    assert len(content.documents) == RECORDS
    assert "first" in content.manifest["scale"]["source"], "the scale is to be fitted, not the embedded one"
    return Bench(arguments, encoder, records, texts, planted, content, gaps)


def kill_again_and_again(bench: Bench, folder: Path, moments: Iterator[Moment], count: int) -> Counter[str]:
    """Where the kills hit; each round is resumed to its end and compared."""
    hits: Counter[str] = Counter()
    arguments = bench.arguments(bench.records)
    while hits.total() < count:
        place = folder / f"round{hits.total():03d}"
        for moment in (next(moments) for _ in range(min(KILLS_A_ROUND, count - hits.total()))):
            if was_killed(arguments, place, moment):
                assert seen(place, bench.planted) == []
                hits[phase(place)] += 1
        run_to_the_end(arguments, place)
        assert seen(place, bench.planted) == []
        check_same(place, bench)
    sys.stdout.write(f"\n{count} kills: {', '.join(f'{n} {where}' for where, n in sorted(hits.items()))}\n")
    return hits


@pytest.mark.slow
@pytest.mark.timeout(60 + 10 * KILLS)
def test_killed_at_every_step(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, cheap, WordEncoder())
    hits = kill_again_and_again(
        bench, tmp_path, at_steps(random.Random(KILLS), bench.gaps), KILLS - REAL_KILLS
    )
    assert {"before the manifest", "among the batches"} <= set(hits)


@pytest.mark.slow
@pytest.mark.timeout(120 + 20 * REAL_KILLS)
def test_the_real_command_killed_at_any_time(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, real, Services(load_settings({"data_dir": str(tmp_path)})).encoder)
    moments = at_times(random.Random(KILLS), REAL_KILLS, sum(bench.gaps))
    kill_again_and_again(bench, tmp_path, moments, REAL_KILLS)


if __name__ == "__main__":
    main(sys.argv[1])
