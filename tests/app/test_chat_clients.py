"""Chat clients with nothing changed but their URL: LangChain's, and the shapes of a chat front end."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import SecretStr

from tests.chat_server import chat_server, streams
from tests.commands import lethe
from tests.serving import Served, ingested, served

NOTES = [
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. The heron by the pond was fed with herring this morning.",
]
QUESTION = "What is broken at the mill?"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingested(tmp_path_factory.mktemp("clients"), "threads = 1\n", NOTES)


@pytest.fixture(scope="module")
def key(data: Path) -> str:
    return str(json.loads(lethe(data, "keys", "create", "clients").out)["key"])


@pytest.fixture(scope="module")
def server(data: Path, key: str) -> Iterator[Served]:
    with served(data) as running:
        yield running


@pytest.fixture
def langchain(server: Served, key: str, monkeypatch: pytest.MonkeyPatch) -> ChatOpenAI:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    return ChatOpenAI(
        model="kb:notes", base_url=f"{server.url}/v1", api_key=SecretStr(key), max_retries=0, temperature=0.2
    )


def test_langchains_chat_model_asks_and_counts(langchain: ChatOpenAI) -> None:
    said = langchain.invoke(QUESTION)
    assert "boiler" in str(said.content)
    assert said.usage_metadata is not None
    assert said.usage_metadata["total_tokens"] > said.usage_metadata["output_tokens"] > 0
    assert said.response_metadata["finish_reason"] == "stop"


def test_langchains_chat_model_streams_and_follows_up(langchain: ChatOpenAI) -> None:
    whole = str(langchain.invoke(QUESTION).content)
    chunks = list(langchain.stream(QUESTION, stream_usage=True))
    assert "".join(str(each.content) for each in chunks) == whole
    assert sum(each.usage_metadata is not None for each in chunks) == 1
    turns = [("human", QUESTION), ("ai", whole), ("human", "and since when?")]
    assert str(langchain.invoke(turns).content)


def test_langchains_embeddings_are_those_of_the_collections(server: Served, key: str) -> None:
    # Without counting tokens first, for which the client would download a table.
    embeddings = OpenAIEmbeddings(
        model="lethe", base_url=f"{server.url}/v1", api_key=SecretStr(key), check_embedding_ctx_length=False
    )
    one, other = embeddings.embed_documents(["The boiler is broken.", "A heron by the pond."])
    assert len(one) == len(other) == 384
    assert one != other


def front_end(**fields: Any) -> dict[str, Any]:
    """A body as Open WebUI sends it on: its own metadata is taken out before."""
    return {"model": "kb:notes", "messages": [{"role": "user", "content": QUESTION}], **fields}


def test_a_chat_front_end_lists_models_streams_and_asks_for_a_title(server: Served, key: str) -> None:
    headers = {
        "authorization": f"Bearer {key}",
        "content-type": "application/json",
        "x-openwebui-user-role": "user",
    }
    with server.client(headers=headers) as client:
        models = client.get("/v1/models").json()
        assert models["object"] == "list"
        assert {"id", "object", "owned_by"} <= set(models["data"][0])
        body = front_end(stream=True, stream_options={"include_usage": True}, max_tokens=512, top_p=0.9)
        with client.stream("POST", "/v1/chat/completions", json=body) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = [line for line in stream.iter_lines() if line]
        assert all(line.startswith("data: ") for line in lines)
        assert lines[-1] == "data: [DONE]"
        chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
        assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
        assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
        assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["total_tokens"] > 0
        asked = {"role": "user", "content": f"### Task: a title of 3 words for this chat.\nUSER: {QUESTION}"}
        title = client.post(
            "/v1/chat/completions", json=front_end(messages=[asked], stream=False, max_completion_tokens=1000)
        )
        assert title.status_code == 200
        assert title.json()["choices"][0]["message"]["content"]
        parts = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "data:,"}}]
        picture = client.post(
            "/v1/chat/completions", json=front_end(messages=[{"role": "user", "content": parts}])
        )
        refused: httpx.Response = picture
        assert refused.status_code == 400
        assert "parts of type image_url are not read" in refused.json()["error"]["message"]


def test_the_sentences_of_a_language_model_come_while_it_writes(tmp_path: Path) -> None:
    """A slow model: the first sentence is there long before the last; the official client reads it."""
    said = "The boiler is broken [1]. The plumber asks for money to repair it [1]. Nothing else is known. "
    pieces = [f"{word} " for word in (said * 3).split()]
    data = ingested(tmp_path, "threads = 1\n", NOTES)
    with chat_server(streams(*pieces, seconds=0.001)) as model:
        settings = {
            "LETHE_GENERATOR__KIND": "openai_compatible",
            "LETHE_GENERATOR__BASE_URL": model.url,
            "LETHE_GENERATOR__MODEL": "invented",
            "LETHE_GENERATOR__TRUST": "local",
        }
        with served(data, **settings) as server:
            client: Any = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
            asked = [{"role": "user", "content": QUESTION}]
            times, texts = [], []
            for chunk in client.chat.completions.create(model="kb:notes", messages=asked, stream=True):
                if chunk.choices[0].delta.content:
                    times.append(time.perf_counter())
                    texts.append(chunk.choices[0].delta.content)
            beside = chunk.model_extra or {}
    assert "".join(texts).split() == (said * 3).split()
    assert len(texts) > 3
    # From first to last it took as long as the model did; all at once it would take no time.
    assert times[-1] - times[0] > 0.001 * len(streams(*pieces).body) / 20
    assert [each["mark"] for each in beside["citations"]] == [1]


def test_a_model_that_breaks_off_ends_the_stream_with_an_error(tmp_path: Path) -> None:
    data = ingested(tmp_path, "threads = 1\n", NOTES)
    long = [f"The boiler number {number} is broken. " for number in range(40)]
    with chat_server(streams(*long, cut=True)) as model:
        settings = {
            "LETHE_GENERATOR__KIND": "openai_compatible",
            "LETHE_GENERATOR__BASE_URL": model.url,
            "LETHE_GENERATOR__MODEL": "invented",
            "LETHE_GENERATOR__TRUST": "local",
        }
        with served(data, **settings) as server, server.client() as client:
            body = front_end(stream=True)
            lines = [
                line for line in client.post("/v1/chat/completions", json=body).text.splitlines() if line
            ]
    error = json.loads(lines[-1].removeprefix("data: "))["error"]
    assert error["code"] == "model_unavailable"
    assert "broke off" in error["message"]
    assert any("boiler" in line for line in lines[:-1])
