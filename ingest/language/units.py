"""Retrieval units: the pieces in which a text is encoded, scored and searched.

A text is cut so that nothing is lost and nothing stands twice. Scoring uses the same cuts as indexing,
because the scores ask what an entity means to the piece that will be retrieved.
"""

from collections.abc import Sequence

from ingest.documents import Span

_SENTENCE_END = (".", "!", "?", ".”", '."', "?”", "!”")


def retrieval_units(text: str, token_spans: Sequence[tuple[int, int]], max_tokens: int) -> list[Span]:
    """Cover ``text`` without gaps or overlaps by spans of at most ``max_tokens`` tokens.

    A cut falls in the second half of what fits, at the best place there: between paragraphs, else lines,
    else sentences, else words, else tokens; the last such place.
    """
    cuts = [0]
    first = 0
    while len(token_spans) - first > max_tokens:
        after = range(first + max(1, max_tokens // 2), first + max_tokens + 1)
        best = max(after, key=lambda i: (_quality(text, token_spans[i - 1][1], token_spans[i][0]), i))
        cuts.append(token_spans[best][0])
        first = best
    cuts.append(len(text))
    return [Span(start, end) for start, end in zip(cuts, cuts[1:], strict=False) if end > start]


def _quality(text: str, left: int, right: int) -> int:
    """The quality of the gap between two tokens as a cut."""
    gap = text[left:right]
    if not gap:
        return 0
    if "\n" in gap:
        return 4 if gap.count("\n") > 1 else 3
    return 2 if text[max(0, left - 2) : left].endswith(_SENTENCE_END) else 1
