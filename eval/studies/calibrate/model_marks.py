"""A language model marks the critical entities of a document, including combinations.

After TRIP-RAG's appendix D. The document and its numbered entities are the question, the numbers of the
smallest subset that must be hidden are the answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from models.language.asking import Asker
from models.language.prompts import prompt

PROMPT = prompt("mark_critical")
_LIST = r"\[([\s\d,\"']*)(?:[\]}`]|\Z)"
_KEY = '"critical"'
LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class DocumentEntities:
    """A document and the texts of its linked entities. Private."""

    text: str = field(repr=False)
    names: Sequence[str] = field(repr=False)


def asked_of(asker: Asker, documents: Sequence[DocumentEntities]) -> Iterator[frozenset[int] | None]:
    """The places of the marked entities of each document, from 0 in the order of its names.

    None where the answer could not be read, or the document does not fit into the model's context.

    Raises:
        ModelUnavailable: The engine could not be reached or failed.
    """
    slots = [
        {"text": each.text, "entities": "\n".join(f"{n}. {name}" for n, name in enumerate(each.names, 1))}
        for each in documents
    ]
    for each, numbers in zip(documents, asker.each(PROMPT, slots, read_numbers), strict=True):
        listed = len(each.names)
        yield None if numbers is None else frozenset(n - 1 for n in numbers if 1 <= n <= listed)


def read_numbers(said: str) -> list[int] | None:
    """The numbers of an answer; None where there is no list of numbers.

    Models wrap JSON in words or fences, quote numbers, add a trailing comma or omit the last bracket. A list
    of anything else is unreadable and not empty: the model may have named entities.
    """
    found = re.search(rf"{_KEY}\s*:\s*{_LIST}" if _KEY in said else _LIST, said)
    if found is None:
        return None
    return [int(each) for each in re.findall(r"\d+", found[1]) if len(each) <= LONGEST_NUMBER]
