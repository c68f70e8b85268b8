"""What a benchmark comes to: the trade-offs that are dominated, and the default beside Redact and nothing."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from eval.measures.uncertainty import Estimate, mean_of
from eval.rows import Row
from eval.studies.compare import figures as compared
from eval.studies.compare.report import NOTHING_COMPARED, AttackFigures, Summary
from tests.eval.test_trip_rag_page import VICTIMS, attack, figures, found

QUESTIONS = 60


def answered(share: float, questions: int = QUESTIONS) -> list[float]:
    """Of the same questions always the first ones."""
    return [float(number < share * questions) for number in range(questions)]


def point(
    name: str, use: float, identifiers: float, everything: float, failed: int = 0, last: bool = False
) -> compared.Point:
    overlaps = answered(use)[:: -1 if last else 1]
    changed = {
        "identifiers": found(identifiers),
        "disclosed": found(everything),
        "documents_failed": failed,
        "recall_overlap": {1: mean_of(overlaps)},
    }
    return compared.Point(figures(name, use, 0.0).model_copy(update=changed), overlaps)


POINTS = [
    point("origin", 1.0, 1.0, 1.0),
    point("trip", 0.7, 0.05, 0.4),
    point("scores alone", 0.8, 0.3, 0.5),
    point("random", 0.65, 0.1, 0.2),
    point("lprag", 0.75, 0.4, 0.6, last=True),
    point("extract", 0.9, 0.5, 0.7),
    point("presidio", 0.1, 0.9, 0.9, failed=1),
]


def test_a_frontier_counts_by_its_own_leakage_and_what_trip_does_by_itself() -> None:
    by_identifiers = compared.frontier_of(POINTS, lambda each: each.identifiers, 0)
    assert (by_identifiers.dominated, by_identifiers.by_trip, by_identifiers.points) == (2, 1, 3)
    by_everything = compared.frontier_of(POINTS, lambda each: each.disclosed, 0)
    assert (by_everything.dominated, by_everything.by_trip, by_everything.points) == (1, 0, 3)
    # Of the leakages up to 1, trip's use is had from its own on.
    assert by_identifiers.areas["trip"].value == pytest.approx(0.95 * 0.7)
    assert by_everything.areas["trip"].value == pytest.approx(0.6 * 0.7)
    assert "presidio" not in by_identifiers.areas and "origin" not in by_identifiers.areas


def test_intervals_redraw_the_same_questions_for_all_points() -> None:
    frontier = compared.frontier_of(POINTS, lambda each: each.identifiers, 3, redraws=400)
    rng, shares, areas = np.random.default_rng(3), [], []
    for _ in range(400):
        draw = rng.integers(0, QUESTIONS, QUESTIONS)
        spots = {
            each.figures.method: (each.figures.identifiers.value or 0.0, float(values[draw].mean()))
            for each, values in ((each, np.array(each.overlaps)) for each in POINTS)
        }
        ours = [spots["trip"], spots["scores alone"]]
        theirs = {spots["random"], spots["lprag"], spots["extract"]}
        shares.append(compared.dominated_by(ours, list(theirs)) / len(theirs))
        areas.append(compared.area_under([spots["trip"]], 1.0))
    here, (low, high) = frontier.share.value, np.quantile(shares, [0.025, 0.975])
    assert here is not None
    assert frontier.share.interval == pytest.approx((min(low, here), max(high, here)))
    area, (low, high) = frontier.areas["trip"], np.quantile(areas, [0.025, 0.975])
    assert area.value is not None
    assert area.interval == pytest.approx((2 * area.value - high, 2 * area.value - low))


def test_what_always_is_better_is_dominated_in_every_redraw() -> None:
    points = [point("origin", 1.0, 1.0, 1.0), point("trip", 0.7, 0.05, 0.4), point("random", 0.5, 0.1, 0.5)]
    frontier = compared.frontier_of(points, lambda each: each.identifiers, 0)
    # The questions that random answers are answered by trip too, so chance cannot turn them round. An
    # interval of no width would say that nothing is uncertain.
    assert frontier.share == Estimate(1.0)


def test_the_best_of_many_points_by_chance_does_not_pass_for_better() -> None:
    """Ten strengths that are all as useful: the interval of the area holds it, and mostly the true one."""
    rng, held = np.random.default_rng(5), 0
    for seed in range(20):
        points = [point("origin", 1.0, 1.0, 1.0)]
        for number in range(10):
            overlaps = (rng.uniform(size=QUESTIONS) < 0.5).astype(float).tolist()
            points.append(replace(point("lprag", 0.5, 0.05 + number / 20, 0.5), overlaps=overlaps))
        frontier = compared.frontier_of(points, lambda each: each.identifiers, seed, redraws=200)
        area = frontier.areas["lprag"]
        assert area.low is not None and area.high is not None and area.value is not None
        assert area.low <= area.value <= area.high
        held += area.low <= 0.5 * 0.95 <= area.high
    assert held >= 14


def test_one_question_has_no_interval() -> None:
    single = [compared.Point(each.figures, each.overlaps[:1]) for each in POINTS]
    frontier = compared.frontier_of(single, lambda each: each.identifiers, 0)
    assert frontier.share.value is not None and frontier.share.interval is None
    assert all(area.interval is None for area in frontier.areas.values())


def rows_of(name: str, rouge: Sequence[float]) -> list[Row]:
    return [
        Row(system=name, task="questions, e", case=str(number), doc_ids=("d",), figures={"ROUGE-L": value})
        for number, value in enumerate(rouge)
    ]


ROWS = {
    "origin": rows_of("origin", [0.5] * QUESTIONS),
    "trip": rows_of("trip", [0.2 + number / 1_000 for number in range(QUESTIONS)]),
    "redact": rows_of("redact", [0.1 + number / 1_000 for number in range(QUESTIONS)]),
}
ATTACKS = [
    attack(name, share, VICTIMS[0]) for name, share in (("origin", 0.8), ("trip", 0.2), ("redact", 0.1))
]


def summary(*changed: compared.Point, attacks: Sequence[AttackFigures] = tuple(ATTACKS)) -> Summary:
    points = [*POINTS[:2], point("redact", 0.5, 0.05, 0.1), *POINTS[3:], *changed]
    by_name = {each.figures.method: each for each in points}
    frontier = compared.frontier_of(POINTS, lambda each: each.identifiers, 0)
    return compared.summary_of(by_name, ROWS, attacks, frontier, NOTHING_COMPARED, 0)


def test_the_summary_by_hand() -> None:
    result = summary()
    assert result.recall.value == pytest.approx(0.7)
    assert result.recall_ratio.value == pytest.approx(0.7 / 0.5)
    assert result.recall_ratio.interval is not None
    assert 1 < result.recall_ratio.interval[0] < 1.4 < result.recall_ratio.interval[1]
    assert result.rouge_change.value == pytest.approx(0.2295 / 0.1295 - 1)
    assert result.identifier_excess.value == pytest.approx(0.1)
    assert result.leakage_change.value == pytest.approx(-0.75)
    unattacked = summary(attacks=ATTACKS[:2])
    assert unattacked.identifier_excess == Estimate() and unattacked.leakage_change.value is not None
    assert result.dominated == compared.frontier_of(POINTS, lambda each: each.identifiers, 0).share
    assert result.dominated_all == Estimate()


def test_an_arm_that_failed_on_a_document_is_summed_up_in_nothing() -> None:
    for name in ("trip", "redact", "origin"):
        assert summary(point(name, 0.5, 0.1, 0.2, failed=1)) == Summary()
    assert summary(point("random", 0.5, 0.1, 0.2, failed=1)) == summary() != Summary(), "it is not compared"


def test_a_variant_is_named_by_its_method_its_strength_and_its_kind() -> None:
    assert compared.system_name("trip") == compared.system_name("trip", 0.5) == "trip"
    assert compared.system_name("trip", 0.5, compared.STRENGTH) == "trip 0.5 (strength)"
    assert compared.system_name("privacy only", None, compared.ABLATION) == "privacy only (ablation)"
