"""The routes of collections: which there are, and searching them."""

from collections.abc import Mapping
from contextlib import suppress

from fastapi import APIRouter

from app.rows import passage_row
from app.server.access import Asking, granted
from app.server.answers import CollectionAnswer, CollectionsAnswer, SearchAnswer
from app.server.asked import collection_of
from app.server.bodies import SearchBody
from app.server.errors import UnknownCollection
from app.server.middleware.noted import note
from app.server.quotas.budgets import Counted
from app.server.quotas.slots import SearchSlot
from app.server.served import Collections
from models.errors import ConfigurationError
from retrieval.errors import CollectionError


def collection_routes(served: Collections) -> APIRouter:
    """Collections and search over ``served``."""
    router = APIRouter()

    @router.get("/v1/collections", response_model=CollectionsAnswer, response_model_exclude_none=True)
    def collections(key: Asking) -> Mapping[str, object]:
        """The collections that the caller may use."""
        rows = []
        for name in granted(key, "query", served.names()):
            # One that is damaged, or deleted by now, does not hide the others.
            with suppress(CollectionError, UnknownCollection):
                rows.append(served.row(name))
        return {"collections": rows}

    @router.get(
        "/v1/collections/{collection}", response_model=CollectionAnswer, response_model_exclude_none=True
    )
    def collection(collection: str, key: Asking) -> Mapping[str, object]:
        """A collection by name."""
        return served.row(collection_of(key, served, collection))

    @router.post("/v1/search", response_model=SearchAnswer)
    def search(body: SearchBody, key: Asking, slot: SearchSlot, budgets: Counted) -> Mapping[str, object]:
        """The best passages of a collection for a question."""
        if not body.question.strip():
            raise ConfigurationError("question: it is blank. Write a question.")
        name = collection_of(key, served, body.collection)
        found = served.get(name)
        budgets.ask(key.key_id, name, body.question, served.encoder)
        passages = found.retriever_for(key.reads).retrieve([body.question], body.k or found.k)[0]
        budgets.show(key.key_id, name, passages, lambda: served.documents(name, key.reads))
        note(passages=len(passages))
        return {"passages": [passage_row(each) for each in passages]}

    return router
