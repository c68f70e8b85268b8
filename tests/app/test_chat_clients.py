"""Chat clients with nothing changed but their URL: LangChain's, and the shapes of a chat front end."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

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


def test_langchains_chat_model_asks_counts_streams_and_follows_up(langchain: ChatOpenAI) -> None:
    said = langchain.invoke(QUESTION)
    whole = str(said.content)
    assert "boiler" in whole
    assert said.usage_metadata is not None
    assert said.usage_metadata["total_tokens"] > said.usage_metadata["output_tokens"] > 0
    assert said.response_metadata["finish_reason"] == "stop"
    chunks = list(langchain.stream(QUESTION, stream_usage=True))
    assert "".join(str(each.content) for each in chunks) == whole
    assert sum(each.usage_metadata is not None for each in chunks) == 1
    assert str(langchain.invoke([("human", QUESTION), ("ai", whole), ("human", "and since when?")]).content)


def test_langchains_embeddings_are_those_of_the_collections(server: Served, key: str) -> None:
    # Without counting tokens first, for which the client would download a table.
    embeddings = OpenAIEmbeddings(
        model="lethe", base_url=f"{server.url}/v1", api_key=SecretStr(key), check_embedding_ctx_length=False
    )
    one, other = embeddings.embed_documents(["The boiler is broken.", "A heron by the pond."])
    assert len(one) == len(other) == 384
    assert one != other


def front_end(content: object = QUESTION, **fields: Any) -> dict[str, Any]:
    """A body as Open WebUI sends it on: its own metadata is taken out before."""
    return {"model": "kb:notes", "messages": [{"role": "user", "content": content}], **fields}


CHAT = "/v1/chat/completions"


def test_a_chat_front_end_lists_models_streams_and_asks_for_a_title(server: Served, key: str) -> None:
    headers = {"authorization": f"Bearer {key}", "x-openwebui-user-role": "user"}
    with server.client(headers=headers) as client:
        models = client.get("/v1/models").json()
        assert models["object"] == "list"
        assert {"id", "object", "owned_by"} <= set(models["data"][0])
        body = front_end(stream=True, stream_options={"include_usage": True}, max_tokens=512, top_p=0.9)
        answer = client.post(CHAT, json=body)
        assert answer.headers["content-type"].startswith("text/event-stream")
        *lines, last = [line for line in answer.text.splitlines() if line]
        assert all(line.startswith("data: ") for line in lines)
        assert last == "data: [DONE]"
        chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
        assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
        assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
        assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["total_tokens"] > 0
        asked = f"### Task: a title of 3 words for this chat.\nUSER: {QUESTION}"
        title = client.post(CHAT, json=front_end(asked, stream=False, max_completion_tokens=1000))
        assert title.status_code == 200
        assert title.json()["choices"][0]["message"]["content"]
        parts = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "data:,"}}]
        refused = client.post(CHAT, json=front_end(parts))
        assert refused.status_code == 400
        assert "parts of type image_url are not read" in refused.json()["error"]["message"]


def test_sentences_come_while_a_model_writes_and_an_error_if_it_breaks_off(
    data: Path, key: str, tmp_path: Path
) -> None:
    """A slow model: the first sentence is there long before the last; the official client reads it."""
    own_data = copytree(data, tmp_path / "data")
    said = "The boiler is broken [1]. The plumber asks for money to repair it [1]. Nothing else is known. "
    slowly = streams(*[f"{word} " for word in (said * 3).split()], seconds=0.001)
    broken_off = streams(*[f"The boiler number {number} is broken. " for number in range(40)], cut=True)
    with chat_server(slowly, broken_off) as model:
        settings = {"KIND": "openai_compatible", "BASE_URL": model.url, "MODEL": "invented", "TRUST": "local"}
        variables = {f"LETHE_GENERATOR__{name}": value for name, value in settings.items()}
        headers = {"authorization": f"Bearer {key}"}
        with served(own_data, **variables) as server, server.client(headers=headers) as own:
            client: Any = openai.OpenAI(base_url=f"{server.url}/v1", api_key=key)
            times, texts = [], []
            for chunk in client.chat.completions.create(**front_end(stream=True)):
                if chunk.choices[0].delta.content:
                    times.append(time.perf_counter())
                    texts.append(chunk.choices[0].delta.content)
            beside = chunk.model_extra or {}
            lines = [line for line in own.post(CHAT, json=front_end(stream=True)).text.splitlines() if line]
    assert "".join(texts).split() == (said * 3).split()
    assert len(texts) > 3
    # From first to last it took as long as the model did; all at once it would take no time.
    assert times[-1] - times[0] > 0.001 * len(slowly.body) / 20
    assert [each["mark"] for each in beside["citations"]] == [1]
    error = json.loads(lines[-1].removeprefix("data: "))["error"]
    assert error["code"] == "model_unavailable"
    assert "broke off" in error["message"]
    assert any("boiler" in line for line in lines[:-1])
