"""The reports of audits that the server made: a folder for each job, without a word of a document."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.data_dir import DataDir
from app.jobs.table import Jobs, UnknownJob
from app.settings.load import Settings
from eval.reports.render import AUDIT, PAGE
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
        "gates": [gate.model_dump(exclude={"places"}) for gate in report.gates],
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
    """Delete what is left of audits that were cancelled or failed, or that the table has forgotten."""
    for folder in _folders(settings):
        try:
            job = jobs.get(folder.name)
        except UnknownJob:
            job = None
        if job is None or (job.over and job.state != "done"):
            _delete(folder)


def after_erasure(data: DataDir, collection: str) -> None:
    """Cancel the audits of a collection of which documents were erased, and delete reports that name them."""
    Jobs(data.settings.data_dir).end_audits(collection)
    forget_reports(data)


def forget_reports(data: DataDir) -> None:
    """Delete reports that name a document which is not in its collection any more.

    The figures in their jobs name no document, and stay.
    """
    for folder in _folders(data.settings):
        try:
            report = json.loads((folder / AUDIT).read_bytes())
        except (FileNotFoundError, ValueError):
            # Not written yet, or not whole: the audit goes on, or ended so and is a leftover.
            continue
        shown = [
            *report["worst"],
            *(place for gate in report.get("gates", ()) for place in gate.get("places", ())),
        ]
        if not _knows(data, report["collection"], [each["doc_id"] for each in shown]):
            _delete(folder)


def _knows(data: DataDir, collection: str, named: Sequence[str]) -> bool:
    """Whether a collection is there, and each of these ids in it."""
    if collection not in data.collections():
        return False
    with data.open(collection) as opened:
        return all(opened.store.documents_called([each]) for each in named)


def _delete(folder: Path) -> None:
    # The other threads of jobs tidy up too.
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise LetheError(f"audits/{folder.name}: this folder could not be deleted. Delete it by hand.")


def _reports(settings: Settings) -> Path:
    return settings.data_dir / "audits"


def _folders(settings: Settings) -> list[Path]:
    return [*_reports(settings).iterdir()] if _reports(settings).is_dir() else []
