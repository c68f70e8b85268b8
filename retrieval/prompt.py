"""From a question and passages to the prompt of a language model, and from its text to citations.

Passages are quoted line by line after ``> `` so that no text in them can end its quotation: passages are
material, never instructions. Marks such as ``[2]`` inside a passage are rewritten to ``(2)``, so that every
mark in an answer comes from the model, and what a chat template could take for the end of a message, such as
``<|end|>`` or ``[INST]``, loses its brackets.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from models.language.prompts import Prompt as Instructions
from models.language.prompts import prompt
from models.language.protocol import ChatMessage, LanguageModel, PromptTooLong
from retrieval.citations import without_marks
from retrieval.documents import RetrievedPassage

_TAG = re.compile(r"<(?=[|｜/!<A-Za-z_])")
_TURN = re.compile(r"\[(/?[A-Z][A-Z_]{2,})\]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages for the model, and the passages in them by their marks."""

    messages: Sequence[ChatMessage]
    passages: dict[int, RetrievedPassage] = field(repr=False)


def instructions() -> Instructions:
    """What a model is told that answers, in its present version."""
    return prompt("answer_question")


def build_prompt(
    question: str, passages: Sequence[RetrievedPassage], model: LanguageModel, max_tokens: int
) -> Prompt:
    """The prompt that leaves ``max_tokens`` tokens for the answer.

    A mark is a passage's place among ``passages``, best first, from 1. While the prompt is too long, the last
    passage is dropped, and the only one left is shortened; the question is never cut.

    Raises:
        PromptTooLong: not even a word of a passage fits beside the question.
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
    return instructions().messages(passages=shown, question=question)


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
    ends = [word.end() for word in re.finditer(r"\S+", retrieved.passage.text)]
    fits, too_long = 0, len(ends)
    best: dict[int, RetrievedPassage] = {}
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        start = replace(retrieved.passage, text=retrieved.passage.text[: ends[middle - 1]])
        trial = {mark: replace(retrieved, passage=start)}
        if model.count_tokens(_messages(question, trial)) > limit:
            too_long = middle
        else:
            fits, best = middle, trial
    if not best:
        raise PromptTooLong(model.name, bare, limit)
    return best
