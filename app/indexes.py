"""From the settings to where the vectors of collections are kept."""

from pathlib import Path

from app.settings.load import Settings
from models.errors import ConfigurationError
from retrieval.collection import IndexFile, IndexTable, Keeping, KeptIndex
from retrieval.index.vector_store import MilvusTable, PgvectorTable
from retrieval.manifest import Manifest


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
        table = MilvusTable if manifest.index == "milvus" else PgvectorTable
        return IndexTable(folder, table(address, manifest.table))

    return keep
