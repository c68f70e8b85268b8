"""The routes of audits: attacks on a collection as a job, and their report."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse

from app.access.keys import Key
from app.access.vault import originals
from app.data_dir import DataDir
from app.jobs.audits import report_of
from app.jobs.runner import Runner
from app.jobs.table import Job, UnknownJob, job_row
from app.jobs.uploads import Order, Upload
from app.server.access import Auditing, NotAllowed
from app.server.answers import JobAnswer, JobsAnswer
from app.server.asked import collection_of
from app.server.bodies import AUDIT_FORM, AuditBody, AuditFormBody, Named
from app.server.forms import JSON, arriving, content_type, form_of
from app.server.middleware.noted import note
from app.server.quotas.slots import UploadTurn
from app.server.routes.documents import submitted
from app.server.served import Collections

AuditId = Annotated[str, Path(max_length=64)]
HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:"}
"""A report runs no scripts and asks no server."""
_BODIES = {"multipart/form-data": {"schema": AUDIT_FORM}, JSON: {"schema": AuditBody.model_json_schema()}}
_PAGE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}, "description": "The page"}}


def audit_routes(data: DataDir, served: Collections, runner: Runner) -> APIRouter:
    """Audits of the collections in ``data``."""
    router = APIRouter()

    @router.post(
        "/v1/collections/{collection}/audits",
        response_model=JobAnswer,
        status_code=202,
        openapi_extra={"requestBody": {"required": True, "content": _BODIES}},
    )
    async def begin(
        collection: Named, request: Request, response: Response, key: Auditing, turn: UploadTurn
    ) -> Mapping[str, object]:
        """Audit a collection with its originals: files that are sent, or, by JSON, those of the vault."""
        name = collection_of(key, served, collection, "audit")
        files: list[Upload] = []
        async with arriving():
            if content_type(request) == JSON:
                asked = AuditBody.model_validate_json(await request.body())
                await run_in_threadpool(_check_vault, data, key, name)
                order = Order(source=name, audit=asked.options())
            else:
                fields, files = await form_of(request, of_json=["at_most", "at_least"])
                # Whoever may bring texts could ask by them who stands behind an alias.
                if not (key.allows("ingest", name) or key.allows("reveal", name)):
                    raise NotAllowed("ingest")
                sent = AuditFormBody.model_validate(fields)
                order = Order(text_field=sent.text_field, id_field=sent.id_field, audit=sent.options())

        def submit() -> Job:
            return runner.submit("audit", name, order, files, key_id=key.key_id)

        return submitted(response, await run_in_threadpool(submit), "/v1/audits", files=len(files))

    @router.get("/v1/audits", response_model=JobsAnswer)
    def audits(key: Auditing) -> Mapping[str, object]:
        """The newest audits of the collections that the caller may audit."""
        return {"jobs": [job_row(each) for each in runner.jobs.newest() if _sees(key, each)]}

    @router.get("/v1/audits/{job_id}", response_model=JobAnswer)
    def one(job_id: AuditId, key: Auditing) -> Mapping[str, object]:
        """An audit as it is now; its figures are in the summary once it is done."""
        return job_row(_job(runner, key, job_id))

    @router.delete("/v1/audits/{job_id}", response_model=JobAnswer)
    def cancel(job_id: AuditId, key: Auditing) -> Mapping[str, object]:
        """Cancel an audit."""
        found = _job(runner, key, job_id)
        note(found.collection, found.job_id)
        return job_row(runner.cancel(found.job_id))

    @router.get("/v1/audits/{job_id}/report", response_class=HTMLResponse, responses=_PAGE)
    def report(job_id: AuditId, key: Auditing) -> Response:
        """The page of an audit that is done."""
        found = _job(runner, key, job_id)
        return HTMLResponse(report_of(data.settings, found.job_id, page=True), headers=HEADERS)

    @router.get("/v1/audits/{job_id}/figures", response_model=dict[str, Any])
    def figures(job_id: AuditId, key: Auditing) -> Response:
        """All figures of an audit that is done, as `lethe audit` writes them."""
        found = _job(runner, key, job_id)
        return Response(report_of(data.settings, found.job_id, page=False), media_type=JSON)

    return router


def _check_vault(data: DataDir, key: Key, collection: str) -> None:
    """Whether the vault has originals, and the caller may have them read."""
    if not key.allows("reveal", collection):
        raise NotAllowed("reveal")
    next(originals(data, collection), None)


def _sees(key: Key, job: Job) -> bool:
    return job.kind == "audit" and key.allows("audit", job.collection)


def _job(runner: Runner, key: Key, job_id: str) -> Job:
    found = runner.jobs.get(job_id)
    if not _sees(key, found):
        raise UnknownJob
    return found
