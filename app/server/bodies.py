"""The bodies of requests, checked; what OpenAI clients may send and we do not do is refused by name."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

NO_EFFECT = "accepted, since clients send it, and without effect"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class SearchBody(_Body):
    """A question to look passages up for."""

    question: str = Field(min_length=1, max_length=20_000, repr=False)
    k: int | None = Field(default=None, ge=1, le=100, description="passages; the server's setting if absent")


class ChatMessageBody(_Body):
    """One turn of a chat."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str = Field(max_length=100_000, repr=False)


class ChatBody(_Body):
    """A chat, not streamed. The question is its last user turn; the other turns are not read."""

    model: str = Field(default="lethe", max_length=200, description="lethe, or kb: and the collection's name")
    messages: list[ChatMessageBody] = Field(min_length=1, max_length=200)
    stream: Literal[False] = Field(default=False, description="answers are not streamed")
    temperature: float | None = Field(default=None, ge=0, le=2, description=NO_EFFECT)
    max_tokens: int | None = Field(default=None, ge=1, description=NO_EFFECT)
    max_completion_tokens: int | None = Field(default=None, ge=1, description=NO_EFFECT)
    user: str | None = Field(default=None, max_length=200, repr=False, description=NO_EFFECT)
    seed: int | None = Field(default=None, description=NO_EFFECT)
