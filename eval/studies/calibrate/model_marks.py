"""A language model marks the critical entities of a document, including combinations.

After TRIP-RAG's appendix D, whose prompt is lost. Ours has one turn: the document and its numbered entities
are the question, the numbers of the smallest subset that must be hidden are the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from models.language.protocol import ChatMessage, LanguageModel

MAX_TOKENS = 512
PROMPT = (
    "You judge what in a document could tell a reader which person it is about. The user sends a document "
    "and a numbered list of the entities in it. Look at combinations: an age, a town and a job may be "
    "harmless each and identify somebody together. Choose the smallest set of entities that has to be taken "
    "out so that nobody in the document can be recognized, by itself or together with public knowledge. "
    "Leave general medical, legal or business terms in. "
    'Answer with JSON alone, in this form: {"critical": [1, 4]}. If nothing has to go: {"critical": []}.'
)
_LIST = r"\[([\s\d,\"']*)(?:[\]}`]|\Z)"
_KEY = '"critical"'
LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's reply about one document: the places of marked entities, None if unreadable."""

    marked: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class DocumentEntities:
    """A document and the texts of its linked entities. Private."""

    text: str = field(repr=False)
    names: Sequence[str] = field(repr=False)


def ask(model: LanguageModel, listed: DocumentEntities) -> ModelReply:
    """One question, at temperature 0; ``marked`` counts from 0 in the order of ``listed.names``.

    Raises:
        ModelUnavailable: The engine could not be reached or failed.
        PromptTooLong: The document does not fit into the model's context.
    """
    entities = "\n".join(f"{number}. {name}" for number, name in enumerate(listed.names, start=1))
    messages = [
        ChatMessage("system", PROMPT),
        ChatMessage("user", f"Document:\n{listed.text}\n\nEntities:\n{entities}"),
    ]
    numbers = read_numbers(model.complete(messages, max_tokens=MAX_TOKENS))
    if numbers is None:
        return ModelReply(None)
    return ModelReply(frozenset(number - 1 for number in numbers if 1 <= number <= len(listed.names)))


def read_numbers(said: str) -> list[int] | None:
    """The numbers of an answer; None where there is no list of numbers.

    Models wrap JSON in words or fences, quote numbers, add a trailing comma or omit the last bracket. A list
    of anything else is unreadable and not empty: the model may have named entities.
    """
    found = re.search(rf"{_KEY}\s*:\s*{_LIST}" if _KEY in said else _LIST, said)
    if found is None:
        return None
    return [int(each) for each in re.findall(r"\d+", found[1]) if len(each) <= LONGEST_NUMBER]
