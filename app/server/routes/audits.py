"""The routes of audits: attacks on a collection as a job, and their report."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse

from app.access.vault import originals
from app.data_dir import DataDir
from app.jobs.audits import report_of
from app.jobs.rights import missing_scope
from app.jobs.runner import Runner
from app.jobs.table import Job, job_row
from app.jobs.uploads import Order, Upload
from app.server.access import Auditing, NotAllowed
from app.server.answers import JobAnswer, JobsAnswer
from app.server.asked import collection_of
from app.server.bodies import AUDIT_FORM, AuditBody, AuditFormBody, Named
from app.server.forms import JSON, arriving, content_type, form_of
from app.server.quotas.slots import UploadTurn
from app.server.routes.documents import submitted
from app.server.routes.jobs import cancelled, seen_job, seen_jobs
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
        order, files = await _sent(request, name)
        if scope := missing_scope(key, "audit", name, order.source):
            raise NotAllowed(scope, name)

        def submit() -> Job:
            if order.source is not None:
                # Whether the vault has originals, and opens them.
                next(originals(data, name), None)
            return runner.submit("audit", name, order, files, key_id=key.key_id)

        return submitted(response, await run_in_threadpool(submit), "/v1/audits", files=len(files))

    @router.get("/v1/audits", response_model=JobsAnswer)
    def audits(key: Auditing) -> Mapping[str, object]:
        """The newest audits of the collections that the caller may audit."""
        return seen_jobs(runner, key, audits=True)

    @router.get("/v1/audits/{job_id}", response_model=JobAnswer)
    def one(job_id: AuditId, key: Auditing) -> Mapping[str, object]:
        """An audit as it is now; its figures are in the summary once it is done."""
        return job_row(seen_job(runner, key, job_id, audits=True))

    @router.delete("/v1/audits/{job_id}", response_model=JobAnswer)
    def cancel(job_id: AuditId, key: Auditing) -> Mapping[str, object]:
        """Cancel an audit."""
        return cancelled(runner, key, job_id, audits=True)

    @router.get("/v1/audits/{job_id}/report", response_class=HTMLResponse, responses=_PAGE)
    def report(job_id: AuditId, key: Auditing) -> Response:
        """The page of an audit that is done."""
        found = seen_job(runner, key, job_id, audits=True)
        return HTMLResponse(report_of(data.settings, found.job_id, page=True), headers=HEADERS)

    @router.get("/v1/audits/{job_id}/figures", response_model=dict[str, Any])
    def figures(job_id: AuditId, key: Auditing) -> Response:
        """All figures of an audit that is done, as `lethe audit` writes them."""
        found = seen_job(runner, key, job_id, audits=True)
        return Response(report_of(data.settings, found.job_id, page=False), media_type=JSON)

    return router


async def _sent(request: Request, collection: str) -> tuple[Order, list[Upload]]:
    """The order and the originals of a request; raises as that of documents."""
    async with arriving():
        if content_type(request) == JSON:
            asked = AuditBody.model_validate_json(await request.body())
            return Order(source=collection, audit=asked.options()), []
        gates = {"at_most": '{"linked": 0.1}', "at_least": '{"found-first": 0.5}'}
        fields, files = await form_of(request, gates)
        sent = AuditFormBody.model_validate(fields)
        return Order(text_field=sent.text_field, id_field=sent.id_field, audit=sent.options()), files
