"""The figures that come first on the page, and whether promised thresholds hold."""

from html import escape

from eval.measures.intervals import counted_share
from eval.report import percent
from eval.trip_rag.cells import missing, panel, row, section, share_html, table
from eval.trip_rag.goals import summary_of
from eval.trip_rag.report import TripRagReport


def cards(report: TripRagReport) -> str:
    """What trip does beside Redact and beside no sanitizing; nothing where one of them is not there."""
    names = [each.method for each in report.methods]
    if not {"trip", "redact", "origin"} <= set(names):
        return ""
    found = summary_of(report)
    beside = "" if found.recall_ratio is None else f", {found.recall_ratio:.2f} times that of redact"
    # Adding nought makes -0.0 a plain one.
    points = (
        None if found.identifier_excess is None else f"{round(100 * found.identifier_excess, 1) + 0.0:+.1f}"
    )
    pairs = (
        (None if found.recall is None else f"{found.recall:.3f}", f"Recall@1 overlap of trip{beside}"),
        (_signed(found.rouge_change), "ROUGE-L of answers, relative to redact"),
        (_signed(found.leakage_change), "sensitive entities extracted, relative to no sanitizing"),
        (points, "percentage points of identifiers extracted, beside redact"),
        (_percent(found.dominated), "of baseline points dominated, by identifiers left in the index"),
        (_percent(found.dominated_all), "of baseline points dominated, by all that is sensitive there"),
    )
    # In the color that the charts give it.
    told = "".join(_card(names.index("trip"), figure, words) for figure, words in pairs)
    return f'<section class="cards" aria-label="trip in short">{told}</section>'


def _percent(share: float | None) -> str | None:
    return None if share is None else percent(share)


def _signed(change: float | None) -> str | None:
    return None if change is None else f"{100 * change:+.1f}%"


def _card(place: int, figure: str | None, words: str) -> str:
    size = ' class="none"' if figure is None else ""
    return (
        f'<div class="card tone-{place % 6}"><b{size}>{escape(figure or percent(None))}</b>'
        f"<span>{escape(words)}</span></div>"
    )


def promises(report: TripRagReport) -> str:
    """Thresholds promised on some documents and measured on others."""
    title = "Whether promised thresholds hold"
    sub = (
        "A threshold is chosen on a random half of the documents so that, with the confidence given, the "
        "expected share left in the index is at most the limit; then the other half is measured. Broken is "
        "where that half leaked more than the limit, its own chance included: expect at most about one minus "
        "the confidence. Splits in which nothing could be promised are no success and no failure. The rules "
        "of trip take identifiers at every threshold, so that a promise about these tests little; scores "
        "alone, and all sensitive entities, are the harder tests."
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
        "broken, of those promised",
    )
    caption = "Splits overlap, so there are no intervals."
    return section(title, sub, panel(table(caption, "Limit", [("", heads)], rows)))
