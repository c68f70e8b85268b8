"""The frames, read once from the files beside this module: one file per register and layout."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from models.errors import ConfigurationError
from models.training.synthetic.labels import LABELS
from models.training.synthetic.markup import Node, parse

_FOLDER = Path(__file__).parent / "templates"
_HEAD = "%%"


@dataclass(frozen=True, slots=True)
class Frame:
    """A text with slots. ``unvouched`` are the labels that it may hold unmarked."""

    id: str
    register: str
    nodes: tuple[Node, ...] = field(repr=False)
    unvouched: tuple[str, ...] = ()


@cache
def frames() -> tuple[Frame, ...]:
    """Every frame, in the order of the files.

    A file is named after its register. A line that begins with ``%%`` stands before every frame; what
    follows on it are the labels, after a minus and with commas between, that the frame is not vouched for.

    Raises:
        ConfigurationError: a head line names an unknown label, or a frame's notation is broken.
    """
    return tuple(frame for path in sorted(_FOLDER.glob("*.txt")) for frame in _read(path))


def _read(path: Path) -> list[Frame]:
    register = path.stem.split("_")[0]
    read: list[Frame] = []
    head, lines = "", []
    for line in [*path.read_text(encoding="utf-8").splitlines(), _HEAD]:
        if not line.startswith(_HEAD):
            lines.append(line)
            continue
        source = "\n".join(lines).strip("\n")
        if source:
            read.append(_frame(f"{path.stem}-{len(read) + 1:03d}", register, head, source))
        head, lines = line.removeprefix(_HEAD), []
    return read


def _frame(name: str, register: str, head: str, source: str) -> Frame:
    unvouched = tuple(part.strip(" -") for part in head.split(",") if part.strip())
    unknown = [label for label in unvouched if label not in LABELS]
    if unknown:
        raise ConfigurationError(f"Frame {name} has {len(unknown)} unknown labels in its head: correct them.")
    try:
        return Frame(name, register, parse(source), unvouched)
    except ConfigurationError as error:
        raise ConfigurationError(f"Frame {name} cannot be read. {error}") from error
