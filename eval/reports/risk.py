"""The report on privacy-risk models as Markdown."""

from eval.reports.render import markdown_table
from eval.reports.schema import Row, Table, estimate_cell
from eval.studies.risk import RiskReport

DEFINITIONS = (
    "Spearman: rank correlation, equal values sharing their mean rank, between what a model says of a "
    "mention, 1 - exp(-marginal hazard of its linked entity), and the mean of the scores that the mention "
    "was given. A single value on one side has no order: not measured.",
    "Error: mean absolute difference of the same two.",
    "Passes: the two scores of each mention, given without sight of each other. Within 0.1 is the share of "
    "mentions so near; kappa is weighted by the square of the distance between the rubric's levels "
    "(from 0.1, 0.4 and 0.7).",
    "In parentheses the 95% interval: percentiles of a bootstrap that redraws whole snippets.",
)


def models_table(report: RiskReport) -> str:
    """One row per domain and kind of snippet, two columns per model."""
    head = ["domain", "snippets", "n", "mentions"]
    for model in report.models:
        head += [f"{model}: Spearman", f"{model}: error"]
    rows: list[Row] = []
    for domain, kind in dict.fromkeys((row.domain, row.kind) for row in report.rows):
        found = [report.row(model, domain, kind) for model in report.models]
        cells = [estimate_cell(figure) for row in found for figure in (row.spearman, row.error)]
        rows.append((domain, kind, f"{found[0].snippets:,}", f"{found[0].mentions:,}", *cells))
    return markdown_table(Table("", head, rows), words=2)


def agreement_table(report: RiskReport) -> str:
    """Agreement of the two passes, one row per domain and kind of snippet."""
    head = ("domain", "snippets", "n", "mentions", "Spearman", "mean difference", "within 0.1", "kappa")
    rows: list[Row] = [
        (each.domain, each.kind, f"{each.snippets:,}", f"{each.mentions:,}")
        + tuple(map(estimate_cell, (each.spearman, each.difference, each.near, each.kappa)))
        for each in report.agreement
    ]
    return markdown_table(Table("", head, rows), words=2)


def markdown(report: RiskReport) -> str:
    """Both tables, definitions and machine."""
    here = report.provenance
    parts = [
        models_table(report),
        "How well the two passes agree:\n",
        agreement_table(report),
        "".join(f"- {line}\n" for line in DEFINITIONS),
        f"Measured {here.date} on {here.hardware}, commit {here.commit or 'not recorded'}, "
        f"seed {report.seed}, {report.resamples:,} redraws.\n",
    ]
    return "\n".join(parts)
