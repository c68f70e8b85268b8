"""Vector databases that tests start and end themselves: an embedded Milvus file, and a real PostgreSQL."""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from retrieval.index.vector_store import MilvusTable, PgvectorTable, Table

_NOBODY = 65534


def need(*modules: str) -> None:
    """Skip where a library is not installed."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL that listens on a socket in a folder of its own and nowhere else.

    It runs as nobody if this process is root, which PostgreSQL refuses to be.
    """
    need("langchain_postgres", "psycopg", "pgserver")
    found = importlib.util.find_spec("pgserver")
    assert found is not None and found.submodule_search_locations
    programs = Path(found.submodule_search_locations[0]) / "pginstall" / "bin"
    # Not below pytest's own folders, which nobody else may enter; and a socket's path is short.
    folder = Path(tempfile.mkdtemp(prefix="lethe-pg-"))
    user = _NOBODY if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, user, user)
    data = folder / "data"
    make: list[str | Path] = [programs / "initdb", "-D", data, "-U", "lethe", "-A", "trust", "--no-sync"]
    serve: list[str | Path] = [programs / "postgres", "-D", data, "-k", folder, "-h", "", "-F"]
    try:
        subprocess.run(
            [*make, "--encoding=UTF8", "--locale=C"],
            user=user,
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(serve, user=user, cwd=folder, stdout=log, stderr=log)
        try:
            _wait(folder / "log", server)
            yield f"postgresql://lethe@/postgres?host={folder}"
        finally:
            # A fast shutdown, which does not wait for connections.
            server.send_signal(signal.SIGINT)
            server.wait(30)
    finally:
        shutil.rmtree(folder)


def _wait(log: Path, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 60
    while b"ready to accept connections" not in log.read_bytes():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.02)


TABLES: dict[str, Callable[[str, str], Table]] = {"milvus": MilvusTable, "pgvector": PgvectorTable}


def table_at(kind: str, address: str, name: str) -> Table:
    """A table in a database of this kind."""
    return TABLES[kind](address, name)
