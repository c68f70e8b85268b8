"""How many processes an ingest takes, and the command with two of them."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from app import ingesting
from app.ingesting import workers_for
from app.machine import cores, memory
from app.settings.load import load_settings
from tests.commands import lethe, write_records

NOTES = [f"Invented note {number}. Mr Tobias Keller keeps the lighthouse." for number in range(70)]


@pytest.mark.parametrize(
    ("size", "free", "gigabytes", "expected"),
    [(None, 4, 64, 4), (10_000_000, 4, 64, 4), (10_000, 4, 64, 1), (None, 16, 8, 7), (None, 4, 1, 1)],
)
def test_one_process_for_each_core_and_gigabyte(
    size: int | None, free: int, gigabytes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "memory", lambda: gigabytes << 30)
    monkeypatch.setattr(ingesting, "cores", lambda: free)
    monkeypatch.setattr("models.local_files.best_device", lambda: "cpu")
    assert workers_for(load_settings({}), size) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"encoder.source": "hub", "encoder.name": "some/model"},
        {"generator.kind": "llama_cpp", "generator.path": "/models/some.gguf", "policy.name": "intact"},
    ],
)
def test_a_model_that_is_not_embedded_is_loaded_once(
    given: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "memory", lambda: 64 << 30)
    monkeypatch.setattr(ingesting, "cores", lambda: 8)
    assert workers_for(load_settings(given), None) == 1
    assert workers_for(load_settings({**given, "ingest.workers": 2}), None) == 2


def test_a_model_that_only_answers_leaves_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingesting, "memory", lambda: 64 << 30)
    monkeypatch.setattr(ingesting, "cores", lambda: 8)
    monkeypatch.setattr("models.local_files.best_device", lambda: "cpu")
    given = {"generator.kind": "llama_cpp", "generator.path": "/models/some.gguf"}
    assert workers_for(load_settings(given), None) == 8


def test_a_gpu_takes_one_process_and_the_settings_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.local_files.best_device", lambda: "cuda")
    assert workers_for(load_settings({}), None) == 1
    assert workers_for(load_settings({"ingest.workers": 3}), 10) == 3


def test_a_container_has_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1 << 24, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert (cores(tmp_path), memory(tmp_path)) == (8, 64 << 30)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert (cores(tmp_path), memory(tmp_path)) == (8, 64 << 30)
    (tmp_path / "cpu.max").write_text("250000 100000\n")
    (tmp_path / "memory.max").write_text(f"{4 << 30}\n")
    assert (cores(tmp_path), memory(tmp_path)) == (2, 4 << 30)


def test_two_processes_keep_what_one_keeps(tmp_path: Path) -> None:
    records = str(write_records(tmp_path / "notes.jsonl", NOTES))
    told, kept = [], []
    for workers in ("1", "2"):
        data = tmp_path / workers
        data.mkdir()
        (data / "settings.toml").write_text('numbers = "float32"\n[policy]\ndeny = ["lighthouse"]\n')
        ran = lethe(data, "ingest", records, "-c", "notes", "--workers", workers)
        assert ran.code == 0, ran.err
        told.append({name: n for name, n in json.loads(ran.out).items() if "second" not in name})
        connection = sqlite3.connect(data / "collections" / "notes" / "collection.db")
        queries = (
            "SELECT text FROM passages ORDER BY text",
            "SELECT start, stop, label, action, reason FROM ledger ORDER BY 1, 2, 3, 4, 5",
        )
        kept.append([connection.execute(query).fetchall() for query in queries])
        connection.close()
    assert told[0] == told[1]
    assert kept[0] == kept[1]
    assert told[0]["documents_kept"] == len(NOTES)
    assert not any("lighthouse" in text or "Keller" in text for (text,) in kept[1][0])


def test_no_process_is_refused_with_the_remedy(tmp_path: Path) -> None:
    records = str(write_records(tmp_path / "notes.jsonl", NOTES[:1]))
    ran = lethe(tmp_path / "data", "ingest", records, "-c", "notes", "--workers", "0")
    assert ran.code == 2
    assert "ingest.workers" in ran.err
