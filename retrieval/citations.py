"""The marks in an answer, and which passages they cite."""

import re
import unicodedata
from collections.abc import Collection, Mapping

from retrieval.documents import Citation, RetrievedPassage

NO_ANSWER = "Nothing in this collection answers that."
_DIGIT = r"[\d⁰¹²³⁴-⁹₀-₉①-⑨]"
_BLANK = r"[\s\u200b-\u200f\u2060\ufeff]*"
_NUMBER = rf"{_BLANK}{_DIGIT}{{1,3}}{_BLANK}"
# In any script, since a reader takes them all for marks.
_OPEN, _BETWEEN = r"[\[［【〔〖⟦⁅❲﹝]", r"[,;，；、]"
_MARKS = re.compile(
    rf"(?P<space>[ \t]*){_OPEN}(?P<numbers>{_NUMBER}(?:{_BETWEEN}{_NUMBER})*)[\]］】〕〗⟧⁆❳﹞]"
)
# What a mark may begin with.
_UNFINISHED = re.compile(rf"[ \t]*(?:{_OPEN}(?:{_DIGIT}|{_BETWEEN}|[\s\u200b-\u200f\u2060\ufeff])*)?\Z")


class KnownMarks:
    """Lets an answer out with only the marks of ``passages``, one to a bracket, and no blanks at its ends.

    A bracket that is not closed yet is held back. ``citations`` are those made so far.
    """

    def __init__(self, passages: Mapping[int, RetrievedPassage]) -> None:
        self._passages = passages
        self._used: set[int] = set()
        self._held = self._blank = ""
        self._begun = False

    @property
    def citations(self) -> tuple[Citation, ...]:
        """One for each mark, in ascending order."""
        return citations_of(self._used, self._passages)

    def feed(self, text: str) -> str:
        self._held += text
        unfinished = _UNFINISHED.search(self._held)
        return self._until(unfinished.start() if unfinished else len(self._held))

    def close(self) -> str:
        return self._until(len(self._held))

    def _until(self, cut: int) -> str:
        said = self._blank + _MARKS.sub(self._known, self._held[:cut])
        self._held = self._held[cut:]
        if not self._begun:
            said = said.lstrip()
        gone = said.rstrip()
        # Blanks go once something follows them.
        self._blank = said[len(gone) :]
        self._begun |= bool(gone)
        return gone

    def _known(self, found: re.Match[str]) -> str:
        marks = [number for number in _numbers(found["numbers"]) if number in self._passages]
        self._used.update(marks)
        return found["space"] * bool(marks) + "".join(f"[{mark}]" for mark in marks)


def citations_of(marks: Collection[int], passages: Mapping[int, RetrievedPassage]) -> tuple[Citation, ...]:
    """One citation for each mark, in ascending order."""
    found = ((mark, passages[mark].passage) for mark in sorted(marks))
    return tuple(Citation(mark, passage.passage_id, passage.doc_id) for mark, passage in found)


def without_marks(text: str) -> str:
    """``text`` without marks that look like citations: ``[2, 3]`` and ``【2, 3】`` become ``(2, 3)``."""
    return _MARKS.sub(lambda found: f"{found['space']}({found['numbers']})", text)


def _numbers(said: str) -> list[int]:
    digits = (str(unicodedata.digit(char, " ")) for char in said)
    return [int(number) for number in "".join(digits).split()]
