"""What this process may use of its machine, in a container too, and for how long."""

import logging
import os
import resource
import signal
import threading
from multiprocessing import parent_process
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def cores(cgroup: Path = CGROUP) -> int:
    """The processor cores, at least one, that affinity and a container's quota leave."""
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _said(cgroup / "cpu.max").partition(" ")
    return max(1, min(free, int(quota) // int(period))) if quota.isdigit() and period.isdigit() else free


def keep_no_core() -> None:
    """From now on, this process leaves no image of its memory on the disk if it crashes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def drop_logs() -> None:
    """From now on, what libraries log is not printed: it may quote what they read."""
    logging.getLogger().addHandler(logging.NullHandler())


def begin_apart() -> None:
    """Begin in a process that the server has started: it ends with the server, by a kill too.

    An interrupt from the keyboard is for the server, which then ends this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_no_core()
    drop_logs()
    parent = parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def memory(cgroup: Path = CGROUP) -> int:
    """Bytes of memory, of the machine or of the container."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = _said(cgroup / "memory.max")
    return min(whole, int(limit)) if limit.isdigit() else whole


def _said(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
