"""The process that reads files for another one.

Arguments: the limits in seconds and bytes, and a word if asides are read. Standard input brings the names of
fields, which as arguments all users of the machine would see, then lists of files; standard output takes what
was read, with an empty list after each file.
A document that takes too long ends the process by a system alarm, whatever library it is in. Too much memory
ends it too, and so does the end of standard input.
"""

import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ingest.documents import Document
from ingest.read.reading import Fields, Reading, ReadLimits
from ingest.read.reading_process import OUT_OF_MEMORY, framed, packed, receive, unpacked_files
from ingest.read.sources import file_readings
from ingest.read.text import READS_ASIDES

# A smaller alarm would round to 0, which means no limit.
_SHORTEST_SECONDS = 1e-3


def serve(questions: BinaryIO, answers: BinaryIO, limits: ReadLimits) -> int:
    """Serve requests until the input ends; returns the exit code."""
    try:
        fields = Fields(*cast("list[str]", receive(questions)))
        while True:
            files = unpacked_files(receive(questions))
            _limit_memory(limits.memory_bytes)
            for file in files:
                _answer(answers, file_readings(file, fields), limits.seconds)
    except (EOFError, BrokenPipeError):
        return 0
    except MemoryError:
        return OUT_OF_MEMORY


def _answer(answers: BinaryIO, readings: Iterator[Reading], seconds: float) -> None:
    """Write readings with the alarm off: waiting for the consumer does not count."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    for reading in readings:
        data = framed(packed(reading))
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(data)
        answers.flush()
        # Records that are no documents share the time of one: a small file can hold any number of them.
        again = seconds if isinstance(reading.item, Document) else max(left, _SHORTEST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, again)
    signal.setitimer(signal.ITIMER_REAL, 0)
    answers.write(framed([]))
    answers.flush()


def _limit_memory(room: int) -> None:
    """Limit the process to ``room`` bytes more than it uses now, if the system reports its use."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (OSError, ValueError, IndexError):
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = pages * resource.getpagesize() + room
    resource.setrlimit(
        resource.RLIMIT_DATA, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most)
    )


def _main() -> None:
    # Whatever a library prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # No file of a crash: it would hold the text that was read.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The alarm ends the process whatever library it is in, so nobody may catch it.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    seconds, memory_bytes, asides = sys.argv[1:]
    READS_ASIDES.set(bool(asides))
    limits = ReadLimits(float(seconds), int(memory_bytes))
    # Without tidying up: that may take long, or memory that there is not.
    os._exit(serve(sys.stdin.buffer, answers, limits))


if __name__ == "__main__":
    _main()
