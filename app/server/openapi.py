"""``python -m app.server.openapi`` writes ``docs/openapi.json``, the description of the server's routes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from app.server.app import assemble, own_routes
from app.server.served import Collections
from ingest.protocols import EntityDetector

PATH = Path("docs/openapi.json")


def openapi_text() -> str:
    """The file as it should be."""
    # Routes are only described, so nothing is served.
    served, nothing = cast(Collections, None), cast(Any, None)
    own = own_routes(nothing, nothing, served, nothing, nothing, nothing)
    app = assemble(served, cast(Callable[[], EntityDetector], None), own=own)
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(openapi_text(), encoding="utf-8")
