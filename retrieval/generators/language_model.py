"""Answers written by a language model from the passages, with citations that exist.

Passages are quoted line by line after ``> `` so that no text in them can end its quotation: passages are
material, never instructions. Marks such as ``[2]`` inside a passage are rewritten to ``(2)``, so that every
mark in an answer comes from the model, and what a chat template could take for the end of a message, such as
``<|end|>`` or ``[INST]``, loses its brackets.
"""

import re
from bisect import bisect_left
from collections.abc import Generator as Pieces
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from models.errors import ConfigurationError, ModelUnavailable
from models.language.asking import Asker
from models.language.prompts import prompt
from models.language.protocol import ChatMessage, LanguageModel, PromptTooLong, StreamingModel, behind_mark
from retrieval.citations import NO_ANSWER, KnownMarks, without_marks
from retrieval.documents import Answer, RetrievedPassage
from retrieval.protocols import Generator
from retrieval.writing import Writing, at_once, through_all

_TAG = re.compile(r"<(?=[|｜/!<A-Za-z_])")
_TURN = re.compile(r"\[(/?[A-Z][A-Z_]{2,})\]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages for the model, and the passages in them by their marks."""

    messages: Sequence[ChatMessage]
    passages: dict[int, RetrievedPassage] = field(repr=False)


def build_prompt(
    question: str, passages: Sequence[RetrievedPassage], model: LanguageModel, max_tokens: int
) -> Prompt:
    """The prompt that leaves ``max_tokens`` tokens for the answer.

    A mark is a passage's place among ``passages``, best first, from 1. While the prompt is too long, the last
    passage is dropped, and the only one left is shortened; the question is never cut. Raises PromptTooLong if
    not even a word of a passage fits beside it.
    """
    limit = model.context_tokens - max_tokens
    kept = dict(enumerate(passages, start=1))
    while model.count_tokens(_messages(question, kept)) > limit:
        if len(kept) > 1:
            del kept[max(kept)]
        else:
            kept = _shortened(question, kept, model, limit)
    return Prompt(_messages(question, kept), kept)


def _messages(question: str, kept: dict[int, RetrievedPassage]) -> list[ChatMessage]:
    shown = "\n\n".join(f"[{mark}]\n{quoted(kept[mark].passage.text)}" for mark in kept)
    return prompt("answer_question").messages(passages=shown, question=question)


def quoted(text: str) -> str:
    """The text of a passage as material: line by line after ``> ``, without marks and ends of messages."""
    plain = _TURN.sub(r"(\1)", _TAG.sub("‹", without_marks(text)))
    return "\n".join(f"> {line}" for line in plain.splitlines())


def _shortened(
    question: str, kept: dict[int, RetrievedPassage], model: LanguageModel, limit: int
) -> dict[int, RetrievedPassage]:
    """The longest prefix of the only passage that fits, in whole words."""
    bare = model.count_tokens(_messages(question, {}))
    if not kept or bare > limit:
        raise PromptTooLong(model.name, bare, limit)
    ((mark, retrieved),) = kept.items()
    text = retrieved.passage.text

    def until(end: int) -> dict[int, RetrievedPassage]:
        return {mark: replace(retrieved, passage=replace(retrieved.passage, text=text[:end]))}

    def too_long(end: int) -> bool:
        return model.count_tokens(_messages(question, until(end))) > limit

    ends = [word.end() for word in re.finditer(r"\S+", text)][:-1]
    fitting = bisect_left(ends, True, key=too_long)
    if not fitting:
        raise PromptTooLong(model.name, bare, limit)
    return until(ends[fitting - 1])


_THINK, _THOUGHT = "<think>", "</think>"


class LanguageModelGenerator:
    """Asks ``model`` at temperature zero and keeps only citations of passages in the prompt.

    ``max_tokens`` is the longest answer, in the model's tokens. Raises ConfigurationError if it would fill
    the model's whole context.
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
        return f"{self._model.name}, prompt {prompt('answer_question').label}"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The model's answer, as it comes if the model streams; without passages the model is not asked.

        Raises PromptTooLong if the question fills the model's context, ModelUnavailable if the model fails.
        """
        if not passages:
            return (yield from at_once(Answer(NO_ANSWER, (), (), self.name)))
        asked = build_prompt(question, passages, self._model, self._max_tokens)
        known, said = KnownMarks(asked.passages), ""
        with closing(self._pieces(asked.messages)) as pieces:
            for piece in through_all(pieces, _WithoutReasoning(), known):
                said += piece
                yield piece
        if not said:
            yield NO_ANSWER
        return Answer(said or NO_ANSWER, known.citations, tuple(passages), self.name)

    def _pieces(self, messages: Sequence[ChatMessage]) -> Pieces[str]:
        if isinstance(self._model, StreamingModel):
            yield from self._model.stream(messages, max_tokens=self._max_tokens)
        else:
            yield self._model.complete(messages, max_tokens=self._max_tokens)


class _WithoutReasoning:
    """Leaves out the reasoning at the beginning, even where it was cut short."""

    def __init__(self) -> None:
        self._held, self._over = "", False

    def feed(self, text: str) -> str:
        if self._over:
            return text
        self._held += text
        begun = self._held.lstrip()
        if not begun.startswith(_THINK):
            return "" if _THINK.startswith(begun) else self._rest(self._held)
        _, ended, answer = begun.partition(_THOUGHT)
        return self._rest(answer) if ended else ""

    def close(self) -> str:
        return "" if self._held.lstrip().startswith(_THINK) else self._held

    def _rest(self, text: str) -> str:
        self._held, self._over = "", True
        return text


class CondensedPassages:
    """Lets ``generator`` read what each passage says about the question, as ``asker`` condensed it.

    It does not see the passages, so that nobody makes it copy them out; citations and the answer's passages
    are those retrieved. What says nothing about the question is left out, and so is what could not be
    condensed. ``asker`` is asked once for each passage before the answer begins, and once more where its
    answer has not the asked form. If no passage can be condensed, that is an error and no answer.
    """

    def __init__(self, generator: Generator, asker: Asker) -> None:
        self._generator = generator
        self._asker = asker

    @property
    def name(self) -> str:
        return f"{self._generator.name}, prompt {prompt('condense_passage').label}"

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing:
        """The answer, with the passages that were left; raises what the model and the generator raise."""
        asked = [{"question": question, "passage": quoted(each.passage.text)} for each in passages]
        said = self._asker.all(prompt("condense_passage"), asked, condensed_in)
        if passages and all(text is None for text in said):
            raise ModelUnavailable(
                "the language model condensed no passage, since none fits or no answer has the asked form:",
                "ask a shorter question, or set generator.condense to false.",
            )
        left = [(each, text) for each, text in zip(passages, said, strict=True) if text]
        short = [replace(each, passage=replace(each.passage, text=text)) for each, text in left]
        answer = yield from self._generator.write(question, short)
        return replace(answer, passages=tuple(each for each, _ in left), engine=self.name)


def condensed_in(answer: str) -> str | None:
    """What a passage was condensed to, "" for nothing; None where the answer is not in the asked form."""
    said = behind_mark(answer)
    return "" if (said or answer.strip()).rstrip(".").casefold() == "nothing" else said
