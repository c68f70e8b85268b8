"""``lethe keys``, ``lethe trail`` and ``lethe vault``, each with its second verbs."""

import argparse
import json
from contextlib import closing
from pathlib import Path

from app.access.keys import Keys, key_row
from app.access.trail import Trail, recorded
from app.access.vault import revealed, rotate, vault_of, vault_row
from app.cli.console import message, result
from app.cli.given import data_of
from app.erasing import names_of
from ingest.readers import groups_in
from models.errors import ConfigurationError


def list_keys(arguments: argparse.Namespace) -> int:
    """One JSON line per key, without its secret."""
    with closing(Keys(data_of(arguments).settings.data_dir)) as keys:
        for key in keys.all():
            result(key_row(key))
    return 0


def create_key(arguments: argparse.Namespace) -> int:
    """One JSON line: the new key, which nothing shows again."""
    data = data_of(arguments)
    granted = None if arguments.collection is None else frozenset(arguments.collection.split(","))
    for name in sorted(granted or ()):
        # A grant for a misspelled name would allow nothing, silently.
        data.open(name).store.close()
    with recorded(data, "lethe keys create", "admin") as found, closing(Keys(data.settings.data_dir)) as keys:
        groups = groups_in([] if arguments.group is None else [arguments.group])
        made = keys.create(arguments.name, frozenset(arguments.scope.split(",")), granted, groups)
        found.about = made.key.key_id
    result({**key_row(made.key), "key": made.text})
    message("keep the key now: it cannot be shown again.")
    return 0


def revoke_key(arguments: argparse.Namespace) -> int:
    """One JSON line: the revoked key."""
    data = data_of(arguments)
    with recorded(data, "lethe keys revoke", "admin") as found, closing(Keys(data.settings.data_dir)) as keys:
        revoked = keys.revoke(arguments.key_id)
        found.about = revoked.key_id
    result(key_row(revoked))
    return 0


def show_trail(arguments: argparse.Namespace) -> int:
    """One JSON line per entry, the oldest first."""
    with closing(Trail(data_of(arguments))) as trail:
        for row in trail.rows():
            result(row)
    return 0


def trail_head(arguments: argparse.Namespace) -> int:
    """One JSON line: number and digest of the last entry."""
    with closing(Trail(data_of(arguments))) as trail:
        last = trail.head()
    result({"entry": last.number, "digest": last.digest} if last else {"entry": 0, "digest": ""})
    return 0


def verify_trail(arguments: argparse.Namespace) -> int:
    """One JSON line: whether the chain holds. 1 if it does not."""
    kept = _head_in(Path(arguments.head)) if arguments.head else None
    with closing(Trail(data_of(arguments))) as trail:
        last, broken = trail.head(), trail.first_broken(kept)
    result({"entries": last.number if last else 0, "first_broken": broken})
    if broken is None:
        return 0
    message(
        f"the trail is broken at entry {broken}: it was altered, removed, slipped in or cut off, or written "
        "under another key file."
    )
    return 1


def _head_in(path: Path) -> tuple[int, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return int(found["entry"]), str(found["digest"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = type(error).__name__
    raise ConfigurationError(f"{path}: this is no head of a trail ({reason}). `lethe trail head` writes one.")


def vault_status(arguments: argparse.Namespace) -> int:
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


def rotate_vault(arguments: argparse.Namespace) -> int:
    """One JSON line per collection: how many originals are under the present key from now on."""
    data = data_of(arguments)
    names = [arguments.collection] if arguments.collection else data.collections()
    for name in names:
        with recorded(data, "lethe vault rotate", "admin", name) as found:
            count = found.counts["originals"] = rotate(data, name)
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
