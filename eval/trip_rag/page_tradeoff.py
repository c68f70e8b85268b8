"""The grid of weights, and privacy against usefulness."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eval.measures.contrasts import Figure
from eval.measures.intervals import Estimate, Share
from eval.trip_rag import published
from eval.trip_rag.cells import (
    PUBLISHED,
    estimate_html,
    folded,
    missing,
    nothing,
    panel,
    published_html,
    row,
    section,
    share_html,
    table,
)
from eval.trip_rag.frontier import by_area
from eval.trip_rag.grid_plots import cell_values, heat_map, weight_bars
from eval.trip_rag.plots import Curve, Dot, scatter
from eval.trip_rag.report import Frontier, MethodFigures, TripRagReport


@dataclass(frozen=True, slots=True)
class Left:
    """What is looked for in the index, and the share of it that stands there."""

    told: str
    share: Callable[[MethodFigures], Share] = field(repr=False)


IDENTIFIERS = Left("identifiers left", lambda each: each.identifiers)
ALL = Left("sensitive entities left", lambda each: each.disclosed)


def weights(report: TripRagReport) -> str:
    """What the weights of knowledge and topic do."""
    title = "Weights"
    sub = (
        "The method with other weights of knowledge (beta) and topic (gamma), that of privacy being 1, each "
        "time taking the same share of linked entities. Darker cells are higher. The table has the "
        "intervals: differences that lie within them say little."
    )
    cells = report.grid
    if not cells:
        return section(title, sub, missing("The grid of weights was not measured in this run."))
    maps = (
        heat_map(
            "Recall@1 overlap",
            "Higher is better",
            cell_values(cells, lambda each: each.recall_overlap[1].mean),
        ),
        heat_map(
            "Identifiers left in the index",
            "Lower is better",
            cell_values(cells, lambda each: each.identifiers.share),
            "{:.1%}",
        ),
    )
    bars = weight_bars(
        "BLEU-1 and ROUGE-L", "Filled bars: BLEU-1. Outlined bars: ROUGE-L. Higher is better", cells
    )
    return section(
        title,
        sub,
        f'<div class="charts">{"".join(maps)}</div><div class="charts one">{bars}</div>',
        panel(_spearman(report)),
        folded(f"All {len(cells)} pairs of weights", _grid_table(report)),
    )


def _spearman(report: TripRagReport) -> str:
    printed = {"beta or gamma": f"{published.WEIGHT_SPEARMAN:+.4f}, n = 36"}
    rows = [
        row(name, [f"{rho:+.3f}", f"{len(report.grid):,}", published_html(None)])
        for name, rho in report.grid_spearman.items()
    ]
    rows += [
        row(name, [nothing(), nothing(), f'<span class="published">{told}</span>'])
        for name, told in printed.items()
    ]
    caption = (
        "Spearman’s rank correlation of each weight with Recall@5 overlap over the grid. The pairs are all "
        "there are, so there is no interval. Which weight the paper means is lost in the text we have."
    )
    heads = ("Spearman", "pairs of weights", PUBLISHED)
    return table(caption, "Weight", [("", heads)], rows)


def _grid_table(report: TripRagReport) -> str:
    rows = [
        row(
            f"{cell.beta:g}, {cell.gamma:g}",
            [
                *(estimate_html(cell.figures.recall_overlap[k]) for k in (1, 5, 10)),
                estimate_html(cell.figures.bleu1),
                estimate_html(cell.figures.rouge_l),
                share_html(cell.figures.identifiers),
            ],
        )
        for cell in report.grid
    ]
    heads = ("R@1", "R@5", "R@10", "BLEU-1", "ROUGE-L", "identifiers left")
    return table("One row a pair of weights.", "beta, gamma", [("", heads)], rows)


def frontier(report: TripRagReport) -> str:
    """What a method costs for what it protects."""
    title = "Privacy against usefulness"
    points = [*report.methods, *report.sweep]
    plots = [
        _plot(report, points, "Recall@1 overlap", lambda each: each.recall_overlap[1]),
        _plot(report, points, "Recall@1 overlap", lambda each: each.recall_overlap[1], ALL),
        _plot(report, points, "ROUGE-L", lambda each: each.rouge_l, ALL),
    ]
    swept = "" if report.sweep else missing("No strengths were swept in this run: each method has one point.")
    return section(
        title,
        "What still stands in the index, across, against usefulness, upwards: the best corner is top left. "
        "Curves join the strengths of one method; small figures are strengths (the share of linked entities "
        "that hard rules and scores take, or a privacy budget a document).",
        swept,
        f'<div class="charts one">{"".join(plots)}</div>',
        _areas(report),
        folded(f"All {len(points)} points", _points(points)),
    )


def _plot(
    report: TripRagReport,
    points: Sequence[MethodFigures],
    name: str,
    use: Callable[[MethodFigures], Estimate],
    left: Left = IDENTIFIERS,
) -> str:
    curves = curves_of(points, use, left)
    if not curves:
        return missing(f"No method has both leakage and {name}.")
    explanation = f"{report.corpus.questions:,} questions; intervals stand in the table of all points below"
    return scatter(f"{name} by {left.told}", explanation, left.told, name, curves)


def curves_of(
    points: Sequence[MethodFigures], use: Callable[[MethodFigures], Estimate], left: Left
) -> list[Curve]:
    """A curve for each method in the order of the report, its dots by leakage.

    Dots without leakage or usefulness are left out, and so is a curve without dots. A curve keeps its look
    in every plot of a report, because its place is that of its method.
    """
    names = list(dict.fromkeys(each.method for each in points))
    curves = []
    for place, name in enumerate(names):
        own = [each for each in points if each.method == name]
        dots = [dot for each in own for dot in _dots(each, use(each), left, alone=len(own) == 1)]
        if dots:
            # By leakage and not by strength, which a default does not have.
            curves.append(Curve(name, place, tuple(sorted(dots, key=lambda dot: (dot.x, dot.y)))))
    return curves


def _dots(figures: MethodFigures, use: Estimate, left: Left, alone: bool) -> list[Dot]:
    leakage, strength = left.share(figures).share, figures.strength
    if leakage is None or use.mean is None:
        return []
    label = "default" if strength is None else f"{strength:.3g}"
    told = f"{label}, {left.told} {leakage:.1%}, usefulness {use.mean:.3f}"
    return [Dot(leakage, use.mean, "" if alone else label, told)]


def _areas(report: TripRagReport) -> str:
    found, everything = report.frontier, report.frontier_all
    points = [*report.methods, *report.sweep]
    # A corpus may have sensitive entities of which none identifies, and then only the second areas.
    names = by_area(found, everything)
    rows = [
        row(
            name,
            [
                f"{sum(each.method == name for each in points):,}",
                *(_area_html(each.areas.get(name)) for each in (found, everything)),
            ],
        )
        for name in names
    ]
    caption = (
        "Area under each curve of Recall@1 overlap, of 1 at most: the mean of the best usefulness that a "
        "method has at or below each leakage, from none to that of the unsanitized index. A method with few "
        "points has less area for that alone. Dominated is a point for which Lethe has one that leaks no "
        "more, is at least as useful, and is better in one of both. Intervals redraw questions, the same for "
        "all methods; leakages stay as they were measured. Dominated by identifiers "
        f"{_dominated(found)}; by all sensitive entities {_dominated(everything)}. The rules of trip take "
        "identifiers whatever its strength, so that the second says more about its scores."
    )
    if not rows:
        return missing("No area: nothing leaks from the unsanitized index, or no method has a point.")
    return panel(table(caption, "Method", [("", ("points", "area, identifiers", "area, all"))], rows))


def _area_html(area: Figure | None) -> str:
    if area is None:
        return nothing()
    span = f"<small>{' to '.join(f'{end:.3f}' for end in area.interval)}</small>" if area.interval else ""
    return f"{area.value:.3f}{span}"


def _dominated(found: Frontier) -> str:
    if not found.points:
        return "nothing was compared"
    return (
        f"{found.dominated:,} of {found.points:,} ({found.dominated / found.points:.1%}), "
        f"{found.by_trip:,} of them by trip alone"
    )


def _points(points: Sequence[MethodFigures]) -> str:
    rows = [
        row(
            each.method,
            [
                "default" if each.strength is None else f"{each.strength:g}",
                share_html(each.identifiers),
                share_html(each.disclosed),
                estimate_html(each.recall_overlap[1]),
                estimate_html(each.bleu1),
                estimate_html(each.rouge_l),
            ],
        )
        for each in points
    ]
    heads = ("strength", "identifiers", "all", "R@1", "BLEU-1", "ROUGE-L")
    return table("Every method at every strength.", "Method", [("", heads)], rows)
