"""What is told on standard error: names, questions, and long work where nobody could see a bar move."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import console
from eval.reports.schema import Table


class Terminal(io.StringIO):
    """What a person sees, or types."""

    def isatty(self) -> bool:
        return True


def terminal_in(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error as a terminal of 100 columns; what is drawn there is kept."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for name, value in (("COLUMNS", "100"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    return terminal


def test_a_pipe_is_told_of_long_work_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(total: int | None) -> list[str]:
        with console.progress("documents") as bar:
            task = bar.add_task("reading", total=total, count=0)
            for done in (1, 2):
                bar.update(task, completed=done, count=done)
        return [line for line in capsys.readouterr().err.splitlines() if line.startswith("lethe:")]

    assert work(4) == []
    monkeypatch.setattr(console, "REPORT_EVERY", 0.0)
    assert work(4)[:2] == ["lethe: reading: 1 documents, 25%", "lethe: reading: 2 documents, 50%"]
    # No share is told of a total that nobody knows, nor before something is done.
    assert work(None)[0] == "lethe: reading: 1 documents"
    with console.progress("done") as bar:
        console.current_phase_on(bar)("guessing", 0, 10)
    assert capsys.readouterr().err.splitlines()[0] == "lethe: guessing"


def test_a_bar_tells_no_share_before_something_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = terminal_in(monkeypatch)
    with console.progress("done") as bar:
        report = console.current_phase_on(bar)
        report("guessing", 0, 10)
        bar.refresh()
        assert "guessing" in drawn.getvalue()
        assert "0%" not in drawn.getvalue() and "0 done" not in drawn.getvalue()
        report("guessing", 5, 10)
        bar.refresh()
    assert "50% 5 done" in drawn.getvalue()


@pytest.mark.parametrize("whole", ["systems", "measured"])
def test_a_bar_stands_for_the_current_phase_and_one_for_the_whole(
    whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal_in(monkeypatch)
    with console.progress("done") as bar:
        report = console.current_phase_on(bar)
        report(whole, 0, 5)
        report("reading", 4, 8)
        report("guessing", 0, None)
        assert {task.description: task.total for task in bar.tasks} == {whole: 5, "guessing": None}
        report(whole, 1, 5)
        assert [task.description for task in bar.tasks] == [whole, "guessing"]


TABLE = Table("The verdict", ("measure", "one system"), [("left-direct", "12.0%")])


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("streams", [(), ("stdout",), ("stderr",), ("stdout", "stderr")])
def test_a_person_at_the_terminal_is_shown_no_json_unless_asked_for(
    streams: tuple[str, ...], as_json: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {name: Terminal() if name in streams else io.StringIO() for name in ("stdout", "stderr")}
    for name, stream in said.items():
        monkeypatch.setattr(sys, name, stream)
    console.show(TABLE)
    console.result_beside_table({"figure": 1}, as_json)
    assert "The verdict" in said["stderr"].getvalue()
    watched = len(streams) == 2 and not as_json
    assert said["stdout"].getvalue() == ("" if watched else '{"figure": 1}\n')


@given(st.text(st.characters()))
def test_whatever_is_told_is_one_printable_line(text: str) -> None:
    assert console.printable(text).isprintable()
    for name in ("notes/letter 1.txt", "C:\\notes\\é.txt", "журнал.txt", "日誌.md"):
        assert console.printable(name) == name


def test_a_name_ends_no_line_and_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.message("a\x1b[31mb\n.txt: is empty")
    assert capsys.readouterr().err == "lethe: a\\x1b[31mb\\n.txt: is empty\n"


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
