"""``lethe serve``."""

import argparse

from app.cli.console import message
from app.cli.given import data_of
from app.server.app import create_app
from app.server.running import listening, serve, url_of


def run(arguments: argparse.Namespace) -> int:
    """Serve one collection until interrupted."""
    data = data_of(arguments)
    where = data.settings.server
    with data.open(arguments.collection) as collection, listening(where.host, where.port) as listener:
        app = create_app(data.settings, collection)
        message(f"serving {arguments.collection} on {url_of(listener)} (Ctrl-C ends it)")
        serve(app, listener)
    return 0
