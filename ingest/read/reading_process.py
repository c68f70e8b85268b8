"""Reading in a separate process, killed if a document takes too long or too much memory."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from typing import IO, cast

from ingest.documents import Document, Unread
from ingest.errors import UnreadableDocument
from ingest.read.paths import shown
from ingest.read.reading import Fields, File, Reading, ReadLimits, placed, within

OUT_OF_MEMORY = 70
"""The exit code of a reading process that needed more memory than it may have."""
_LENGTH_BYTES = 8


def framed(value: object) -> bytes:
    """One value on the wire: its length in bytes, then itself."""
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return len(data).to_bytes(_LENGTH_BYTES, "big") + data


def receive(stream: IO[bytes]) -> object:
    """Read one value.

    Raises:
        EOFError: The other process has ended, before a value or within one.
    """
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        raise EOFError
    data = stream.read(size := int.from_bytes(length, "big"))
    if len(data) < size:
        raise EOFError
    return json.loads(data)


def packed_file(file: File) -> Sequence[object]:
    """A file to read as JSON has it."""
    return [str(file.path), file.size, file.before, file.origin, file.root]


def unpacked_files(value: object) -> Iterator[File]:
    """The files that were packed in a list."""
    for path, size, before, origin, root in cast(list[tuple[str, int, int, str, str]], value):
        yield File(Path(path), size, before, origin, root)


def packed(reading: Reading) -> Sequence[object]:
    """A reading as JSON has it."""
    item = reading.item
    if isinstance(item, UnreadableDocument):
        return [reading.bytes_read, item.source, item.place, item.reason]
    unread = [astuple(part) for part in item.unread]
    readers = sorted(item.readers)
    return [reading.bytes_read, item.source, item.doc_id, item.text, dict(item.metadata), unread, readers]


def unpacked(value: object) -> Reading:
    """The reading that was packed."""
    match value:
        case [int(bytes_read), str(source), str(place), str(reason)]:
            return Reading(UnreadableDocument(place, reason, source), bytes_read)
        case [int(read), str(source), str(doc_id), str(text), dict(metadata), list(unread), list(readers)]:
            parts = tuple(Unread(*part) for part in unread)
            return Reading(Document(doc_id, text, metadata, parts, source, frozenset(readers)), read)
    raise ValueError("is no reading")


MOST_ASKED_BYTES = 4096
"""Maximum request size that does not block on the other process."""

ReadFiles = Callable[[Iterator[File | Reading]], Iterator[Reading]]
"""The readings of files in order, including given ones; errors are items."""


@contextmanager
def reading_process(limits: ReadLimits, fields: Fields) -> Iterator[ReadFiles]:
    """A process that reads files: started for the first file, and restarted after a file that killed it.

    It reads ahead by what fits into the pipe, then waits.
    """
    reader = _Reader(limits, fields)
    try:
        yield reader.readings
    finally:
        reader.stop()


class _Reader:
    """The reading process, if running."""

    def __init__(self, limits: ReadLimits, fields: Fields) -> None:
        self._limits, self._fields = limits, fields
        self._process: subprocess.Popen[bytes] | None = None

    def readings(self, sources: Iterator[File | Reading]) -> Iterator[Reading]:
        for together in _asked_together(sources):
            while together:
                together = yield from self._answers(together)

    def _answers(self, sources: list[File | Reading]) -> Generator[Reading, None, list[File | Reading]]:
        """Yield the readings of some sources; return the remaining sources if one killed the process."""
        new = self._process is None
        process = self._process = self._process or _started(self._limits)
        assert process.stdin
        assert process.stdout
        # A dead process is noticed by its missing answers.
        with suppress(BrokenPipeError):
            if new:
                process.stdin.write(framed(astuple(self._fields)))
            files = [packed_file(source) for source in sources if isinstance(source, File)]
            process.stdin.write(framed(files))
            process.stdin.flush()
        for number, source in enumerate(sources, 1):
            if isinstance(source, Reading):
                yield source
                continue
            documents = 0
            try:
                while answer := receive(process.stdout):
                    reading = within(unpacked(answer), self._limits)
                    documents += isinstance(reading.item, Document)
                    yield reading
            except EOFError:
                reason = _why(self.stop(), self._limits)
                if documents:
                    reason += f"; what stands behind its first {documents:,} documents was not read"
                error = UnreadableDocument(shown(source.path), reason)
                yield Reading(placed(error, source), source.before + source.size)
                return sources[number:]
        return []

    def stop(self) -> int:
        """End the process and its children; returns its exit code, negative for a signal."""
        process, self._process = self._process, None
        if process is None:
            return 0
        # An exit code that there is already stays as it is.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            process.communicate()
        return process.wait()


def _asked_together(sources: Iterator[File | Reading]) -> Iterator[list[File | Reading]]:
    """Sources in order, batched into requests: round trips cost time."""
    together: list[File | Reading] = []
    room = MOST_ASKED_BYTES
    for source in sources:
        size = len(framed(packed_file(source))) if isinstance(source, File) else MOST_ASKED_BYTES
        if together and size > room:
            yield together
            together, room = [], MOST_ASKED_BYTES
        together.append(source)
        room -= size
    if together:
        yield together


def _started(limits: ReadLimits) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        # Without -P a module in the folder that somebody stands in could take the place of one of ours.
        [
            *(sys.executable, "-P", "-m", "ingest.read.worker"),
            *(str(limits.seconds), str(limits.memory_bytes), "1" * limits.asides),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A library's complaints may quote what it reads.
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            # Memory that threads set aside would count against the documents.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
        # A group of its own: an interrupt from the keyboard is for this process, which then ends that one.
        process_group=0,
    )


def _why(code: int, limits: ReadLimits) -> str:
    if code == -signal.SIGALRM:
        return (
            f"took longer than {limits.seconds:g} s to read; split it or raise LETHE_INGEST__DOCUMENT_SECONDS"
        )
    if code == OUT_OF_MEMORY:
        return (
            f"needed more than {limits.memory_bytes >> 20:,} MB of memory to read; split it or raise "
            "LETHE_INGEST__DOCUMENT_MEGABYTES"
        )
    how = f"signal {-code}" if code < 0 else f"code {code}"
    return f"ended the process that reads files ({how}); leave it out or save it again"
