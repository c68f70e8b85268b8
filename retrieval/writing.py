"""Answers as they are written: pieces of text, and at the end the answer that they make up."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Protocol

from retrieval.documents import Answer

Writing = Generator[str, None, Answer]
"""Pieces, then the answer: its text is all pieces together. Closed early, nothing more is written."""


class Filter(Protocol):
    """Lets a text through, changed; what comes out does not depend on how the text was cut.

    ``feed`` gives what may go now that ``text`` has come, ``close`` the rest; the filter is then spent.
    """

    def feed(self, text: str) -> str: ...

    def close(self) -> str: ...


def whole(writing: Writing) -> Answer:
    """The answer once it is written; raises what writing it raises."""
    try:
        while True:
            next(writing)
    except StopIteration as end:
        answer: Answer = end.value
        return answer


def at_once(answer: Answer) -> Writing:
    """An answer that exists already."""
    yield answer.text
    return answer


def begun(writing: Writing) -> Writing:
    """The same once its first piece is written: what fails before that is raised here."""
    try:
        first = next(writing)
    except StopIteration as end:
        return at_once(end.value)
    return _from(first, writing)


def _from(first: str, writing: Writing) -> Writing:
    yield first
    return (yield from writing)


def filtered(writing: Writing, through: Filter) -> Writing:
    """The pieces as the filter lets them out, and the answer with the citations whose marks are left."""
    said: list[str] = []
    with closing(writing):
        answer: Answer | None = None
        while answer is None:
            try:
                piece = through.feed(next(writing))
            except StopIteration as end:
                answer, piece = end.value, through.close()
            if piece:
                said.append(piece)
                yield piece
    text = "".join(said)
    left = tuple(each for each in answer.citations if f"[{each.mark}]" in text)
    return replace(answer, text=text, citations=left)


def through_all(pieces: Iterator[str], *filters: Filter) -> Iterator[str]:
    """The pieces as they leave the last of the filters."""
    for each in filters:
        pieces = _through(pieces, each)
    return pieces


def _through(pieces: Iterator[str], each: Filter) -> Iterator[str]:
    for piece in pieces:
        if said := each.feed(piece):
            yield said
    if said := each.close():
        yield said


class Until:
    """Ends a text before the first of some strings."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stop = re.compile("|".join(map(re.escape, stops)) or r"(?!)")
        self._ahead = max(map(len, stops), default=1) - 1
        self._held, self._ended = "", False

    def feed(self, text: str) -> str:
        if self._ended:
            return ""
        self._held += text
        if found := self._stop.search(self._held):
            self._ended = True
            return self._held[: found.start()]
        cut = max(0, len(self._held) - self._ahead)
        gone, self._held = self._held[:cut], self._held[cut:]
        return gone

    def close(self) -> str:
        return "" if self._ended else self._held


class Shortened:
    """Ends a text after ``most`` tokens, None for any number; ``cut`` says whether it did.

    The tokens of each word are counted alone, by ``places`` of tokens in a text: a word that is too long for
    what is left ends within.
    """

    def __init__(self, most: int | None, places: Callable[[str], Sequence[tuple[int, int]]]) -> None:
        self._left, self._places = most, places
        self._held, self.cut = "", False

    def feed(self, text: str) -> str:
        if self._left is None:
            return text
        self._held += text
        words = _WORD.findall(self._held)
        # The last one may go on.
        whole, self._held = words[:-1], "".join(words[-1:])
        return "".join(map(self._fitting, whole))

    def close(self) -> str:
        return self._fitting(self._held)

    def _fitting(self, word: str) -> str:
        """A word with the space before it, as far as it fits."""
        if self.cut or self._left is None:
            return ""
        tokens = self._places(word)
        if len(tokens) > self._left:
            self.cut = True
            return word[: tokens[self._left - 1][1]] if self._left else ""
        self._left -= len(tokens)
        return word


_WORD = re.compile(r"\s*\S+|\s+\Z")


class Restored:
    """Puts an asker's own names back in the place of their aliases."""

    def __init__(self, names: Mapping[str, str]) -> None:
        longest_first = sorted(names, key=len, reverse=True)
        self._known = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b" if names else r"(?!)")
        self._names = names
        self._ahead = max(map(len, names), default=0) + 1
        self._before = self._held = ""

    def feed(self, text: str) -> str:
        self._held += text
        return self._until(max(0, len(self._held) - self._ahead))

    def close(self) -> str:
        return self._until(len(self._held))

    def _until(self, cut: int) -> str:
        # A word may have begun before what is held.
        read, shift = self._before + self._held, len(self._before)
        pieces: list[str] = []
        start = shift
        for found in self._known.finditer(read, shift):
            if found.end() > cut + shift:
                cut = min(cut, found.start() - shift)
                break
            pieces += read[start : found.start()], self._names[found[0]]
            start = found.end()
        pieces.append(read[start : cut + shift])
        self._before, self._held = read[: cut + shift][-1:], self._held[cut:]
        return "".join(pieces)
