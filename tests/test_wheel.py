import subprocess
import sys
import zipfile
from pathlib import Path

from tests.commands import ROOT

DATA = (
    "app/demo/corpus.jsonl",
    "ingest/rules/vocabulary/given_names.txt",
    "ingest/scoring/embedded_scale.json",
    "app/presets/paper.toml",
    "retrieval/schema.sql",
)
ROOMS = ("models", "ingest", "retrieval", "eval", "app")


def test_the_wheel_holds_every_module_and_its_data(tmp_path: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", *ROOMS, "pyproject.toml", "README.md", "LICENSE", "NOTICE"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    for name in tracked:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-w", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = (tmp_path / "out").glob("lethe-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert set(DATA) <= held
    data = (".py", ".txt", ".json", ".jsonl", ".sql", ".toml")
    assert {name for name in tracked if "/" in name and name.endswith(data)} <= held
    assert {name.split("/")[0] for name in held if not name.startswith("lethe-")} == set(ROOMS)
