"""How many processes an ingest takes, and the command with two of them."""

import json
import os
from pathlib import Path

import pytest

from app.ingesting import workers_for
from app.settings.load import load_settings
from tests.commands import lethe, write_records

NOTES = [f"Invented note {number}. Mr Tobias Keller keeps the lighthouse." for number in range(70)]


@pytest.mark.parametrize(
    ("size", "cores", "gigabytes", "expected"),
    [(None, 4, 64, 4), (10_000_000, 4, 64, 4), (10_000, 4, 64, 1), (None, 16, 8, 4), (None, 4, 1, 1)],
)
def test_one_process_for_each_core_and_two_gigabytes(
    size: int | None, cores: int, gigabytes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"SC_PHYS_PAGES": gigabytes << 18, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", known.__getitem__)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr("models.local_files.best_device", lambda: "cpu")
    assert workers_for(load_settings({}), size) == expected


def test_a_gpu_takes_one_process_and_the_settings_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.local_files.best_device", lambda: "cuda")
    assert workers_for(load_settings({}), None) == 1
    assert workers_for(load_settings({"ingest.workers": 3}), 10) == 3


def test_two_processes_keep_what_one_keeps(tmp_path: Path) -> None:
    records = str(write_records(tmp_path / "notes.jsonl", NOTES))
    told = []
    for workers in ("1", "2"):
        ran = lethe(tmp_path / workers, "ingest", records, "-c", "notes", "--workers", workers)
        assert ran.code == 0, ran.err
        told.append({name: n for name, n in json.loads(ran.out).items() if "second" not in name})
    assert told[0] == told[1]
    assert told[0]["documents_kept"] == len(NOTES)


def test_no_process_is_refused_with_the_remedy(tmp_path: Path) -> None:
    records = str(write_records(tmp_path / "notes.jsonl", NOTES[:1]))
    ran = lethe(tmp_path / "data", "ingest", records, "-c", "notes", "--workers", "0")
    assert ran.code == 2
    assert "ingest.workers" in ran.err
