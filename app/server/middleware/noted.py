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

    ``holds`` says whether there is a collection of a name that a path has: others are words of a stranger.
    """

    def __init__(self, trail: Trail, holds: Callable[[str], bool]) -> None:
        self._trail, self._holds = trail, holds
        self._key_id: str | None = None
        self._scopes: tuple[Scope, ...] = ()
        self._action = ""
        self._named: str | None = None
        self._changes = False
        self.collection: str | None = None
        self.about: str | None = None
        self.counts: dict[str, int] = {}

    def asked(self, request: Request, key: Key, scope: Scope | None) -> None:
        """Note who asks for what. What changes something, or shows an original, has an entry before that.

        Raises:
            TrailNotWritten: The request is to be refused.
        """
        begins = self._key_id is None and (scope is None or key.allows(scope))
        self._key_id = key.key_id or EVERYBODY_ID
        self._scopes = self._scopes if scope is None else (*self._scopes, scope)
        self._action = f"{request.method} {getattr(request.scope.get('route'), 'path', '')}"
        self._named = request.path_params.get("collection")
        # What changes something is named by the path, save for a new key; asking changes nothing.
        something = bool(request.path_params) or "admin" in self._scopes
        self._changes = something and request.method not in _SAFE and self._scopes != ("query",)
        self._look_up()
        if begins and self._changes:
            self._trail.write(self._entry(BEGUN), lasting=True)

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
            self._key_id, self._action, self._scopes, outcome, self.collection, self.about, self.counts
        )


CURRENT: ContextVar[Noted | None] = ContextVar("noted", default=None)
"""That of the request under way; None where there is no trail."""


def note(collection: str | None = None, about: str | None = None, **counts: int) -> None:
    """Let the entry of this request name a collection, say what id it is about, and count.

    The collection is there, or about to be made.
    """
    noted = CURRENT.get()
    if noted is None:
        return
    noted.collection = collection or noted.collection
    noted.about = about or noted.about
    noted.counts |= counts
