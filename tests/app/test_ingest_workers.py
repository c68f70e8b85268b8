"""How many processes an ingest takes, and the command with two of them."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app import ingesting
from app.ingesting import workers_for
from app.machine import cores, memory
from app.settings.load import load_settings
from tests.commands import lethe, write_records

NOTES = [f"Invented note {number}. Mr Tobias Keller keeps the lighthouse." for number in range(70)]


SOME = {"encoder.source": "hub", "encoder.name": "some/model"}
LLAMA = {"generator.kind": "llama_cpp", "generator.path": "/models/some.gguf"}
WRITING = LLAMA | {"policy.name": "intact"}


@pytest.mark.parametrize(
    ("given", "size", "machine", "expected"),
    [
        ({}, None, (4, 64, "cpu"), 4),
        ({}, 10_000_000, (4, 64, "cpu"), 4),
        ({}, 10_000, (4, 64, "cpu"), 1),
        ({}, None, (16, 8, "cpu"), 7),
        ({}, None, (4, 1, "cpu"), 1),
        ({}, None, (8, 64, "cuda"), 1),
        ({"ingest.workers": 3}, 10, (8, 64, "cuda"), 3),
        (SOME, None, (8, 64, "cpu"), 1),
        (SOME | {"ingest.workers": 2}, None, (8, 64, "cpu"), 2),
        (WRITING, None, (8, 64, "cpu"), 1),
        (WRITING | {"ingest.workers": 2}, None, (8, 64, "cpu"), 2),
        (LLAMA, None, (8, 64, "cpu"), 8),
    ],
)
def test_one_process_for_each_core_and_gigabyte_or_one_where_a_model_is_not_embedded(
    given: Any, size: int | None, machine: Any, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, gigabytes, device = machine
    monkeypatch.setattr(ingesting, "memory", lambda: gigabytes << 30)
    monkeypatch.setattr(ingesting, "cores", lambda: free)
    monkeypatch.setattr("models.local_files.best_device", lambda: device)
    assert workers_for(load_settings(given), size) == expected


def test_a_container_has_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1 << 24, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert (cores(tmp_path), memory(tmp_path)) == (8, 64 << 30)
    for processors, size, expected in (
        ("max 100000\n", "max\n", (8, 64 << 30)),
        ("250000 100000\n", f"{4 << 30}\n", (2, 4 << 30)),
    ):
        (tmp_path / "cpu.max").write_text(processors)
        (tmp_path / "memory.max").write_text(size)
        assert (cores(tmp_path), memory(tmp_path)) == expected


def test_two_processes_keep_what_one_keeps(tmp_path: Path) -> None:
    records = str(write_records(tmp_path / "notes.jsonl", NOTES))
    queries = (
        "SELECT text FROM passages ORDER BY text",
        "SELECT start, stop, label, action, reason FROM ledger ORDER BY 1, 2, 3, 4, 5",
    )
    came = []
    for workers in ("1", "2"):
        data = tmp_path / workers
        data.mkdir()
        (data / "settings.toml").write_text('numbers = "float32"\n[policy]\ndeny = ["lighthouse"]\n')
        ran = lethe(data, "ingest", records, "-c", "notes", "--workers", workers)
        assert ran.code == 0, ran.err
        told = {name: n for name, n in ran.summary.items() if "second" not in name}
        with closing(sqlite3.connect(data / "collections" / "notes" / "collection.db")) as connection:
            texts, ledger = (connection.execute(query).fetchall() for query in queries)
        came.append((told, texts, ledger))
    assert came[0] == came[1]
    assert told["documents_kept"] == len(NOTES)
    assert not any("lighthouse" in text or "Keller" in text for (text,) in texts)


def test_no_process_is_refused_with_the_remedy(tmp_path: Path) -> None:
    records = str(write_records(tmp_path / "notes.jsonl", NOTES[:1]))
    ran = lethe(tmp_path / "data", "ingest", records, "-c", "notes", "--workers", "0")
    assert (ran.code, "ingest.workers" in ran.err) == (2, True)
