"""The row: the result of one case under one system. Every figure is a fold over rows.

A row holds no word of a document, prompt or answer except ``evidence``, which is in no file and no repr.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.documents import EntityRef, LeakedEntity, PassageCopy
from ingest.private_files import open_private, private_folder, write_private
from models.errors import LetheError

FILE = "rows.jsonl"
_BEGINNING = b'{"run":"'


class Row(BaseModel):
    """A question, a prompt or a document under one system.

    ``system``, ``task`` and ``case`` name it; ``kind`` is the prompt list or label of the case. ``failure``
    is the type name of an error: nothing was measured then, so empty fields do not mean that nothing leaked.
    ``doc_ids`` are the documents of the passages, best first, with repetitions, or the document itself.
    ``leaked`` are the sensitive entities of their originals in the output; ``present``, all of them, follows
    from ``doc_ids`` and is not in the file. ``copies`` says how much of each passage the output repeats.
    ``figures`` are numbers by the name of the measure.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    system: str
    task: str
    case: str
    kind: str = ""
    failure: str = ""
    engine: str = ""
    doc_ids: tuple[str, ...] = ()
    leaked: tuple[LeakedEntity, ...] = ()
    copies: tuple[PassageCopy, ...] = ()
    figures: dict[str, float] = {}
    present: tuple[EntityRef, ...] = Field(default=(), exclude=True, repr=False)
    evidence: str = Field(default="", exclude=True, repr=False)

    @property
    def measured(self) -> bool:
        """Whether there is a result."""
        return not self.failure


def lines_of(rows: Iterable[Row]) -> Iterator[str]:
    """A line of JSON for each row, without empty fields."""
    return (f"{row.model_dump_json(exclude_defaults=True)}\n" for row in rows)


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write one line per row; LetheError if the file cannot be written."""
    try:
        write_private(path, "".join(lines_of(rows)))
    except OSError as error:
        raise _unusable(path, error) from None


def read_rows(path: Path) -> list[Row]:
    """The rows of a finished report, or of a run that goes on (then those that are there whole).

    Raises:
        LetheError: The file cannot be read, or a line is no row.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{path} cannot be read ({reason}).") from None
    rows = []
    for number, line in enumerate(lines, 1):
        if (number == 1 and line.startswith(_BEGINNING)) or not line.endswith(b"\n"):
            continue
        try:
            rows.append(Row.model_validate_json(line))
        except ValidationError:
            raise LetheError(f"{path}: line {number} is no row.") from None
    return rows


def goes_on(path: Path) -> bool:
    """Whether a file holds the rows of a run that another command can resume."""
    try:
        with path.open("rb") as file:
            return file.readline().startswith(_BEGINNING)
    except FileNotFoundError:
        return False


class _Heading(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str


class AnotherRun(LetheError):
    """The rows in a file depend on other documents, settings, sizes or code."""


class RowFile:
    """Rows by system and task, each written before the next one is measured.

    ``run`` names what the figures depend on, best as a digest of documents, settings and sizes: a file with
    another name is refused, and with the same name no case is measured again. The file is this process's
    until it is closed. Without a folder, rows are kept in memory; a folder is made where there is none.

    Raises:
        AnotherRun: The file has another name.
        LetheError: The file cannot be read or written, or another process writes it.
    """

    def __init__(self, run: str, folder: Path | None = None) -> None:
        self._places: dict[tuple[str, str], list[int | Row]] = {}
        self._cases: dict[tuple[str, str], set[str]] = {}
        self.folder = folder
        self._path = (folder or Path()) / FILE
        self._file: BinaryIO | None = None
        if folder is not None:
            self._file = _locked(self._path)
            try:
                with self._usable():
                    self._index(run, self._file)
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> "RowFile":
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def cases(self, system: str, task: str) -> set[str]:
        """The cases of a task that have rows."""
        return self._cases.get((system, task), set())

    def rows(self, system: str, task: str) -> list[Row]:
        """The rows of a task under a system, in the order in which they were measured."""
        with self._usable():
            return [self._row(place) for place in self._places.get((system, task), ())]

    def all(self, tasks: Sequence[str]) -> Iterator[Row]:
        """The rows of these tasks, system by system."""
        for system, task in self._places:
            if task in tasks:
                yield from self.rows(system, task)

    def add(self, row: Row) -> None:
        """Keep one more row."""
        place: int | Row = row
        if self._file is not None:
            with self._usable():
                place = self._file.seek(0, 2)
                self._file.write("".join(lines_of([row])).encode())
                self._file.flush()
        self._note(row, place)

    def _note(self, row: Row, place: int | Row) -> None:
        self._places.setdefault((row.system, row.task), []).append(place)
        self._cases.setdefault((row.system, row.task), set()).add(row.case)

    def _row(self, place: int | Row) -> Row:
        if isinstance(place, Row):
            return place
        assert self._file is not None
        self._file.seek(place)
        return Row.model_validate_json(self._file.readline())

    def _index(self, run: str, file: BinaryIO) -> None:
        heading = file.readline()
        if not heading.endswith(b"\n") and heading[: len(_BEGINNING)] == _BEGINNING[: len(heading)]:
            # The file is new or has at most its heading: nothing is lost.
            file.truncate(0)
            file.write(f"{_Heading(run=run).model_dump_json()}\n".encode())
            file.flush()
            return
        if _Heading.model_validate_json(heading).run != run:
            raise AnotherRun(
                f"{self._path} is of another run: other documents, settings, sizes or code. Name another "
                "folder, or remove the file."
            )
        place = len(heading)
        for line in file:
            if line.endswith(b"\n"):
                row = Row.model_validate_json(line)
                if row.case in self.cases(row.system, row.task):
                    raise LetheError(f"{self._path} has a case twice, so it is damaged: name another folder.")
                self._note(row, place)
                place += len(line)
        # The run was killed while writing: its last row is measured again.
        file.truncate(place)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except ValidationError:
            raise LetheError(
                f"{self._path} is damaged, or no file of a run that can go on (a report's is not). It was "
                "not changed: name another folder."
            ) from None
        except OSError as error:
            raise _unusable(self._path, error) from None


def _locked(path: Path) -> BinaryIO:
    """The file opened for reading and appending, locked until it is closed."""
    try:
        private_folder(path.parent)
        file = os.fdopen(open_private(path, os.O_RDWR | os.O_APPEND), "a+b")
    except OSError as error:
        raise _unusable(path, error) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise LetheError(
            f"{path}: another process is measuring into this folder. Wait for it to end, then run the same "
            "command again, or name another folder."
        ) from None
    file.seek(0)
    return file


def _unusable(path: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{path} cannot be used ({reason}). Name a folder that can be written.")
