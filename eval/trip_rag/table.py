"""Tables of a benchmark, for the terminal and for pages in markdown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eval.measures.intervals import Estimate, Share, widest
from eval.trip_rag.report import MethodFigures, TripRagReport, whole

if TYPE_CHECKING:
    from rich.table import Table

METHOD_HEAD = (
    "method", "R@1", "R@5", "R@10", "found@5", "BLEU-1", "sacreBLEU", "ROUGE-L", "identifiers", "all", "kept",
)  # fmt: skip

_NARROW = ("method", "R@1", "R@5", "ROUGE-L", "identifiers", "all", "kept")
"""What fits into 80 columns; the page has the others."""


def method_cells(figures: MethodFigures, intervals: bool = False) -> tuple[str, ...]:
    """The cells of one method, in the order of ``METHOD_HEAD``."""
    means = [
        *(figures.recall_overlap[k] for k in (1, 5, 10)),
        figures.bleu1,
        figures.sacrebleu,
        figures.rouge_l,
    ]
    first, answers = means[:3], means[3:]
    return (
        figures.method,
        *(estimate_cell(each, intervals) for each in first),
        share_cell(figures.found[5], intervals),
        *(estimate_cell(each, intervals) for each in answers),
        *(share_cell(each, intervals) for each in (figures.identifiers, figures.disclosed, figures.kept)),
    )


def estimate_cell(estimate: Estimate, intervals: bool = False) -> str:
    """Three decimals, with the interval on request."""
    if estimate.mean is None:
        return "–"
    told = f"{estimate.mean:.3f}"
    if intervals and estimate.low is not None and estimate.high is not None:
        told += f" ({estimate.low:.3f}–{estimate.high:.3f})"
    return told


def share_cell(share: Share, intervals: bool = False) -> str:
    """Three decimals, with the wider interval on request."""
    if share.share is None:
        return "–"
    told, reach = f"{share.share:.3f}", widest(share)
    return told + (f" ({reach[0]:.3f}–{reach[1]:.3f})" if intervals and reach else "")


def methods_table(report: TripRagReport) -> "Table":
    """The methods at their defaults, for a terminal."""
    from rich.box import SIMPLE
    from rich.table import Table

    corpus = report.corpus
    table = Table(
        box=SIMPLE,
        title=f"{corpus.name}: {corpus.documents:,} documents, {corpus.questions:,} questions, "
        f"answers by {report.generator}",
    )
    for name in _NARROW:
        table.add_column(name, justify="left" if name == "method" else "right", no_wrap=name != "method")
    for figures in report.methods:
        cells = dict(zip(METHOD_HEAD, method_cells(figures), strict=True))
        if not whole(figures):
            cells["method"] += "*"
            table.caption = "* of fewer documents: the others could not be sanitized, and are not measured"
        table.add_row(*(cells[name] for name in _NARROW))
    return table


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is words and whose others are figures."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows))
