"""What a benchmark has measured so far, kept so that a run that was ended goes on where it stood."""

from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.trip_rag.report import AnswerRow, AttackFigures, CanaryFigures, GuessFigures, MethodFigures
from models.errors import LetheError

FILE = "parts.jsonl"


class Part(BaseModel):
    """All that was measured of one method, or of one strength of it; ``figures`` has one for each encoder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    figures: tuple[MethodFigures, ...]
    rows: tuple[AnswerRow, ...] = Field(default=(), repr=False)
    attacks: tuple[AttackFigures, ...] = ()
    guesses: tuple[GuessFigures, ...] = ()
    canaries: tuple[CanaryFigures, ...] = ()


class _Heading(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str


class Parts:
    """Parts by their key; each is in the file before the next one is begun.

    ``run`` digests everything that the figures depend on: a file of another run is refused. Without a folder
    nothing is kept beyond the process.

    Raises:
        LetheError: The file cannot be read or written, or is that of another run.
    """

    def __init__(self, run: str, folder: Path | None = None) -> None:
        self._path = None if folder is None else folder / FILE
        self._run = run
        self._known: dict[str, Part] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)
        elif self._path is not None:
            self._append(_Heading(run=run))

    def __len__(self) -> int:
        return len(self._known)

    def part(self, key: str, measure: Callable[[], Part]) -> Part:
        """The part of a key, measured if it is not there yet."""
        if key not in self._known:
            part = measure()
            self._append(part)
            self._known[key] = part
        return self._known[key]

    def _read(self, path: Path) -> None:
        try:
            *lines, rest = path.read_bytes().split(b"\n")
            heading, *parts = lines or [b""]
            if _Heading.model_validate_json(heading).run != self._run:
                raise LetheError(
                    f"{path} is of another run: other documents, settings, sizes or code. Name another "
                    "folder, or remove the file."
                )
            known = [Part.model_validate_json(line) for line in parts]
            if rest:
                # The run was ended while it wrote: what it wrote last is measured again.
                with path.open("r+b") as file:
                    file.truncate(path.stat().st_size - len(rest))
        except ValidationError:
            raise LetheError(f"{path} is damaged. Remove it, and what it held is measured again.") from None
        except OSError as error:
            raise _unusable(path, error) from None
        self._known = {part.key: part for part in known}

    def _append(self, line: BaseModel) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line.model_dump_json()}\n")
        except OSError as error:
            raise _unusable(self._path, error) from None


def _unusable(path: Path, error: OSError) -> LetheError:
    reason = error.strerror or type(error).__name__
    return LetheError(f"{path} cannot be used ({reason}). Name a folder that can be written.")
