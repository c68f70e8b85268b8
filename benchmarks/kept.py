"""Result files in ``benchmarks/results``: large ones are compressed reproducibly."""

import gzip
import json
from pathlib import Path

from pydantic import BaseModel

DECIMALS = 6


def read(path: Path) -> str:
    """The text of a file, or of its compressed form with the suffix ``.gz``.

    Raises:
        OSError: There is neither, or it cannot be read.
    """
    packed = path if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
    if packed.is_file():
        return gzip.decompress(packed.read_bytes()).decode("utf-8")
    return path.read_text(encoding="utf-8")


def write_packed(path: Path, text: str) -> None:
    """Write the compressed form."""
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def keep(report: Path, model: type[BaseModel], path: Path) -> None:
    """Write the compressed form of a report that a command wrote, its figures rounded."""
    read_in = model.model_validate_json(report.read_text(encoding="utf-8"))
    rounded = json.loads(read_in.model_dump_json(), parse_float=lambda number: round(float(number), DECIMALS))
    write_packed(path, model.model_validate(rounded).model_dump_json())
