"""The page of a study of membership, and tables for the terminal."""

from collections.abc import Iterator, Sequence

from eval.attacks.membership import BY_PERTURBED, BY_REFERENCES
from eval.reports.schema import (
    DECIMAL,
    PERCENT,
    Cell,
    Column,
    Plot,
    Report,
    Section,
    Table,
    bars,
    estimate_cell,
    table,
)
from eval.reports.words import words
from eval.studies.membership import MembershipReport, ScoreFigures

SHOWN = (0.01, 0.1)
"""The rates of false positives at which true positives are shown; the JSON has one more."""


def membership(report: MembershipReport) -> Report:
    """The whole page."""
    lower = "0.5 is chance. Whiskers are 95% intervals."
    by_score: dict[str, dict[str, ScoreFigures]] = {}
    for arm in report.arms:
        for each in arm.scores:
            by_score.setdefault(each.score, {})[arm.name] = each
    panels = [bars(score, {arm: each.auc for arm, each in arms.items()}) for score, arms in by_score.items()]
    return Report(
        title="Which documents the attacker knows to be there",
        lead=f"{report.attack.goal} {report.attack.threat_model}",
        facts=(*_sizes(report), f"seed {report.attack.seed}", report.provenance.date),
        cards=[
            (
                estimate_cell(best.auc),
                f"is the largest of {len(arm.scores)} areas under the curve in {arm.name}: {best.score}",
            )
            for arm in report.arms
            if (best := max(arm.scores, key=lambda each: each.auc.value or 0)).auc.value is not None
        ],
        problems=report.problems,
        sections=[
            Section("Area under the curve", lower, plots=[Plot("bars", "By arm", lower, tuple(panels))]),
            Section(
                "All numbers",
                "Lower is more private.",
                missing=report.notes,
                tables=[table(f"Arm {arm.name}", arm.scores, _COLUMNS) for arm in report.arms],
            ),
            Section("How this was measured", terms=tuple(words("membership").items())),
            Section("Provenance", terms=tuple(_facts(report))),
        ],
    )


def membership_tables(report: MembershipReport) -> Iterator[Table]:
    """A table for each arm, with intervals of the area alone, which fits a terminal."""
    how = (
        "TPR: members found at so many false ones; oracle: accuracy at the best threshold, which no attacker "
        "knows"
    )
    said = (", ".join(_sizes(report)), how, *report.notes, *report.problems, "")
    for number, arm in enumerate(report.arms):
        yield table("\n".join((*(said if number == 0 else ()), f"arm {arm.name}")), arm.scores, _NARROW)


def _sizes(report: MembershipReport) -> tuple[str, ...]:
    return (
        f"{report.members:,} members of {report.indexed:,} documents and {report.others:,} others",
        f"{report.references:,} references",
        f"{report.k} passages",
        f"answers by {report.victim}",
    )


_COLUMNS: Sequence[Column] = (
    ("", "Score", lambda each: each.score),
    ("", "members, others", lambda each: f"{each.members:,}, {each.others:,}"),
    ("", "AUC", lambda each: estimate_cell(each.auc, DECIMAL)),
    *(
        (
            "",
            f"true positives at {limit:.0%} false ones",
            lambda each, limit=limit: estimate_cell(each.tpr[limit], PERCENT),
        )
        for limit in SHOWN
    ),
    (
        "",
        "oracle's accuracy",
        lambda each: estimate_cell(
            each.oracle_accuracy,
            PERCENT,
            "" if each.chance_accuracy is None else f"by chance {each.chance_accuracy:.1%}",
        ),
    ),
)
_NARROW: Sequence[Column] = (
    ("", "score", lambda each: _beside_its_score(each.score)),
    ("", "n", lambda each: f"{each.members}+{each.others}"),
    ("", "AUC", lambda each: _with_interval(estimate_cell(each.auc, "{:.2f}"))),
    *(
        ("", f"TPR {limit:.0%}", lambda each, limit=limit: estimate_cell(each.tpr[limit], PERCENT).text)
        for limit in SHOWN
    ),
    ("", "oracle", lambda each: estimate_cell(each.oracle_accuracy, PERCENT).text),
)


def _beside_its_score(name: str) -> str:
    """A calibrated score stands below its own, whose name is not said again."""
    return next((f"–{form}" for form in (BY_PERTURBED, BY_REFERENCES) if name.endswith(form)), name)


def _with_interval(cell: Cell) -> str:
    return f"{cell.text} ({'-'.join(cell.ends)})" if cell.ends else cell.text


def _facts(report: MembershipReport) -> Iterator[tuple[str, str]]:
    yield "Attack", f"{report.attack.name}, {report.attack.reference}"
    yield from ((f"Engines of {arm.name}", "; ".join(arm.engines) or "none") for arm in report.arms)
    yield "Questions written by", report.shadow or "nothing"
    yield from report.provenance.facts()
