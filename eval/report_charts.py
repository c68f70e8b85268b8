"""Bars as inline SVG. The words and figures stand beside them in HTML, so the drawings are decoration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from eval.measures.intervals import Estimate, Share, widest
from eval.report import percent
from ingest.documents import Action

WIDTH, HEIGHT = 400, 22
BAR_TOP, BAR_HEIGHT = 4, 14


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a chart: what is drawn on [0, 1], None where not measured, and ``figures`` as HTML."""

    name: str
    series: int
    value: float | None
    interval: tuple[float, float] | None
    note: str
    figures: str


def share_bar(name: str, series: int, share: Share) -> Bar:
    """A share with the wider of its intervals, and what it counts."""
    interval = widest(share)
    figures = percent(share.share)
    if share.share is not None and interval is not None:
        figures += f" <small>{100 * interval[0]:.1f} to {100 * interval[1]:.1f}</small>"
    return Bar(name, series, share.share, interval, f"{share.hits:,} of {share.n:,}", figures)


def estimate_bar(name: str, series: int, estimate: Estimate) -> Bar:
    """A mean with its interval, if it has one."""
    mean, low, high = estimate.mean, estimate.low, estimate.high
    if mean is None:
        return empty_bar(name, series)
    note = f"n = {estimate.n:,}"
    if low is None or high is None:
        return Bar(name, series, mean, None, note, f"{mean:.3f}")
    return Bar(name, series, mean, (low, high), note, f"{mean:.3f} <small>{low:.3f} to {high:.3f}</small>")


def empty_bar(name: str, series: int) -> Bar:
    """A row for what was not measured."""
    return Bar(name, series, None, None, "", percent(None))


def chart(title: str, explanation: str, bars: Sequence[Bar]) -> str:
    """A titled figure with one row a bar, on a scale from 0 to 1."""
    rows = "".join(_row(bar) for bar in bars)
    return (
        f'<figure class="chart"><figcaption><strong>{escape(title)}</strong>'
        f"<span>{escape(explanation)}</span></figcaption>"
        f'<div class="bars">{rows}</div></figure>'
    )


def _row(bar: Bar) -> str:
    return (
        f'<div class="bar"><span class="who">{escape(bar.name)}</span>{_drawing(bar)}'
        f'<span class="figure">{bar.figures}</span><span class="note">{escape(bar.note)}</span></div>'
    )


def _drawing(bar: Bar) -> str:
    parts = [f'<rect class="track" x="0" y="{BAR_TOP}" width="{WIDTH}" height="{BAR_HEIGHT}" rx="3"/>']
    if bar.value is not None:
        parts.append(
            f'<rect class="series-{bar.series % 6}" x="0" y="{BAR_TOP}" '
            f'width="{_across(bar.value):.1f}" height="{BAR_HEIGHT}" rx="3"/>'
        )
    parts += [
        f'<line class="grid" x1="{x}" x2="{x}" y1="2" y2="{HEIGHT - 2}"/>'
        for x in (WIDTH // 4, WIDTH // 2, 3 * WIDTH // 4)
    ]
    if bar.value is not None and bar.interval is not None:
        parts.append(_whisker(*bar.interval))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def _across(value: float) -> float:
    """Where a value stands; a cosine below zero is drawn as zero."""
    return WIDTH * min(1.0, max(0.0, value))


def _whisker(low: float, high: float) -> str:
    middle = BAR_TOP + BAR_HEIGHT / 2
    left, right = max(1.0, _across(low)), min(WIDTH - 1.0, _across(high))
    top, bottom = middle - 4, middle + 4
    return (
        f'<path class="whisker" d="M{left:.1f} {middle}H{right:.1f}'
        f'M{left:.1f} {top}V{bottom}M{right:.1f} {top}V{bottom}"/>'
    )


def stacked(counts: Mapping[Action, int]) -> str:
    """One bar cut into shares of a whole, in the order given; nothing for an empty whole."""
    total = sum(counts.values())
    if total == 0:
        return ""
    parts, left = [], 0.0
    for name, count in counts.items():
        width = WIDTH * count / total
        parts.append(
            f'<rect class="action-{name}" x="{left:.2f}" y="0" width="{width:.2f}" height="{HEIGHT}"/>'
        )
        left += width
    return (
        f'<svg class="stack" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )
