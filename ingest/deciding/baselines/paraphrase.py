"""Paraphrase by a language model: TRIP-RAG's baseline of that name, introduced by SAGE (Zeng et al. 2025).

The model restates the important parts of a document and drops the rest. It gives no guarantee about names.
The original prompt is not available; this one is our own.
"""

from collections.abc import Sequence

from ingest.annotated import AnnotatedText
from models.language.asking import Asker
from models.language.prompts import prompt
from models.language.protocol import LanguageModel, PromptTooLong


class Paraphrase:
    """One model call per document, at temperature 0."""

    def __init__(self, model: LanguageModel) -> None:
        self._model, self._prompt = model, prompt("paraphrase")
        self.name = f"paraphrase ({Asker(model).engine(self._prompt)})"

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        """The model's paraphrase of each text.

        Raises:
            ModelUnavailable: The engine could not be reached or failed.
            PromptTooLong: A document does not fit into the model's context.
        """
        return [self._rewritten(text.text) for text in texts]

    def _rewritten(self, text: str) -> str:
        if not text.strip():
            # Given an empty text, a model would invent one.
            return ""
        messages, most = self._prompt.messages(text=text), self._prompt.max_tokens
        # A server's refusal would look like any other failure.
        tokens, room = self._model.count_tokens(messages), self._model.context_tokens - most
        if tokens > room:
            raise PromptTooLong(self._model.name, tokens, room)
        return self._model.complete(messages, max_tokens=most).strip()
