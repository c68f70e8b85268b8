"""``lethe vault status | rotate | reveal``; without a second verb it shows the status."""

import argparse

from app.access.trail import recorded
from app.access.vault import revealed, vault_of, vault_row
from app.access.vault import rotate as rotate_keys
from app.cli.console import message, result
from app.cli.given import data_of
from app.erasing import names_of


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per collection: its originals, and their keys. 1 if a key is missing."""
    data = data_of(arguments)
    without_key = 0
    for name in data.collections():
        row = vault_row(data, name)
        without_key += int(str(row["without_key"]))
        result(row)
    if without_key:
        message(f"{without_key} originals are under keys that the settings do not name.")
    return 1 if without_key else 0


def rotate(arguments: argparse.Namespace) -> int:
    """One JSON line per collection: how many originals are under the present key from now on."""
    data = data_of(arguments)
    names = [arguments.collection] if arguments.collection else data.collections()
    for name in names:
        with recorded(data, "lethe vault rotate", "admin", name) as found:
            count = found.counts["originals"] = rotate_keys(data, name)
        result({"collection": name, "rotated": count})
    return 0


def reveal(arguments: argparse.Namespace) -> int:
    """One JSON line: the original of a document."""
    data = data_of(arguments)
    name: str = arguments.collection
    with recorded(data, "lethe vault reveal", "reveal", name) as found, data.open(name) as collection:
        original = revealed(vault_of(data.settings), collection, names_of(data, collection, arguments.doc_id))
        found.about = str(original["doc_id"])
    result(original)
    return 0
