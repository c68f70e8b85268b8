"""Preparing documents in several processes: one that hangs or dies costs its document, not the run."""

import atexit
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from multiprocessing import current_process, get_context
from multiprocessing.forkserver import ensure_running
from tempfile import gettempdir
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic

from pebble import ProcessExpired, ProcessPool

from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.protocols import Outcomes, P, Prepare
from ingest.temporary import temporary_folder
from models.errors import LetheError
from models.progress import report, reported_to

if TYPE_CHECKING:
    from ctypes import c_longlong

CHARACTERS_A_SECOND = 200
"""The slowest speed that is no hang: a tenth of what one core does."""
MOST_POOLS = 5
"""How often processes that die before they take a batch are all replaced."""
_FORKED_BY_NOBODY = 255
"""Exit code of every process once the one is gone that forked them all."""
_LONGEST_FOLDER = 68
"""Bytes of a folder for temporary files in which the socket of the process that forks still has a name."""
_GRACE = 5.0
"""Seconds after its deadline when a process ends itself, since nobody else did."""

_LOOKS = 0.25
"""Seconds between two reports while a batch is waited for."""
STALLED = 60.0
"""Seconds beyond its deadline without a word read anywhere after which a batch is taken for lost."""

_prepare: Prepare[Any] | LetheError | None = None
"""That of a worker process, or why there is none."""
_read: "c_longlong | None" = None
"""How many tokens the models of all worker processes have read."""


class Workers(AbstractContextManager["Workers[Any]"], Generic[P]):
    """Processes that each hold the models and take batches in turn.

    ``make`` builds what prepares documents in each process and must be importable there. ``seconds`` is what
    a batch may take beyond its characters at ``CHARACTERS_A_SECOND``. Modules to ``preload`` are imported
    once, and the memory that this fills is shared. If a batch takes longer or ends its process, each of its
    documents is tried alone, and one that does so again yields an error. Calls of ``begin`` and of what it
    returns raise LetheError if no process can be started.
    """

    def __init__(
        self, make: Callable[[], Prepare[P]], count: int, seconds: float, preload: Sequence[str] = ()
    ) -> None:
        self._make, self._count, self._seconds = make, count, seconds
        self._context = forking(preload)
        self._read, self._reported = self._context.RawValue("q", 0), 0
        self._pools = 0
        self._pool = self._started()

    def _started(self) -> ProcessPool:
        if self._pools >= MOST_POOLS:
            raise LetheError(
                "The processes that sanitize end before they begin. Take fewer with --workers, or give the "
                "machine more memory."
            )
        self._pools += 1
        return ProcessPool(
            max_workers=self._count,
            initializer=_start,
            initargs=(self._make, self._read),
            context=self._context,
        )

    def begin(self, documents: Sequence[Document]) -> Callable[[], Outcomes[P]]:
        """Hand out a batch. The call of the result waits for its outcomes, in order."""
        if not documents:
            return list
        while True:
            pool = self._pool
            try:
                seconds = self._seconds + sum(len(each.text) for each in documents) / CHARACTERS_A_SECOND
                future = pool.schedule(_prepared, args=(documents, seconds), timeout=seconds)
            except RuntimeError:
                self._replace(pool)
            else:
                return lambda: self._outcomes(documents, pool, future, seconds)

    def _outcomes(
        self, documents: Sequence[Document], pool: ProcessPool, future: "Future[Outcomes[P]]", seconds: float
    ) -> Outcomes[P]:
        moved = monotonic()
        try:
            while wait([future], _LOOKS).not_done:
                moved = monotonic() if self._report() else moved
                if monotonic() > moved + seconds + STALLED:
                    # A process died with a batch that the pool had not been told of: it waits for ever.
                    raise BrokenProcessPool
            return future.result()
        except (BrokenProcessPool, CancelledError):
            # A process died without a batch, and the pool with it.
            self._replace(pool)
            return self.begin(documents)()
        except (TimeoutError, ProcessExpired) as error:
            if isinstance(error, ProcessExpired) and error.exitcode == _FORKED_BY_NOBODY:
                self._replace(pool)
                return self.begin(documents)()
            if len(documents) == 1:
                return [SanitizationError(documents[0].doc_id, _why(error))]
        alone = [self.begin([document]) for document in documents]
        return [outcome for wait in alone for outcome in wait()]

    def _report(self) -> bool:
        """Report in this process what the models have read in all others; whether that is anything."""
        now = self._read.value
        before, self._reported = self._reported, now
        report(now - before)
        return bool(now > before)

    def _replace(self, pool: ProcessPool) -> None:
        """Put a new pool in place of a broken one, once."""
        if self._pool is pool:
            _end(pool)
            self._pool = self._started()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes; what they still do is lost."""
        _end(self._pool)


def forking(preload: Sequence[str]) -> Any:
    """The context of processes that share the memory of some modules; these begin to be imported.

    They are forked from a process that does nothing else: one that computes cannot be forked safely.
    """
    if not preload or len(os.fsencode(gettempdir())) > _LONGEST_FOLDER:
        return get_context("spawn")
    _keep_sockets_apart()
    context = get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    ensure_running()
    return context


@cache
def _keep_sockets_apart() -> None:
    """Have the socket of the process that forks in a folder that goes after this process was killed too."""
    kept = ExitStack()
    folder = kept.enter_context(temporary_folder())
    atexit.register(kept.close)
    current_process()._config["tempdir"] = str(folder)  # type: ignore[attr-defined]


def _end(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


def _why(error: Exception) -> str:
    if isinstance(error, ProcessExpired):
        code = error.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
        return f"it ended the process that sanitizes ({how})"
    return "sanitizing took too long; split it or raise LETHE_INGEST__SANITIZE_SECONDS"


def _start(make: Callable[[], Prepare[Any]], read: "c_longlong") -> None:
    """Build what this process prepares with; no batch's deadline counts it."""
    global _prepare, _read
    _read = read
    # An interrupt from the keyboard is for the main process, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A library's complaints may quote what it reads.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(nowhere, stream.fileno())
    try:
        _prepare = make()
    except LetheError as error:
        _prepare = error
    except Exception as error:
        _prepare = LetheError(f"A process that sanitizes could not start ({type(error).__name__}).")


def _prepared(documents: Sequence[Document], seconds: float) -> Outcomes[Any]:
    assert _prepare is not None
    if isinstance(_prepare, LetheError):
        raise _prepare
    # If the main process is gone, nobody else ends this one.
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)
    try:
        with reported_to(_note):
            return _prepare(documents)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _note(tokens: int) -> None:
    # Without a lock: what two processes lose to each other is little, and this is an estimate.
    assert _read is not None
    _read.value += tokens
