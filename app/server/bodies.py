"""The bodies of requests, validated; unsupported fields of OpenAI clients are refused by name."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

NO_EFFECT = "accepted for compatibility, without effect"
LONGEST_CONTENT = 100_000
MOST_STOPS = 16
OTHER_PARTS = ("image_url", "input_audio", "file", "refusal")
"""Kinds of parts that clients may send and that are not read."""


def _joined(content: object) -> object:
    """The text of parts, joined by line ends; anything but a list is left to validation."""
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": str(kind)} if kind in OTHER_PARTS:
                reason = f"parts of type {kind} are not read, send parts of type text"
                raise PydanticCustomError("content_part", reason)
            case _:
                raise PydanticCustomError("content_part", "send text, or parts of type text with their text")
    return "\n".join(texts)


def _listed(stop: object) -> object:
    return [stop] if isinstance(stop, str) else stop


_TEXT = {"type": "string", "maxLength": LONGEST_CONTENT}
_PART: dict[str, Any] = {
    "type": "object",
    "required": ["type", "text"],
    "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
}
Content = Annotated[
    Annotated[str, Field(max_length=LONGEST_CONTENT)],
    BeforeValidator(_joined),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _PART}]}),
]
"""Text, or a list of parts of type text, which become one text."""

_STOP: dict[str, Any] = {"type": "string", "minLength": 1}
Stop = Annotated[
    Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=MOST_STOPS)] | None,
    BeforeValidator(_listed),
    WithJsonSchema(
        {"anyOf": [_STOP, {"type": "array", "items": _STOP, "maxItems": MOST_STOPS}, {"type": "null"}]}
    ),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class SearchBody(_Body):
    """A question to look passages up for."""

    question: str = Field(min_length=1, max_length=20_000, repr=False)
    k: int | None = Field(default=None, ge=1, le=100, description="passages; the server's setting if absent")


class ChatMessageBody(_Body):
    """One turn of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Content = Field(repr=False, description="text, or parts of type text")
    name: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)


class ResponseFormatBody(_Body):
    """Answers are text."""

    type: Literal["text"]


class StreamOptionsBody(_Body):
    """Stream options of clients."""

    include_usage: bool | None = Field(default=None, description=NO_EFFECT)
    include_obfuscation: bool | None = Field(default=None, description=NO_EFFECT)


class ChatBody(_Body):
    """A chat. The question is its last user turn; the other turns are not read."""

    model: str = Field(default="lethe", max_length=200, description="lethe, or kb: and the collection's name")
    messages: list[ChatMessageBody] = Field(min_length=1, max_length=200)
    stream: bool | None = Field(default=None, description="whether the answer comes as server-sent events")
    stream_options: StreamOptionsBody | None = None
    stop: Stop = Field(default=None, repr=False, description="strings before which the answer ends")
    response_format: ResponseFormatBody | None = None
    n: Literal[1] | None = Field(default=None, description="one answer is given")
    temperature: float | None = Field(default=None, ge=0, le=2, description=NO_EFFECT)
    top_p: float | None = Field(default=None, ge=0, le=1, description=NO_EFFECT)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2, description=NO_EFFECT)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2, description=NO_EFFECT)
    max_tokens: int | None = Field(default=None, ge=1, description=NO_EFFECT)
    max_completion_tokens: int | None = Field(default=None, ge=1, description=NO_EFFECT)
    user: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)
    seed: int | None = Field(default=None, description=NO_EFFECT)
