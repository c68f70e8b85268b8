"""Reports as files: rows, figures and a page."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from eval.reports.audit import audit, junit, sarif
from eval.reports.comparison import comparison
from eval.reports.extraction_page import extraction, membership
from eval.reports.render import AUDIT, PAGE, html_page
from eval.reports.tuning import tuning
from eval.rows import FILE as ROWS
from eval.rows import goes_on, lines_of
from eval.studies.audit.options import Options
from eval.studies.audit.report import AuditReport
from eval.studies.compare.report import TripRagReport
from eval.studies.extraction import ExtractionReport
from eval.studies.membership import MembershipReport
from eval.studies.tune import TuningReport
from ingest.private_files import private_folder, write_private
from models.errors import LetheError


def report_folder(folder: Path) -> Path:
    """The folder of a report, created if missing. Called before an attack, so that no run is lost."""
    try:
        private_folder(folder)
    except OSError as error:
        raise _unwritten(folder, error) from None
    return folder


def extraction_folder(folder: Path) -> Path:
    """The folder of an attack's report; one that holds the rows of a benchmark is refused.

    Raises:
        LetheError: The folder cannot be made or read, or a benchmark's rows would be overwritten.
    """
    try:
        taken = goes_on(report_folder(folder) / ROWS)
    except OSError as error:
        raise _unwritten(folder, error) from None
    if taken:
        raise LetheError(f"{folder} holds the rows of a benchmark, which would be lost. Name another folder.")
    return folder


def audit_folder(folder: Path, options: Options) -> Path:
    """The folder of an audit's report; one with a finished audit whose gates would be lost is refused.

    Raises:
        LetheError: The folder cannot be made or read, or a report in it has a gate that ``options`` have not.
    """
    made = report_folder(folder)
    try:
        there = AuditReport.model_validate_json((made / AUDIT).read_bytes())
    except (FileNotFoundError, ValidationError):
        # Nothing, or not whole, or of another version, whose rows are refused.
        return made
    except OSError as error:
        raise _unwritten(folder, error) from None
    limits = {**options.at_most, **options.at_least}
    if lost := [
        f"{gate.measure} {gate.limit:g}" for gate in there.gates if limits.get(gate.measure) != gate.limit
    ]:
        raise LetheError(
            f"{folder} holds a finished audit with gates that this command does not set ({', '.join(lost)}): "
            f"its verdict would be lost. Set them again, name another folder, or remove {folder / AUDIT}."
        )
    return made


def write_extraction(report: ExtractionReport, folder: Path) -> Path:
    """Write ``rows.jsonl``, ``summary.json`` and ``report.html``; the path of the page.

    Raises:
        LetheError: The folder or a file in it cannot be written, as for all that write.
    """
    summary = report.model_dump_json(exclude={"rows"}, indent=2)
    files: dict[str, Iterable[str]] = {ROWS: lines_of(report.rows), "summary.json": [summary, "\n"]}
    return _written(extraction_folder(folder), files | {PAGE: [html_page(extraction(report))]})


def write_membership(report: MembershipReport, folder: Path) -> Path:
    """Write ``summary.json`` and ``report.html`` beside the rows; the path of the page."""
    summary = report.model_dump_json(exclude={"rows"}, indent=2)
    return _written(folder, {"summary.json": [summary, "\n"], PAGE: [html_page(membership(report))]})


def write_audit(report: AuditReport, folder: Path) -> Path:
    """Write ``audit.json``, ``junit.xml``, ``audit.sarif`` and ``report.html``; the path of the page.

    The rows are in the folder already.
    """
    files = {
        AUDIT: [report.model_dump_json(indent=1), "\n"],
        "junit.xml": [junit(report)],
        "audit.sarif": [sarif(report)],
        PAGE: [html_page(audit(report))],
    }
    return _written(folder, files)


def write_comparison(report: TripRagReport, folder: Path) -> Path:
    """Write ``report.json``, ``questions.jsonl`` and ``report.html``; the path of the page."""
    files = {
        "report.json": [report.model_dump_json(exclude={"rows"}, indent=1), "\n"],
        "questions.jsonl": lines_of(report.rows),
        PAGE: [html_page(comparison(report))],
    }
    return _written(folder, files)


def write_tuning(report: TuningReport, folder: Path) -> Path:
    """Write ``tuning.json`` and ``tuning.html``; the path of the page."""
    figures = [report.model_dump_json(indent=1), "\n"]
    return _written(folder, {"tuning.json": figures, "tuning.html": [html_page(tuning(report))]})


def _written(folder: Path, files: Mapping[str, Iterable[str]]) -> Path:
    """Write files by name; the path of the last."""
    path = folder
    for name, parts in files.items():
        path = folder / name
        try:
            write_private(path, "".join(parts))
        except OSError as error:
            raise _unwritten(folder, error) from None
    return path


def _unwritten(folder: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{folder}: the report could not be written ({reason}). Name a folder that can be.")
