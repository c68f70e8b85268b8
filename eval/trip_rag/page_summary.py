"""The figures that come first on the page, and whether promised thresholds hold."""

from collections.abc import Callable
from html import escape

from eval.measures.contrasts import Figure
from eval.measures.intervals import counted_share
from eval.report import percent
from eval.trip_rag.cells import missing, panel, row, section, share_html, table
from eval.trip_rag.report import TripRagReport


def cards(report: TripRagReport) -> str:
    """What trip does beside Redact and beside no sanitizing; nothing where one of them is not there."""
    names = [each.method for each in report.methods]
    if not {"trip", "redact", "origin"} <= set(names):
        return ""
    found = report.summary
    shown = (
        (found.recall, "{:.3f}".format, "Recall@1 overlap of trip"),
        (found.recall_ratio, "{:.2f}".format, "times the Recall@1 overlap of redact"),
        (found.rouge_change, _signed, "ROUGE-L of answers, relative to redact"),
        (found.leakage_change, _signed, "sensitive entities extracted, relative to no sanitizing"),
        (found.identifier_excess, _points, "percentage points of identifiers extracted, beside redact"),
        (found.dominated, percent, "of baseline points dominated, by identifiers left in the index"),
        (found.dominated_all, percent, "of baseline points dominated, by all that is sensitive there"),
    )
    # In the color that the charts give it.
    told = "".join(_card(names.index("trip"), *each) for each in shown)
    return f'<section class="cards" aria-label="trip in short">{told}</section>'


def _signed(change: float) -> str:
    return f"{_points(change)}%"


def _points(difference: float) -> str:
    # Adding nought makes -0.0 a plain one.
    return f"{round(100 * difference, 1) + 0.0:+.1f}"


def _card(place: int, figure: Figure | None, style: Callable[[float], str], words: str) -> str:
    value, size = percent(None), ' class="none"'
    if figure is not None:
        value, size = style(figure.value), ""
        if figure.interval is not None:
            words += f" ({' to '.join(map(style, figure.interval))})"
    return (
        f'<div class="card tone-{place % 6}"><b{size}>{escape(value)}</b><span>{escape(words)}</span></div>'
    )


def promises(report: TripRagReport) -> str:
    """Thresholds promised on some documents and measured on others."""
    title = "Whether promised thresholds hold"
    sub = (
        "A threshold is chosen on a random half of the documents so that, with the confidence given, the "
        "expected share that stays of what a document has is at most the limit; then the other half is "
        "measured. Documents without such entities do not count, and a long one counts as much as a short "
        "one. Broken is where that half leaked more than the limit, its own chance included. What is "
        "guaranteed is that a promise is made and broken in at most one minus the confidence of all splits; "
        "where nothing can be promised, nothing is. A promise that is rarely made is made where the first "
        "half happens to leak little, and so the second much: of these, more are broken. The rules of trip "
        "take identifiers at every threshold, so that a promise about these tests little; scores alone, and "
        "all sensitive entities, are the harder tests."
    )
    if not report.promises:
        return section(title, sub, missing("No promise was checked in this run."))
    rows = [
        row(
            f"at most {each.max_leak:.1%}",
            [
                f"{each.policy}, {each.counted}",
                f"{each.confidence:.0%}",
                f"{each.documents:,}",
                # Splits share their documents, so that an interval over them would say too much.
                share_html(counted_share(each.promised, each.splits)),
                share_html(counted_share(each.violated, each.splits)),
                share_html(counted_share(each.violated, each.promised)),
            ],
        )
        for each in report.promises
    ]
    heads = (
        "policy, counted",
        "confidence",
        "documents",
        "promised, of all splits",
        "broken, of all splits",
        "broken, of those promised",
    )
    caption = "Splits overlap, so there are no intervals."
    return section(title, sub, panel(table(caption, "Limit", [("", heads)], rows)))
