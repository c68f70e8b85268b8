"""``lethe collections list | delete | reindex``, which lists without a second verb, and ``lethe erase``."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from app.access.trail import recorded
from app.cli.console import confirmed, message, result
from app.cli.given import data_of
from app.compose import encoder_of
from app.data_dir import DataDir
from app.erasing import names_of, not_proved
from app.jobs.audits import after_erasure
from app.rows import collection_row
from ingest.keys import source_of
from ingest.read.paths import canonical, origin
from models.errors import ConfigurationError
from retrieval.collection import Collection
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


def erase(arguments: argparse.Namespace) -> int:
    """One JSON line per document: what was erased, the search for traces of it, and what that leaves open."""
    if not all(map(str.strip, arguments.doc_id)):
        raise ConfigurationError("The name of a document is empty: give a path or an id.")
    data = data_of(arguments)
    failed = False
    gone: set[str] = set()
    with (
        data.open(arguments.collection) as collection,
        recorded(data, "lethe erase", "erase", arguments.collection) as found,
    ):
        for named in arguments.doc_id:
            doc_ids = _named(data, collection, named, below=arguments.recursive)
            erasures = collection.erase_all([doc_id for doc_id in doc_ids if doc_id not in gone])
            if not erasures and not gone.intersection(doc_ids):
                message(f"collection {arguments.collection}: {_nothing(data, collection, named)}")
                failed = True
            for erasure in erasures:
                gone |= {erasure.doc_id, *erasure.also_known_as}
                found.counts["documents"] = found.counts.get("documents", 0) + 1
                failed |= erasure.traces_found > 0
                result({**asdict(erasure), "not_proved": [each.row() for each in not_proved([erasure])]})
        # All of them: after a restore of an older copy they are to be erased again.
        found.about = " ".join(sorted(gone)) or None
        if gone:
            after_erasure(data, arguments.collection)
    return 1 if failed else 0


def _named(data: DataDir, collection: Collection, named: str, *, below: bool) -> Sequence[str]:
    """The ids that an argument names, as an id or as a path."""
    return [*names_of(data, collection, named), *_met_at(data, collection, named, below=below)]


def _met_at(data: DataDir, collection: Collection, named: str, *, below: bool) -> Sequence[str]:
    """Ids of documents from a file; if ``below``, also from below a folder."""
    keys = {source_of(path, data.key).key for path in (canonical(named), origin(Path(named), named))}
    return [doc_id for key in keys for doc_id in collection.store.ids_from(key, below=below)]


def _nothing(data: DataDir, collection: Collection, named: str) -> str:
    if there := len({*_met_at(data, collection, named, below=True)}):
        return f"{there} documents came from below {named}. Give --recursive to erase them all."
    return (
        f"there is no document {named}. Name it by its path, by the id of its record, or by an id as "
        "`lethe documents` shows it."
    )
