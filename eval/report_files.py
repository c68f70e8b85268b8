"""A report as files: the rows, the summary and the page."""

import json
from pathlib import Path

from eval.report import ExtractionReport, row_lines, summary
from eval.report_html import extraction_page


def write_report(report: ExtractionReport, folder: Path) -> tuple[Path, Path, Path]:
    """Write ``rows.jsonl``, ``summary.json`` and ``report.html`` into a folder, made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, figures, page = (folder / n for n in ("rows.jsonl", "summary.json", "report.html"))
    with rows.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{line}\n" for line in row_lines(report))
    figures.write_text(json.dumps(summary(report), indent=2) + "\n", encoding="utf-8")
    page.write_text(extraction_page(report), encoding="utf-8")
    return rows, figures, page
