import argparse
import re
import shlex
from pathlib import Path

import pytest

from app.cli.arguments import parser
from benchmarks.readme import ingests, leakage, printed, python_block, readme
from tests.commands import ROOT, lethe

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_what_its_template_and_the_results_make() -> None:
    assert README == readme(), "run: python -m benchmarks.readme"
    assert leakage() in README and ingests() in README


def test_the_python_example_prints_what_the_readme_says() -> None:
    assert f"```text\n{printed(python_block(README))}\n```" in README


def test_the_policy_file_is_one(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(README.split("```toml\n")[1].split("```")[0])
    ran = lethe(tmp_path / "data", "sanitize", "-", "--policy", str(policy), stdin="Then Tobias Keller left.")
    assert ran.rows[0]["text"] == "Then somebody left."


def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    note = "Invented. Mr Tobias Keller took lisinopril and had a dry cough, so lisinopril was stopped."
    (tmp_path / "notes" / "a.txt").write_text(note)
    (tmp_path / "mail.mbox").write_text(
        "From a@example.org Mon Jan  1 00:00:00 2024\nFrom: a@example.org\nSubject: mill\n\nInvented.\n"
    )
    (tmp_path / "cases.jsonl").write_text('{"id": "1", "text": "Invented. The mill was sold."}\n')
    commands = README.split("```sh\n")[1].split("```")[0].strip().splitlines()
    assert len(commands) >= 9
    for line in commands:
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
    assert re.search(rf"(lethe|make) {verb}\b", README)


def test_every_file_that_the_readme_names_is_there() -> None:
    table = README.split("## The files")[1].split("## Tests")[0]
    for name in re.findall(r"`([a-zA-Z_./*]+)`", table):
        assert list(ROOT.glob(name.rstrip("/"))), name


def test_decisions_are_told_one_paragraph_each() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    paragraphs = text.split("\n\n")[2:]
    assert len(paragraphs) > 10
    assert all(paragraph.startswith("**") for paragraph in paragraphs)


def test_the_changelog_tells_privacy_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("**Privacy**") < text.index("**Added**")
