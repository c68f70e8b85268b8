"""What tests of several verbs share."""

from pathlib import Path

import pytest

from tests.commands import READING
from tests.doubles import WordEncoder


@pytest.fixture
def small_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for documents, and a system that cuts short passages."""
    for name, value in (READING | {"LETHE_DATA_DIR": str(tmp_path / "data")}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LETHE_RETRIEVAL__PASSAGE_TOKENS", "32")
    monkeypatch.setattr("app.compose._encoder", lambda settings: WordEncoder())
    folder = tmp_path / "letters"
    folder.mkdir()
    return folder
