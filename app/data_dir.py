"""The folder of the collections, and the secret key for digests of ids."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.settings.load import Settings
from ingest.private_files import close_to_others
from models.errors import ConfigurationError
from retrieval.collection import Collection, IndexFile, IndexTable, Keeping, KeptIndex
from retrieval.errors import CollectionError
from retrieval.manifest import Manifest

if TYPE_CHECKING:
    from ingest.protocols import EntityDetector


def keeping_of(settings: Settings) -> Keeping:
    """What makes the index of a collection, of the kind that its manifest names.

    It raises ConfigurationError for a vector database that the settings do not name.
    """
    chosen = settings.retrieval

    def keep(folder: Path, manifest: Manifest) -> KeptIndex:
        if manifest.index == "faiss":
            return IndexFile(folder, manifest)
        if chosen.index != manifest.index or chosen.index_address is None:
            raise ConfigurationError(
                f"collection {folder.name} has its vectors in {manifest.index}. Set retrieval.index = "
                f'"{manifest.index}" and retrieval.index_address (LETHE_RETRIEVAL__INDEX and '
                "LETHE_RETRIEVAL__INDEX_ADDRESS)."
            )
        address = chosen.index_address.get_secret_value()
        from retrieval.index.vector_store import MilvusTable, PgvectorTable

        table = MilvusTable if manifest.index == "milvus" else PgvectorTable
        return IndexTable(folder, table(address, manifest.table))

    return keep


COLLECTION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class DataDir:
    """The data folder of the settings.

    ``writes`` is whether a key may be made where there is none. A given ``key`` stands for its file, for
    processes on other machines.
    """

    def __init__(self, settings: Settings, *, writes: bool = True, key: bytes | None = None) -> None:
        self.settings = settings
        self.keeping = keeping_of(settings)
        close_to_others(settings.data_dir / "collections")
        self._writes = writes
        self._key = key

    @cached_property
    def key(self) -> bytes:
        """The secret under which ids and texts are digested."""
        from ingest.keys import secret_key

        if self._key is not None:
            return self._key
        path = self.settings.key_file or self.settings.data_dir / "secret.key"
        if not path.exists() and (there := self.collections()):
            # A new one would not recognize what is stored, and could not erase it by its names.
            raise ConfigurationError(
                f"{path} is missing, and {len(there)} collections were made with it. Restore it from a "
                "backup."
            )
        return secret_key(path, make=self._writes)

    def public_ids(self, source_ids: Sequence[str], keep: bool | None = None) -> list[str]:
        """The ids that collections store.

        All are digested; with ``keep`` (None means what the settings say) those stay that look opaque and
        name nobody. An id that is such a digest already stays, so both forms find a document again.
        """
        from ingest.read.doc_ids import digested_id, kept_id

        if not (self.settings.ingest.keep_ids if keep is None else keep):
            return [digested_id(source_id, self.key) for source_id in source_ids]
        return [kept_id(source_id, self._names_somebody, self.key) for source_id in source_ids]

    def _names_somebody(self, text: str) -> bool:
        """By patterns, rules and the user's own lists, without a model."""
        from ingest.documents import Document, Identifier

        found = self._rules.detect([Document("id", text)])[0]
        return any(each.required or each.identifier is Identifier.DIRECT for each in found)

    @cached_property
    def _rules(self) -> "EntityDetector":
        from app.policies import own_entities_of
        from ingest.detection.hybrid import HybridDetector
        from ingest.detection.own.detector import OwnDetector

        own = own_entities_of(self.settings.policy)
        return OwnDetector(HybridDetector(), own) if own else HybridDetector()

    def folder(self, name: str) -> Path:
        """The folder of a collection of this name, which need not exist."""
        if not COLLECTION_NAME.fullmatch(name):
            raise ConfigurationError(
                "A collection's name has 1 to 64 letters, digits, '.', '_' or '-', and begins with one of "
                "the first two."
            )
        return self.settings.data_dir / "collections" / name

    def holds(self, name: str) -> bool:
        """Whether there is a collection of this name, which may be any text."""
        return COLLECTION_NAME.fullmatch(name) is not None and Collection.exists(self.folder(name))

    def collections(self) -> list[str]:
        """The names of existing collections."""
        folder = self.settings.data_dir / "collections"
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return [path.name for path in found if Collection.exists(path)]

    def open(self, name: str) -> Collection:
        """A collection; raises CollectionError with the existing names."""
        folder = self.folder(name)
        if not Collection.exists(folder):
            there = ", ".join(self.collections()) or "none yet; `lethe ingest` makes one"
            raise CollectionError(f"There is no collection {name} in {folder.parent}. Collections: {there}.")
        return Collection.open(folder, self.keeping)

    def settings_for(self, name: str, policy: Mapping[str, Any]) -> Settings:
        """The settings with the policy of a collection if it is there, else with what is given of one.

        Raises:
            ConfigurationError: The policy is given and is not that of the collection, or cannot be used.
            CollectionError: The collection cannot be read.
        """
        from app.policies import like_policy, with_policy

        given = with_policy(self.settings, policy)
        if not Collection.exists(self.folder(name)):
            return given
        there = like_policy(self.settings, Collection.manifest_in(self.folder(name)).policy)
        if with_policy(there, policy).policy != there.policy:
            raise ConfigurationError(
                "policy: the collection was made with another. Leave it out, or name a new collection."
            )
        return there
