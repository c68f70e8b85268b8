"""The demo as it is asked for: how long it says to take, and what can be left out. Its steps are replaced."""

from functools import partial
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

    def take(name: str, result: object, *_: object) -> object:
        taken.append(name)
        return result

    audited = SimpleNamespace(model_dump=lambda mode: {"verdict": "invented"})
    came = {"ingest": True, "ask": True, "audit": (audited, tmp_path / "audit.html")}

    for name, result in (came | {"compare": (tmp_path / "comparison.html", True)}).items():
        monkeypatch.setattr(demo, f"_{name}", partial(take, name, result))
    monkeypatch.setattr(demo, "system_of", lambda settings: None)
    monkeypatch.setattr(demo, "audit_table", lambda report: Table("invented", ("measure",), [("none",)]))
    return taken


@pytest.mark.parametrize(
    ("more", "takes", "count"),
    [
        ([], "4 to 11 minutes on two cores, and 2 to 7 with --no-comparison", 5),
        (["--no-comparison"], "2 to 7 minutes on two cores", 4),
    ],
)
def test_the_demo_says_first_how_long_it_takes_and_compares_unless_that_is_left_out(
    steps: list[str], clean: Path, capsys: pytest.CaptureFixture[str], more: list[str], takes: str, count: int
) -> None:
    ran = in_process(capsys, "demo", *more, "--output", "out")
    assert (ran.code, ran.rows) == (0, [{"verdict": "invented"}])
    assert steps == ["ingest", "ask", "audit", "compare"][: count - 1]
    first, *said, last = ran.messages
    assert first == f"lethe: the demo takes {takes}"
    assert last.startswith("lethe: the demo took ") and f"{count}. The reports" in ran.err
    assert f"lethe: the audit: {clean / 'audit.html'}" in said
    beside = f"lethe: every method beside the others: {clean / 'comparison.html'}"
    assert (beside in said, "every method" in ran.err) == (not more, not more)
