"""Running the real ``lethe``, in a process of its own or in this one."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def summary(self) -> dict[str, Any]:
        """The last row; empty without rows."""
        return self.rows[-1] if self.out else {}

    @property
    def messages(self) -> list[str]:
        """The lines of standard error that are messages, and not the progress bar."""
        return [line for line in self.err.splitlines() if line.startswith("lethe: ")]


PLAIN = {"LETHE_DETECTOR__LEARNED": "false", "LETHE_RISK__KIND": "prior"}
"""Patterns, rules and the prior, for tests that are about what is kept and not about what is found."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "app.cli", *arguments]


def environment(data_dir: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LETHE_")}
    chosen = {"LETHE_DATA_DIR": str(data_dir), "LETHE_INGEST__KEEP_IDS": "true"}
    return {**kept, **chosen, "PYTHONPATH": str(ROOT)}


def lethe(data_dir: Path, *arguments: str, stdin: str | None = None) -> Ran:
    done = subprocess.run(
        command(*arguments),
        env=environment(data_dir),
        cwd=data_dir.parent,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def in_process(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """The command in this process, with nothing said before it."""
    capsys.readouterr()
    try:
        code = main(arguments)
    except SystemExit as misused:
        code = int(misused.code or 0)
    return Ran(code, *capsys.readouterr())


def write_records(path: Path, texts: Sequence[str]) -> Path:
    """Invented records, one JSON object a line."""
    rows = (json.dumps({"id": f"r{number:04d}", "text": text}) for number, text in enumerate(texts))
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path
