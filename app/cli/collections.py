"""``lethe collections list | delete``; without a second verb it lists."""

import argparse

from app.access.trail import recorded
from app.cli.console import confirmed, message, result
from app.cli.given import data_of
from app.compose import encoder_of
from app.data_dir import DataDir
from app.jobs.audits import after_erasure
from app.rows import collection_row
from retrieval.collection import delete as delete_folder
from retrieval.errors import CollectionError


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per collection: its size, its settings, whether its audit log is intact."""
    data = data_of(arguments)
    failed = False
    for name in data.collections():
        try:
            _show(data, name)
        except CollectionError as error:
            # One that is damaged does not hide the others.
            message(str(error))
            failed = True
    return 1 if failed else 0


def _show(data: DataDir, name: str) -> None:
    with data.open(name) as collection:
        store = collection.store
        result(collection_row(name, collection))
        if store.interrupted():
            message(f"{name}: the last ingest did not finish. Run the same command again to go on.")
        if begun := len(store.pending_erasures()):
            message(f"{name}: {begun} erasures are not done. Run `lethe erase` with the same ids again.")


def reindex(arguments: argparse.Namespace) -> int:
    """One JSON line: by which encoder the vectors were made anew, from what is stored."""
    data = data_of(arguments)
    encoder = encoder_of(data.settings)
    with data.open(arguments.name) as collection:
        collection.reindex(encoder)
        passages = collection.store.count_passages()
    result({"reindexed": arguments.name, "encoder": encoder.name, "passages": passages})
    return 0


def delete(arguments: argparse.Namespace) -> int:
    """One JSON line: what was deleted. 1 if the deletion was not confirmed."""
    data = data_of(arguments)
    name: str = arguments.name
    folder = data.folder(name)
    documents, passages = None, None
    try:
        with data.open(name) as collection:
            documents, passages = collection.store.count_documents(), collection.store.count_passages()
    except CollectionError as error:
        if not folder.is_dir():
            raise
        # A damaged one can be deleted all the same, but it may be wanted back.
        message(str(error))
    size = "of unknown size" if documents is None else f"{documents:,} documents, {passages:,} passages"
    if not confirmed(f"Delete collection {name}, {size}?", arguments.yes, "nothing was deleted"):
        return 1
    with recorded(data, "lethe collections delete", "erase", name):
        delete_folder(folder, data.keeping)
        after_erasure(data, name)
    result({"deleted": name, "documents": documents, "passages": passages})
    return 0
