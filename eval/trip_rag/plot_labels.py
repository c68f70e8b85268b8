"""Finding room for words in a drawing."""

import math
from collections.abc import Iterator, Sequence
from html import escape

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

LETTER = 0.6
"""How wide a letter is, in font sizes: rather too much, since fonts differ."""
LINE_STEP = 3.0
NEAR, FAR = (10.0, 16.0), (28.0, 44.0, 64.0, 90.0)
"""How far words stand from their point; from afar a line leads to it."""


class Placer:
    """Puts each word beside its point where nothing stands yet, within a frame; or nowhere."""

    def __init__(self, left: float, top: float, right: float, bottom: float) -> None:
        self._frame = (left, top, right, bottom)
        self._taken: list[Box] = []

    def block(self, x: float, y: float, reach: float) -> None:
        """Nothing may be written over a square around a point."""
        self._taken.append((x - reach, y - reach, x + reach, y + reach))

    def block_line(self, one: tuple[float, float], other: tuple[float, float]) -> None:
        """Nothing may be written over a straight line."""
        steps = max(1, round(math.dist(one, other) / LINE_STEP))
        for step in range(1, steps):
            part = step / steps
            self.block(
                one[0] + part * (other[0] - one[0]), one[1] + part * (other[1] - one[1]), LINE_STEP / 2
            )

    def place(self, words: str, points: Sequence[tuple[float, float]], style: str, size: float) -> str:
        """The words as SVG beside the first of the points where there is room; nothing if there is none."""
        for distance in NEAR:
            for x, y in points:
                for at, box in _around(words, x, y, distance, size):
                    if self._take(box):
                        return f'<text class="{style}" {at}>{escape(words)}</text>'
        return ""

    def place_far(self, words: str, point: tuple[float, float], style: str, size: float) -> str:
        """The same for one point and at some distance, with a line to the point."""
        x, y = point
        for distance in FAR:
            for at, box in _around(words, x, y, distance, size):
                if self._take(box):
                    end = _nearest(box, x, y)
                    self.block_line(point, end)
                    line = f'<path class="leader" d="M{x:.1f} {y:.1f}L{end[0]:.1f} {end[1]:.1f}"/>'
                    return f'{line}<text class="{style}" {at}>{escape(words)}</text>'
        return ""

    def _take(self, box: Box) -> bool:
        free = self._free(box)
        if free:
            self._taken.append(box)
        return free

    def _free(self, box: Box) -> bool:
        left, top, right, bottom = self._frame
        within = box[0] >= left and box[1] >= top and box[2] <= right and box[3] <= bottom
        return within and not any(_meet(box, other) for other in self._taken)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _nearest(box: Box, x: float, y: float) -> tuple[float, float]:
    """The place of a box that is nearest to a point."""
    return min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])


def _around(words: str, x: float, y: float, distance: float, size: float) -> Iterator[tuple[str, Box]]:
    """Places for the words around a point, the best first: attributes, and the box they would fill."""
    wide = len(words) * LETTER * size
    slant = distance * 0.75
    for dx, dy, anchor in (
        (distance, 0, "start"),
        (-distance, 0, "end"),
        (0, -distance - size / 4, "middle"),
        (0, distance + size / 4, "middle"),
        (slant, -slant, "start"),
        (slant, slant, "start"),
        (-slant, -slant, "end"),
        (-slant, slant, "end"),
    ):
        left = x + dx - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        top = y + dy - size / 2
        at = f'x="{x + dx:.1f}" y="{y + dy + size * 0.35:.1f}" text-anchor="{anchor}"'
        yield at, (left, top, left + wide, top + size)
