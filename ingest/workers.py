"""Sanitizing in several processes: one that hangs or dies costs its document, not the run."""

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import cache
from multiprocessing import get_context
from types import TracebackType
from typing import Self

from pebble import ProcessExpired, ProcessPool

from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.pipeline import Outcomes
from ingest.protocols import Sanitizer

CHARACTERS_A_SECOND = 200
"""The slowest speed that is no hang: a tenth of what one core does."""

_made: Callable[[], Sanitizer] | None = None
"""Builds the sanitizer of a worker process at its first batch, once."""


class Workers(AbstractContextManager["Workers"]):
    """Processes that each hold a sanitizer and take batches in turn.

    ``make`` builds the sanitizer in each process and must be importable there. ``seconds`` is what a batch
    may take beyond its characters at ``CHARACTERS_A_SECOND``. If a batch takes longer or ends its process,
    each of its documents is tried alone, and one that does so again yields an error.
    """

    def __init__(self, make: Callable[[], Sanitizer], count: int, seconds: float) -> None:
        self._seconds = seconds
        self._pool = ProcessPool(
            max_workers=count, initializer=_prepare, initargs=(make,), context=get_context("spawn")
        )

    def begin(self, documents: Sequence[Document]) -> Callable[[], Outcomes]:
        """Hand out a batch. The call of the result waits for its outcomes, in order."""
        if not documents:
            return list
        future = self._begun(documents)
        return lambda: self._outcomes(documents, future)

    def _begun(self, documents: Sequence[Document]) -> "Future[Outcomes]":
        seconds = self._seconds + sum(len(each.text) for each in documents) / CHARACTERS_A_SECOND
        found: Future[Outcomes] = self._pool.schedule(_sanitized, args=(documents,), timeout=seconds)
        return found

    def _outcomes(self, documents: Sequence[Document], future: "Future[Outcomes]") -> Outcomes:
        try:
            return future.result()
        except (TimeoutError, ProcessExpired) as error:
            if len(documents) == 1:
                return [SanitizationError(documents[0].doc_id, _why(error))]
        alone = [self.begin([document]) for document in documents]
        return [outcome for wait in alone for outcome in wait()]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes; what they still do is lost."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    def __enter__(self) -> Self:
        return self


def _why(error: Exception) -> str:
    if isinstance(error, ProcessExpired):
        code = error.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
        return f"it ended the process that sanitizes ({how})"
    return "sanitizing took too long; split it or raise LETHE_INGEST__SANITIZE_SECONDS"


def _prepare(make: Callable[[], Sanitizer]) -> None:
    global _made
    # An interrupt from the keyboard is for the main process, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _made = cache(make)


def _sanitized(documents: Sequence[Document]) -> Outcomes:
    assert _made is not None
    return _made().sanitize(documents)
