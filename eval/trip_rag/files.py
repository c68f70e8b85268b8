"""A benchmark's report as files."""

from pathlib import Path

from eval.trip_rag.page import trip_rag_page
from eval.trip_rag.report import TripRagReport
from models.errors import LetheError


def write_report(report: TripRagReport, folder: Path) -> Path:
    """Write ``report.json``, ``rows.jsonl`` and ``report.html`` into a folder; the path of the page.

    Raises:
        LetheError: A file cannot be written.
    """
    page = folder / "report.html"
    try:
        figures = report.model_dump_json(exclude={"rows"}, indent=1)
        (folder / "report.json").write_text(figures + "\n", encoding="utf-8")
        with (folder / "rows.jsonl").open("w", encoding="utf-8") as lines:
            lines.writelines(f"{row.model_dump_json()}\n" for row in report.rows)
        page.write_text(trip_rag_page(report), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(
            f"{folder}: the report could not be written ({reason}). Name a folder that can be."
        ) from None
    return page
