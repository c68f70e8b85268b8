"""``lethe keys list | create | revoke``; without a second verb it lists."""

import argparse
from contextlib import closing

from app.access.keys import Keys, key_row
from app.access.trail import recorded
from app.cli.console import message, result
from app.cli.given import data_of
from ingest.readers import groups_in


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per key, without its secret."""
    with closing(Keys(data_of(arguments).settings.data_dir)) as keys:
        for key in keys.all():
            result(key_row(key))
    return 0


def create(arguments: argparse.Namespace) -> int:
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


def revoke(arguments: argparse.Namespace) -> int:
    """One JSON line: the revoked key."""
    data = data_of(arguments)
    with recorded(data, "lethe keys revoke", "admin") as found, closing(Keys(data.settings.data_dir)) as keys:
        revoked = keys.revoke(arguments.key_id)
        found.about = revoked.key_id
    result(key_row(revoked))
    return 0
