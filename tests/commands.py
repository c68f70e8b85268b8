"""Running the real ``lethe``, in a process of its own or in this one."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
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


def public_data(*needed: str) -> Path:
    """The folder of the public corpora, if it holds ``needed``; without it the test is skipped."""
    for folder in (os.environ.get("LETHE_DATA", ""), ROOT.parent / "shared" / "data"):
        if folder and all((Path(folder) / each).exists() for each in needed or ("",)):
            return Path(folder)
    pytest.skip(
        f"neither LETHE_DATA nor ../shared/data is a folder with {', '.join(needed) or 'public corpora'}"
    )


PLAIN = {"LETHE_DETECTOR__LEARNED": "false", "LETHE_RISK__KIND": "prior"}
"""Patterns and the prior, for tests that are about what is kept and not about what is found."""
READING = {"LETHE_RISK__KIND": "prior"}
"""The reader and the prior, for tests in which names are found."""


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


def imported_by(code: str, names: Sequence[str]) -> list[str]:
    """Which of the modules ``names`` a new process has after ``code``, those inside them included."""
    code += f"\nimport sys\nprint(*(name for name in sys.modules if name.split('.')[0] in {list(names)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """JSON lines, packed if the name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)


def write_records(path: Path, texts: Sequence[str]) -> Path:
    """Invented records, one JSON object a line."""
    write_lines(path, ({"id": f"r{number:04d}", "text": text} for number, text in enumerate(texts)))
    return path
