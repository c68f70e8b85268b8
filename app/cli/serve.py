"""``lethe serve``."""

import argparse
from contextlib import closing

from app.access.keys import Keys
from app.cli.console import message
from app.cli.given import data_of
from app.machine import drop_logs, keep_no_core
from app.server.app import create_app
from app.server.running import alone_in, listening, serve, url_of
from models.errors import ConfigurationError


def run(arguments: argparse.Namespace) -> int:
    """Serve the collections until interrupted."""
    keep_no_core()
    drop_logs()
    data = data_of(arguments)
    where = data.settings.server
    with alone_in(data.settings.data_dir), closing(Keys(data.settings.data_dir)) as keys:
        if not where.alone and not keys.any():
            raise ConfigurationError(
                "server.host, server.hosts: others can reach this server, and nobody has a key. Make one: "
                "`lethe keys create operator --scope query,ingest,erase,admin`. Or listen on 127.0.0.1 "
                "without server.hosts."
            )
        with listening(where.host, where.port) as listener:
            app = create_app(data, keys, arguments.collection)
            app.state.runner.start()
            what = arguments.collection or "all collections"
            message(f"serving {what} on {url_of(listener)} (Ctrl-C ends it)")
            serve(app, listener, where, app.state.runner.stop)
    return 0
