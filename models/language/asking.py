"""Many questions to one language model: a few at a time, repaired once, counted, and never asked twice."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from threading import Lock
from time import perf_counter
from typing import Any, Protocol, TypeVar

from models.language.batch_files import AnswersNeeded
from models.language.prompts import Prompt
from models.language.protocol import ChatMessage, ConstrainedModel, LanguageModel, PromptTooLong

WAITING = 4
"""Questions that wait for each that is asked, at most: a run of any length holds a bounded number."""
REPAIR = "That was not in the form that was asked for. Answer again, with nothing else: "
Slots = Mapping[str, str]
_T = TypeVar("_T")


class Answers(Protocol):
    """Keeps answers by the digest of their question. What it keeps is private, and so are digests."""

    def get(self, key: bytes, /) -> str | None: ...

    def put(self, key: bytes, answer: str, /) -> None: ...


class InMemory:
    """Answers of this process, for runs that ask the same more than once and keep nothing."""

    def __init__(self) -> None:
        self._said: dict[bytes, str] = {}

    def get(self, key: bytes) -> str | None:
        """The answer to the question with this digest."""
        return self._said.get(key)

    def put(self, key: bytes, answer: str) -> None:
        """Keep an answer."""
        self._said[key] = answer


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked. Tokens are counted as the model counts them, a server's tokens are estimated.

    ``kept`` were answered before, ``repaired`` were asked once more, ``unreadable`` even so had no answer in
    the asked form, and ``too_long`` did not fit into the model's context. ``seconds`` are those of the calls,
    one after the other.
    """

    questions: int = 0
    kept: int = 0
    repaired: int = 0
    unreadable: int = 0
    too_long: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will ask: questions without a kept answer, their tokens, and the most that answers take."""

    questions: int
    kept: int
    tokens_in: int
    tokens_out: int

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def times(self, number: int) -> "Plan":
        """The same ``number`` times."""
        return Plan(*(number * each for each in astuple(self)))

    def words(self) -> str:
        """In one sentence."""
        return (
            f"{self.questions:,} questions to the language model, {self.kept:,} more are answered already: "
            f"about {self.tokens_in:,} tokens in and at most {self.tokens_out:,} out"
        )

    def reckoned(self, where: str) -> str:
        """In one sentence, for a plan that stands in for another; ``where`` says of what it was made."""
        return (
            f"about {self.questions:,} questions to the language model in all, reckoned from {where}: "
            f"about {self.tokens_in:,} tokens in and at most {self.tokens_out:,} out; what was answered in "
            "the folder of --output before is not asked again"
        )


NO_PLAN = Plan(0, 0, 0, 0)


@dataclass(slots=True)
class Asker:
    """Puts prompts to a model.

    ``answers`` keeps what was answered, so that a run which was cut short goes on where it was. ``at_once``
    is how many questions a server gets at the same time; a model in this process takes them one by one.
    ``made_with`` tells models of one name apart: what was kept of another is not taken.
    """

    model: LanguageModel
    answers: Answers | None = field(default=None, repr=False)
    at_once: int = 1
    made_with: str = field(default="", repr=False)
    usage: Usage = Usage()
    _lock: Lock = field(default_factory=Lock, repr=False)

    def engine(self, prompt: Prompt) -> str:
        """The model and the prompt, as results name them."""
        return f"{self.model.name}, prompt {prompt.label}"

    def has_room(self, prompt: Prompt, text: str) -> bool:
        """Whether an answer may be as long as ``text``; else one that says it again would be cut off."""
        return self.model.count_tokens([ChatMessage("user", text)]) <= prompt.max_tokens

    def plan(self, prompt: Prompt, asked: Sequence[Slots], seed: int = 0) -> Plan:
        """What asking would take."""
        open_ = [
            messages
            for messages in (prompt.messages(**each) for each in asked)
            if self.answers is None or self.answers.get(self._key(prompt, messages, seed)) is None
        ]
        tokens = sum(map(self.model.count_tokens, open_))
        return Plan(len(open_), len(asked) - len(open_), tokens, prompt.max_tokens * len(open_))

    def each(
        self, prompt: Prompt, asked: Sequence[Slots], read: Callable[[str], _T | None], seed: int = 0
    ) -> Iterator[_T | None]:
        """What ``read`` makes of each answer, in order; None where it reads none, or the prompt is too long.

        An answer that cannot be read is asked for once more. Raises ModelUnavailable where the model could
        not be reached or failed, or AnswersNeeded behind the last question. Answers so far are kept.
        """
        if self.at_once == 1:
            rest = iter(asked)
            for each in rest:
                try:
                    found = self._asked(prompt, each, read, seed)
                except AnswersNeeded as needed:
                    raise self._asked_too(prompt, rest, read, seed) or needed from None
                yield found
            return
        with ThreadPoolExecutor(self.at_once) as pool:
            waiting = deque[Future[_T | None]]()
            rest = iter(asked)
            try:
                while True:
                    for each in islice(rest, self.at_once * (1 + WAITING) - len(waiting)):
                        waiting.append(pool.submit(self._asked, prompt, each, read, seed))
                    if not waiting:
                        return
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _asked_too(
        self, prompt: Prompt, rest: Iterator[Slots], read: Callable[[str], object], seed: int
    ) -> AnswersNeeded | None:
        """Ask the rest, so that what all of them need is written at once; the last that was needed."""
        last = None
        for each in rest:
            try:
                self._asked(prompt, each, read, seed)
            except AnswersNeeded as needed:
                last = needed
        return last

    def all(
        self, prompt: Prompt, asked: Sequence[Slots], read: Callable[[str], _T | None], seed: int = 0
    ) -> list[_T | None]:
        """The same as a list."""
        return list(self.each(prompt, asked, read, seed))

    def _asked(self, prompt: Prompt, slots: Slots, read: Callable[[str], _T | None], seed: int) -> _T | None:
        messages = prompt.messages(**slots)
        try:
            answer = self._answer(prompt, messages, seed)
            if (found := read(answer)) is not None:
                return found
            self._counted(repaired=1)
            again = ChatMessage("user", REPAIR + prompt.form)
            said = [*messages, ChatMessage("assistant", answer), again]
            found = read(self._answer(prompt, said, seed))
        except PromptTooLong:
            self._counted(too_long=1)
            return None
        if found is None:
            self._counted(unreadable=1)
        return found

    def _answer(self, prompt: Prompt, messages: Sequence[ChatMessage], seed: int) -> str:
        key = self._key(prompt, messages, seed)
        if self.answers is not None and (kept := self.answers.get(key)) is not None:
            self._counted(questions=1, kept=1)
            return kept
        tokens = self.model.count_tokens(messages)
        if tokens + prompt.max_tokens > self.model.context_tokens:
            # A server's refusal would look like any other failure.
            raise PromptTooLong(self.model.name, tokens, self.model.context_tokens - prompt.max_tokens)
        begun = perf_counter()
        answer = self._said(prompt, messages, seed)
        out = self.model.count_tokens([ChatMessage("assistant", answer)])
        self._counted(questions=1, tokens_in=tokens, tokens_out=out, seconds=perf_counter() - begun)
        if self.answers is not None:
            self.answers.put(key, answer)
        return answer

    def _said(self, prompt: Prompt, messages: Sequence[ChatMessage], seed: int) -> str:
        how: dict[str, Any] = {"temperature": prompt.temperature, "max_tokens": prompt.max_tokens}
        how["seed"] = seed
        if prompt.schema is not None and isinstance(self.model, ConstrainedModel):
            return self.model.complete_as(messages, prompt.schema, **how)
        return self.model.complete(messages, **how)

    def _key(self, prompt: Prompt, messages: Sequence[ChatMessage], seed: int) -> bytes:
        said = [(each.role, each.content) for each in messages]
        by = (self.model.name, self.made_with, prompt.label)
        asked = (*by, prompt.max_tokens, prompt.temperature, seed, said)
        return blake2b(repr(asked).encode("utf-8", "surrogatepass"), digest_size=32).digest()

    def _counted(self, **more: Any) -> None:
        with self._lock:
            counted = {name: getattr(self.usage, name) + value for name, value in more.items()}
            self.usage = replace(self.usage, **counted)
