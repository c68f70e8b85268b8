"""The report on privacy-risk models as Markdown."""

from collections.abc import Sequence

from eval.report import NOT_MEASURED
from eval.risk.report import Figure, Kind, RiskReport

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


def markdown_table(report: RiskReport) -> str:
    """A row for each domain and kind of snippet, two columns a model; ends in a line end."""
    head = ["domain", "snippets", "n", "mentions"]
    for model in report.models:
        head += [f"{_escaped(model)}: Spearman", f"{_escaped(model)}: error"]
    rows = []
    for domain, kind in _groups(report):
        of_models = [report.row(model, domain, kind) for model in report.models]
        cells = [_escaped(domain), kind, f"{of_models[0].snippets:,}", f"{of_models[0].mentions:,}"]
        for row in of_models:
            cells += [_cell(row.spearman), _cell(row.error)]
        rows.append(cells)
    return _table(head, rows)


def agreement_table(report: RiskReport) -> str:
    """How well the two passes agree, a row for each domain and kind of snippet; ends in a line end."""
    head = ["domain", "snippets", "n", "mentions", "Spearman", "mean difference", "within 0.1", "kappa"]
    rows = [
        [
            _escaped(row.domain),
            row.kind,
            f"{row.snippets:,}",
            f"{row.mentions:,}",
            *map(_cell, (row.spearman, row.difference, row.near, row.kappa)),
        ]
        for row in report.agreement
    ]
    return _table(head, rows)


def markdown(report: RiskReport) -> str:
    """Both tables, what they mean, and the machine: all that stands beside the figures."""
    here = report.provenance
    parts = [
        markdown_table(report),
        "How well the two passes agree:\n",
        agreement_table(report),
        "\n".join(f"- {line}" for line in DEFINITIONS) + "\n",
        f"Measured {here.date} on {here.hardware}, commit {here.commit or 'not told'}, seed {report.seed}, "
        f"{report.resamples:,} redraws.\n",
    ]
    return "\n".join(parts)


def _groups(report: RiskReport) -> list[tuple[str, Kind]]:
    return list(dict.fromkeys((row.domain, row.kind) for row in report.rows))


def _cell(figure: Figure) -> str:
    if figure.value is None:
        return NOT_MEASURED
    text = f"{figure.value:.3f}"
    if figure.low is None or figure.high is None:
        return text
    return f"{text} ({figure.low:.3f}–{figure.high:.3f})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", "---", *["---:"] * (len(head) - 2)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows))


def _escaped(text: str) -> str:
    """Text that can stand in a cell: a pipe would end it."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
