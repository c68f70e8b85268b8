"""Ingest takes no more memory for many documents than for few. All documents are invented."""

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.compose import system_of
from app.data_dir import DataDir
from app.ingesting import ingest
from app.settings.load import load_settings
from ingest.pipeline import Tally
from ingest.read.sources import read_documents
from ingest.scoring.scale import SAMPLE_DOCUMENTS
from tests.commands import PLAIN, environment
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder

FEW = SAMPLE_DOCUMENTS + 44
"""More than the scale is fitted on, because those are held while the run lasts."""

TIMES = 8
DIM = 32
BOUND = 4_000_000
"""Bytes by which a peak may differ between two runs that hold the same."""

STATUS = Path("/proc/self/status")
WORDS = "heron boiler mill canal harvest chapel lantern orchard ferry ladder quarry meadow wagon".split()


def peak() -> int:
    """The peak of resident memory of this process, in bytes.

    ``getrusage`` would start from the peak of the process that started this one.
    """
    (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def main(records: str, detector: str) -> None:
    """One ingest; its peaks before and after the index is made, and what the index has to hold."""
    settings = load_settings({})
    encoder = HashingEncoder()
    encoder.dim = DIM
    system = system_of(settings, encoder=encoder)
    if detector == "phrases":
        phrases = {"Keller": "person full name", "Bremen": "city name"}
        system = replace(system, detector=PhraseDetector(phrases))
    before = 0

    def note(_: Tally) -> None:
        nonlocal before
        before = peak()

    tally = ingest(system, DataDir(settings), "memory", read_documents([records]), note)
    row = {"kept": tally.kept, "before": before, "after": peak(), "index": tally.passages * (4 * DIM + 8)}
    sys.stdout.write(json.dumps(row))


def write_corpus(path: Path, count: int, words: int) -> Path:
    generator = random.Random(3)
    with path.open("w") as file:
        for number in range(count):
            story = " ".join(generator.choices(WORDS, k=words))
            text = f"Invented {number}. Mr Keller of Bremen, box{number}@example.org, saw: {story}."
            file.write(json.dumps({"id": f"m{number}", "text": text}) + "\n")
    return path


def measured(folder: Path, count: int, words: int, detector: str) -> dict[str, int]:
    records = write_corpus(folder / f"{count}.jsonl", count, words)
    command = [sys.executable, "-m", "tests.project.test_memory", str(records), detector]
    done = subprocess.run(
        command,
        env=environment(folder / f"data{count}") | PLAIN,
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    row: dict[str, int] = json.loads(done.stdout)
    assert row["kept"] == count
    return row


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(("words", "detector"), [(12, "rules"), (1000, "phrases")])
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, words: int, detector: str) -> None:
    """Short documents through the real detector, and long ones whose texts would show if they were held."""
    few = measured(tmp_path, FEW, words, detector)
    many = measured(tmp_path, TIMES * FEW, words, detector)
    sys.stdout.write(f"\n{words} words, {detector}: {few} {many}\n")
    assert many["before"] - few["before"] < BOUND
    # The index is held by design; while it is filled, a block of it stands in memory three times more.
    assert many["after"] - few["after"] < BOUND + 4 * (many["index"] - few["index"])


if __name__ == "__main__":
    main(*sys.argv[1:])
