"""What the trail will say of the request under way, as far as its route knows by now."""

from collections.abc import Callable
from contextvars import ContextVar

from starlette.requests import Request

from app.access.keys import Key, Scope
from app.access.trail import BEGUN, Entry, Trail

EVERYBODY_ID = "everybody"
_SAFE = ("GET", "HEAD")


class Noted:
    """Collects an entry, and writes it before the answer goes out.

    ``holds`` says whether there is a collection of a name: others are words of a stranger.
    """

    def __init__(self, trail: Trail, holds: Callable[[str], bool]) -> None:
        self._trail, self._holds = trail, holds
        self._key_id: str | None = None
        self._scopes: tuple[Scope, ...] = ()
        self._action, self._method = "", ""
        self.collection: str | None = None
        self.doc_id: str | None = None
        self.counts: dict[str, int] = {}

    def asked(self, request: Request, key: Key, scope: Scope) -> None:
        """Note who asks for what. What changes something, or shows an original, has an entry before that.

        Raises:
            TrailNotWritten: The request is to be refused.
        """
        begins = not self._scopes and key.allows(scope)
        self._key_id, self._method = key.key_id or EVERYBODY_ID, request.method
        self._scopes = (*self._scopes, scope)
        self._action = f"{request.method} {getattr(request.scope.get('route'), 'path', '')}"
        self._named = request.path_params.get("collection")
        self._look_up()
        if begins and self._changes:
            self._trail.write(self._entry(BEGUN), lasting=True)

    @property
    def _changes(self) -> bool:
        return self._method not in _SAFE and self._scopes != ("query",)

    def _look_up(self) -> None:
        if self.collection is None and self._named is not None and self._holds(self._named):
            self.collection = self._named

    def write(self, outcome: int | str) -> None:
        """Write the entry, if the request came from somebody and touched a collection or changed something.

        Raises:
            TrailNotWritten: The answer is to be withheld.
        """
        if self._key_id is None:
            return
        self._look_up()
        if self.collection is not None or self._changes:
            self._trail.write(self._entry(outcome), lasting=self._changes)

    def _entry(self, outcome: int | str) -> Entry:
        assert self._key_id is not None
        return Entry(
            self._key_id, self._action, self._scopes, outcome, self.collection, self.doc_id, self.counts
        )


CURRENT: ContextVar[Noted | None] = ContextVar("noted", default=None)
"""That of the request under way; None where there is no trail."""


def note(collection: str | None = None, doc_id: str | None = None, **counts: int) -> None:
    """Let the entry of this request name a collection or document that is there, and count something."""
    noted = CURRENT.get()
    if noted is None:
        return
    noted.collection = collection or noted.collection
    noted.doc_id = doc_id or noted.doc_id
    noted.counts |= counts
