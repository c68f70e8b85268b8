"""The lines of a page of a PDF: what stands side by side, also where it was drawn piece by piece."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import hypot
from statistics import median
from typing import Any

_BAR = " | "
_BLANK, _WIDE = 0.15, 1.5
"""Gaps from which there is a blank, and a new column, in heights of the letters."""
_LEVEL = 0.2
"""How far two baselines of one line may be apart, in heights of the letters."""
_FEWEST_LINES, _FEWEST_WORDS = 3, 3
"""From which columns hold running text; those of tables hold fewer words."""
_OVER = 0.6
"""How far a piece may reach back over the estimated end of the last."""
_NARROW_ONES, _BROAD_ONES = frozenset("iIjlftr.,:;'|!()[]- "), frozenset("mwMW@%")
_FEWEST_LETTERS, _FAR = 2, 1.5
_NARROW, _USUAL, _BROAD, _OF_TYPEWRITER = 0.3, 0.55, 0.85, 0.6


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that is drawn at once: its baseline from ``x`` to ``end``, both at ``y``, and its height."""

    text: str = field(repr=False)
    x: float
    end: float
    y: float
    height: float
    parts: int = 1
    starts: tuple[float, ...] = ()
    """Where each of its letters begins, if they were drawn one by one."""


def page_lines(page: Any) -> str:
    """The text of a page. Letters drawn one by one are words, and what stands side by side is in one line.

    Bars part the columns of a table; columns of running text follow one another. All this holds for what the
    file draws one after the other: other pieces stay where the file has them.
    """
    rows: list[list[_Piece]] = []

    def visit(text: str, around: Sequence[float], own: Sequence[float], font: Any, size: float) -> None:
        said = text.strip("\n")
        if not said:
            return
        height = abs(size) * hypot(own[2], own[3]) * hypot(around[2], around[3])
        level = not (own[1] or own[2] or around[1] or around[2] or "\n" in said) and height > 0
        if not level:
            rows.extend([_Piece(line, 0, 0, 0, 0)] for line in said.split("\n"))
            return
        x, y = own[4] * around[0] + around[4], own[5] * around[3] + around[5]
        piece = _Piece(said, x, x + _width(said, font) * height, y, height)
        if rows and _is_beside(rows[-1][-1], piece):
            rows[-1][-1:] = _joined(rows[-1][-1], piece)
        elif said.strip():
            rows.append([piece])

    text: str = page.extract_text(visitor_text=visit)
    # Where nothing stands beside anything, the library knows more of blanks and breaks.
    beside = any(len(row) > 1 or row[0].parts > 1 for row in rows)
    return "\n".join(_lines(rows)) if beside else text


def _is_beside(last: _Piece, piece: _Piece) -> bool:
    """Whether a piece goes on in the line of the last one, and not over it."""
    level = abs(last.y - piece.y) <= _LEVEL * piece.height
    return level and last.height > 0 and piece.x >= last.end - _OVER * piece.height


def _joined(last: _Piece, piece: _Piece) -> list[_Piece]:
    gap = (piece.x - last.end) / piece.height
    if gap >= _WIDE and last.text.strip():
        return [last, piece]
    starts = (
        (*(last.starts or (last.x,)), piece.x)
        if len(piece.text) == 1 and last.parts == len(last.text)
        else ()
    )
    if starts:
        return [
            _Piece(last.text + piece.text, last.x, piece.end, piece.y, piece.height, last.parts + 1, starts)
        ]
    blank = " " if gap >= _BLANK and not last.text.endswith(" ") and not piece.text.startswith(" ") else ""
    return [
        _Piece(f"{last.text}{blank}{piece.text}", last.x, piece.end, piece.y, piece.height, last.parts + 1)
    ]


def _lines(rows: Sequence[Sequence[_Piece]]) -> Iterator[str]:
    for starts, block in groupby(rows, lambda row: tuple(round(piece.x) for piece in row)):
        lines = list(block)
        cells = [len(piece.text.split()) for row in lines for piece in row]
        running = len(lines) >= _FEWEST_LINES and median(cells) >= _FEWEST_WORDS
        if len(starts) > 1 and running:
            yield from (_said(row[column]) for column in range(len(starts)) for row in lines)
        else:
            yield from (_BAR.join(map(_said, row)) for row in lines)


def _said(piece: _Piece) -> str:
    """The text of a piece; in letters drawn one by one, a blank where the next is farther than usual."""
    if len(piece.starts) <= _FEWEST_LETTERS or " " in piece.text:
        return piece.text.strip()
    steps = [after - before for before, after in pairwise(piece.starts)]
    usual = median(steps)
    even = sum(abs(step - usual) < usual / 10 for step in steps) > len(steps) / 2
    gaps = (
        step >= _FAR * usual if even else step >= (_width(char, None) + _BLANK) * piece.height
        for step, char in zip(steps, piece.text, strict=False)
    )
    return piece.text[0] + "".join(
        f" {char}" if gap else char for gap, char in zip(gaps, piece.text[1:], strict=True)
    )


def _width(said: str, font: Any) -> float:
    """About how wide a text is, in heights of its letters."""
    held = font or {}
    widths = held.get("/Widths")
    if "Courier" in str(held.get("/BaseFont")):
        return _OF_TYPEWRITER * len(said)
    if widths is None or held.get("/Encoding") is None:
        return sum(
            _NARROW if char in _NARROW_ONES else _BROAD if char in _BROAD_ONES else _USUAL for char in said
        )
    first = int(held.get("/FirstChar", 0))
    known = [float(each) / 1000 for each in widths.get_object()]
    return sum(known[ord(char) - first] if 0 <= ord(char) - first < len(known) else _USUAL for char in said)
