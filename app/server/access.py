"""Who may call a route: keys as bearer tokens, with the scope of the route."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.access.keys import EVERYBODY, Key, Keys, Scope
from app.server.middleware.noted import CURRENT
from app.server.quotas.rates import Rates
from models.errors import LetheError

_BEARER = HTTPBearer(auto_error=False, description="a key that `lethe keys create` has shown")


class NotAuthenticated(LetheError):
    """A request brought no key, or one that is unknown or revoked."""

    def __init__(self) -> None:
        super().__init__(
            "This server needs an API key: send one that `lethe keys create` has shown and that is not "
            "revoked, as Authorization: Bearer KEY."
        )


class NotAllowed(LetheError):
    """A key without the scope of a route; a collection that was named is not: it may be a stranger's text."""

    def __init__(self, scope: Scope, collection: str | None = None) -> None:
        on = " for this collection" if collection is not None else ""
        super().__init__(
            f"This key does not have the scope {scope}{on}, which this needs. Whoever manages keys can make "
            f"one that does: on the page, or by `lethe keys create NAME --scope {scope}`."
        )


class Access(Protocol):
    """Whose key a text is, None for nobody's."""

    def caller(self, text: str | None) -> Key | None: ...


class Everybody:
    """Lets everybody do everything."""

    def caller(self, text: str | None) -> Key | None:
        """The key that stands for everybody."""
        return EVERYBODY


class ByKeys:
    """Asks for a key; where the server is this machine's alone, from the first one on that was made."""

    def __init__(self, keys: Keys, alone: bool) -> None:
        self._keys, self._alone = keys, alone

    def caller(self, text: str | None) -> Key | None:
        """The key of the text, or the one that stands for everybody."""
        return EVERYBODY if self._alone and not self._keys.any() else self._keys.caller(text)


async def _again(
    request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
) -> Callable[[], Key | None]:
    access: Access = request.app.state.access
    return lambda: access.caller(given.credentials if given else None)


Again = Annotated[Callable[[], Key | None], Depends(_again)]
"""A parameter of routes that answer for long: looks the caller's key up anew, None once it is revoked."""


def needs(scope: Scope | None) -> Any:
    """A dependency: the key of the caller, which has the scope if one is needed."""

    def caller(request: Request, again: Again) -> Key:
        rates: Rates = request.app.state.rates
        key = again()
        # A route that needs two scopes is one request all the same.
        if not hasattr(request.state, "key_id"):
            # By its address where no key is valid: a forged one must not use up that of its owner.
            rates.take((key.key_id if key else "") or (request.client.host if request.client else ""))
        if key is None:
            raise NotAuthenticated
        request.state.key_id = key.key_id or None
        if noted := CURRENT.get():
            noted.asked(request, key, scope)
        if scope is not None and not key.allows(scope):
            raise NotAllowed(scope, request.path_params.get("collection"))
        return key

    return Depends(caller)


Asking = Annotated[Key, needs("query")]
"""The caller of a route that searches and answers."""
Ingesting = Annotated[Key, needs("ingest")]
"""The caller of a route that adds documents."""
Revealing = Annotated[Key, needs("reveal")]
"""The caller of a route that shows originals or works on them."""
Erasing = Annotated[Key, needs("erase")]
"""The caller of a route that erases."""
Calling = Annotated[Key, needs(None)]
"""The caller of a route for all who have a key."""
Auditing = Annotated[Key, needs("audit")]
"""The caller of a route that shows what was done."""
Managing = Annotated[Key, needs("admin")]
"""The caller of a route for keys."""


def granted(key: Key, scope: Scope, names: Sequence[str]) -> list[str]:
    """The collections with which a key may do something."""
    return [name for name in names if key.allows(scope, name)]
