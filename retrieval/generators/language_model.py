"""Answers written by a language model from the passages, with citations that exist."""

import re
from collections.abc import Sequence

from models.errors import ConfigurationError
from models.language.protocol import LanguageModel
from retrieval.citations import NO_ANSWER, cite
from retrieval.documents import Answer, RetrievedPassage
from retrieval.prompt import build_prompt

_REASONING = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)


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
        """The model's name."""
        return self._model.name

    def generate(self, question: str, passages: Sequence[RetrievedPassage]) -> Answer:
        """The model's answer; without passages the model is not asked.

        Raises:
            PromptTooLong: the question alone fills the model's context.
            ModelUnavailable: the model failed or could not be reached.
        """
        if not passages:
            return Answer(NO_ANSWER, (), (), self.name)
        prompt = build_prompt(question, passages, self._model, self._max_tokens)
        written = self._model.complete(prompt.messages, max_tokens=self._max_tokens)
        # Drop the reasoning part, even where it was cut short.
        text, citations = cite(_REASONING.sub("", written), prompt.passages)
        return Answer(text or NO_ANSWER, citations, tuple(passages), self.name)
