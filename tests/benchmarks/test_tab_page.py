"""The page of the Text Anonymization Benchmark."""

from benchmarks import tab_page
from benchmarks.kept import read
from eval.studies.intact.report import IntactReport


def test_what_the_page_says_of_its_figures_is_so() -> None:
    report = IntactReport.model_validate_json(read(tab_page.RESULTS / "tab.json"))
    assert report.benchmark is not None
    own = [row for row in report.benchmark.rows if row.spans == "own detection"]
    assert [(row.masked.direct.hits, row.masked.direct.n) for row in own] == [(41, 41)] * len(own)
    assert all(0.92 <= (row.masked.quasi.value or 0) <= 0.95 for row in own)
    assert all((row.masked.token_precision.value or 1) < 0.67 for row in own)
    assert all(
        fact.difference.low and fact.difference.low > 0 for fact in report.order if fact.measure == "TPS"
    )
