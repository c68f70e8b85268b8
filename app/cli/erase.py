"""``lethe erase``."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from app.access.trail import recorded
from app.cli.console import message, result
from app.cli.given import data_of
from app.data_dir import DataDir
from app.erasing import names_of, not_proved
from app.jobs.audits import after_erasure
from ingest.keys import source_of
from ingest.read.paths import canonical, origin
from models.errors import ConfigurationError
from retrieval.collection import Collection


def run(arguments: argparse.Namespace) -> int:
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
