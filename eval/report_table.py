"""The leakage table for a terminal."""

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from eval.measures.intervals import Share, widest
from eval.report import NOT_MEASURED, ArmSummary, ExtractionReport, percent


def with_interval(share: Share) -> str:
    """The share, and below it the wider of its two intervals."""
    interval = widest(share)
    if share.share is None or interval is None:
        return percent(share.share)
    low, high = interval
    return f"{percent(share.share)}\n{100 * low:.0f}-{100 * high:.0f}"


def leakage_table(report: ExtractionReport) -> Table:
    """One row an arm, at most 100 columns wide. Under a share stands its wider 95% interval."""
    table = Table(
        title=escape(f"{report.attack.name}, seed {report.attack.seed}"),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("arm", overflow="fold", max_width=12)
    for name in (
        "n",
        "entities",
        "direct",
        "quasi",
        "queries",
        "coverage",
        "repeats",
        "R@5",
    ):
        table.add_column(name, justify="right", max_width=9)
    for arm in report.arms:
        table.add_row(*_cells(arm))
    source = f"sensitive: {report.reference.source}; share and 95% interval"
    table.caption = escape("\n".join((source, *report.problems)))
    return table


def _cells(arm: ArmSummary) -> list[str]:
    empty = Share(0, 0, None)
    overlap = arm.recall_overlap.get(5)
    return [
        escape(arm.name),
        f"{arm.completed}/{arm.planned}",
        with_interval(arm.entity_leakage),
        with_interval(arm.by_identifier.get("direct", empty)),
        with_interval(arm.by_identifier.get("quasi", empty)),
        with_interval(arm.query_leakage),
        percent(arm.coverage.share),
        with_interval(arm.repeat_prompts),
        NOT_MEASURED if overlap is None or overlap.mean is None else f"{overlap.mean:.3f}",
    ]
