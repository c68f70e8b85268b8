"""Whether the embedded files are the ones that this version was made with."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from models.catalog import MODELS, EmbeddedFile, ModelDescription, embedded_path
from models.errors import ModelUnavailable

State = Literal["ok", "mismatch", "absent"]


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """One embedded file of a model; ``sha256`` is what it hashes to, None where it is absent."""

    model: str
    file: EmbeddedFile
    state: State
    sha256: str | None


def verify(models: Sequence[ModelDescription] = MODELS) -> list[VerifiedFile]:
    """Hash every embedded file of ``models``, in their order."""
    return [_verified(model, file) for model in models for file in model.files]


def check_embedded(model: ModelDescription) -> None:
    """Raise ``ModelUnavailable`` unless every embedded file of ``model`` is here and unchanged."""
    for row in verify([model]):
        if row.state != "ok":
            package = row.file.package.replace("_", "-")
            raise ModelUnavailable(
                f"The embedded model {row.model} is not as released: {row.file.path} of the "
                f"package {package} is {'absent' if row.state == 'absent' else 'changed'};",
                f"install {package} again.",
            )


def _verified(model: ModelDescription, file: EmbeddedFile) -> VerifiedFile:
    path = embedded_path(file)
    if path is None:
        return VerifiedFile(model.id, file, "absent", None)
    digest = _sha256(path)
    return VerifiedFile(model.id, file, "ok" if digest == file.sha256 else "mismatch", digest)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
