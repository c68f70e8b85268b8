"""``lethe serve``."""

import argparse

from app.cli.console import message
from app.cli.given import services_of
from app.server.app import create_app


def run(arguments: argparse.Namespace) -> int:
    """Serve one collection until interrupted."""
    import uvicorn

    services = services_of(arguments)
    with services.open(arguments.collection) as collection:
        app = create_app(services, collection)
        where = services.settings.server
        message(f"serving {arguments.collection} on http://{where.host}:{where.port} (Ctrl-C ends it)")
        # Nothing is logged: a traceback could quote what was asked. Errors are answered instead.
        uvicorn.run(app, host=where.host, port=where.port, log_level="critical", access_log=False)
    return 0
