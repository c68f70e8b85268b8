"""What a benchmark has measured so far, kept so that a run that was ended goes on where it stood."""

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.trip_rag.report import (
    AnswerRow,
    AttackFigures,
    AttackRow,
    CanaryFigures,
    GuessFigures,
    MethodFigures,
)
from models.errors import LetheError

FILE = "parts.jsonl"
_BEGINNING = b'{"run":"'


class Part(BaseModel):
    """All that was measured of one method, or of one strength of it; ``figures`` has one for each encoder.

    ``attempts`` are a row for each prompt of each attack, in the file alone once the part is kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    figures: tuple[MethodFigures, ...]
    rows: tuple[AnswerRow, ...] = Field(default=(), repr=False)
    attacks: tuple[AttackFigures, ...] = ()
    guesses: tuple[GuessFigures, ...] = ()
    canaries: tuple[CanaryFigures, ...] = ()
    attempts: tuple[AttackRow, ...] = Field(default=(), repr=False)


class _Heading(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str


class Parts:
    """Parts by their key; each is in the file before the next one is begun. Use it in a ``with`` statement.

    ``run`` digests everything that the figures depend on: a file of another run is refused. The file is this
    process's until the end of the statement, or of the process. Without a folder nothing is kept beyond it.

    Raises:
        LetheError: The file cannot be read or written, is that of another run, or another process writes it.
    """

    def __init__(self, run: str, folder: Path | None = None) -> None:
        self._known: dict[str, Part] = {}
        self._path = (folder or Path()) / FILE
        self._file: BinaryIO | None = None
        if folder is not None:
            self._file = _locked(self._path)
            try:
                self._read(run, self._file)
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> "Parts":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._known)

    def part(self, key: str, measure: Callable[[], Part]) -> Part:
        """The part of a key without its attempts, measured if it is not there yet."""
        if key not in self._known:
            part = measure()
            self._append(part)
            self._keep(part)
        return self._known[key]

    def attempts(self) -> Iterator[AttackRow]:
        """A row for each prompt of each attack in the order in which they were measured, from the file."""
        if self._file is None:
            return
        try:
            self._file.seek(0)
            next(self._file)
            for line in self._file:
                yield from Part.model_validate_json(line).attempts
        except OSError as error:
            raise _unusable(self._path, error) from None

    def _keep(self, part: Part) -> None:
        self._known[part.key] = part.model_copy(update={"attempts": ()})

    def _read(self, run: str, file: BinaryIO) -> None:
        try:
            heading = file.readline()
            if not heading.endswith(b"\n") and heading[: len(_BEGINNING)] == _BEGINNING[: len(heading)]:
                # The file is new, or its first line was all that the run came to: nothing is lost.
                file.truncate(0)
                self._append(_Heading(run=run))
                return
            if _Heading.model_validate_json(heading).run != run:
                raise LetheError(
                    f"{self._path} is of another run: other documents, settings, sizes or code. Name another "
                    "folder, or remove the file."
                )
            whole = len(heading)
            for line in file:
                if line.endswith(b"\n"):
                    self._keep(Part.model_validate_json(line))
                    whole += len(line)
            # The run was ended while it wrote: what it wrote last is measured again.
            file.truncate(whole)
        except ValidationError:
            raise LetheError(
                f"{self._path} is damaged. Remove it, and what it held is measured again."
            ) from None
        except OSError as error:
            raise _unusable(self._path, error) from None

    def _append(self, line: BaseModel) -> None:
        if self._file is None:
            return
        try:
            self._file.write(f"{line.model_dump_json()}\n".encode())
            self._file.flush()
        except OSError as error:
            raise _unusable(self._path, error) from None


def _locked(path: Path) -> BinaryIO:
    """The file opened for reading and appending, as nobody else has it until it is closed."""
    try:
        file = path.open("a+b")
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
