"""The page of the Text Anonymization Benchmark."""

from benchmarks import tab_page
from benchmarks.kept import read
from eval.studies.intact.report import IntactReport


def test_what_the_page_says_of_its_figures_is_so() -> None:
    report = IntactReport.model_validate_json(read(tab_page.RESULTS / "intact.json"))
    assert report.benchmark is not None
    own = [row for row in report.benchmark.rows if row.spans == "own detection"]
    assert [(row.masked.direct.hits, row.masked.direct.n) for row in own] == [(41, 41)] * len(own)
    missed = {row.method: round(100 - 100 * (row.masked.quasi.value or 0)) for row in own}
    assert (missed["redact"], missed["lethe"], missed["trip"]) == (9, 10, 26)
    (lethe,) = (row for row in own if row.method == "lethe")
    assert (lethe.masked.token_precision.value or 1) < 0.67
    ordered = [(fact.difference.low or 0) > 0 for fact in report.order if fact.measure == "TPS"]
    assert (sum(ordered), len(ordered)) == (4, 5)
