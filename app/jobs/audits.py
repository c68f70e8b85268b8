"""The reports of audits that the server made: a folder for each job, without a word of a document."""

import json
import shutil
from collections.abc import Collection as Some
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.jobs.table import Jobs
from app.settings.load import Settings
from eval.reports.names import AUDIT, PAGE
from models.errors import LetheError

if TYPE_CHECKING:
    from eval.studies.audit.report import AuditReport


class NoReport(LetheError):
    """An audit has no report, or not yet."""

    def __init__(self) -> None:
        super().__init__(
            "There is no report: the audit is not done or failed, or a document that it names was erased. "
            "GET /v1/audits says which."
        )


def report_folder_of(settings: Settings, job_id: str) -> Path:
    """The folder of an audit's rows and report, made where there is none."""
    from eval.reports.files import report_folder

    return report_folder(_reports(settings) / job_id)


def kept_report(report: "AuditReport", folder: Path) -> dict[str, Any]:
    """Write a report beside its rows, which are not needed any more; what the job says of it."""
    from eval.reports.files import write_audit
    from eval.rows import FILE as ROWS
    from eval.studies.audit.report import COLLECTION

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
        return (_reports(settings) / job_id / (PAGE if page else AUDIT)).read_bytes()
    except OSError:
        raise NoReport from None


def forget_leftovers(settings: Settings, jobs: Jobs) -> None:
    """Delete rows and reports of audits that were cancelled or failed, or that the table has forgotten."""
    # The folders first: one that is made after that is of a job that is not over.
    folders, unfinished = _folders(settings), {each.job_id for each in jobs.unfinished()}
    for folder in folders:
        if folder.name not in unfinished and not (folder / AUDIT).exists():
            shutil.rmtree(folder, ignore_errors=True)


def forget_reports(settings: Settings, collection: str, erased: Some[str] | None = None) -> None:
    """Delete the reports of a collection that name documents with the ids ``erased``; None for all of it.

    The figures in their jobs name no document, and stay.
    """
    if not (folders := _folders(settings)):
        return
    of_collection = {each.job_id for each in Jobs(settings.data_dir).audits(collection)}
    for folder in folders:
        if folder.name in of_collection and (erased is None or _named(folder) & {*erased}):
            shutil.rmtree(folder)


def _named(folder: Path) -> set[str]:
    try:
        report = json.loads((folder / AUDIT).read_bytes())
    except FileNotFoundError:
        return set()
    return {each["doc_id"] for each in report["worst"]}


def _reports(settings: Settings) -> Path:
    return settings.data_dir / "audits"


def _folders(settings: Settings) -> list[Path]:
    return [*_reports(settings).iterdir()] if _reports(settings).is_dir() else []
