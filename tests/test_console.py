"""What long work says where nobody could see a bar move."""

import pytest

from app.cli import console


def work(unit: str, total: int | None) -> None:
    with console.progress(unit) as bar:
        task = bar.add_task("reading", total=total, count=0)
        for done in (1, 2):
            bar.update(task, completed=done, count=done)


def test_a_pipe_is_told_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "TOLD_EVERY", 0.0)
    work("documents", 4)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["lethe: reading: 1 documents, 25%", "lethe: reading: 2 documents, 50%"]


def test_no_share_is_told_of_a_total_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "TOLD_EVERY", 0.0)
    work("documents", None)
    assert capsys.readouterr().err.splitlines()[0] == "lethe: reading: 1 documents"


def test_short_work_says_nothing_between(capsys: pytest.CaptureFixture[str]) -> None:
    work("documents", 4)
    assert not any(line.startswith("lethe:") for line in capsys.readouterr().err.splitlines())
