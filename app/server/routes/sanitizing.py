"""The routes of sanitizing: a text with every decision, and the policies that there are."""

from collections.abc import Mapping

from fastapi import APIRouter

from app.sanitizing import Sanitizing
from app.server.access import Asking, Ingesting
from app.server.answers import PoliciesAnswer, SanitizedAnswer
from app.server.asked import collection_of
from app.server.bodies import SanitizeBody
from app.server.middleware.noted import note
from app.server.quotas.slots import ModelSlot
from app.server.served import Collections
from ingest.deciding.policy import METHODS, Policy
from models.errors import ConfigurationError


def sanitizing_routes(sanitizing: Sanitizing, served: Collections) -> APIRouter:
    """Texts, sanitized by policies and by those of ``served``."""
    router = APIRouter()

    @router.post("/v1/sanitize", response_model=SanitizedAnswer)
    def sanitize(body: SanitizeBody, key: Ingesting, slot: ModelSlot) -> Mapping[str, object]:
        """A text, sanitized, with every decision. Nothing of it is stored."""
        if body.collection is not None:
            note(collection_of(key, served, body.collection, "ingest"))
        elif body.policy.get("replacements") == "alias":
            # They are the same in all collections: who may see none would learn who is in them.
            raise ConfigurationError("policy.replacements: aliases are those of a collection. Name it.")
        return sanitizing.row(body.text, body.collection, body.policy)

    @router.get("/v1/policies", response_model=PoliciesAnswer)
    def policies(key: Asking) -> Mapping[str, object]:
        """The policies that a collection may have."""
        rows = [
            {"name": name, "description": does, "has_threshold": Policy(name).has_threshold}
            for name, does in METHODS.items()
            if name != "origin"
        ]
        return {"policies": rows}

    return router
