"""``python -m app.server.openapi`` writes ``docs/openapi.json``, the description of the server's routes."""

import json
from collections.abc import Sequence
from pathlib import Path

from app.server.app import assemble
from app.server.served import ServedCollection
from retrieval.documents import RetrievedPassage
from retrieval.generators.verbatim import VerbatimGenerator

PATH = Path("docs/openapi.json")


class _FindsNothing:
    """A retriever without a collection, to describe the routes."""

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return [[] for _ in questions]


def openapi_text() -> str:
    """The file as it should be."""
    app = assemble(ServedCollection("collection", _FindsNothing(), VerbatimGenerator(), 5))
    return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(openapi_text(), encoding="utf-8")
