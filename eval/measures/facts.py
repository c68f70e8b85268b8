"""How much of a reference answer an answer says, of what its source says at all."""

import re
from functools import lru_cache

from eval.measures.leakage import STOP_WORDS
from eval.measures.overlap import stems
from ingest.language.vocabulary import fold

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
"""Numbers whole, so that 3.5 is no 5; words with what is behind an apostrophe."""
SHORTEST = 3
"""Letters of a word that says something; numbers count from one digit."""


@lru_cache(maxsize=4_096)
def facts_in(text: str) -> frozenset[str]:
    """Stems of the words, and the numbers, of a text that say something; without case and accents."""
    words = [fold(match.group()) for match in _WORD.finditer(text)]
    numbers = {word for word in words if word[:1].isdigit()}
    telling = [word for word in words if len(word) >= SHORTEST and word not in STOP_WORDS | numbers]
    return frozenset(stems(" ".join(word for word in telling if word.isalpha()))) | numbers


def answerable(reference: str, source: str, question: str) -> frozenset[str]:
    """The facts of a reference that stand in the source and not in the question: what an answer can say."""
    return (facts_in(reference) & facts_in(source)) - facts_in(question)


def share_present(facts: frozenset[str], *texts: str) -> float:
    """The share of facts that each of the texts says.

    An answer is given with the passages of the document asked about: where documents are alike, an answer
    from another one says some of the same words.

    Raises:
        ValueError: There are no facts.
    """
    if not facts:
        raise ValueError("a reference without facts has no share of them")
    return len(facts.intersection(*map(facts_in, texts))) / len(facts)
