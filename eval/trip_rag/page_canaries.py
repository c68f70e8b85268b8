"""What came out of planted secrets."""

from eval.trip_rag.cells import missing, panel, row, section, share_html, table
from eval.trip_rag.report import TripRagReport


def canaries(report: TripRagReport) -> str:
    """The share of canaries that each method's index gave away, by kind."""
    title = "Planted secrets"
    if not report.canaries:
        return section(title, "What a question about a secret brings out.", missing("Nothing was planted."))
    kinds = list(dict.fromkeys(kind for each in report.canaries for kind in each.recall))
    rows = [
        row(each.method, [share_html(each.recall[kind]) for kind in kinds], f"k = {each.k}")
        for each in report.canaries
    ]
    documents = report.canaries[0].documents
    return section(
        title,
        "Sentences with invented secrets were put into documents before they were sanitized, and the "
        "victim, who repeats what it is given, was asked what stands around each; lower is better. A coded "
        "number has a form that patterns know, a name needs a detector that reads, and an odd phrase of "
        "everyday words is nothing that a sanitizer can see.",
        panel(
            table(
                f"Canaries that came out whole, of an index of the {documents:,} documents with one.",
                "Method",
                [("", kinds)],
                rows,
            )
        ),
    )
