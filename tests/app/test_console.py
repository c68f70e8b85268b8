"""What is told on standard error: names, questions, and long work where nobody could see a bar move."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import console


def work(unit: str, total: int | None) -> None:
    with console.progress(unit) as bar:
        task = bar.add_task("reading", total=total, count=0)
        for done in (1, 2):
            bar.update(task, completed=done, count=done)


def test_a_pipe_is_told_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "REPORT_EVERY", 0.0)
    work("documents", 4)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["lethe: reading: 1 documents, 25%", "lethe: reading: 2 documents, 50%"]


def test_no_share_is_told_of_a_total_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "REPORT_EVERY", 0.0)
    work("documents", None)
    assert capsys.readouterr().err.splitlines()[0] == "lethe: reading: 1 documents"


def test_short_work_says_nothing_between(capsys: pytest.CaptureFixture[str]) -> None:
    work("documents", 4)
    assert not any(line.startswith("lethe:") for line in capsys.readouterr().err.splitlines())


# -- names -------------------------------------------------------------------------------------------------


def test_a_name_ends_no_line_and_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.message("a\x1b[31mb\n.txt: is empty")
    assert capsys.readouterr().err == "lethe: a\\x1b[31mb\\n.txt: is empty\n"


def test_ordinary_names_stay_as_they_are() -> None:
    for name in ("notes/letter 1.txt", "C:\\notes\\é.txt", "журнал.txt", "日誌.md"):
        assert console.printable(name) == name


@given(st.text(st.characters()))
def test_whatever_is_told_is_one_printable_line(text: str) -> None:
    assert console.printable(text).isprintable()


# -- questions ---------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A person who has typed an answer."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "agreed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_only_yes_is_agreement(
    answer: str, agreed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert console.confirmed("Go on?", False, "nothing was done") is agreed
    assert capsys.readouterr().err == "Go on? [y/N] "


def test_nobody_to_ask_means_no(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert console.confirmed("Go on?", True, "nothing was done")
    assert not console.confirmed("Go on?", False, "nothing was done")
    assert capsys.readouterr().err == (
        "lethe: nothing was done: no terminal to ask on; give --yes to go ahead.\n"
    )
