"""The language model protocol: messages in, text out."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from models.errors import LetheError


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation. Its repr shows who speaks, not what is said."""

    role: Literal["system", "user", "assistant"]
    content: str = field(repr=False)


class PromptTooLong(LetheError):
    """A prompt that does not fit; counts are in the model's tokens."""

    def __init__(self, model: str, n_tokens: int, limit: int) -> None:
        super().__init__(
            f"the prompt takes {n_tokens} tokens and {model} has room for {limit}: "
            "ask a shorter question or choose a model with a larger context"
        )
        self.n_tokens = n_tokens
        self.limit = limit


class LanguageModel(Protocol):
    """Continues a conversation; the same way twice at temperature zero, if its engine can."""

    @property
    def name(self) -> str:
        """The engine and the model, as reports show it."""
        ...

    @property
    def context_tokens(self) -> int:
        """Maximum tokens of prompt and answer together."""
        ...

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the prompt made of ``messages``, rather too many than too few."""
        ...

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """At most ``max_tokens`` tokens of answer; greedy where ``temperature`` is 0.

        Raises:
            ModelUnavailable: the engine could not be reached or failed.
            PromptTooLong: prompt and answer do not fit into the context.
        """
        ...


@runtime_checkable
class StreamingModel(LanguageModel, Protocol):
    """A language model whose answer can be read while it is written."""

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Generator[str]:
        """The pieces of what ``complete`` returns; raises the same. Closed early, the model stops."""
        ...


@runtime_checkable
class ConstrainedModel(LanguageModel, Protocol):
    """A language model that can be held to a JSON schema."""

    def complete_as(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, Any],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """An answer that fits ``schema``, if ``max_tokens`` suffice and the engine knows schemas."""
        ...
