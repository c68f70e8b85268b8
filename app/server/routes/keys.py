"""The routes of keys, for those who manage them, and of one's own."""

from collections.abc import Mapping

from fastapi import APIRouter

from app.access.keys import Key, Keys, UnknownKey, key_row
from app.server.access import Calling, Managing, granted
from app.server.answers import KeyAnswer, KeysAnswer, NewKeyAnswer
from app.server.bodies import KeyBody
from app.server.errors import UnknownCollection
from app.server.middleware.noted import note
from app.server.served import Collections
from ingest.readers import groups_in
from models.errors import ConfigurationError


def key_routes(keys: Keys, served: Collections) -> APIRouter:
    """The keys of a data folder."""
    router = APIRouter()

    @router.get("/v1/me", response_model=KeyAnswer)
    def me(key: Calling) -> Mapping[str, object]:
        """The caller's own key."""
        return key_row(key)

    @router.get("/v1/keys", response_model=KeysAnswer)
    def all_keys(key: Managing) -> Mapping[str, object]:
        """Every key for no other collections than the caller's, revoked ones too."""
        return {"keys": [key_row(each) for each in keys.all() if _manages(key, each)]}

    @router.post("/v1/keys", response_model=NewKeyAnswer, status_code=201)
    def create(body: KeyBody, key: Managing) -> Mapping[str, object]:
        """Make a key, which nothing shows again. It allows no more collections than the caller's own."""
        if not {*body.scopes} <= key.scopes:
            raise ConfigurationError("scopes: a key cannot give another one what it does not have itself.")
        if not keys.any() and (body.collections is not None or "admin" not in body.scopes):
            raise ConfigurationError(
                "scopes: the first key closes the server to everybody else. Give it the scope admin, and all "
                "collections: without that nobody could make another key here."
            )
        there = granted(key, "admin", served.names())
        for name in body.collections or ():
            # A grant for a misspelled name would allow nothing, silently.
            if name not in there:
                raise UnknownCollection(there)
        asked = None if body.collections is None else frozenset(body.collections)
        collections = key.collections if asked is None else asked
        made = keys.create(body.name, frozenset(body.scopes), collections, groups_in(body.groups))
        note(about=made.key.key_id)
        return {**key_row(made.key), "key": made.text}

    @router.delete("/v1/keys/{key_id}", response_model=KeyAnswer)
    def revoke(key_id: str, key: Managing) -> Mapping[str, object]:
        """Revoke a key: it allows nothing any more."""
        if not any(each.key_id == key_id for each in keys.all() if _manages(key, each)):
            raise UnknownKey
        revoked = keys.revoke(key_id)
        note(about=revoked.key_id)
        return key_row(revoked)

    return router


def _manages(key: Key, other: Key) -> bool:
    """Whether a key is for collections that the other is for too."""
    return key.collections is None or (other.collections is not None and other.collections <= key.collections)
