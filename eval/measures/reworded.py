"""How much of its source's wording a text keeps: ROUGE-2 precision (Lin 2004).

A False Sense of Privacy tells with it how much a paraphrase changed the claims that an attacker knows: the
share of their bigrams that the original documents have falls from 71.0% to 13.0% on one of its corpora.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from eval.measures.overlap import stems


def bigram_precision(texts: Sequence[str], source: str) -> float | None:
    """The share of the bigrams of stems in ``texts`` that stand in the source; None if there are none.

    A bigram of one text counts at most as often as the source has it. With one text this is the precision
    that ``rouge_score`` gives with ``use_stemmer=True``.
    """
    there = _bigrams(source)
    said = [_bigrams(text) for text in texts]
    total = sum(each.total() for each in said)
    return sum((each & there).total() for each in said) / total if total else None


def _bigrams(text: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise(stems(text)))
