"""The LangChain adapters; every text, name and address here is invented."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.runnables import RunnableLambda
from pydantic import ValidationError

from app.compose import retriever_of, system_of
from app.data_dir import DataDir
from app.settings.load import load_settings
from ingest.deciding.baselines.uniform import ORIGIN, REDACT
from ingest.detection.hybrid import HybridDetector
from ingest.errors import SanitizationError
from ingest.langchain_transformer import SanitizingTransformer
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.errors import ConfigurationError
from retrieval.documents import Passage, RetrievedPassage
from retrieval.langchain_adapters import LetheEmbeddings, LetheRetriever
from retrieval.search import HYBRID
from tests.commands import ROOT, environment, imported_by, lethe, write_records
from tests.doubles import FailingDetector, PhraseDetector, WordEncoder
from tests.flat_index import FlatIndex

MARK = "zyxomarkzyxo"


PASSAGES = [
    RetrievedPassage(Passage(7, "d1", 4, 21, "The heron was fed"), 0.75),
    RetrievedPassage(Passage(3, "d2", 0, 14, "The mill stood"), 0.5),
    RetrievedPassage(Passage(9, "d1", 22, 30, "at noon."), -0.25),
]


class Fixed:
    """Finds the same passages for every question, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], int]] = []

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        self.asked.append((tuple(questions), k))
        return [PASSAGES[:k] for _ in questions]


def transforming(phrase: str = MARK, **options: Any) -> SanitizingTransformer:
    detector = PhraseDetector({phrase: "person full name"})
    return SanitizingTransformer(DecidingSanitizer(detector, REDACT, RiskPrior()), **options)


# -- the retriever -------------------------------------------------------------------------------------


def test_a_passage_becomes_a_document() -> None:
    (first, *_) = LetheRetriever(retriever=Fixed()).invoke("Who was fed?")
    assert first.page_content == "The heron was fed"
    assert first.id == "7"
    assert first.metadata == {"doc_id": "d1", "start": 4, "end": 21, "score": 0.0, "similarity": 0.75}


def test_k_is_the_constructors_or_the_calls() -> None:
    found = Fixed()
    retriever = LetheRetriever(retriever=found, k=2)
    assert [document.id for document in retriever.invoke("one")] == ["7", "3"]
    assert [document.id for document in retriever.invoke("two", k=1)] == ["7"]
    assert [document.id for document in asyncio.run(retriever.ainvoke("three", k=3))] == ["7", "3", "9"]
    assert len(asyncio.run(retriever.ainvoke("four"))) == 2
    assert [len(documents) for documents in retriever.batch(["five", "six"])] == [2, 2]
    assert sorted(found.asked[:4]) == sorted([(("one",), 2), (("two",), 1), (("three",), 3), (("four",), 2)])
    assert repr(retriever) == "LetheRetriever(k=2)"
    assert (retriever | RunnableLambda(len)).invoke("seven") == 2
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        LetheRetriever(retriever=found, k=0)
    with pytest.raises(ConfigurationError, match=r"^LetheRetriever: k is 0; ask for 1 passage or more\.$"):
        retriever.invoke("Who?", k=0)


TRACED = f"""
import asyncio
import sys
from langchain_core.retrievers import BaseRetriever
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith.run_trees import get_cached_client
from app.langchain_store import LetheVectorStore
from retrieval.langchain_adapters import LetheRetriever

class Nothing:
    def retrieve(self, questions, k):
        return [[] for _ in questions]

class Plain(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return []

class Empty(LetheVectorStore):
    embeddings = None
    __init__ = lambda self: None
    similarity_search = lambda self, query, k=4, **kwargs: []

if sys.argv[1] == "store":
    retriever = Empty().as_retriever()
else:
    retriever = Plain() if sys.argv[1] == "plain" else LetheRetriever(retriever=Nothing())
assert retriever.invoke("{MARK}") == asyncio.run(retriever.ainvoke("{MARK}")) == []
assert retriever.batch(["{MARK}"]) == [[]]
wait_for_all_tracers()
get_cached_client().flush()
"""


@pytest.mark.parametrize(("kind", "sends"), [("plain", True), ("lethe", False), ("store", False)])
def test_no_variable_of_the_environment_sends_a_question_to_langsmith(kind: str, sends: bool) -> None:
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.do_GET()

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    values = {"API_KEY": "invented", "ENDPOINT": f"http://127.0.0.1:{server.server_address[1]}"}
    values |= {"TRACING": "true", "TRACING_V2": "true", "DISABLE_RUN_COMPRESSION": "true"}
    asked = {f"{prefix}_{name}": values[name] for prefix in ("LANGSMITH", "LANGCHAIN") for name in values}
    del asked["LANGCHAIN_TRACING"]  # the name of an older tracer, refused outright
    try:
        arguments = [sys.executable, "-c", TRACED, kind]
        env = environment(Path("unused")) | asked
        subprocess.run(arguments, env=env, cwd=ROOT, check=True, timeout=60, capture_output=True)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert any(MARK.encode() in body for body in received) == bool(received) == sends


# -- the transformer -----------------------------------------------------------------------------------


