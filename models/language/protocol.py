"""The language model protocol: messages in, text out."""

import json
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
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
        self.n_tokens, self.limit = n_tokens, limit


class LanguageModel(Protocol):
    """Continues a conversation; the same way twice at temperature zero, if its engine can."""

    @property
    def name(self) -> str:
        """The engine and the model, as reports show it."""

    @property
    def context_tokens(self) -> int:
        """Maximum tokens of prompt and answer together."""

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the prompt made of ``messages``, rather too many than too few."""

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """At most ``max_tokens`` tokens of answer; greedy where ``temperature`` is 0.

        Raises ModelUnavailable where the engine could not be reached or failed. Raises PromptTooLong where
        prompt and answer do not fit into the context.
        """


@runtime_checkable
class StreamingModel(LanguageModel, Protocol):
    """A language model whose answer can be read while it is written."""

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Generator[str]:
        """The pieces of what ``complete`` returns; raises the same. Closed early, the model stops."""


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


_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*•]|[0-9]{1,3}[.)])\s*(?P<words>.+?)\s*$")
_MARK = re.compile(r"^#\s*$", re.MULTILINE)


def json_in(answer: str) -> Any:
    """The first JSON object of an answer, fenced or amid words; None where there is none."""
    fenced = _FENCE.search(answer)
    said = fenced[1] if fenced else answer
    for opened in re.finditer("{", said):
        with suppress(ValueError, RecursionError):
            return json.JSONDecoder().raw_decode(said, opened.start())[0]
    return None


def rows_in(answer: str, name: str) -> list[Any] | None:
    """The list of this name in the first JSON object of an answer; None where there is none."""
    said = json_in(answer)
    rows = said.get(name) if isinstance(said, dict) else None
    return rows if isinstance(rows, list) else None


def items_in(answer: str) -> list[str]:
    """The items of a list that a model wrote, each once, without quotation marks."""
    found = (match["words"].strip("\"'“”‘’ ") for line in answer.splitlines() if (match := _ITEM.match(line)))
    return list(dict.fromkeys(filter(None, found)))


def behind_mark(answer: str) -> str | None:
    """The text behind a line that holds ``#`` alone; None where there is no such line, or nothing behind."""
    _, mark, text = answer.partition(found[0]) if (found := _MARK.search(answer)) else ("", "", "")
    return text.strip() or None if mark else None
