"""The models and settings of a collection. A mismatch is refused: scores and vectors would not compare."""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ingest.deciding.policy import Policy, Treatment
from ingest.scoring.scale import Scale, Weights
from ingest.temporary import temporary_file
from models.errors import ConfigurationError
from retrieval.errors import CollectionError, unwritable
from retrieval.search import HYBRID, Search

FORMAT = 4

IndexKind = Literal["faiss", "milvus", "pgvector"]
_TABLE = re.compile(r"lethe_[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Names of models, dimensions, policy and scale, fixed when the collection is created.

    ``index`` is the kind of index, ``table`` the name of its table in a vector database, "" in a file.
    ``own_entities`` is the keyed digest of the user's lists and patterns, which are not in the collection; ""
    without any.
    """

    created: str
    encoder: str
    dim: int
    passage_tokens: int
    detector: str
    risk: str
    policy: Policy
    scale: Scale
    version: str
    search: Search = HYBRID
    keeps_ids: bool = False
    own_entities: str = ""
    index: IndexKind = "faiss"
    table: str = ""
    format: int = FORMAT

    def differences(self, asked: "Manifest") -> list[str]:
        """Differences between this manifest and the requested one: "tau 0.5, you asked for 0.4"."""
        here, there = _by_setting(self), _by_setting(asked)
        return [
            f"{name} {value}, you asked for {there[name]}"
            for name, value in here.items()
            if value != there[name]
        ]


def new_table() -> str:
    """A name that no other collection in the same vector database has."""
    return f"lethe_{secrets.token_hex(8)}"


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write it atomically; raises CollectionError if it cannot be written."""
    try:
        content = f"{json.dumps(asdict(manifest), indent=2)}\n".encode()
        with temporary_file(path.parent, ".manifest-", content) as temporary:
            temporary.replace(path)
    except OSError as error:
        raise CollectionError(f"{path}: {unwritable(error)}") from None


_GONE = ("residual_limit", "must_limit", "stay_limit", "quasi_limit")


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
        content.pop("engine", None)  # of when there were several engines
        search = Search(**content.pop("search"))
        treatment = Treatment(**policy.pop("treatment", {}))
        made = Policy(weights=weights, treatment=treatment, **_of_now(policy))
        manifest = Manifest(policy=made, scale=scale, search=search, **content)
        # It stands in statements to a vector database.
        if manifest.index != "faiss" and not _TABLE.fullmatch(manifest.table):
            raise ValueError
        return manifest
    except FileNotFoundError:
        raise CollectionError(f"{path}: there is no such collection.") from None
    except (ValueError, TypeError, KeyError, AttributeError, ConfigurationError):
        raise CollectionError(f"{path}: the manifest is damaged. Restore it from a backup.") from None


def _of_now(policy: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a policy without limits of before: its documents stay as they were decided by them."""
    kept = {name: value for name, value in policy.items() if name not in _GONE}
    return kept | ({"sensitive": "keep"} if kept.get("sensitive") == "context" else {})


def table_in(path: Path) -> str:
    """The table of a vector database that a manifest of any format names; "" if none, or if it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return str(content.get("table") or "")
    except (OSError, ValueError, AttributeError):
        return ""


def _by_setting(manifest: Manifest) -> Mapping[str, object]:
    """The values that must agree, by the name of the setting."""
    policy = asdict(manifest.policy)
    treatment = policy.pop("treatment")
    return {
        "policy": policy.pop("name"),
        **policy.pop("weights"),
        **policy,
        **{name: json.dumps(said, sort_keys=True) for name, said in treatment.items()},
        "own lists and patterns": manifest.own_entities or "none",
        "encoder": manifest.encoder,
        "dimensions": manifest.dim,
        "passage_tokens": manifest.passage_tokens,
        "weight of documents in vectors": manifest.search.document,
        "vectors without descriptors": "yes" if manifest.search.left_out else "no",
        "detector": manifest.detector,
        "risk": manifest.risk,
        "keep_ids": "yes" if manifest.keeps_ids else "no",
        "index": manifest.index,
    }
