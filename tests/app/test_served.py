"""The collections that a server has open."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app import compose
from app.compose import sanitizer_of, system_of
from app.data_dir import DataDir
from app.server import served
from app.server.joined import _digest
from app.server.quotas.budgets import Budgets
from app.server.served import DataCollections
from app.settings.load import ServerSettings, load_settings
from ingest.documents import Document, SanitizedDocument
from models.encoders.minilm import MiniLM
from models.vectors import Vectors
from retrieval.citations import NO_ANSWER
from retrieval.search import _UNRELATED
from retrieval.system import System
from retrieval.writing import whole
from tests.commands import in_process, write_records

NOTES = ["Invented note. The boiler of the mill is broken since May.", "Invented note. A heron was fed."]
QUESTION = "What is broken at the mill?"


@pytest.fixture
def data(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.setenv("LETHE_DATA_DIR", str(tmp_path / "data"))
    records = write_records(tmp_path / "notes.jsonl", NOTES)
    for name in ("one", "other"):
        ran = in_process(capsys, "ingest", str(records), "-c", name, "--policy", "redact")
        assert ran.code == 0, ran.err
    return DataDir(load_settings({}))


def answered(collections: DataCollections, name: str) -> str:
    found = collections.get(name)
    return whole(found.generator.write(QUESTION, found.retriever_for(None).retrieve([QUESTION], 5)[0])).text


def test_while_a_collection_is_opened_others_answer(data: DataDir, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    searching = compose.searching

    def slow(collection: Any, *rest: Any) -> Any:
        if collection.folder.name == "one":
            begun.set()
            assert go.wait(30)
        return searching(collection, *rest)

    monkeypatch.setattr(served, "searching", slow)
    collections = DataCollections(data)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(answered, collections, "one")
        assert begun.wait(30)
        assert "boiler" in answered(collections, "other")
        assert not waiting.done()
        go.set()
        assert "boiler" in waiting.result(30)


def test_a_chat_encodes_its_question_once_and_nothing_else(
    data: DataDir, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []
    encode = MiniLM.encode

    def noted(self: MiniLM, texts: Sequence[str]) -> Vectors:
        seen.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(MiniLM, "encode", noted)
    collections = DataCollections(data)
    Budgets(ServerSettings(alike_questions=9)).ask("key", "one", QUESTION, collections.encoder)
    assert "boiler" in answered(collections, "one")
    # The others are what similarities are held to, once for each collection.
    assert [text for text in seen if text not in _UNRELATED] == [QUESTION]
    # Its document is known by digests of what the store has, and nothing of it is left in memory.
    assert [*collections.encoder._latest._rows] == [_digest(QUESTION)]
    with data.open("one") as collection:
        gone = [each.doc_id for each in collection.store.documents()]
    assert in_process(capsys, "erase", *gone, "-c", "one").code == 0
    assert answered(collections, "one") == NO_ANSWER


def test_sanitizers_of_all_collections_share_models(data: DataDir, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[System] = []

    def counted(*given: Any, **named: Any) -> System:
        made.append(system_of(*given, **named))
        return made[-1]

    for module in (served, compose):
        monkeypatch.setattr(module, "system_of", counted)
    collections = DataCollections(data)
    for name in ("one", "other"):
        assert vars(collections.get(name).generator)["_rules"].sanitizer is None, "it only quotes"
        sanitizer = sanitizer_of(data.settings, data.open(name), collections.encoder, collections.system)
        (found,) = sanitizer.sanitize([Document("1", "Call Mara Vell at 01632 960 014.")])
        assert isinstance(found, SanitizedDocument)
        assert "960" not in found.text and found.policy == "redact"
    assert len(made) == 1