def test_a_document_is_made_anew_without_its_metadata() -> None:
    metadata = {"author": MARK, "page": {"n": 2}}
    source = LangChainDocument(f"Invented. {MARK} keeps the mill.", id="a1", metadata=metadata)
    before = deepcopy(source)
    (made,) = transforming().transform_documents([source])
    assert source == before
    assert made.id == "a1"
    assert MARK not in repr(made)
    assert made.page_content.endswith("keeps the mill.")
    assert made.metadata.keys() == {"lethe_policy", "lethe_risk_before", "lethe_risk_after"}
    assert made.metadata["lethe_policy"] == "redact"
    assert 0 <= made.metadata["lethe_risk_after"] < made.metadata["lethe_risk_before"] <= 1


def test_only_the_named_metadata_is_kept_and_it_is_copied() -> None:
    sources = [
        LangChainDocument(f"Invented {n}.", metadata={"author": MARK, "page": {"n": n}}) for n in range(20)
    ]
    transformer = transforming(keep_metadata=["page", "absent"])
    made = asyncio.run(transformer.atransform_documents(sources))
    assert [(each.id, each.page_content) for each in made] == [(None, s.page_content) for s in sources]
    assert [each.metadata["page"]["n"] for each in made] == list(range(20))
    assert "author" not in made[0].metadata
    made[2].metadata["page"]["n"] = 3
    assert sources[2].metadata["page"] == {"n": 2}
    assert transformer.transform_documents([]) == []
    with pytest.raises(ConfigurationError, match="takes documents and no options; leave them out"):
        transformer.transform_documents([], keep_metadata=["author"])


def test_one_that_fails_fails_them_all_and_says_nothing() -> None:
    sanitizer = DecidingSanitizer(FailingDetector(MARK), REDACT, RiskPrior())
    sources = [LangChainDocument("Invented."), LangChainDocument(f"Invented {MARK}.", id=MARK)]
    with pytest.raises(SanitizationError) as failed:
        SanitizingTransformer(sanitizer).transform_documents(sources)
    expected = "document number 2 was not indexed: detection failed (RuntimeError); nothing of it was kept"
    assert str(failed.value) == expected
    assert failed.value.__cause__ is failed.value.__context__ is None


def test_a_document_that_is_lost_on_the_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DecidingSanitizer, "sanitize", lambda *_: [])
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is shorter"):
        transforming().transform_documents([LangChainDocument("Invented.")])


def test_raw_text_is_never_passed_on() -> None:
    with pytest.raises(ConfigurationError, match="^The policy origin changes nothing, and raw text is never"):
        SanitizingTransformer(DecidingSanitizer(HybridDetector(), ORIGIN, RiskPrior()))


# -- the embeddings ------------------------------------------------------------------------------------


def test_embeddings_are_the_encoders_vectors() -> None:
    encoder, texts = WordEncoder(), ["the heron", "the mill"]
    embeddings = LetheEmbeddings(encoder)
    made = embeddings.embed_documents(texts)
    assert np.array_equal(np.array(made, np.float32), encoder.encode(texts))
    assert embeddings.embed_query("the mill") == asyncio.run(embeddings.aembed_query("the mill")) == made[1]
    assert embeddings.embed_documents([]) == []
    assert json.loads(json.dumps(made)) == made


# -- the real parts ------------------------------------------------------------------------------------


def test_the_real_parts(tmp_path: Path) -> None:
    notes = [
        "Invented note. Mr Tobias Keller keeps the lighthouse. Write to t.keller@example.org.",
        "Invented note. The boiler of the mill is broken.",
    ]
    data = tmp_path / "data"
    assert lethe(data, "ingest", str(write_records(tmp_path / "n.jsonl", notes)), "-c", "notes").code == 0
    settings = load_settings({"data_dir": str(data), "threads": 1})
    system = system_of(settings)
    with DataDir(settings).open("notes") as collection:
        retriever = LetheRetriever(retriever=retriever_of(collection, system.encoder, HYBRID), k=1)
        (best,) = retriever.invoke("What is broken at the mill?")
        (lighthouse,) = asyncio.run(retriever.ainvoke("Who keeps the lighthouse?"))
    assert best.metadata["doc_id"] == "r0001"
    assert "Keller" not in lighthouse.page_content
    transformer = SanitizingTransformer(system.sanitizer())
    made = transformer.transform_documents([LangChainDocument(note) for note in notes])
    assert "keller" not in str(made).casefold()
    assert "boiler of the mill is broken" in made[1].page_content
    embeddings = LetheEmbeddings(system.encoder)
    index = FlatIndex(system.encoder.dim)
    index.add([0, 1], np.array(embeddings.embed_documents([each.page_content for each in made]), np.float32))
    question: Any = np.array([embeddings.embed_query("What is broken?")], np.float32)
    assert index.search(question, 1)[0][0][0] == 1


def test_the_command_line_does_not_import_langchain() -> None:
    code = "import app.cli.serve, app.cli.ask, app.compose, app.server.app"
    assert imported_by(code, ("langchain", "langchain_core")) == []
