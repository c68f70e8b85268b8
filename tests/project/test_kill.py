"""An ingest that is killed again and again ends as one that was left alone. All records are invented.

``KILLS=100 pytest -s tests/project/test_kill.py`` kills more often than the default run.
"""

import json
import os
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.compose import encoder_of, retriever_of
from app.data_dir import DataDir
from app.settings.load import load_settings
from ingest.keys import content_key, secret_key
from ingest.protocols import Encoder
from models.vectors import Vectors
from retrieval.collection import locked
from retrieval.search import HYBRID
from tests.commands import write_records
from tests.doubles import WordEncoder
from tests.killing import (
    COLLECTION,
    Moment,
    at_steps,
    at_times,
    cheap,
    invented,
    place_of,
    real,
    run_to_the_end,
    seen,
    several,
    was_killed,
)

KILLS = int(os.environ.get("KILLS", "16"))
REAL_KILLS = max(4, KILLS // 8)
KILLS_A_ROUND = 4
"""After so many kills a run is left to end, its collection is compared, and a new one is begun."""

RECORDS, REAL_RECORDS = 120, 36
"""The real command takes fewer, since a model reads each of them."""

QUESTIONS = ("Who came about the boiler?", "lisinopril", "bees behind the chapel", "an unpaid fine")


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


# -- looking at what is there ------------------------------------------------------------------------------


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the database as a reader sees them."""
    connection = sqlite3.connect(place_of(folder) / "collection.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def phase(folder: Path, records: int) -> str:
    """What the kill interrupted, judged by what it left."""
    place = place_of(folder)
    if not (place / "manifest.json").is_file():
        return "before the manifest"
    if not (place / "collection.db").is_file() or not query(folder, "PRAGMA user_version")[0][0]:
        return "while the database was made"
    ((documents,),) = query(folder, "SELECT count(*) FROM documents")
    if documents < records:
        return "among the batches"
    states = [state for (state,) in query(folder, "SELECT state FROM jobs ORDER BY job_id")]
    if states[-1] == "running":
        return "when all was kept and the job not done"
    return "after the job was done"


def content_of(folder: Path, encoder: Encoder) -> Content:
    data = DataDir(load_settings({"data_dir": str(folder / "data")}))
    passages = query(folder, "SELECT doc_id, start, stop, text, kept, vector FROM passages ORDER BY 1, 2, 3")
    # SQLite compares every entry of the index of words with the passages.
    query(folder, "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    vectors = np.stack([np.frombuffer(row[-1], dtype=np.float32) for row in passages])
    with data.open(COLLECTION) as collection:
        assert collection.store.broken_audit_entry() is None
        assert not collection.store.interrupted()
        retrieved = retriever_of(collection, encoder, HYBRID).retrieve(QUESTIONS, 5)
    manifest = json.loads((place_of(folder) / "manifest.json").read_text())
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
    key = secret_key(folder / "data" / "secret.key")
    keys = {row[0] for row in query(folder, "SELECT content_key FROM documents")}
    assert keys == {content_key(text, key) for text in bench.texts}
    states = Counter(row[0] for row in query(folder, "SELECT state FROM jobs"))
    assert states["running"] == 0
    assert [(states["done"],)] == query(folder, "SELECT count(*) FROM audit_log")
    files = {path.name for path in place_of(folder).iterdir()}
    assert files == {"lock", "manifest.json", "collection.db", "vectors.faiss"}


# -- the tests ---------------------------------------------------------------------------------------------


def bench_of(
    folder: Path,
    arguments: Callable[[Path], list[str]],
    encoder: Encoder,
    count: int,
    shape: Callable[[list[str]], list[str]] = list,
) -> Bench:
    texts, planted = invented(count)
    texts = shape(texts)
    records = write_records(folder / "records.jsonl", texts)
    gaps = run_to_the_end(arguments(records), folder / "undisturbed")
    assert seen(folder / "undisturbed", planted) == []
    content = content_of(folder / "undisturbed", encoder)
    assert len(content.documents) == len(texts)
    return Bench(arguments, encoder, records, texts, planted, content, gaps)


def mostly_in_one_line(texts: list[str]) -> list[str]:
    """One long document among a few short ones: most kills fall into the work on it."""
    return [*texts[:2], " ".join(texts[4:]), *texts[2:4]]


def kill_again_and_again(bench: Bench, folder: Path, moments: Iterator[Moment], count: int) -> Counter[str]:
    """Where the kills hit; each round is resumed to its end and compared."""
    hits: Counter[str] = Counter()
    arguments = bench.arguments(bench.records)
    while hits.total() < count:
        place = folder / f"round{hits.total():03d}"
        for moment in (next(moments) for _ in range(min(KILLS_A_ROUND, count - hits.total()))):
            if was_killed(arguments, place, moment):
                assert seen(place, bench.planted) == []
                hits[phase(place, len(bench.texts))] += 1
        run_to_the_end(arguments, place)
        assert seen(place, bench.planted) == []
        check_same(place, bench)
    sys.stdout.write(f"\n{count} kills: {', '.join(f'{n} {where}' for where, n in sorted(hits.items()))}\n")
    return hits


@pytest.mark.slow
@pytest.mark.timeout(60 + 20 * KILLS)
def test_killed_at_every_step(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, cheap, WordEncoder(), RECORDS)
    hits = kill_again_and_again(
        bench, tmp_path, at_steps(random.Random(KILLS), bench.gaps), KILLS - REAL_KILLS
    )
    assert "among the batches" in hits
    assert len(hits) > 1


@pytest.mark.slow
@pytest.mark.timeout(60 + 20 * KILLS)
def test_killed_in_the_work_on_a_long_document(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, cheap, WordEncoder(), RECORDS, mostly_in_one_line)
    count = KILLS - REAL_KILLS
    hits = kill_again_and_again(bench, tmp_path, _moments_of_writing(bench, tmp_path, count), count)
    assert hits["among the batches"] >= count // 4


@pytest.mark.slow
@pytest.mark.timeout(120 + 20 * REAL_KILLS)
@pytest.mark.parametrize("arguments", [real, several])
def test_the_real_command_killed_at_any_time(tmp_path: Path, arguments: Callable[[Path], list[str]]) -> None:
    encoder = encoder_of(load_settings({"data_dir": str(tmp_path), "threads": 1}))
    bench = bench_of(tmp_path, arguments, encoder, REAL_RECORDS)
    kill_again_and_again(bench, tmp_path, _moments_of_writing(bench, tmp_path, REAL_KILLS), REAL_KILLS)


def _moments_of_writing(bench: Bench, folder: Path, count: int) -> Iterator[Moment]:
    place = place_of(folder / "undisturbed")
    ended, began = ((place / name).stat().st_mtime for name in ("vectors.faiss", "manifest.json"))
    return at_times(random.Random(KILLS), count, sum(bench.gaps), ended - began)


def test_what_a_killed_writer_left_unfinished_is_swept_up(tmp_path: Path) -> None:
    (tmp_path / ".vectors-killed.tmp").touch()
    with locked(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_killed_process_of_the_same_number_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / f".secret.key.{os.getpid()}").touch()
    assert secret_key(tmp_path / "secret.key") == secret_key(tmp_path / "secret.key")
