"""A report as files: the rows, the summary and the page."""

import json
from pathlib import Path

from eval.report import ExtractionReport, row_lines, summary
from eval.report_html import extraction_page
from models.errors import LetheError


def report_folder(folder: Path) -> Path:
    """The folder of a report, made if need be: asked before an attack, so that none runs for nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritten(folder, error) from None
    return folder


def write_report(report: ExtractionReport, folder: Path) -> tuple[Path, Path, Path]:
    """Write ``rows.jsonl``, ``summary.json`` and ``report.html`` into a folder, made if need be.

    Raises:
        LetheError: The folder or a file in it cannot be written.
    """
    report_folder(folder)
    rows, figures, page = (folder / n for n in ("rows.jsonl", "summary.json", "report.html"))
    try:
        with rows.open("w", encoding="utf-8") as lines:
            lines.writelines(f"{line}\n" for line in row_lines(report))
        figures.write_text(json.dumps(summary(report), indent=2) + "\n", encoding="utf-8")
        page.write_text(extraction_page(report), encoding="utf-8")
    except OSError as error:
        raise _unwritten(folder, error) from None
    return rows, figures, page


def _unwritten(folder: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{folder}: the report could not be written ({reason}). Name a folder that can be.")
