"""``python -m benchmarks.tab_page`` writes docs/benchmark.md from its template and the results.

``benchmarks/results/intact.json.gz`` is what ``lethe bench intact PATH --judged FILE --table`` wrote;
``python -m benchmarks.tab_page FOLDER`` keeps it before. docs/wording.md reads the same file.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.kept import read, write_packed
from benchmarks.results_page import DOCS, rendered
from eval.reports.intact import benchmark_facts, benchmark_table, cannot_see, facts, order_table
from eval.studies.intact.report import IntactReport

RESULTS = Path(__file__).parent / "results"
PAGE, TEMPLATE = DOCS / "benchmark.md", DOCS / "benchmark.template.md"


def main(arguments: Sequence[str]) -> None:
    """Rewrite the page, with the report of a run if its folder is named."""
    for folder in arguments:
        keep(Path(folder))
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def keep(folder: Path, results: Path = RESULTS) -> None:
    """Keep the report of a run."""
    report = IntactReport.model_validate_json((folder / "intact.json").read_text(encoding="utf-8"))
    write_packed(results / "intact.json.gz", report.model_dump_json())


def page() -> str:
    """The page in Markdown."""
    return rendered(TEMPLATE, tables=tables())


def tables(results: Path = RESULTS) -> dict[str, str]:
    """Every table in Markdown, by its name in the template."""
    report = IntactReport.model_validate_json(read(results / "intact.json"))
    assert report.benchmark is not None
    return {
        "tab": benchmark_table(report.benchmark).rstrip(),
        "tab_cannot_see": cannot_see(),
        "tab_facts": f"{benchmark_facts(report.benchmark)}; `lethe bench intact {report.command}`",
        "tab_order": order_table(report.order).rstrip(),
        "tab_order_facts": facts(report),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
