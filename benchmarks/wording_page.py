"""``python -m benchmarks.wording_page`` writes docs/wording.md from its template and the results."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.judged import (
    DENSE,
    DENSE_BEFORE,
    ORDINARY,
    ORDINARY_BEFORE,
    judged_facts,
    judged_table,
)
from benchmarks.kept import read
from benchmarks.models_page import RESULTS
from benchmarks.results_page import DOCS, rendered
from benchmarks.yardstick import ASKED
from eval.measures.uncertainty import Estimate
from eval.reports.intact import facts, kinds_table, methods_table, rungs_table, validation_table
from eval.reports.render import markdown_table
from eval.reports.schema import Table, estimate_cell, table
from eval.studies.intact.order import INTACT, LETHE, MOST, PUBLISHED
from eval.studies.intact.report import IntactReport

PAGE, TEMPLATE = DOCS / "wording.md", DOCS / "wording.template.md"


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    """The page in Markdown."""
    intact = IntactReport.model_validate_json(read(RESULTS / "intact.json"))
    marginals = json.loads(read(RESULTS / "marginals.json"))
    tables = {
        "judged": markdown_table(judged_table()).rstrip(),
        "judged_facts": judged_facts(),
        "ordinary": markdown_table(_both(ORDINARY, ORDINARY_BEFORE)).rstrip(),
        "ordinary_facts": judged_facts(ORDINARY),
        "ordinary_before_facts": judged_facts(ORDINARY_BEFORE),
        "dense": markdown_table(_both(DENSE, DENSE_BEFORE)).rstrip(),
        "dense_facts": judged_facts(DENSE),
        "dense_before_facts": judged_facts(DENSE_BEFORE),
        "marginals": markdown_table(_marginals(marginals["corpora"])).rstrip(),
        **_intact(intact),
    }
    return rendered(TEMPLATE, tables=tables)


def _both(results: Path, results_before: Path) -> Table:
    """The same invented documents as two commits wrote them."""
    now, before = judged_table(results), judged_table(results_before)
    rows = [["before", *before.rows[0][1:]], ["now", *now.rows[0][1:]]]
    return replace(now, rows=rows)


def _intact(report: IntactReport) -> dict[str, str]:
    """The tables of INTACT's comparison, and where they come from."""
    assert report.validation is not None
    return {
        "intact_methods": methods_table(report).rstrip(),
        "intact_kinds": kinds_table(report, (PUBLISHED["intact"], MOST, INTACT, LETHE)).rstrip(),
        "intact_rungs": rungs_table(report).rstrip(),
        "intact_truth": validation_table(report.validation).rstrip(),
        "intact_absent": "; ".join(f"{name}: {reason}" for name, reason in report.absent.items()),
        "intact_facts": facts(report),
    }


def _marginals(found: Mapping[str, Any]) -> Table:
    return table(
        "",
        [(ASKED[name], row) for name, row in found.items()],
        [
            ("", "documents", lambda row: f"{row[0]}, {row[1]['documents']}"),
            ("", "entities", lambda row: f"{row[1]['entities']:,}"),
            ("", "rank correlation", lambda row: estimate_cell(Estimate(**row[1]["spearman"]))),
        ],
    )


if __name__ == "__main__":
    main()
