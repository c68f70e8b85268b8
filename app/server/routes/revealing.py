"""The route that shows the original of a document, which the vault keeps."""

from collections.abc import Mapping
from functools import cache

from fastapi import APIRouter

from app.access.vault import revealed, vault_of
from app.data_dir import DataDir
from app.erasing import names_of
from app.server.access import Revealing
from app.server.answers import OriginalAnswer
from app.server.asked import collection_of
from app.server.bodies import Named
from app.server.middleware.noted import note
from app.server.served import Collections


def reveal_routes(data: DataDir, served: Collections) -> APIRouter:
    """Originals of the collections in ``data``."""
    router = APIRouter()
    vault = cache(lambda: vault_of(data.settings))

    @router.post("/v1/collections/{collection}/documents/{doc_id}/reveal", response_model=OriginalAnswer)
    def reveal(collection: Named, doc_id: str, key: Revealing) -> Mapping[str, object]:
        """The original of a document, where the vault keeps it; the trail says who asked for it."""
        collection_of(key, served, collection, "reveal")
        with data.open(collection) as opened:
            original = revealed(vault(), opened, names_of(data, opened, doc_id), key.reads)
        note(about=str(original["doc_id"]))
        return original

    return router
