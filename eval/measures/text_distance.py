"""How far an original text is from the document linked to it by its words alone, without what was known.

The lexical distance and PII existence of Xin et al., A False Sense of Privacy. With the ROUGE linker of
``eval.attacks.linkage`` this is the paper's lexical distance, with BM25 its improved lexical distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from eval.measures.overlap import rouge_l, stems
from ingest.documents import Span
from ingest.language.sentences import split_sentences

RougePart = Literal["recall", "f"]


def lexical_distance(
    original: str, linked: str, known: Sequence[str] = (), part: RougePart = "recall"
) -> float | None:
    """1 - ROUGE-L with stems, in [0, 1]; None if nothing is left of the original.

    The source sentences of the ``known`` claims are left out of the original, as in the published code. The
    recall is the share of the original's words that the linked text has in the same order. The paper speaks
    of ROUGE-L of whole texts, which is its F measure: give no known claims then.
    """
    sentences = split_sentences(original)
    sources = source_sentences(sentences, known)
    rest = [each for number, each in enumerate(sentences) if number not in sources]
    words = stems(" ".join(rest))
    if not words:
        return None
    score = rouge_l(words, stems(linked))
    return 1 - (score.recall if part == "recall" else score.f)


def source_sentences(sentences: Sequence[str], known: Sequence[str]) -> set[int]:
    """The places of the sentences that the known claims come from.

    For each claim it is the sentence with the highest ROUGE-L recall of the claim, the first of equals.
    """
    if not sentences:
        return set()
    tokens = [stems(each) for each in sentences]
    recalls = ([rouge_l(claim, each).recall for each in tokens] for claim in map(stems, known))
    return {each.index(max(each)) for each in recalls}


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many personal details do not stand in the linked text, of how many that were looked for."""

    hidden: int
    total: int


def hidden_details(original: str, details: Sequence[Span], linked: str, known: Sequence[str] = ()) -> Hidden:
    """PII existence: the details, as spans of the original, that the linked text does not say literally.

    Case aside. A detail that touches the source sentence of a known claim is not looked for.
    """
    if not details:
        return Hidden(0, 0)
    sentences = split_sentences(original)
    ends = list(accumulate(_length(each) for each in sentences))
    sources = source_sentences(sentences, known)
    closed = [(ends[each] - _length(sentences[each]), ends[each]) for each in sources]
    said, wanted = linked.lower(), []
    for span in details:
        # Sentences have their white space collapsed, so places are counted without it.
        start, end = _length(original[: span.start]), _length(original[: span.end])
        if not any(start < last and first < end for first, last in closed):
            wanted.append(original[span.start : span.end].lower())
    return Hidden(sum(each not in said for each in wanted), len(wanted))


def _length(text: str) -> int:
    """How many characters are no white space."""
    return sum(not char.isspace() for char in text)
