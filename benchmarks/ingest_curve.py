"""Speed and memory of ``lethe ingest`` as a collection grows.

``python -m benchmarks.ingest_curve --seconds 1500`` ingests short invented records, made of lines of the demo
corpus with other names, and reads every few seconds how many are stored, and how much memory and processor
time the processes have taken. It ends the command after so many seconds, or once all records are stored, and
writes ``benchmarks/results/ingest_curve.json``.
"""

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.demo import corpus_path
from app.machine import cores
from eval.provenance import commit_here, provenance_here
from ingest.language.vocabulary import words

RESULT = Path(__file__).parent / "results" / "ingest_curve.json"
SEED, LEAST, PAUSE = 0, 120, 5.0
"""Characters of the shortest record, and seconds between two readings."""
SHOWN = tuple(step * 10**power for power in range(3, 7) for step in (1, 2, 5))
"""Numbers of documents at which the curve is read."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What the processes of an ingest have taken; ``at`` are seconds since its start."""

    at: float
    stored: int
    held: int
    """Bytes of memory now."""
    worked: float
    """Seconds of processor time, of all processes together."""


def records(count: int) -> Iterator[Mapping[str, str]]:
    """Invented records, each of at least ``LEAST`` characters where its document goes on so long."""
    rng = random.Random(SEED)
    given, surnames = sorted(words("given_names")), sorted(words("surnames"))
    with corpus_path().open(encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines][1:]
    for number in range(count):
        document = documents[number % len(documents)]
        said = document["text"].splitlines()
        first = rng.randrange(len(said))
        text = ""
        for line in said[first:]:
            text += f"{line}\n"
            if len(text) >= LEAST:
                break
        for entity in document["entities"]:
            if entity["label"] == "person full name":
                name = f"{rng.choice(given).title()} {rng.choice(surnames).title()}"
                text = re.sub(rf"\b{re.escape(entity['text'])}\b", name, text)
        yield {"id": f"r{number}", "text": f"Record {number}.\n{text}"}


def curve(count: int, seconds: float) -> Mapping[str, Any]:
    """The readings of one ingest."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        characters = [0]
        with path.open("w", encoding="utf-8") as lines:
            for record in records(count):
                lines.write(json.dumps(record) + "\n")
                characters.append(characters[-1] + len(record["text"]))
        command = [sys.executable, "-m", "app.cli", "ingest", str(path), "-c", "curve"]
        environment = {**os.environ, "LETHE_DATA_DIR": folder}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            read = list(_readings(process, Path(folder) / "collections" / "curve" / "collection.db", seconds))
            process.send_signal(signal.SIGINT)
    return {"rows": _rows(read, characters), "stored": read[-1].stored, "seconds": round(read[-1].at, 1)}


def _readings(process: "subprocess.Popen[bytes]", database: Path, seconds: float) -> Iterator[Taken]:
    began = time.monotonic()
    while process.poll() is None and time.monotonic() - began < seconds:
        time.sleep(PAUSE)
        stored = 0
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as found:
            (stored,) = found.execute("SELECT count(*) FROM documents").fetchone()
        yield Taken(time.monotonic() - began, stored, *_of_processes(process.pid))


def _of_processes(pid: int) -> tuple[int, float]:
    """Bytes held and seconds worked by a process and those that it began; shared memory counts once."""
    stats: dict[int, list[str]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # Behind the name, which may hold anything: state, parent, ...
            stats[int(place.name)] = (place / "stat").read_text().rpartition(")")[2].split()
    held, ticks, waiting = 0, 0, [pid]
    while waiting:
        each = waiting.pop()
        waiting += [child for child, stat in stats.items() if int(stat[1]) == each]
        # Its own, and of those children that have ended.
        ticks += sum(map(int, stats.get(each, ["0"] * 15)[11:15]))
        with suppress(OSError):
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
            (line,) = re.findall(r"^Pss:\s+([0-9]+) kB", rollup, re.MULTILINE)
            held += int(line) * 1024
    return held, ticks / os.sysconf("SC_CLK_TCK")


def _rows(read: Sequence[Taken], characters: Sequence[int]) -> list[Mapping[str, float]]:
    """The curve where the numbers of ``SHOWN`` were reached, and at the end."""
    rows: list[Mapping[str, float]] = []
    last = next((each for each in read if each.stored), Taken(0.0, 0, 0, 0.0))
    ends = [next((each for each in read if each.stored >= count), None) for count in SHOWN]
    for each in dict.fromkeys([*(end for end in ends if end), read[-1]]):
        if each.stored <= last.stored:
            continue
        more = characters[each.stored] - characters[last.stored]
        rows.append(
            {
                "documents": each.stored,
                "characters": characters[each.stored],
                "seconds": round(each.at, 1),
                "characters_per_second": round(more / (each.at - last.at)),
                "characters_per_processor_second": round(more / (each.worked - last.worked)),
                "peak_bytes": max(other.held for other in read if other.at <= each.at),
            }
        )
        last = each
    return rows


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="Speed and memory of an ingest as it grows.")
    parser.add_argument("--documents", type=int, default=1_000_000, help="how many records there are")
    parser.add_argument("--seconds", type=float, default=1500, help="after how long the command is ended")
    given = parser.parse_args()
    commit = commit_here()
    found = {
        "provenance": provenance_here({}, commit).model_dump(mode="json"),
        "seed": SEED,
        "processes": cores(),
        **curve(given.documents, given.seconds),
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
