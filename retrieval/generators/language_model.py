"""Answers written by a language model from the passages, with citations that exist."""

from collections.abc import Generator, Sequence
from contextlib import closing

from models.errors import ConfigurationError
from models.language.protocol import ChatMessage, LanguageModel, StreamingModel
from retrieval.citations import NO_ANSWER, KnownMarks
from retrieval.documents import Answer, RetrievedPassage
from retrieval.prompt import build_prompt, instructions
from retrieval.writing import Writing, at_once, through_all

_THINK, _THOUGHT = "<think>", "</think>"


class LanguageModelGenerator:
    """Asks ``model`` at temperature zero and keeps only citations of passages in the prompt.

    Args:
        model: any language model.
        max_tokens: the longest answer, in the model's tokens.

    Raises:
        ConfigurationError: such an answer would fill the model's whole context.
    """

    def __init__(self, model: LanguageModel, max_tokens: int = 512) -> None:
        if not 0 < max_tokens < model.context_tokens:
            raise ConfigurationError(
                f"an answer of {max_tokens} tokens leaves no prompt in the {model.context_tokens} "
                f"tokens of {model.name}; set between 1 and {model.context_tokens - 1} tokens"
            )
        self._model = model
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """The model and the prompt."""
        return f"{self._model.name}, prompt {instructions().label}"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The model's answer, as it comes if the model streams; without passages the model is not asked.

        Raises:
            PromptTooLong: the question alone fills the model's context.
            ModelUnavailable: the model failed or could not be reached.
        """
        if not passages:
            return (yield from at_once(Answer(NO_ANSWER, (), (), self.name)))
        prompt = build_prompt(question, passages, self._model, self._max_tokens)
        known, said = KnownMarks(prompt.passages), ""
        with closing(self._pieces(prompt.messages)) as pieces:
            for piece in through_all(pieces, _WithoutReasoning(), known):
                said += piece
                yield piece
        if not said:
            yield NO_ANSWER
        return Answer(said or NO_ANSWER, known.citations, tuple(passages), self.name)

    def _pieces(self, messages: Sequence[ChatMessage]) -> Generator[str]:
        if isinstance(self._model, StreamingModel):
            yield from self._model.stream(messages, max_tokens=self._max_tokens)
        else:
            yield self._model.complete(messages, max_tokens=self._max_tokens)


class _WithoutReasoning:
    """Leaves out the reasoning at the beginning, even where it was cut short."""

    def __init__(self) -> None:
        self._held, self._over = "", False

    def feed(self, text: str) -> str:
        """What is known to be no reasoning."""
        if self._over:
            return text
        self._held += text
        begun = self._held.lstrip()
        if not begun.startswith(_THINK):
            return "" if _THINK.startswith(begun) else self._rest(self._held)
        _, ended, answer = begun.partition(_THOUGHT)
        return self._rest(answer) if ended else ""

    def close(self) -> str:
        """The rest, if that is no reasoning."""
        return "" if self._held.lstrip().startswith(_THINK) else self._held

    def _rest(self, text: str) -> str:
        self._held, self._over = "", True
        return text
