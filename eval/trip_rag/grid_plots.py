"""The grid of weights as inline SVG: heat maps, and bars of what answers are worth."""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from eval.trip_rag.plots import axis_of
from eval.trip_rag.report import GridCell, MethodFigures

MAP_WIDTH, MAP_LEFT, MAP_TOP, CELL_HEIGHT = 480, 50, 8, 40
PALE, STRONG = 0.06, 0.58
"""How much color the lowest and the highest cell have; figures stay legible on both."""
BARS_WIDTH, BARS_HEIGHT, BARS_LEFT, BARS_TOP, BARS_BOTTOM = 960, 300, 64, 14, 234


def cell_values(
    cells: Sequence[GridCell], figure: Callable[[MethodFigures], float | None]
) -> dict[tuple[float, float], float]:
    """A figure by its pair of weights; pairs without it are left out."""
    found = {(cell.beta, cell.gamma): figure(cell.figures) for cell in cells}
    return {weights: value for weights, value in found.items() if value is not None}


def heat_map(
    title: str, explanation: str, values: Mapping[tuple[float, float], float], style: str = "{:.3f}"
) -> str:
    """Values by beta, across, and gamma, upwards; each cell has its figure, so color is decoration."""
    betas = sorted({beta for beta, _ in values})
    gammas = sorted({gamma for _, gamma in values}, reverse=True)
    low, high = min(values.values()), max(values.values())
    width = (MAP_WIDTH - MAP_LEFT) / len(betas)
    parts = []
    for down, gamma in enumerate(gammas):
        y = MAP_TOP + down * CELL_HEIGHT
        parts.append(_text(MAP_LEFT - 8, y + CELL_HEIGHT / 2 + 5, f"{gamma:g}", "end"))
        for over, beta in enumerate(betas):
            if (beta, gamma) in values:
                x = MAP_LEFT + over * width
                value = values[beta, gamma]
                told = style.format(value)
                parts.append(_cell(x, y, width, told, (value - low) / ((high - low) or 1.0)))
    bottom = MAP_TOP + len(gammas) * CELL_HEIGHT
    parts += [
        _text(MAP_LEFT + (over + 0.5) * width, bottom + 20, f"{beta:g}") for over, beta in enumerate(betas)
    ]
    middle = (MAP_TOP + bottom) / 2
    parts += [
        _text((MAP_LEFT + MAP_WIDTH) / 2, bottom + 42, "beta (knowledge)"),
        f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">gamma (topic)</text>',
    ]
    return _figure(title, explanation, _svg(title, MAP_WIDTH, bottom + 52, parts))


def _cell(x: float, y: float, width: float, told: str, depth: float) -> str:
    opacity = PALE + (STRONG - PALE) * depth
    return (
        f'<rect class="heat" fill-opacity="{opacity:.2f}" x="{x + 1:.1f}" y="{y + 1}" '
        f'width="{width - 2:.1f}" height="{CELL_HEIGHT - 2}" rx="4"/>'
        + _text(x + width / 2, y + CELL_HEIGHT / 2 + 5, told, style="cell")
    )


def weight_bars(title: str, explanation: str, cells: Sequence[GridCell]) -> str:
    """BLEU-1 solid and ROUGE-L hollow, side by side for each pair of weights, in blocks of one beta."""
    ordered = sorted(cells, key=lambda cell: (cell.beta, cell.gamma))
    pairs = [(cell.figures.bleu1.mean or 0.0, cell.figures.rouge_l.mean or 0.0) for cell in ordered]
    tops = [value for pair in pairs for value in pair]
    y = axis_of(tops, BARS_BOTTOM, BARS_TOP, from_zero=True)
    step = (BARS_WIDTH - BARS_LEFT) / len(ordered)
    bar = step * 0.36
    parts = []
    for value in y.ticks():
        at = y.at(value)
        parts.append(f'<line class="rule" x1="{BARS_LEFT}" x2="{BARS_WIDTH}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(_text(BARS_LEFT - 8, at + 4, f"{value:.2f}", "end"))
    for number, (cell, (bleu1, rouge_l)) in enumerate(zip(ordered, pairs, strict=True)):
        x = BARS_LEFT + number * step
        told = f"beta {cell.beta:g}, gamma {cell.gamma:g}: BLEU-1 {bleu1:.3f}, ROUGE-L {rouge_l:.3f}"
        parts.append(
            f"<g><title>{told}</title>"
            + _bar(x + step * 0.12, y.at(bleu1), bar, "solid")
            + _bar(x + step * 0.52, y.at(rouge_l), bar, "striped")
            + "</g>"
        )
        parts.append(_text(x + step / 2, BARS_BOTTOM + 18, f"{cell.gamma:g}"))
    parts += _blocks(ordered, step)
    parts.append(_text(BARS_LEFT - 8, BARS_BOTTOM + 18, "gamma", "end"))
    parts.append(_text(BARS_LEFT - 8, BARS_BOTTOM + 46, "beta", "end"))
    return _figure(title, explanation, _svg(title, BARS_WIDTH, BARS_HEIGHT, parts), wide=True)


def _bar(x: float, top: float, width: float, style: str) -> str:
    return (
        f'<rect class="{style}" x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{max(0.0, BARS_BOTTOM - top):.1f}"/>'
    )


def _blocks(ordered: Sequence[GridCell], step: float) -> list[str]:
    """The name of each beta below its block, and a line under it."""
    parts = []
    for beta in sorted({cell.beta for cell in ordered}):
        places = [place for place, cell in enumerate(ordered) if cell.beta == beta]
        left, right = BARS_LEFT + places[0] * step, BARS_LEFT + (places[-1] + 1) * step
        at = BARS_BOTTOM + 28
        parts.append(f'<line class="axis" x1="{left + 4:.1f}" x2="{right - 4:.1f}" y1="{at}" y2="{at}"/>')
        parts.append(_text((left + right) / 2, BARS_BOTTOM + 46, f"{beta:g}"))
    return parts


def _text(x: float, y: float, words: str, anchor: str = "middle", style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _figure(title: str, explanation: str, svg: str, wide: bool = False) -> str:
    drawn = f'<div class="wide">{svg}</div>' if wide else svg
    return (
        f'<figure class="chart plot"><figcaption><strong>{escape(title)}</strong>'
        f"<span>{escape(explanation)}</span></figcaption>{drawn}</figure>"
    )
