"""The routes of documents: giving them to a collection, and listing them."""

import asyncio
import json
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from app.access.keys import Key
from app.access.vault import NoOriginal, originals
from app.data_dir import DataDir
from app.jobs.runner import Runner
from app.jobs.table import Job, job_row
from app.jobs.uploads import Order, Upload
from app.policies import FOR_CLIENTS, policy_of
from app.rows import kept_row
from app.server.access import Asking, Ingesting, NotAllowed, Revealing, granted
from app.server.answers import DocumentsAnswer, JobAnswer
from app.server.asked import collection_of
from app.server.bodies import FORM, DocumentsBody, Named, OrderBody, ResanitizeBody
from app.server.errors import UnknownCollection
from app.server.middleware.noted import note
from app.server.quotas.later import TryLater
from app.server.quotas.slots import UploadTurn
from app.server.served import Collections
from models.errors import ConfigurationError

MOST_FILES, MOST_FIELDS = 1000, 10
READING = 300.0
"""Seconds in which an upload must have come: who sends slowly keeps others waiting."""
_AGAIN_S = 5


def _described() -> dict[str, Any]:
    """The two bodies of one route, which the framework cannot describe."""
    body = DocumentsBody.model_json_schema()
    body["properties"]["documents"]["items"] = body.pop("$defs")["DocumentBody"]
    forms = {"multipart/form-data": {"schema": FORM}, "application/json": {"schema": body}}
    return {"requestBody": {"required": True, "content": forms}}


class _InMemory(MultiPartParser):
    """Keeps files in memory: by itself it writes larger ones to the disk in clear."""

    spool_max_size = 0


def document_routes(data: DataDir, served: Collections, runner: Runner) -> APIRouter:
    """Documents of the collections in ``data``."""
    router = APIRouter()

    @router.post(
        "/v1/collections/{collection}/documents",
        response_model=JobAnswer,
        status_code=202,
        openapi_extra=_described(),
    )
    async def add(
        collection: Named, request: Request, response: Response, key: Ingesting, turn: UploadTurn
    ) -> Mapping[str, object]:
        """Give documents to a collection, which is made if it is not there; a job stores them."""
        _check(served, key, collection)
        order, files = await _sent(request)

        def submit() -> Job:
            policy = _settled(data, collection, order.policy)
            made = Order(policy=policy, text_field=order.text_field, id_field=order.id_field)
            return runner.submit("ingest", collection, made, files, key_id=key.key_id, dry_run=order.dry_run)

        return _submitted(response, await run_in_threadpool(submit), files=len(files))

    @router.post("/v1/collections/{collection}/resanitize", response_model=JobAnswer, status_code=202)
    def resanitize(
        collection: Named, body: ResanitizeBody, response: Response, key: Ingesting, sees: Revealing
    ) -> Mapping[str, object]:
        """Sanitize the originals of a collection again, by another policy, into a new one."""
        collection_of(sees, served, collection, "reveal")
        _check(served, key, body.into)
        if body.into in data.collections():
            raise ConfigurationError("into: there is such a collection. Name one that is not there yet.")
        # That there is no original, or that it cannot be opened, is said now too.
        if next(originals(data, collection), None) is None:
            raise NoOriginal("collection")
        order = Order(policy=_settled(data, body.into, body.policy), source=collection)
        return _submitted(response, runner.submit("resanitize", body.into, order, key_id=key.key_id))

    @router.get("/v1/collections/{collection}/documents", response_model=DocumentsAnswer)
    def documents(
        collection: Named,
        key: Asking,
        after: Annotated[str, Query(max_length=200, description="an id: those behind it")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Mapping[str, object]:
        """The documents of a collection, in the order of their ids."""
        with data.open(collection_of(key, served, collection)) as opened:
            return {"documents": [kept_row(each) for each in islice(opened.store.documents(after), limit)]}

    return router


def _check(served: Collections, key: Key, collection: str) -> None:
    """Whether a caller may add to a collection, which need not be there."""
    if not key.allows("ingest", collection):
        raise NotAllowed("ingest")
    if not served.serves(collection):
        raise UnknownCollection(granted(key, "ingest", served.names()))


def _settled(data: DataDir, collection: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The policy that documents will have; what is wrong with it or the name is said here, not by the job."""
    chosen = data.settings_for(collection, policy)
    policy_of(chosen)
    return chosen.policy.model_dump(include=set(FOR_CLIENTS))


def _submitted(response: Response, job: Job, **counts: int) -> Mapping[str, object]:
    note(job.collection, about=job.job_id, **counts)
    response.headers["location"] = f"/v1/jobs/{job.job_id}"
    return job_row(job)


async def _sent(request: Request) -> tuple[OrderBody, list[Upload]]:
    """The order and the files of a request, whichever way they were sent.

    Raises:
        ConfigurationError: It holds neither files nor documents, or another part.
        RequestValidationError: A field is wrong.
        TryLater: It has not come in time.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        async with asyncio.timeout(READING):
            if kind == "application/json":
                return await run_in_threadpool(_of_json, await request.body())
            if kind != "multipart/form-data":
                raise ConfigurationError(
                    "Send files as multipart/form-data, or documents as application/json."
                )
            return await _of_form(request)
    except TimeoutError:
        message = f"The upload has not come within {READING:g} s. Send less at once."
        raise TryLater(408, "upload_too_slow", message, _AGAIN_S) from None
    except ValidationError as error:
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        ) from None


def _of_json(content: bytes) -> tuple[OrderBody, list[Upload]]:
    body = DocumentsBody.model_validate_json(content)
    return body.order(), [Upload("documents.jsonl", body.lines())]


async def _of_form(request: Request) -> tuple[OrderBody, list[Upload]]:
    try:
        parser = _InMemory(request.headers, request.stream(), max_files=MOST_FILES, max_fields=MOST_FIELDS)
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError):
        raise ConfigurationError(
            f"The form could not be read; send up to {MOST_FILES} files in parts named files."
        ) from None
    files = [
        Upload(each.filename or "", await each.read())
        for each in form.getlist("files")
        if isinstance(each, UploadFile)
    ]
    if not files or len(files) < len(form.getlist("files")):
        raise ConfigurationError(
            "files: send one file or more, each in a part of this name with a file name."
        )
    fields: dict[str, Any] = {name: part for name, part in form.multi_items() if name != "files"}
    try:
        if "policy" in fields:
            fields["policy"] = json.loads(fields["policy"])
    except (TypeError, ValueError):
        raise ConfigurationError('policy: send one JSON object, such as {"name": "redact"}.') from None
    return OrderBody.model_validate(fields), files
