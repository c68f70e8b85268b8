import argparse
import re
import shlex
import shutil
import subprocess
import sys
import time
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path

import pytest

from app.cli.arguments import parser
from benchmarks.readme import commands, printed, python_block, readme
from benchmarks.yardstick import tables
from tests.commands import ROOT, lethe
from tests.serving import served

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def test_the_readme_is_what_its_template_and_the_results_make() -> None:
    picture, made = (re.search(r"```diff\n(- .*?)```\n", text, re.DOTALL) for text in (README, readme()))
    assert picture and made
    assert README.replace(picture[0], "") == made.string.replace(made[0], ""), (
        "run: python -m benchmarks.readme"
    )
    assert tables()["yardstick"] in README
    # Where a decision is close, processors may take it otherwise: of paragraphs few words may differ.
    for own, new in zip(picture[1].splitlines(), made[1].splitlines(), strict=True):
        assert own == new or (own[:2] == "+ " and SequenceMatcher(None, own, new).ratio() > 0.9), own[:40]


def test_the_readme_installs_the_torch_that_is_tested() -> None:
    (named,) = re.findall(
        r"pip install (torch==\S+) --index-url https://download\.pytorch\.org/whl/cpu\n", README
    )
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    names = [each.partition("==")[0] for each in pinned if "==" in each]
    assert len(names) == len(set(names))
    assert named in pinned and f'"{named}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_the_commands_are_what_their_template_and_the_parser_make() -> None:
    assert COMMANDS == commands(), "run: python -m benchmarks.readme"


def test_the_python_example_prints_what_its_page_says() -> None:
    assert f"```text\n{printed(python_block(COMMANDS))}\n```" in COMMANDS


def test_the_policy_file_is_one(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(COMMANDS.split("```toml\n")[1].split("```")[0])
    ran = lethe(tmp_path / "data", "sanitize", "-", "--policy", str(policy), stdin="Then Tobias Keller left.")
    assert ran.rows[0]["text"] == "Then Name A left."


def write_notes(folder: Path) -> None:
    (folder / "notes").mkdir()
    note = "Invented. Mr Tobias Keller took lisinopril and had a dry cough, so lisinopril was stopped."
    (folder / "notes" / "a.txt").write_text(note)
    (folder / "mail.mbox").write_text(
        "From a@example.org Mon Jan  1 00:00:00 2024\nFrom: a@example.org\nSubject: mill\n\nInvented.\n"
    )


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
def test_the_server_does_what_the_readme_says(tmp_path: Path) -> None:
    write_notes(tmp_path)
    (tmp_path / "data").mkdir()
    section = README.split("## The server")[1].split("## What it protects")[0]
    sends, program, said = (
        re.findall(rf"```{kind}\n(.*?)```", section, re.DOTALL) for kind in ("bash", "python", "text")
    )
    with served(tmp_path / "data", "--host", "127.0.0.1") as server:

        def run(*command: str) -> str:
            here = [part.replace("http://127.0.0.1:8000", server.url) for part in command]
            return subprocess.run(here, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

        assert '"state":"waiting"' in run("bash", "-c", sends[0])
        for _ in range(240):
            if '"state":"done"' in (jobs := run("bash", "-c", sends[0].splitlines()[-1])):
                break
            time.sleep(0.25)
        assert '"documents_kept":2' in jobs
        assert run(sys.executable, "-c", program[0]) == said[0]


def test_every_command_of_the_examples_runs(tmp_path: Path) -> None:
    write_notes(tmp_path)
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "text": "Invented. The mill was sold."}\n')
    lines = [page.split("```sh\n")[1].split("```")[0].strip().splitlines() for page in (README, COMMANDS)]
    assert len(lines[0]) >= 5 and len(lines[1]) >= 9
    for line in chain(*lines):
        words = [word for part in shlex.split(line) for word in expanded(tmp_path, part)]
        ran = lethe(tmp_path / "data", *words[1:])
        assert ran.code == 0, f"{line}: {ran.err}"
        assert ran.rows


def expanded(folder: Path, word: str) -> list[str]:
    """A glob as the shell would give it."""
    found = sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else []
    return found or [word]


def verbs(top: argparse.ArgumentParser) -> list[str]:
    (action,) = [each for each in top._actions if isinstance(each, argparse._SubParsersAction)]
    return list(action.choices)


@pytest.mark.parametrize("verb", verbs(parser()))
def test_every_verb_is_documented(verb: str) -> None:
    assert re.search(rf"^### lethe {verb}$", COMMANDS, re.MULTILINE)


def test_every_file_that_the_readme_names_is_there() -> None:
    table = README.split("## The files")[1]
    for name in re.findall(r"`([a-zA-Z_./*]+)`", table):
        assert list(ROOT.glob(name.rstrip("/"))), name


def test_each_decision_has_a_name_of_its_own_and_few_sentences() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 350
    decisions = re.findall(r"^- ((?:.+\n)(?:  .+\n)*)", text, re.MULTILINE)
    found = [re.fullmatch(r"\*\*(.+?)\*\*\s?(.+)", each, re.DOTALL) for each in decisions]
    assert len(decisions) > 100 and all(found)
    names = [each[1] for each in found if each]
    assert len(set(names)) == len(names)


def test_the_changelog_is_short_and_has_its_groups_in_order() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 8_192
    _, *releases = re.split(r"^## ", text, flags=re.MULTILINE)
    order = ["Added", "Changed", "Removed", "Fixed"]
    for release in releases:
        groups = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert groups and groups == [each for each in order if each in groups]


def test_the_policy_page_shows_what_its_example_does(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    files = {"hospital.toml": "toml", "wards.py": "python", "notes.jsonl": "json"}
    for name, kind in files.items():
        content = page.split(f"```{kind}\n")[1].split("```")[0]
        (tmp_path / name).write_text(content, encoding="utf-8")
    ran = lethe(tmp_path / "data", "sanitize", "notes.jsonl", "--policy", "hospital.toml")
    assert ran.code == 0, ran.err
    made = "".join(f"{row['text']}\n" for row in ran.rows)
    code = re.compile(r"(?<=\[medical record number )[A-Z0-9]{8}(?=\])")
    assert len(code.findall(made)) == 2 and len(set(code.findall(made))) == 1
    shown = page.split("```text\n")[1].split("```")[0]
    assert code.sub("CODE", made) == code.sub("CODE", shown)
