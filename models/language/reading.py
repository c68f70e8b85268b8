"""What a language model answered: JSON in whatever it is wrapped, lists, and text behind a mark."""

import json
import re
from typing import Any

_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*•]|[0-9]{1,3}[.)])\s*(?P<words>.+?)\s*$")
_MARK = re.compile(r"^#\s*$", re.MULTILINE)


def json_in(answer: str) -> Any:
    """The first JSON object of an answer, fenced or amid words; None where there is none."""
    fenced = _FENCE.search(answer)
    said = fenced[1] if fenced else answer
    start = said.find("{")
    while start >= 0:
        try:
            found, _ = json.JSONDecoder().raw_decode(said, start)
        except (ValueError, RecursionError):
            start = said.find("{", start + 1)
            continue
        return found
    return None


def rows_in(answer: str, name: str) -> list[Any] | None:
    """The list of this name in the first JSON object of an answer; None where there is none."""
    said = json_in(answer)
    rows = said.get(name) if isinstance(said, dict) else None
    return rows if isinstance(rows, list) else None


def items_in(answer: str) -> list[str]:
    """The items of a list that a model wrote, each once, without quotation marks."""
    found = (match["words"].strip("\"'“”‘’ ") for line in answer.splitlines() if (match := _ITEM.match(line)))
    return list(dict.fromkeys(filter(None, found)))


def behind_mark(answer: str) -> str | None:
    """The text behind a line that holds ``#`` alone; None where there is no such line, or nothing behind."""
    _, mark, text = answer.partition(found[0]) if (found := _MARK.search(answer)) else ("", "", "")
    return text.strip() or None if mark else None
