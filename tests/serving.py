"""The real ``lethe serve`` in a process of its own, spoken to over real HTTP."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from app.server.served import ServedCollection
from ingest.protocols import EntityDetector
from retrieval.documents import Groups
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.protocols import Retriever
from tests.commands import command, environment, lethe, write_records
from tests.doubles import WordEncoder


class One:
    """A collection x that quotes what a retriever finds."""

    def __init__(self, retriever: Retriever) -> None:
        self._served = ServedCollection(lambda groups: retriever, VerbatimGenerator(), 5, retriever)
        self.encoder = WordEncoder()

    def forget_questions(self) -> None:
        """It remembers none."""

    def names(self) -> list[str]:
        return ["x"]

    def serves(self, name: str) -> bool:
        return name == "x"

    def get(self, name: str) -> ServedCollection:
        return self._served

    def row(self, name: str) -> dict[str, object]:
        return {}

    def documents(self, name: str, groups: Groups = None) -> int:
        return 10


def no_detector() -> EntityDetector:
    raise AssertionError("nothing is detected here")


@dataclass(frozen=True)
class Served:
    """A running server and the one line it has said."""

    process: "subprocess.Popen[str]"
    url: str
    line: str

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30, **options)

    def ended_by(self, number: signal.Signals) -> tuple[int, float, str, str]:
        """Exit code, seconds, and all that was said on standard output and error."""
        began = time.monotonic()
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, time.monotonic() - began, out, self.line + err


@contextmanager
def running(arguments: Sequence[str], env: dict[str, str], cwd: Path) -> Iterator[Served]:
    """A process that says where it serves, killed with the block if it still runs."""
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, env=env, cwd=cwd, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        try:
            assert found, line + process.stderr.read()
            yield Served(process, found[0], line)
        finally:
            process.kill()


def ingested(folder: Path, settings: str, notes: Sequence[str]) -> Path:
    """A data folder with these settings, and the notes in its collection ``notes``."""
    data = folder / "data"
    data.mkdir()
    (data / "settings.toml").write_text(settings)
    ran = lethe(data, "ingest", str(write_records(folder / "notes.jsonl", notes)), "-c", "notes")
    assert ran.code == 0, ran.err
    return data


@contextmanager
def served(data: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    env = environment(data) | {"LETHE_SERVER__PORT": "0"} | variables
    with running(command("serve", *(arguments or ("-c", "notes"))), env, data.parent) as server:
        yield server


def ask(client: httpx.Client, question: str) -> Any:
    asked = {"messages": [{"role": "user", "content": question}]}
    return client.post("/v1/chat/completions", json=asked)
