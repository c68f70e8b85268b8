"""What a chat asks: the collection, and the question with what it goes on about."""

import re
from collections.abc import Sequence

from app.access.keys import Key, Scope
from app.server.access import granted
from app.server.errors import UnknownCollection, UnknownModel
from app.server.middleware.noted import note
from app.server.served import Collections
from models.errors import ConfigurationError

ALONE = "lethe"
"""The model that stands for the only collection of a caller."""
OF_COLLECTION = "kb:"
_SEVERAL = f"The model {ALONE} is there only for a caller with one collection, and you have several"
_OF_SOMEBODY = re.compile(r"(?i)(?<![^\W_])(?:he|she|they|him|them|his|their|theirs|hers)(?![^\W_])")
_SHORT = re.compile(
    r"(?i)\s*(?:and|but|so|then|also|what about|how about|why|since when|is it|was it)(?![^\W_])"
    r"(?:\W+\w+){0,3}\W*"
)
"""A few words that go on: and since when?"""
_MOST_TURNS = 3


def models_of(key: Key, served: Collections) -> list[str]:
    """The names that a caller may chat with."""
    return _models(granted(key, "query", served.names()))


def _models(names: Sequence[str]) -> list[str]:
    return [*([ALONE] if len(names) == 1 else []), *(f"{OF_COLLECTION}{name}" for name in names)]


def unknown_model(model: str, there: Sequence[str]) -> UnknownModel:
    """The error for a model that is not ``there``; it says of ``lethe`` where that one is."""
    return UnknownModel(there, _SEVERAL) if model == ALONE and there else UnknownModel(there)


def collection_of_model(key: Key, served: Collections, model: str, collection: str | None) -> str:
    """The collection of a chat, by the model or by its own field.

    Raises:
        UnknownModel: The caller may not use it, or it is not there.
        ConfigurationError: The two name different ones.
    """
    names = granted(key, "query", served.names())
    there = _models(names)
    if collection is not None:
        if model not in (ALONE, f"{OF_COLLECTION}{collection}"):
            raise ConfigurationError("model and collection name two collections: leave one out.")
        model = f"{OF_COLLECTION}{collection}"
    if model not in there:
        raise unknown_model(model, there)
    found = names[0] if model == ALONE else model.removeprefix(OF_COLLECTION)
    note(found)
    return found


def collection_of(key: Key, served: Collections, name: str | None, scope: Scope = "query") -> str:
    """A collection with which a caller may do something, by its name or as the only one.

    Raises:
        UnknownCollection: The caller may not use it, or it is not there.
        ConfigurationError: There are several, and none is named.
    """
    there = granted(key, scope, served.names())
    if name is None and len(there) > 1:
        raise ConfigurationError(f"Name the collection: there are {' and '.join(there)}.")
    found = there[0] if name is None and there else name
    if found is None or found not in there:
        raise UnknownCollection(there)
    note(found)
    return found


def question_of(turns: Sequence[str]) -> str:
    """The last user turn, behind those before that it goes on about.

    Raises:
        ConfigurationError: There is no question.
    """
    if not turns or not turns[-1].strip():
        raise ConfigurationError("The chat holds no question: its last user message is missing or empty.")
    asked = [turns[-1]]
    for before in reversed(turns[-_MOST_TURNS:-1]):
        if not before.strip() or not (_OF_SOMEBODY.search(asked[0]) or _SHORT.fullmatch(asked[0])):
            break
        asked.insert(0, before)
    return "\n".join(asked)
