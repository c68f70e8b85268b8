"""Persons in text without capital letters, as speech recognition writes it."""

from ingest.documents import Entity
from ingest.rules.hits import person
from ingest.rules.tokens import Tokens
from ingest.rules.vocabulary import words


def single(tokens: Tokens, index: int) -> Entity | None:
    """So, martha: a given name in a text that has no capital letters."""
    word = tokens.folded[index]
    if word not in words("given_names") or word in words("given_names_words", "common_words"):
        return None
    if len(word) < 3:
        return None
    return person(tokens, index, _end(tokens, index), 0.6, "caseless-given-name")


def _end(tokens: Tokens, index: int) -> int:
    end = index + 1
    while (
        end < len(tokens)
        and end - index < 3
        and tokens.gap(end) == " "
        and tokens.folded[end] in words("surnames")
        and tokens.folded[end] not in words("common_words")
    ):
        end += 1
    return end


def pair(tokens: Tokens, index: int) -> Entity | None:
    """[doctor] brittany wood . date of birth: an ambiguous given name with a surname or a greeting."""
    word = tokens.folded[index]
    if word not in words("given_names", "given_names_ambiguous") or word in LETTERS_ONLY:
        return None
    greeted = index > 0 and tokens.folded[index - 1] in GREETINGS and len(tokens.gap(index)) < 4
    end = index + 1
    known = word not in words("common_words") or tokens.opens_sentence(index)
    if end < len(tokens) and tokens.gap(end) == " " and tokens.folded[end] in words("surnames"):
        stops = "." in tokens.gap(end + 1) or "," in tokens.gap(end + 1)
        if known and (stops or tokens.folded[end] not in words("common_words")):
            return person(tokens, index, end + 1, 0.65, "caseless-name")
    if greeted or (word in words("given_names_ambiguous") and known and _plain_word(word)):
        return person(tokens, index, end, 0.6, "caseless-name")
    return None


GREETINGS = frozenset(("hi", "hey", "hello", "bye", "goodbye", "thanks", "dear", "morning", "there"))
LETTERS_ONLY = frozenset(("will", "may", "so", "an", "can", "art", "an", "le", "hope", "else", "per"))


def _plain_word(word: str) -> bool:
    other = words("common_words", "cities", "states", "countries", "given_names_words", "not_names")
    return word not in other and len(word) > 3 and word in words("surnames")
