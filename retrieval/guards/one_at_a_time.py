"""A sanitizer that threads share."""

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock

from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protocols import Sanitizer


class OneAtATime:
    """Loads a sanitizer when it is first needed; threads sanitize one after the other."""

    def __init__(self, make: Callable[[], Sanitizer]) -> None:
        self._make = make
        self._sanitizing = Lock()

    @cached_property
    def _sanitizer(self) -> Sanitizer:
        return self._make()

    def load(self) -> None:
        """Load it now; raises what making it raises."""
        with self._sanitizing:
            _ = self._sanitizer

    @property
    def name(self) -> str:
        """The name of the sanitizer."""
        with self._sanitizing:
            return self._sanitizer.name

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]:
        """As the sanitizer does."""
        with self._sanitizing:
            return self._sanitizer.sanitize(documents)
