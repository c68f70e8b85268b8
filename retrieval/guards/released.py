"""The words that a policy has let out: those of the sanitized passages that an answer was written from."""

import re
from collections.abc import Iterator, Sequence

from retrieval.citations import NO_ANSWER
from retrieval.documents import RetrievedPassage

_WORD = re.compile(r"\w+")


class Released:
    """The words of passages, in their order. Passages that adjoin are read on as one text."""

    def __init__(self, passages: Sequence[RetrievedPassage]) -> None:
        texts = [_WORD.findall(text) for text in _texts(passages)]
        # Two spaces between texts: no run goes on from one to the next.
        said = [" ".join(words) for words in (*texts, _WORD.findall(NO_ANSWER))]
        self._said = f" {'  '.join(said)} "
        self._places: dict[str, list[int]] = {}
        place = 0
        for words in texts:
            for word in words:
                self._places.setdefault(word.casefold(), []).append(place)
                place += 1
            place += 1

    def holds(self, said: str) -> bool:
        """Whether the words of ``said`` stand somewhere one after the other; false where it has none."""
        words = _WORD.findall(said)
        return bool(words) and f" {' '.join(words)} " in self._said

    def runs(self, word: str, before: dict[int, int]) -> dict[int, int]:
        """How many words up to this one stand one after the other, by place; ``before`` is of the last."""
        return {place: before.get(place - 1, 0) + 1 for place in self._places.get(word.casefold(), ())}


def _texts(passages: Sequence[RetrievedPassage]) -> Iterator[str]:
    found = sorted((each.passage for each in passages), key=lambda each: (each.doc_id, each.start))
    text, before = "", None
    for passage in found:
        if before is not None and (before.doc_id, before.end) != (passage.doc_id, passage.start):
            yield text
            text = ""
        text, before = text + passage.text, passage
    yield text
