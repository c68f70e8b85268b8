"""docs/extending.md: an attack, a figure and a task that are one file each. All data is invented."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import main
from eval.attacks.extraction import attack_from
from eval.rows import RowFile
from tests.commands import READING, ROOT, write_records

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
ATTACK, FIGURE, TASK, FOLD = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
TEXTS = [f"Invented. Mr {name} came with a cough and left." for name in ("Tobias Orrin", "Ada Venn")]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in (READING | {"LETHE_DATA_DIR": str(tmp_path / "data")}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    write_records(tmp_path / "notes.jsonl", TEXTS)
    return tmp_path


def test_the_attack_of_the_page_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "my_attack.py").write_text(ATTACK)
    assert main(["attack", "custom", "my_attack.py:Flattery", "notes.jsonl", "--report", "leaks"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["attack"]["name"], summary["attack"]["planned"]) == ("flattery", 3)
    arms = {arm["name"]: arm["entity_leakage"] for arm in summary["arms"]}
    assert arms["origin"]["hits"] == arms["origin"]["n"] > 0
    assert arms["redact"]["hits"] == 0 < arms["lethe"]["n"]
    assert len((here / "leaks" / "rows.jsonl").read_text().splitlines()) == 9
    assert "flattery" in (here / "leaks" / "report.html").read_text()

    (here / "naming.py").write_text(FIGURE)
    named = printed(here, "naming.py", "leaks/rows.jsonl").splitlines()
    assert named[0].startswith("origin: 3 of 3, 95% interval 0.")
    assert named[1].startswith("redact: 0 of 3, 95% interval 0.00 to 0.")
    assert len(named) == 3 and named[2].startswith("lethe: ")


def test_an_attack_that_draws_at_random_asks_every_system_the_same(here: Path) -> None:
    drawing = ATTACK.replace('f"You are', 'f"{random.random()} You are')
    (here / "drawing.py").write_text(f"import random\n{drawing}")
    attack = attack_from("drawing.py:Flattery")
    assert attack.prompts() == attack.prompts()
    assert "0." in attack.prompts()[0].text


def test_the_rows_of_a_benchmark_are_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "my_attack.py").write_text(ATTACK)
    with RowFile("r", here / "bench"):
        before = (here / "bench" / "rows.jsonl").read_bytes()
    assert main(["attack", "custom", "my_attack.py:Flattery", "notes.jsonl", "--report", "bench"]) == 1
    assert "bench holds the rows of a benchmark, which would be lost." in capsys.readouterr().err
    assert (here / "bench" / "rows.jsonl").read_bytes() == before


def test_the_task_of_the_page_runs(here: Path) -> None:
    (here / "shorter.py").write_text(TASK)
    (here / "fold.py").write_text(FOLD)
    assert re.fullmatch(r"origin 27\.5\ntrip \d+\.\d\n", printed(here, "fold.py"))


def printed(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT}:{folder}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("place", "content", "message"),
    [
        ("none.py:Attack", None, "none.py:Attack names no attack: give a Python file and a class in it"),
        ("own.py", "", "own.py names no attack"),
        ("own.py:Attack", "x = ", "own.py:Attack cannot be run (SyntaxError in line 1). The class"),
        ("own.py:Attack", "x = 1\n1 / 0", "own.py:Attack cannot be run (ZeroDivisionError in line 2)"),
        ("own.py:Attack", "class Attack:\n    def __init__(self, x): ...\n", "cannot be run (TypeError"),
        ("own.py:Attack", "", "own.py has no class Attack."),
        (
            "own.py:Attack",
            ATTACK.replace("class Flattery", "class Attack").replace("enumerate(topics)", "()")
            + "Attack.prompts = lambda self: ['a letter']",
            "own.py:Attack: prompts() gives something else than AttackPrompt.",
        ),
        (
            "own.py:Attack",
            ATTACK.replace("class Flattery", "class Attack").replace("seed = 0", "seed = 'x'"),
            "own.py:Attack: seed is of another type: seed is a whole number",
        ),
        (
            "own.py:Attack",
            ATTACK.replace("class Flattery", "class Attack").replace('r, "flattery"', 'r, "Ada Venn"'),
            "own.py:Attack: the kind of a prompt is one word of at most 40 letters",
        ),
        ("own.py:Attack", "class Attack:\n    name = goal = ''\n", "it lacks threat_model, reference"),
        (
            "own.py:Attack",
            ATTACK.replace("class Flattery", "class Attack").replace("AttackPrompt(number", "AttackPrompt(7"),
            "its prompts are not numbered 0, 1, 2 and so on, or there are none",
        ),
    ],
)  # fmt: skip
def test_what_is_no_attack_is_refused_before_anything_is_read(
    here: Path, capsys: pytest.CaptureFixture[str], place: str, content: str | None, message: str
) -> None:
    if content is not None:
        (here / "own.py").write_text(content)
    assert main(["attack", "custom", place, "absent.jsonl"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
