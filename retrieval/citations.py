"""The marks in an answer, and which passages they cite."""

import re
from collections.abc import Collection

from retrieval.documents import Citation, RetrievedPassage

NO_ANSWER = "Nothing in this collection answers that."
_MARKS = re.compile(r"(?P<space>[ \t]*)\[(?P<numbers>[0-9]{1,3}(?:\s*[,;]\s*[0-9]{1,3})*)\]")


def cite(text: str, passages: dict[int, RetrievedPassage]) -> tuple[str, tuple[Citation, ...]]:
    """``text`` with only marks of ``passages``, one to a bracket, and the citations it makes."""
    used: set[int] = set()

    def known(found: re.Match[str]) -> str:
        marks = [int(n) for n in re.findall(r"[0-9]+", found["numbers"]) if int(n) in passages]
        used.update(marks)
        return found["space"] * bool(marks) + "".join(f"[{mark}]" for mark in marks)

    cleaned = _MARKS.sub(known, text).strip()
    return cleaned, citations_of(used, passages)


def citations_of(marks: Collection[int], passages: dict[int, RetrievedPassage]) -> tuple[Citation, ...]:
    """One citation for each mark, in ascending order."""
    found = ((mark, passages[mark].passage) for mark in sorted(marks))
    return tuple(Citation(mark, passage.passage_id, passage.doc_id) for mark, passage in found)


def without_marks(text: str) -> str:
    """``text`` without marks that look like citations: ``[2, 3]`` becomes ``(2, 3)``."""
    return _MARKS.sub(lambda found: f"{found['space']}({found['numbers']})", text)
