"""What a collection was made with. A mismatch is refused, because scores and vectors would not compare."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ingest.policy import Policy
from ingest.scoring.raw import Weights
from ingest.scoring.scale import Scale
from retrieval.errors import CollectionError, unwritable

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Manifest:
    """Names of models, dimensions, policy and scale, fixed when the collection is made."""

    created: str
    encoder: str
    dim: int
    passage_tokens: int
    detector: str
    risk: str
    engine: str
    policy: Policy
    scale: Scale
    version: str
    keeps_ids: bool = False
    format: int = FORMAT

    def differences(self, other: "Manifest") -> list[str]:
        """In which of the parts that must agree two manifests differ, as sentences."""
        parts = ("encoder", "dim", "passage_tokens", "detector", "risk", "engine", "policy", "keeps_ids")
        return [
            f"{part} is {_shown(getattr(other, part))} here, {_shown(getattr(self, part))} there"
            for part in parts
            if getattr(self, part) != getattr(other, part)
        ]


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write it whole or not at all; raises CollectionError if it cannot be written."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".manifest-", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(asdict(manifest), file, indent=2)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CollectionError(f"{path}: {unwritable(error)}") from None


def read_manifest(path: Path) -> Manifest:
    """The manifest at ``path``; raises CollectionError if it is missing, damaged or of another format."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise CollectionError(
                f"{path}: format {content['format']} was written by another version of Lethe (this one "
                f"reads {FORMAT}). Ingest the documents again into a new collection."
            )
        policy = content.pop("policy")
        weights = Weights(**policy.pop("weights"))
        scale = Scale(**content.pop("scale"))
        return Manifest(policy=Policy(weights=weights, **policy), scale=scale, **content)
    except FileNotFoundError:
        raise CollectionError(f"{path}: there is no such collection.") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise CollectionError(f"{path}: the manifest is damaged. Restore it from a backup.") from None


def _shown(value: object) -> str:
    if not isinstance(value, Policy):
        return str(value)
    parts = (f"{f.name} {getattr(value, f.name)}" for f in fields(value) if f.name != "weights")
    weights = value.weights
    return f"({', '.join(parts)}, weights {weights.alpha}/{weights.beta}/{weights.gamma} {weights.marginal})"
