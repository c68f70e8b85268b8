"""How much of a reference answer an answer says, of what its source says at all."""

import re
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache

from eval.measures.leakage import STOP_WORDS
from eval.measures.overlap import rouge_tokenizer

_WORD = re.compile(r"[^\W_]+")
SHORTEST = 3
"""Letters of a word that says something; numbers count from one digit."""


_tokenizer = cache(rouge_tokenizer)


@lru_cache(maxsize=4_096)
def facts_in(text: str) -> frozenset[str]:
    """Stems of the words and numbers of a text that say something."""
    said = (word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS)
    stems = _tokenizer()(" ".join(word for word in said if len(word) >= SHORTEST or word.isdigit()))
    return frozenset(stems)


def answerable(reference: str, source: str) -> frozenset[str]:
    """The facts of a reference that stand in the source: what an answer from it can say."""
    return facts_in(reference) & facts_in(source)


def share_present(facts: AbstractSet[str], answer: str) -> float:
    """The share of facts that an answer says.

    Raises:
        ValueError: There are no facts.
    """
    if not facts:
        raise ValueError("a reference without facts has no share of them")
    return len(facts & facts_in(answer)) / len(facts)
