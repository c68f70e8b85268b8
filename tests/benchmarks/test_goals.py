"""The table of goals beside figures."""

import pytest

from benchmarks.goals import GOALS, Goal, goals_table, recall_losses

RUNS = {
    "": {
        "novels": {"met": 90, "of": 100},
        "tweets": {"met": 80, "of": 100},
        "forms": {"met": 1, "of": 2},
        "nothing": {"met": 0, "of": 0},
    },
    "novels": {"novels": {"met": 85, "of": 100}},
    "tweets": {"tweets": {"met": 65, "of": 100}},
    "nothing": {"nothing": {"met": 0, "of": 0}},
}


def test_the_loss_is_that_of_the_runs_that_are_done() -> None:
    assert recall_losses({"runs": RUNS}) == pytest.approx({"novels": 0.05, "tweets": 0.15})
    assert recall_losses({"runs": {}}) == {}


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.10, "reached"), (0.12, "reached"), (0.05, "as hoped"), (0.121, "**missed**")]
)
def test_a_goal_from_above_is_missed_above_it(mean: float, verdict: str) -> None:
    left = {"met": 100 - round(1000 * mean) / 10, "of": 100}
    runs = {"": {"novels": {"met": 100, "of": 100}}, "novels": {"novels": left}}
    (row,) = [line for line in goals_table(None, None, {"runs": runs}).splitlines() if "left out" in line]
    assert row.endswith(f"| {verdict} |")


def test_a_goal_from_below_is_met_at_it() -> None:
    goal = Goal("x", "x", 0.9, 0.95)
    assert [goal.met_by(value, goal.least) for value in (0.9, 0.8999, 0.95)] == [True, False, True]


def test_what_was_not_measured_is_said_to_be() -> None:
    lines = goals_table(None, None, None).splitlines()[2:]
    assert len(lines) == len(GOALS)
    assert all(line.endswith("| not measured |  |") for line in lines)
    assert len({goal.key for goal in GOALS}) == len(GOALS)
