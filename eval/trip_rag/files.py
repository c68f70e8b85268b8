"""A benchmark's report as files."""

from collections.abc import Iterable
from pathlib import Path

from eval.trip_rag.page import trip_rag_page
from eval.trip_rag.report import AnswerRow, AttackRow, TripRagReport
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
        _write_rows(folder / "rows.jsonl", report.rows)
        page.write_text(trip_rag_page(report), encoding="utf-8")
    except OSError as error:
        raise _unwritten(folder, error) from None
    return page


def write_attempts(attempts: Iterable[AttackRow], folder: Path) -> None:
    """Write ``attacks.jsonl``, a line for each prompt of each attack, as they come.

    Raises:
        LetheError: The file cannot be written.
    """
    try:
        _write_rows(folder / "attacks.jsonl", attempts)
    except OSError as error:
        raise _unwritten(folder, error) from None


def _write_rows(path: Path, rows: Iterable[AnswerRow | AttackRow]) -> None:
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{row.model_dump_json()}\n" for row in rows)


def _unwritten(folder: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{folder}: the report could not be written ({reason}). Name a folder that can be.")
