"""The table of goals beside figures."""

import pytest

from benchmarks.goals import GOALS, Goal, goals_table
from eval.measures.uncertainty import Estimate
from eval.studies.detection.study import DetectionReport, Figure


def changed(detector: str, share: float) -> Figure:
    return Figure(question="medquad.generalized", detector=detector, estimate=Estimate(share))


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.01, "reached"), (0.015, "reached"), (0.005, "as hoped"), (0.0151, "**missed**")]
)
def test_a_goal_from_above_is_missed_above_it_by_the_first_detector(share: float, verdict: str) -> None:
    figures = (changed("second", 0.9), changed("first", share), changed("third", 0.001))
    report = DetectionReport.model_construct(detectors=("first", "second", "third"), figures=figures)
    (row,) = [line for line in goals_table(report, None).splitlines() if "not measured" not in line][2:]
    assert row.startswith("| MedQuAD") and row.endswith(f"| {verdict} |")


def test_a_goal_from_below_is_met_at_it() -> None:
    goal = Goal("x", "x", 0.9, 0.95)
    assert [goal.met_by(value, goal.least) for value in (0.9, 0.8999, 0.95)] == [True, False, True]


def test_what_was_not_measured_is_said_to_be() -> None:
    lines = goals_table(None, None).splitlines()[2:]
    assert len(lines) == len(GOALS)
    assert all(line.endswith("| not measured |  |") for line in lines)
    assert len({goal.key for goal in GOALS}) == len(GOALS)
