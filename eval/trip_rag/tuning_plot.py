"""Cells of a search as inline SVG: leakage across, usefulness upwards, and what became of the chosen ones."""

from collections.abc import Callable
from html import escape

from eval.measures.intervals import Estimate
from eval.trip_rag.plot_labels import Placer
from eval.trip_rag.plots import BOTTOM, HEIGHT, LEFT, REACH, RIGHT, TOP, WIDTH, Axis, axis_of, mark
from eval.trip_rag.tuning import Cell, TunedFigures, TuningReport

OTHER, CHOSEN, HELD_OUT, CURRENT = 7, 0, 12, 3
"""How they look, as places of ``mark``: a hollow circle, a full one, a hollow cross, a full diamond."""
LEGEND = {
    CHOSEN: "Pareto set, numbered as in the table",
    HELD_OUT: "the same cell on the half held out",
    OTHER: "other cells",
    CURRENT: "the policy in force",
}

Use = Callable[[TunedFigures], Estimate]
Place = tuple[float, float]


def tuning_plot(report: TuningReport, name: str, use: Use) -> str:
    """A titled figure of all cells by leakage of sensitive entities and one measure of usefulness.

    Cells that decide alike are one mark.
    """
    cells = list({cell.decisions: cell for cell in report.cells}.values())
    checked = (*report.pareto, report.current)
    figures = [each.chosen_on for each in (*cells, report.current)] + [each.held_out for each in checked]
    x = axis_of([_leakage(each) for each in figures], LEFT, RIGHT, from_zero=True)
    y = axis_of([use(each).mean or 0.0 for each in figures], BOTTOM, TOP, from_zero=False)

    def at(measured: TunedFigures) -> Place:
        return x.at(_leakage(measured)), y.at(use(measured).mean or 0.0)

    chosen = {each.decisions for each in report.pareto}
    others = [cell for cell in cells if cell.decisions not in chosen]
    pairs = [(at(each.chosen_on), at(each.held_out)) for each in checked]
    parts = [
        *_frame(x, y, name),
        *(_titled(cell, OTHER, at(cell.chosen_on), name, use) for cell in others),
        *(_line(*pair) for pair in pairs),
        *(mark(HELD_OUT, *there) for _, there in pairs),
        *(
            _titled(each, CHOSEN if each.share is not None else CURRENT, here, name, use)
            for each, (here, _) in zip(checked, pairs, strict=True)
        ),
        *_labels(pairs),
    ]
    title = f"{name} by leakage"
    return (
        f'<figure class="chart plot"><figcaption><strong>{escape(title)}</strong><span>The best corner is '
        "top left. What is in the Pareto set for another measure may look beaten here.</span></figcaption>"
        f'<div class="wide"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg></div>{_legend()}</figure>"
    )


def told(cell: Cell) -> str:
    """A cell in a few words."""
    share = "policy in force" if cell.share is None else f"share {cell.share:g}"
    return f"{share}, beta {cell.beta:g}, gamma {cell.gamma:g}, tau {cell.tau:.3f}"


def _leakage(figures: TunedFigures) -> float:
    return figures.disclosed.share or 0.0


def _titled(cell: Cell, place: int, at: Place, name: str, use: Use) -> str:
    figures = cell.chosen_on
    note = f"{told(cell)}: leakage {_leakage(figures):.1%}, {name} {use(figures).mean or 0.0:.3f}"
    return f"<g><title>{escape(note)}</title>{mark(place, *at)}</g>"


def _line(one: Place, other: Place) -> str:
    return f'<path class="leader" d="M{one[0]:.1f} {one[1]:.1f}L{other[0]:.1f} {other[1]:.1f}"/>'


def _frame(x: Axis, y: Axis, name: str) -> list[str]:
    across, up = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    parts = []
    for value in x.ticks():
        at = f"{x.at(value):.1f}"
        parts.append(f'<line class="rule" x1="{at}" x2="{at}" y1="{TOP}" y2="{BOTTOM}"/>')
        parts.append(f'<text x="{at}" y="{BOTTOM + 20}" text-anchor="middle">{100 * value:.4g}%</text>')
    for value in y.ticks():
        at = f"{y.at(value):.1f}"
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at}" dy="4" text-anchor="end">{value:.3g}</text>')
    return [
        *parts,
        f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>',
        f'<text x="{across}" y="{HEIGHT - 12}" text-anchor="middle">sensitive entities left</text>',
        f'<text transform="translate(14 {up}) rotate(-90)" text-anchor="middle">{escape(name)}</text>',
    ]


def _labels(pairs: list[tuple[Place, Place]]) -> list[str]:
    """The policy in force, which is the last, by its name; then as many numbers as there is room for."""
    placer = Placer(LEFT, TOP - 14, RIGHT + 24, BOTTOM)
    for point in (point for pair in pairs for point in pair):
        placer.block(*point, REACH + 1)
    *members, (current, _) = pairs
    placed = [placer.place_far("policy in force", current, "name", 13)]
    placed += [
        placer.place(str(number), [here], "strength", 11) for number, (here, _) in enumerate(members, start=1)
    ]
    return placed


def _legend() -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 34 14" aria-hidden="true">{mark(place, 17, 7)}</svg>{escape(words)}</li>'
        for place, words in LEGEND.items()
    )
    return f'<ul class="legend">{items}</ul>'
