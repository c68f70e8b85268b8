"""Copy a data folder while Lethe uses it: python deploy/backup.py DATA TARGET.

Databases are copied page by page by SQLite, which sees what is still in their write-ahead logs; a plain copy
of the files would not. What can be made again is left out: the index of vectors in a file, locks and
temporary files. Keys are left out too, and named: they belong elsewhere than the copy.
"""

import argparse
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

KEYS = (".key",)
MADE_AGAIN = ("vectors.faiss", "lock", "server.lock")
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
BESIDE_DATABASES = ("-wal", "-shm", "-journal")


def main() -> int:
    """Copy, and say what was left for another place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the data folder (LETHE_DATA_DIR)")
    parser.add_argument("target", type=Path, help="a folder that does not exist yet")
    arguments = parser.parse_args()
    os.umask(0o077)
    if not arguments.data.is_dir():
        parser.error("there is no such data folder")
    if arguments.target.exists():
        parser.error("the target exists; give each copy a folder of its own")
    partial = arguments.target.with_name(f".{arguments.target.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)
    left = [str(path.relative_to(arguments.data)) for path in copied(arguments.data, partial)]
    # A folder under the final name is a whole copy.
    partial.rename(arguments.target)
    for name in left:
        sys.stderr.write(f"backup: {name} is a key and is not in the copy; keep it in another place.\n")
    return 0


def copied(data: Path, target: Path) -> Iterator[Path]:
    """Copy everything but keys; these are yielded."""
    target.mkdir(mode=0o700, parents=True)
    for path in sorted(data.rglob("*")):
        there = target / path.relative_to(data)
        if path.name.endswith(KEYS):
            yield path
        elif path.is_dir():
            there.mkdir(mode=0o700)
        elif path.suffix == ".db":
            copy_database(path, there)
        elif not is_passing(path):
            # An upload goes as soon as its job is over.
            with suppress(FileNotFoundError):
                shutil.copyfile(path, there)
                there.chmod(0o600)


def is_passing(path: Path) -> bool:
    """Whether a file is made again, is not whole yet, or holds what the copy of a database has already."""
    return path.name.startswith(".") or path.name in MADE_AGAIN or path.name.endswith(BESIDE_DATABASES)


def copy_database(path: Path, there: Path) -> None:
    """One state of the database between two transactions, checked after it is written."""
    os.close(os.open(there, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
        with closing(source), closing(sqlite3.connect(there)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            (state,) = copy.execute("PRAGMA quick_check").fetchone()
    except sqlite3.Error as error:
        state = getattr(error, "sqlite_errorname", type(error).__name__)
    if state != "ok":
        wrong = "is damaged" if state in DAMAGED or " " in state else f"cannot be copied ({state})"
        raise SystemExit(f"backup: {path} {wrong}; keep the copies you have, and see docs/operations.md.")


if __name__ == "__main__":
    raise SystemExit(main())
