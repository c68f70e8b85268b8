"""What each part of the method adds, and whether its scores differ: tables 3 and 4 of the paper."""

from collections.abc import Sequence

from eval.trip_rag import published
from eval.trip_rag.cells import (
    PUBLISHED,
    estimate_html,
    missing,
    panel,
    published_html,
    row,
    section,
    share_html,
    table,
)
from eval.trip_rag.report import Correlation, MethodFigures, TripRagReport

VARIANTS = {
    "trip": "the default: scores, hard rules and residual limit",
    "without residual limit": "what a passage keeps together may stay risky",
    "without quasi limit": "places, dates and ages by their scores alone",
    "without either": "names and rigid identifiers, and the scores",
    "scores alone": "no limit on names, places and dates, none on passages: the paper’s full method, but "
    "rigid identifiers and what repeats them always go",
    "privacy only": "marginal privacy risk alone",
    "without topic": "no topical relevance",
    "without knowledge": "no knowledge divergence",
    "difference of absolute risks": "marginal risk as a difference instead of a hazard",
    "single mentions": "each mention by itself instead of linked entities",
}


def ablations(report: TripRagReport) -> str:
    """Table 3, with our departures from the paper."""
    title = "What each part adds"
    sub = (
        "One part taken away at a time. Variants without the limits take the same share of linked "
        "entities as the default, so that none wins by taking more or less: compare usefulness and what is "
        "left within a row. Recall and answers: higher is better; identifiers and all: lower is better."
    )
    if not report.ablations:
        return section(title, sub, missing("No variant was measured in this run."))
    whole = [each for each in report.methods if each.method == "trip"]
    rows = [_variant(each) for each in (*whole, *report.ablations)]
    groups: list[tuple[str, Sequence[str]]] = [
        ("measured: usefulness", ("R@1", "R@5", "BLEU-1", "ROUGE-L")),
        ("measured: left in the index", ("identifiers", "all", "kept")),
        (f"{PUBLISHED}: {published.CHATDOCTOR}", ("R@1", "R@5", "BLEU-1")),
    ]
    caption = (
        "Ablations. The paper’s full row is another run than its table 1, and stands beside the scores "
        "alone, which is what the paper describes."
    )
    return section(title, sub, panel(table(caption, "Variant", groups, rows)))


def _rho_html(found: Correlation) -> str:
    known = found.low is not None and found.high is not None
    return f"{found.rho:+.3f}" + (f"<small>{found.low:+.3f} to {found.high:+.3f}</small>" if known else "")


def _variant(figures: MethodFigures) -> str:
    printed = published.ABLATIONS.get(figures.method, (None, None, None))
    means = (figures.recall_overlap[1], figures.recall_overlap[5], figures.bleu1, figures.rouge_l)
    shares = (figures.identifiers, figures.disclosed, figures.kept)
    return row(
        figures.method,
        [
            *(estimate_html(each) for each in means),
            *(share_html(each) for each in shares),
            *(published_html(value, "{:.4f}") for value in printed),
        ],
        VARIANTS.get(figures.method, ""),
    )


def features(report: TripRagReport) -> str:
    """Table 4."""
    title = "Whether the three scores say different things"
    sub = (
        "Spearman’s rank correlation of each pair of scores over linked entities, from -1 to 1; near 0 "
        "means that neither score could stand in for the other. P is marginal privacy risk, K knowledge "
        "divergence, D distance from the topic. Intervals redraw whole documents."
    )
    if not report.correlations:
        return section(title, sub, missing("No pair of scores has a correlation here."))
    rows = []
    for each in report.correlations:
        printed = published.CORRELATIONS.get((each.one, each.other), {})
        rows.append(
            row(
                f"{each.one} and {each.other}",
                [
                    _rho_html(each),
                    f"{each.n:,}",
                    *(published_html(printed.get(corpus), "{:+.4f}") for corpus in published.CORPORA),
                ],
            )
        )
    groups = [("measured", ("Spearman", "linked entities")), (PUBLISHED, published.CORPORA)]
    caption = "The paper’s symbols are lost in the text we have; its pairs are taken to come in this order."
    return section(title, sub, panel(table(caption, "Scores", groups, rows)))
