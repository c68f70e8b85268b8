"""The routes that erase: documents, with a receipt, and whole collections."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from fastapi import APIRouter

from app.access.keys import Key
from app.data_dir import DataDir
from app.erasing import documents_saying, erase_with_proof, sought
from app.jobs.audits import forget_reports
from app.jobs.runner import Runner
from app.sanitizing import Sanitizing
from app.server.access import Erasing
from app.server.answers import DeletedAnswer, ReceiptAnswer
from app.server.asked import collection_of
from app.server.bodies import EraseBody, Named
from app.server.middleware.noted import note
from app.server.quotas.slots import ModelSlot
from app.server.served import Collections
from models.errors import ConfigurationError
from retrieval.collection import delete
from retrieval.errors import CollectionError


def erasing_routes(data: DataDir, served: Collections, sanitizing: Sanitizing, runner: Runner) -> APIRouter:
    """Erasing from the collections in ``data``, which answer as ``served``; ``sanitizing`` knows aliases."""
    router = APIRouter()

    def check(key: Key, collection: str) -> None:
        collection_of(key, served, collection, "erase")
        if runner.busy_with(collection):
            # It would store again what is erased, or make the collection anew.
            raise CollectionError(
                "Jobs of this collection are not over: cancel them or wait, then send this again."
            )

    def erased(collection: str, ids: Sequence[str]) -> Mapping[str, object]:
        sought(data, collection, ids)
        with runner.erasing(collection):
            # Again: while audits ended, an ingest may have stored other passages.
            wanted = sought(data, collection, ids)
            try:
                receipt = erase_with_proof(data, collection, wanted, lambda: served.get(collection).bare)
            finally:
                # What was searched for is remembered as a question is.
                served.forget_questions()
            note(about=" ".join(each.doc_id for each in receipt.erasures), documents=len(receipt.erasures))
            forget_reports(data)
        return {"collection": collection, **receipt.row()}

    def aliases(collection: str, people: Sequence[str]) -> Iterator[str]:
        for name in people:
            yield from sanitizing.aliases(name, collection)

    @router.post("/v1/collections/{collection}/erase", response_model=ReceiptAnswer)
    def erase(collection: Named, body: EraseBody, key: Erasing, slot: ModelSlot) -> Mapping[str, object]:
        """Erase documents, with a receipt."""
        check(key, collection)
        if not body.ids and not body.people:
            raise ConfigurationError("ids: name documents by ids, or people by their full names.")
        about = [documents_saying(data, collection, alias) for alias in aliases(collection, body.people)]
        return erased(collection, [*body.ids, *chain.from_iterable(about)])

    @router.delete("/v1/collections/{collection}/documents/{doc_id}", response_model=ReceiptAnswer)
    def erase_one(collection: Named, doc_id: str, key: Erasing, slot: ModelSlot) -> Mapping[str, object]:
        """Erase a document, with a receipt."""
        check(key, collection)
        return erased(collection, [doc_id])

    @router.delete("/v1/collections/{collection}", response_model=DeletedAnswer)
    def delete_collection(collection: Named, key: Erasing) -> Mapping[str, object]:
        """Delete a collection with all that it holds."""
        check(key, collection)
        with runner.erasing(collection):
            delete(data.folder(collection), data.keeping)
            served.forget_questions()
            forget_reports(data)
        # Looked at again, so that files that were open are let go.
        served.names()
        return {"deleted": collection}

    return router
