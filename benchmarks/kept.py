"""Result files in ``benchmarks/results``: large ones are compressed reproducibly."""

import gzip
from pathlib import Path


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
