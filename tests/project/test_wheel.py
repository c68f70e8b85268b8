import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.commands import ROOT

DATA = (
    "app/demo/corpus.jsonl",
    "ingest/language/vocabulary/given_names.txt",
    "ingest/scoring/embedded_scale.json",
    "app/presets/paper.toml",
    "app/web/index.html",
    "retrieval/store/schema.sql",
)
TRAINING = "models/training/"
CAUGHT: Any = {"capture_output": True, "text": True}
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
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        archive.extractall(tmp_path / "site")
    assert set(DATA) <= held
    data = (".py", ".txt", ".json", ".jsonl", ".sql", ".toml", ".j2", ".css", ".js", ".html")
    shipped = {name for name in tracked if "/" in name and not name.startswith(TRAINING)}
    assert {name for name in shipped if name.endswith(data)} <= held
    assert {name for name in held if name.startswith(TRAINING)} == set()
    assert {name.split("/")[0] for name in held if not name.startswith("lethe-")} == set(ROOMS)
    _check_it_works_without_training(
        tmp_path / "site", [name for name in held if name.endswith(".py") and "__main__" not in name]
    )


def _check_it_works_without_training(site: Path, files: Sequence[str]) -> None:
    modules = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files]
    code = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    # Without the site module an editable install does not offer what the wheel lacks.
    python = [sys.executable, "-S", "-P", "-c"]
    found = {"PYTHONPATH": os.pathsep.join((str(site), sysconfig.get_path("purelib")))}
    whole = subprocess.run([*python, code], cwd=site, env=found, check=False, **CAUGHT)
    assert whole.returncode == 0, whole.stderr[-2000:]
    code = "from app.cli.main import run; run()"
    for verb in (["train-reader", "data", "--encoder", "file"], ["train-risk", "--encoder", "folder"]):
        command = [*python, code, "models", *verb, "--output", "made"]
        done = subprocess.run(command, cwd=site, env=found, check=False, **CAUGHT)
        assert done.returncode == 2
        assert "Training is not part of the installed package: run this in a checkout" in done.stderr
