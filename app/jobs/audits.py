"""The reports of audits that the server made: a folder for each job, without a word of a document."""

from pathlib import Path
from typing import Any

from app.settings.load import Settings
from eval.reports.files import AUDIT, PAGE, report_folder, write_audit
from eval.rows import FILE as ROWS
from eval.studies.audit.report import COLLECTION, AuditReport
from models.errors import LetheError


class NoReport(LetheError):
    """An audit has no report, or not yet."""

    def __init__(self) -> None:
        super().__init__("There is no report: the audit is not done, or failed. GET /v1/audits says which.")


def report_folder_of(settings: Settings, job_id: str) -> Path:
    """The folder of an audit's rows and report, made where there is none."""
    return report_folder(settings.data_dir / "audits" / job_id)


def kept_report(report: AuditReport, folder: Path) -> dict[str, Any]:
    """Write a report beside its rows, which are not needed any more; what the job says of it."""
    write_audit(report, folder)
    (folder / ROWS).unlink(missing_ok=True)
    figures = {each.name: each.figures[COLLECTION].value for each in report.measures}
    return {
        "verdict": report.verdict,
        "passed": report.passed,
        "gates": [gate.model_dump() for gate in report.gates],
        "documents": report.documents,
        "figures": figures,
        "problems": list(report.problems),
    }


def report_of(settings: Settings, job_id: str, *, page: bool) -> bytes:
    """The page of an audit, or its figures as JSON; raises NoReport."""
    try:
        return (settings.data_dir / "audits" / job_id / (PAGE if page else AUDIT)).read_bytes()
    except OSError:
        raise NoReport from None
