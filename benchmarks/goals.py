"""Goals of the embedded models beside the measured figures: a table for docs/models.md."""

from collections.abc import Iterator
from dataclasses import dataclass

from eval.studies.detection.study import DetectionReport
from eval.studies.risk import RiskReport


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal for a figure: the minimum ``least`` and the target ``aim``, upper bounds if ``lower``."""

    key: str
    title: str
    least: float
    aim: float
    lower: bool = False

    def met_by(self, value: float, border: float) -> bool:
        """Whether the value meets the bound, up to rounding."""
        return value <= border + 1e-9 if self.lower else value >= border - 1e-9


GOALS = (
    Goal("tab.characters.F1", "TAB, characters of all mentions: F1", 0.92, 0.95),
    Goal("spia_cases.direct.touched.recall", "SPIA court cases, DIRECT entities touched: recall", 1.0, 1.0),
    Goal("spia_cases.quasi.touched.recall", "the same, QUASI", 0.98, 0.99),
    Goal("spia_cases.direct.covered.recall", "SPIA court cases, DIRECT entities covered: recall", 0.99, 1.0),
    Goal("spia_cases.quasi.covered.recall", "the same, QUASI", 0.94, 0.97),
    Goal("spia_cases.characters.precision", "SPIA court cases, characters: precision", 0.91, 0.95),
    Goal("spia_posts.direct.touched.recall", "SPIA posts, DIRECT entities touched: recall", 0.98, 1.0),
    Goal("spia_posts.quasi.touched.recall", "the same, QUASI", 0.9, 0.96),
    Goal("aci_bench.first_name.recall", "ACI-Bench, patient's first name: recall", 0.98, 0.995),
    Goal("aci_bench.family_name.recall", "the same, family name", 0.98, 0.995),
    Goal("aci_bench.age.recall", "the same, age", 0.97, 0.995),
    Goal("aci_bench.gender.recall", "the same, sex", 0.95, 0.995),
    Goal("presidio_synth.spans.F1", "Presidio's synthetic sentences, spans touched: F1", 0.93, 0.97),
    Goal("uner_ewt.persons.exact.F1", "UNER-EWT, persons, exact: F1", 0.82, 0.9),
    Goal("wnut17.persons_handles_among_them.touched.recall", "WNUT-17, persons touched: recall", 0.7, 0.85),
    Goal("crossner_politics.asked.exact.F1", "CrossNER politics, its labels, exact: F1", 0.35, 0.55),
    Goal(
        "medquad.generalized", "MedQuAD, characters that the default policy changes", 0.015, 0.005, lower=True
    ),
    *(
        Goal(f"risk.{domain}", f"privacy risk, {domain}: Spearman with held-out scores", 0.85, 0.92)
        for domain in ("clinical", "email", "legal", "social")
    ),
    Goal("tab.speed", "all labels, two cores: characters a second", 8_000, 25_000),
)


def goals_table(detection: DetectionReport | None, risk: RiskReport | None) -> str:
    """Every goal with the figures of the first detector and the learned risk model; misses are in bold."""
    measured = dict(_measured(detection, risk))
    lines = ["| figure | wanted | hoped for | measured | |", "| --- | ---: | ---: | ---: | --- |"]
    for goal in GOALS:
        sign = "≤ " if goal.lower else ""
        borders = f"{sign}{_number(goal.least)} | {sign}{_number(goal.aim)}"
        value = measured.get(goal.key)
        shown = "not measured" if value is None else _number(value)
        lines.append(f"| {goal.title} | {borders} | {shown} | {_verdict(goal, value)} |")
    return "\n".join(lines) + "\n"


def _measured(detection: DetectionReport | None, risk: RiskReport | None) -> Iterator[tuple[str, float]]:
    if detection is not None:
        ours = [figure for figure in detection.figures if figure.detector == detection.detectors[0]]
        yield from ((each.question, each.estimate.value) for each in ours if each.estimate.value is not None)
    if risk is not None:
        for row in risk.rows:
            if (row.model, row.kind) == ("learned", "all") and row.spearman.value is not None:
                yield f"risk.{row.domain}", row.spearman.value


def _verdict(goal: Goal, value: float | None) -> str:
    if value is None:
        return ""
    if goal.met_by(value, goal.aim):
        return "as hoped"
    return "reached" if goal.met_by(value, goal.least) else "**missed**"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value > 10 else f"{value:.3f}".rstrip("0").rstrip(".") or "0"
