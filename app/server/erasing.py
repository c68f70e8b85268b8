"""The routes that erase: documents, with a receipt, and whole collections."""

from collections.abc import Mapping

from fastapi import APIRouter

from app.access.keys import Key
from app.data_dir import DataDir
from app.erasing import erase_with_proof
from app.server.access import Erasing, granted
from app.server.answers import DeletedAnswer, ReceiptAnswer
from app.server.bodies import EraseBody, Named
from app.server.errors import UnknownCollection
from app.server.noted import note
from app.server.served import Collections
from retrieval.collection import delete


def erasing_routes(data: DataDir, served: Collections) -> APIRouter:
    """Erasing from the collections in ``data``; ``served`` is how they answer."""
    router = APIRouter()

    def erased(key: Key, collection: str, ids: list[str]) -> Mapping[str, object]:
        there = granted(key, "erase", served.names())
        if collection not in there:
            raise UnknownCollection(there)
        receipt = erase_with_proof(data, collection, ids, lambda: served.get(collection).retriever)
        note(documents=len(receipt.erasures))
        return {"collection": collection, **receipt.row()}

    @router.post("/v1/collections/{collection}/erase", response_model=ReceiptAnswer)
    def erase(collection: Named, body: EraseBody, key: Erasing) -> Mapping[str, object]:
        """Erase documents, with a receipt."""
        return erased(key, collection, body.ids)

    @router.delete("/v1/collections/{collection}/documents/{doc_id}", response_model=ReceiptAnswer)
    def erase_one(collection: Named, doc_id: str, key: Erasing) -> Mapping[str, object]:
        """Erase a document, with a receipt."""
        return erased(key, collection, [doc_id])

    @router.delete("/v1/collections/{collection}", response_model=DeletedAnswer)
    def delete_collection(collection: Named, key: Erasing) -> Mapping[str, object]:
        """Delete a collection with all that it holds."""
        there = granted(key, "erase", served.names())
        if collection not in there:
            raise UnknownCollection(there)
        delete(data.folder(collection), data.keeping)
        # Looked at again, so that files that were open are let go.
        served.names()
        return {"deleted": collection}

    return router
