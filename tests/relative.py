"""Ids of documents that are named after their files, as seen from the folder of a test."""

from pathlib import Path


def relative(doc_id: str) -> str:
    """Without the path of the folder that the test stands in."""
    return doc_id.removeprefix(f"{Path.cwd().resolve()}/")
