"""OpenAI's newer form of asking, by its own client: whole, streamed, cut, and what is refused."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.serving import Served, ingested, served

NOTES = [
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. The heron by the pond was fed with herring this morning.",
]
ASKED: dict[str, Any] = {"model": "kb:notes", "input": "What is broken at the mill?"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(ingested(tmp_path_factory.mktemp("responses"), "threads = 1\n", NOTES)) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Any:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)


def test_a_response_is_the_answer_with_its_citations(client: Any) -> None:
    found = client.responses.create(**ASKED, instructions="Be short.", store=True, metadata={"a": "b"})
    assert "boiler" in found.output_text and (found.status, found.store) == ("completed", False)
    assert [each["mark"] for each in found.model_extra["citations"]] == [1]
    usage = found.usage
    assert usage.input_tokens > 0 and usage.total_tokens == usage.input_tokens + usage.output_tokens
    turns = [
        {"role": "user", "content": ASKED["input"]},
        {"role": "assistant", "content": [{"type": "output_text", "text": found.output_text}]},
        {"role": "user", "content": [{"type": "input_text", "text": "What does the plumber ask for?"}]},
    ]
    assert client.responses.create(model="kb:notes", input=turns).output_text


def test_a_stream_says_the_same_in_the_order_that_clients_expect(client: Any) -> None:
    whole = client.responses.create(**ASKED)
    events = list(client.responses.create(**ASKED, stream=True))
    assert [each.sequence_number for each in events] == list(range(len(events)))
    kinds = [each.type for each in events]
    assert kinds[:3] == ["response.created", "response.output_item.added", "response.content_part.added"]
    assert kinds[-4:] == [
        "response.output_text.done", "response.content_part.done", "response.output_item.done",
        "response.completed",
    ]  # fmt: skip
    said = "".join(each.delta for each in events if each.type == "response.output_text.delta")
    assert said == whole.output_text == events[-1].response.output_text


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_that_is_cut_is_incomplete(client: Any, stream: bool) -> None:
    found = client.responses.create(**ASKED, max_output_tokens=3, stream=stream)
    found = list(found)[-1].response if stream else found
    assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert found.usage.output_tokens == 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]},
            "input_image",
        ),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"model": "kb:none"}, "There is no such model"),
    ],
)
def test_what_is_not_offered_is_refused_by_name(client: Any, fields: dict[str, Any], said: str) -> None:
    with pytest.raises((openai.BadRequestError, openai.NotFoundError)) as refused:
        client.responses.create(**{**ASKED, **fields})
    assert said in str(refused.value)
