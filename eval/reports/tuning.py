"""The page of a search over weights and thresholds."""

from collections.abc import Callable

from eval.measures.uncertainty import Estimate
from eval.reports.schema import Cell, Plot, Point, Report, Row, Section, Series, Table, mean, share
from eval.studies.tune import Cell as Tuned
from eval.studies.tune import CheckedCell, TunedFigures, TuningReport

FIGURES = ("all", "identifiers", "R@1", "R@5", "R@10", "ROUGE-L")
Use = Callable[[TunedFigures], Estimate]


def tuning(report: TuningReport) -> Report:
    """The whole page."""
    return Report(
        title=f"Weights and thresholds: {report.corpus}",
        lead="What each setting of the policy leaves to be read, and how useful retrieval stays.",
        facts=(
            f"{report.documents:,} documents",
            f"{report.questions:,} questions",
            f"{report.sensitive_entities:,} sensitive entities: {report.reference}",
            f"{len(report.cells):,} cells, {report.measured:,} different methods",
            f"answers by {report.generator}",
            f"seed {report.seed}",
            report.provenance.date,
        ),
        sections=(
            Section(
                "Privacy against usefulness",
                "Every cell on the half to choose on, and the chosen ones on the half held out.",
                plots=[
                    _plot(report, "Recall@5 overlap", lambda each: each.recall_overlap[5]),
                    _plot(report, "ROUGE-L", lambda each: each.rouge_l),
                ],
            ),
            _pareto(report),
            Section("How this was measured", "Enough to run it again.", terms=_facts(report)),
        ),
        quotes="document, question or answer",
    )


def _plot(report: TuningReport, name: str, use: Use) -> Plot:
    """Cells by leakage of sensitive entities and usefulness; cells with the same decisions are one point."""

    def point(figures: TunedFigures, label: str = "") -> Point:
        return Point(figures.disclosed.value or 0.0, use(figures).value or 0.0, label)

    chosen = {each.decisions for each in report.pareto}
    others = {each.decisions: each for each in report.cells if each.decisions not in chosen}
    numbered = [(str(number), each) for number, each in enumerate(report.pareto, start=1)]
    checked = (*numbered, ("now", report.current))
    series = (
        Series("Pareto set, numbered as in the table", tuple(point(e.chosen_on, n) for n, e in numbered)),
        Series("the same cell on the half held out", tuple(point(e.held_out, n) for n, e in checked)),
        Series("other cells", tuple(point(each.chosen_on) for each in others.values())),
        Series("the policy in force", (point(report.current.chosen_on, "now"),)),
    )
    words = "The best corner is top left. What is in the Pareto set for another measure may look beaten here."
    return Plot("marks", f"{name} by leakage", words, series, "sensitive entities left", name)


def _pareto(report: TuningReport) -> Section:
    rows = [_checked(f"{number}", each) for number, each in enumerate(report.pareto, start=1)]
    return Section(
        "Pareto set",
        "Cells that no other one beats: none leaks no more, has at least as much Recall@5 overlap and "
        "ROUGE-L, and is better in one of the three. Neighbors often differ by less than their intervals. "
        "What was chosen looks better than it is: compare it with the policy in force on the half held out.",
        tables=[
            Table(
                "Share is the share of linked entities that was to be generalized. All and identifiers are "
                "the sensitive entities of the originals that stand in their own sanitized text. The last "
                "line is the policy in force.",
                ("No.", "share", "tau", "beta", "gamma", *FIGURES, *FIGURES),
                [*rows, _checked("now", report.current)],
                groups=[("setting", 4), ("chosen on", len(FIGURES)), ("held out", len(FIGURES))],
            ),
            Table(
                "Every cell on the half to choose on. Cells with the same mark decided the same.",
                ("Cell", "mark", *FIGURES),
                [(_cell_name(each), each.decisions[:6], *_figures(each.chosen_on)) for each in report.cells],
                folded=f"All {len(report.cells):,} cells",
            ),
        ],
    )


def _checked(name: str, cell: CheckedCell) -> Row:
    share = "as it is" if cell.share is None else f"{cell.share:g}"
    setting = (share, f"{cell.tau:.4f}", f"{cell.beta:g}", f"{cell.gamma:g}")
    note = f"and {cell.alike:,} alike" if cell.alike else ""
    return (Cell(name, note=note), *setting, *_figures(cell.chosen_on), *_figures(cell.held_out))


def _cell_name(cell: Tuned) -> str:
    share = "policy in force" if cell.share is None else f"share {cell.share:g}"
    return f"{share}, beta {cell.beta:g}, gamma {cell.gamma:g}, tau {cell.tau:.3f}"


def _figures(figures: TunedFigures) -> list[Cell]:
    recall = [figures.recall_overlap[k] for k in (1, 5, 10)]
    return [*map(share, (figures.disclosed, figures.identifiers)), *map(mean, (*recall, figures.rouge_l))]


def _facts(report: TuningReport) -> list[tuple[str, str]]:
    return [
        ("Halves", report.procedure),
        ("Questions", report.split),
        ("Sensitive entities", f"{report.sensitive_entities:,}, {report.reference}"),
        ("Intervals", "95%; over questions for means, over documents for shares, where it is the wider one."),
        ("Scale", ", ".join(f"{each:.4f}" for each in report.scale)),
        *report.provenance.facts(),
    ]
