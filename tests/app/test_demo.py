"""The demo as it is asked for: how long it says to take, and what can be left out. Its steps are replaced."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from app.cli import demo
from eval.reports.schema import Table
from tests.commands import in_process


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that were taken; none of them does anything."""
    taken: list[str] = []

    def step(name: str, came: object) -> None:
        def take(*_: object) -> object:
            taken.append(name)
            return came

        monkeypatch.setattr(demo, f"_{name}", take)

    audited = SimpleNamespace(model_dump=lambda mode: {"verdict": "invented"})
    step("ingest", True)
    step("ask", True)
    step("audit", (audited, tmp_path / "audit.html"))
    step("compare", (tmp_path / "comparison.html", True))
    monkeypatch.setattr(demo, "system_of", lambda settings: None)
    monkeypatch.setattr(demo, "audit_table", lambda report: Table("invented", ("measure",), [("none",)]))
    return taken


def test_the_demo_says_first_how_long_it_takes_and_compares(
    steps: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = in_process(capsys, "demo", "--output", str(tmp_path / "out"))
    assert ran.messages[0] == (
        "lethe: the demo takes 4 to 11 minutes on two cores, and 2 to 7 with --no-comparison"
    )
    assert steps == ["ingest", "ask", "audit", "compare"]
    assert f"lethe: every method beside the others: {tmp_path / 'comparison.html'}" in ran.messages
    assert "5. The reports" in ran.err and ran.messages[-1].startswith("lethe: the demo took ")
    assert (ran.code, ran.rows) == (0, [{"verdict": "invented"}])


def test_the_comparison_can_be_left_out(
    steps: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = in_process(capsys, "demo", "--no-comparison", "--output", str(tmp_path / "out"))
    assert ran.messages[0] == "lethe: the demo takes 2 to 7 minutes on two cores"
    assert steps == ["ingest", "ask", "audit"]
    assert f"lethe: the audit: {tmp_path / 'audit.html'}" in ran.messages
    assert "4. The reports" in ran.err and "every method" not in ran.err
    assert ran.code == 0
