"""Fetch a model from the hub: the only code of this project that downloads.

Before the download the user sees name, commit, licence and size. Weights are fetched as safetensors if the
repository has them, and large files must match the hub's sha256.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from models.catalog import SETTINGS_FILES, WEIGHTS_FILES, ModelRef, describe, pinned_revision, sha256_of
from models.errors import ConfigurationError, ModelUnavailable

PICKLED_WEIGHTS = ("*pytorch_model*.bin",)
"""Taken only where a repository has no other; the libraries load them as weights only."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What is about to be downloaded: ``revision`` is a commit, ``size`` is in bytes."""

    name: str
    revision: str
    licence: str
    size: int


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository; ``sha256`` is known for large ones."""

    path: str
    size: int
    sha256: str | None


Confirm = Callable[[Offer], bool]


def pull(ref: ModelRef, confirm: Confirm) -> ModelRef | None:
    """Fetch ``ref`` into the local cache, if ``confirm`` agrees to the offer it is shown.

    A GLiNER model without a tokenizer or encoder settings of its own takes those of its backbone, a second
    and small offer. Returns the reference with the fetched commit, None if an offer was declined. Raises
    ``ModelUnavailable`` where the hub cannot be reached or has no such model, ``ConfigurationError`` for a
    model that does not come from the hub.
    """
    if ref.source != "hub":
        raise ConfigurationError(
            f"The model {ref.name} is {ref.source} and needs no download: give a hub id."
        )
    folder = _fetch(ref.name, pinned_revision(ref), confirm, with_weights=True)
    if folder is None:
        return None
    backbone = _missing_backbone(folder)
    if backbone and _fetch(backbone, None, confirm, with_weights=False) is None:
        return None
    return ModelRef(source="hub", name=ref.name, revision=folder.name)


def _fetch(name: str, revision: str | None, confirm: Confirm, *, with_weights: bool) -> Path | None:
    try:
        import httpx
        from huggingface_hub import snapshot_download
    except ImportError:
        raise ModelUnavailable(
            "Pulling needs the library huggingface-hub, which is not here:", "install huggingface-hub."
        ) from None
    try:
        offer, files = _offer(name, revision, with_weights=with_weights)
        if not confirm(offer):
            return None
        # Without a pinned commit the cache must learn what its newest is, so none is named.
        pinned, wanted = offer.revision if revision else None, [file.path for file in files]
        folder = Path(snapshot_download(name, revision=pinned, allow_patterns=wanted))
    except (OSError, httpx.HTTPError) as error:
        raise ModelUnavailable(
            f"The model {name} could not be fetched from the hub ({type(error).__name__}):",
            "check the name, its terms of use and the network; or download it on another machine, "
            "copy its folder here and give that path.",
        ) from None
    if folder.name != offer.revision:
        raise ModelUnavailable(f"The model {name} changed on the hub while it was fetched:", "pull it again.")
    for file in files:
        if file.sha256 is not None and sha256_of(folder / file.path) != file.sha256:
            raise ModelUnavailable(
                f"{file.path} of the model {name} is not what the hub announced:",
                "delete it from the local cache and pull again.",
            )
    return folder


def _offer(name: str, revision: str | None, *, with_weights: bool) -> tuple[Offer, list[RemoteFile]]:
    from huggingface_hub import HfApi

    info = HfApi().model_info(name, revision=revision, files_metadata=True)
    there = [
        RemoteFile(sibling.rfilename, sibling.size or 0, sibling.lfs.sha256 if sibling.lfs else None)
        for sibling in info.siblings or []
    ]
    weights = _matching(there, WEIGHTS_FILES) or _matching(there, PICKLED_WEIGHTS) if with_weights else []
    files = _matching(there, SETTINGS_FILES) + weights
    if with_weights and not weights:
        raise ModelUnavailable(
            f"The model {name} has no weights in a known format:",
            "choose one with safetensors, or convert it and give its folder as a path.",
        )
    known = describe(name)
    stated = info.card_data.license if info.card_data else None
    licence = known.licence if known else str(stated or "not stated")
    return Offer(name, str(info.sha), licence, sum(file.size for file in files)), files


def _matching(files: Sequence[RemoteFile], patterns: Sequence[str]) -> list[RemoteFile]:
    return [file for file in files if any(fnmatch(file.path, pattern) for pattern in patterns)]


def _missing_backbone(folder: Path) -> str | None:
    """The backbone repository of a GLiNER model in ``folder``, None if it needs none."""
    settings = folder / "gliner_config.json"
    if not settings.is_file():
        return None
    config = json.loads(settings.read_text(encoding="utf-8"))
    alone = config.get("encoder_config") and (folder / "tokenizer_config.json").is_file()
    return None if alone else str(config.get("model_name") or "") or None
