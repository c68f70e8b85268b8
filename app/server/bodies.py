"""The bodies of requests, checked; what OpenAI clients may send and we do not do is refused by name."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class SearchBody(_Body):
    """``POST /v1/search``."""

    question: str = Field(min_length=1, max_length=20_000, repr=False)
    k: int | None = Field(default=None, ge=1, le=100)


class ChatMessageBody(_Body):
    """One turn of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str = Field(max_length=100_000, repr=False)


class ChatBody(_Body):
    """``POST /v1/chat/completions``, without streaming.

    The question is the last user turn. ``model`` is any name, as clients insist on sending one.
    """

    model: str = Field(default="lethe", max_length=200)
    messages: list[ChatMessageBody] = Field(min_length=1, max_length=200)
    stream: Literal[False] = False
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    user: str | None = Field(default=None, max_length=200)
    seed: int | None = None
