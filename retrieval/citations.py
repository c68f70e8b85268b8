"""The marks in an answer, and which passages they cite."""

import re
import unicodedata
from collections.abc import Collection

from retrieval.documents import Citation, RetrievedPassage

NO_ANSWER = "Nothing in this collection answers that."
_DIGIT = r"[\d⁰¹²³⁴-⁹₀-₉①-⑨]"
_BLANK = r"[\s\u200b-\u200f\u2060\ufeff]*"
_NUMBER = rf"{_BLANK}{_DIGIT}{{1,3}}{_BLANK}"
# In any script, since a reader takes them all for marks.
_MARKS = re.compile(
    rf"(?P<space>[ \t]*)[\[［【〔〖⟦⁅❲﹝](?P<numbers>{_NUMBER}(?:[,;，；、]{_NUMBER})*)[\]］】〕〗⟧⁆❳﹞]"
)


def cite(text: str, passages: dict[int, RetrievedPassage]) -> tuple[str, tuple[Citation, ...]]:
    """``text`` with only marks of ``passages``, one to a bracket, and the citations it makes."""
    used: set[int] = set()

    def known(found: re.Match[str]) -> str:
        marks = [number for number in _numbers(found["numbers"]) if number in passages]
        used.update(marks)
        return found["space"] * bool(marks) + "".join(f"[{mark}]" for mark in marks)

    cleaned = _MARKS.sub(known, text).strip()
    return cleaned, citations_of(used, passages)


def citations_of(marks: Collection[int], passages: dict[int, RetrievedPassage]) -> tuple[Citation, ...]:
    """One citation for each mark, in ascending order."""
    found = ((mark, passages[mark].passage) for mark in sorted(marks))
    return tuple(Citation(mark, passage.passage_id, passage.doc_id) for mark, passage in found)


def without_marks(text: str) -> str:
    """``text`` without marks that look like citations: ``[2, 3]`` and ``【2, 3】`` become ``(2, 3)``."""
    return _MARKS.sub(lambda found: f"{found['space']}({found['numbers']})", text)


def _numbers(said: str) -> list[int]:
    digits = (str(unicodedata.digit(char, " ")) for char in said)
    return [int(number) for number in "".join(digits).split()]
