"""The routes by which a person looks through stored documents and masks what should not have stayed."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query

from app.data_dir import DataDir
from app.jobs.runner import Runner
from app.rows import kept_row
from app.server.access import Asking, Ingesting
from app.server.answers import ReviewAnswer, ReviewedAnswer
from app.server.asked import collection_of
from app.server.bodies import Named, ReviewBody
from app.server.middleware.noted import note
from app.server.quotas.slots import ModelSlot
from app.server.served import Collections
from ingest.deciding.policy import TOO_FEW
from ingest.documents import Span
from models.errors import ConfigurationError
from retrieval.errors import CollectionError
from retrieval.reviewing import Mask, review


def review_routes(data: DataDir, served: Collections, runner: Runner) -> APIRouter:
    """Reviews of the collections in ``data``."""
    router = APIRouter()

    @router.get("/v1/collections/{collection}/review", response_model=ReviewAnswer)
    def to_review(
        collection: Named, key: Asking, limit: Annotated[int, Query(ge=1, le=100)] = 20
    ) -> Mapping[str, object]:
        """Documents that nobody has looked through: first those that fewer people fit than asked for."""
        with data.open(collection_of(key, served, collection)) as opened:
            documents, left = opened.store.to_review(TOO_FEW, limit, key.reads)
        return {"left": left, "documents": [kept_row(each) for each in documents]}

    @router.post("/v1/collections/{collection}/documents/{doc_id}/review", response_model=ReviewedAnswer)
    def reviewed(
        collection: Named, doc_id: str, body: ReviewBody, key: Ingesting, asks: Asking, slot: ModelSlot
    ) -> Mapping[str, object]:
        """Mask places of a stored document, and note that it was looked through."""
        collection_of(asks, served, collection)
        collection_of(key, served, collection, "ingest")
        if runner.busy_with(collection):
            raise CollectionError(
                "Jobs of this collection are not over: cancel them or wait, then send this again."
            )
        # One that was made with another encoder is refused.
        served.get(collection)
        masks = [Mask(_span(each.start, each.end), each.instead) for each in body.masks]
        with data.open(collection) as opened:
            done = review(opened, served.encoder, doc_id, masks, everywhere=body.everywhere, groups=key.reads)
        note(about=done.doc_id, documents=done.documents)
        return {"doc_id": done.doc_id, "places": done.places, "documents": done.documents}

    return router


def _span(start: int, end: int) -> Span:
    if start >= end:
        raise ConfigurationError(f"masks: there are no words from {start} to {end}.")
    return Span(start, end)
