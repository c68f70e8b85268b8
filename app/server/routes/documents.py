"""The routes of documents: giving them to a collection, and listing them."""

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from app.access.keys import Key
from app.access.vault import NoOriginal, originals
from app.compose import passage_rules
from app.data_dir import DataDir
from app.jobs.runner import Runner
from app.jobs.table import Job, job_row
from app.jobs.uploads import Order, Upload
from app.policies import FOR_CLIENTS, policy_of
from app.rows import document_row, kept_row
from app.server.access import Asking, Ingesting, NotAllowed, Revealing, granted
from app.server.answers import DocumentsAnswer, DocumentTextAnswer, JobAnswer
from app.server.asked import collection_of
from app.server.bodies import FORM, DocumentsBody, Named, OrderBody, ResanitizeBody
from app.server.errors import UnknownCollection
from app.server.forms import JSON, arriving, content_type, form_of
from app.server.middleware.noted import note
from app.server.quotas.budgets import Counted
from app.server.quotas.slots import SearchSlot, UploadTurn
from app.server.served import Collections
from ingest.readers import groups_in
from models.errors import ConfigurationError
from retrieval.collection import UnknownDocument
from retrieval.documents import RetrievedPassage


def _described() -> dict[str, Any]:
    """The two bodies of one route, which the framework cannot describe."""
    body = DocumentsBody.model_json_schema()
    body["properties"]["documents"]["items"] = body.pop("$defs")["DocumentBody"]
    forms = {"multipart/form-data": {"schema": FORM}, "application/json": {"schema": body}}
    return {"requestBody": {"required": True, "content": forms}}


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
            made = Order(
                policy=policy,
                text_field=order.text_field,
                id_field=order.id_field,
                readers_field=order.readers_field,
                readers=sorted(groups_in(order.readers)),
            )
            return runner.submit("ingest", collection, made, files, key_id=key.key_id, dry_run=order.dry_run)

        return submitted(response, await run_in_threadpool(submit), files=len(files))

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
        return submitted(response, runner.submit("resanitize", body.into, order, key_id=key.key_id))

    @router.get("/v1/collections/{collection}/documents", response_model=DocumentsAnswer)
    def documents(
        collection: Named,
        key: Asking,
        after: Annotated[str, Query(max_length=200, description="an id: those behind it")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Mapping[str, object]:
        """The documents of a collection that the caller may read, in the order of their ids."""
        with data.open(collection_of(key, served, collection)) as opened:
            found = opened.store.documents(after, key.reads)
            return {"documents": [kept_row(each) for each in islice(found, limit)]}

    @router.get("/v1/collections/{collection}/documents/{doc_id}", response_model=DocumentTextAnswer)
    def document(
        collection: Named, doc_id: str, key: Asking, slot: SearchSlot, budgets: Counted
    ) -> Mapping[str, object]:
        """A document as it stands in the collection, sanitized; it counts as shown."""
        name = collection_of(key, served, collection)
        if passage_rules(data.settings):
            raise ConfigurationError(
                "Whole documents are not shown here: retrieval.least_similarity or retrieval.hide_copies is "
                "set, and by those passages are shown for questions alone."
            )
        with data.open(name) as opened:
            passages = opened.store.passages_of(doc_id, key.reads)
            own = key.allows("ingest", name)
            decisions = opened.store.ledger(passages[0].doc_id) if own and passages else None
        if not passages:
            raise UnknownDocument("There is no such document.")
        shown = [RetrievedPassage(each, 0.0) for each in passages]
        budgets.show(key.key_id, name, shown, lambda: served.documents(name, key.reads))
        note(about=passages[0].doc_id, passages=len(passages))
        return document_row(passages, decisions)

    return router


def _check(served: Collections, key: Key, collection: str) -> None:
    """Whether a caller may add to a collection, which need not be there."""
    if not key.allows("ingest", collection):
        raise NotAllowed("ingest", collection)
    if not served.serves(collection):
        raise UnknownCollection(granted(key, "ingest", served.names()))


def _settled(data: DataDir, collection: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The policy that documents will have; what is wrong with it or the name is said here, not by the job."""
    chosen = data.settings_for(collection, policy)
    policy_of(chosen)
    return chosen.policy.model_dump(include=set(FOR_CLIENTS))


def submitted(response: Response, job: Job, where: str = "/v1/jobs", **counts: int) -> Mapping[str, object]:
    """A new job as JSON; the answer says where it is to be looked at."""
    # A dry run makes no collection: of one that is not there, the name is a stranger's text.
    note(None if job.dry_run else job.collection, about=job.job_id, **counts)
    response.headers["location"] = f"{where}/{job.job_id}"
    return job_row(job)


async def _sent(request: Request) -> tuple[OrderBody, list[Upload]]:
    """The order and the files of a request, whichever way they were sent.

    Raises:
        ConfigurationError: It holds neither files nor documents, or another part.
        RequestValidationError: A field is wrong.
        TryLater: It has not come in time.
    """
    async with arriving():
        if content_type(request) == JSON:
            return await run_in_threadpool(_of_json, await request.body())
        fields, files = await form_of(request, {"policy": '{"name": "redact"}'})
        return OrderBody.model_validate(fields), files


def _of_json(content: bytes) -> tuple[OrderBody, list[Upload]]:
    body = DocumentsBody.model_validate_json(content)
    return body.order(), [Upload("documents.jsonl", body.lines())]
