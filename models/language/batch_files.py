"""A language model behind files, in the form of OpenAI's batch interface.

A run writes the questions that it cannot go on without and ends; whoever has a model, a batch interface or an
offline machine, answers them; the same run goes on from there. Requests hold what the model is to read, which
may be raw text.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from models.errors import ConfigurationError, LetheError
from models.language.protocol import ChatMessage

REQUESTS, ANSWERS = "requests.jsonl", "answers*.jsonl"
"""The file of questions of the last run, and those of answers."""
_S = TypeVar("_S")
_T = TypeVar("_T")


class AnswersNeeded(LetheError):
    """A run cannot go on before questions that it wrote are answered."""

    def __init__(self, folder: Path, number: int) -> None:
        super().__init__(
            f"{number:,} questions wait in {folder / REQUESTS}, in the form of OpenAI's batch interface. "
            f"They may hold raw text. Put the answers in {folder}, as answers.jsonl or answers-1.jsonl and "
            "so on, and run the same command again."
        )


class BatchFiles:
    """Answers that lie in ``folder``; questions without one are written to its file of requests.

    ``model`` is what requests ask for. One model may be asked by several threads, and by one process.

    Raises:
        ConfigurationError: The folder cannot be read or written, or a line of answers is none.
    """

    def __init__(self, folder: Path, model: str, context_tokens: int) -> None:
        self.name, self.context_tokens = f"{model}, answers in files", context_tokens
        self._folder, self._model = folder, model
        self._written: set[str] = set()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._answers = dict(_answers_in(sorted(folder.glob(ANSWERS))))
            self._requests = os.open(folder / REQUESTS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"{folder} cannot be used for requests and answers ({type(error).__name__}): name another "
                "folder."
            ) from None

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """An estimate: three bytes a token, and eight a turn."""
        return sum(len(each.content.encode("utf-8", "replace")) // 3 + 9 for each in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """The answer that was given; raises AnswersNeeded where there is none."""
        return self._answered(messages, max_tokens, temperature, seed, {})

    def complete_as(
        self,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, Any],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """The answer that was given to the request for JSON of this schema; raises AnswersNeeded."""
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
        return self._answered(messages, max_tokens, temperature, seed, {"response_format": form})

    def _answered(
        self,
        messages: Sequence[ChatMessage],
        max_tokens: int,
        temperature: float,
        seed: int,
        more: Mapping[str, Any],
    ) -> str:
        body = {
            "model": self._model,
            "messages": [{"role": each.role, "content": each.content} for each in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            **more,
        }
        written = json.dumps(body, sort_keys=True)
        custom_id = hashlib.sha256(written.encode()).hexdigest()
        if (answer := self._answers.get(custom_id)) is not None:
            return answer
        if custom_id not in self._written:
            self._written.add(custom_id)
            where = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions"}
            os.write(self._requests, (json.dumps({**where, "body": body}) + "\n").encode())
        raise AnswersNeeded(self._folder, len(self._written))


def _answers_in(files: Iterable[Path]) -> Iterable[tuple[str, str]]:
    for file in files:
        for number, line in enumerate(file.read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            with suppress(ValueError, KeyError, TypeError, IndexError, RecursionError):
                row = json.loads(line)
                said = row["response"]["body"]["choices"][0]["message"]["content"]
                if isinstance(said, str) and isinstance(row["custom_id"], str):
                    yield row["custom_id"], said
                    continue
            raise ConfigurationError(
                f"{file}, line {number}: no answer of a batch: it needs custom_id and "
                "response.body.choices[0].message.content. Take out lines of requests that failed."
            )


def of_each(work: Callable[[_S], _T], items: Iterable[_S]) -> list[_T]:
    """``work`` of each item. Where answers are needed the others are begun all the same, then it raises."""
    found, needed = list[_T](), None
    for each in items:
        try:
            found.append(work(each))
        except AnswersNeeded as error:
            needed = error
    if needed is not None:
        raise needed
    return found
