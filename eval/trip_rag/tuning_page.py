"""A search over weights and thresholds as files: the figures, and one page that needs nothing else.

Whatever is not a number is escaped: names of corpora, engines and settings come from users.
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from eval.report_style import STYLE
from eval.trip_rag.cells import estimate_html, folded, panel, row, section, share_html, table, words_list
from eval.trip_rag.page_style import PAGE_STYLE
from eval.trip_rag.tuning import Cell, CheckedCell, TunedFigures, TuningReport
from eval.trip_rag.tuning_plot import told, tuning_plot
from models.errors import LetheError

FIGURES = ("all", "identifiers", "R@1", "R@5", "R@10", "ROUGE-L")


def write_tuning(report: TuningReport, folder: Path) -> Path:
    """Write ``tuning.json`` and ``tuning.html`` into a folder; the path of the page.

    Raises:
        LetheError: A file cannot be written.
    """
    page = folder / "tuning.html"
    try:
        (folder / "tuning.json").write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")
        page.write_text(tuning_page(report), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(
            f"{folder}: the report could not be written ({reason}). Name a folder that can be."
        ) from None
    return page


def tuning_page(report: TuningReport) -> str:
    """The whole page, as HTML."""
    sections = (_header(report), _plots(report), _pareto(report), _cells(report), _how(report))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Lethe tuning: {escape(report.corpus)}</title><style>{STYLE}{PAGE_STYLE}</style>"
        f"</head><body><main>{''.join(sections)}"
        "<footer>Written by Lethe. This page holds figures only: no document, question or answer is "
        "quoted.</footer></main></body></html>\n"
    )


def _header(report: TuningReport) -> str:
    chips = (
        f"{report.documents:,} documents",
        f"{report.questions:,} questions",
        f"{report.sensitive_entities:,} sensitive entities: {report.reference}",
        f"{len(report.cells):,} cells, {report.measured:,} different methods",
        f"answers by {report.generator}",
        f"seed {report.seed}",
        report.provenance.date,
    )
    items = "".join(f"<li>{escape(chip)}</li>" for chip in chips)
    return (
        f"<header><h1>Weights and thresholds: {escape(report.corpus)}</h1>"
        '<p class="lead">What each setting of the policy leaves to be read, and how useful retrieval stays.'
        f'</p><ul class="chips">{items}</ul></header>'
    )


def _plots(report: TuningReport) -> str:
    plots = (
        tuning_plot(report, "Recall@5 overlap", lambda each: each.recall_overlap[5]),
        tuning_plot(report, "ROUGE-L", lambda each: each.rouge_l),
    )
    sub = "Every cell on the half to choose on; lines lead to the half held out."
    return section("Privacy against usefulness", sub, f'<div class="charts one">{"".join(plots)}</div>')


def _pareto(report: TuningReport) -> str:
    sub = (
        "Cells that no other one beats: none leaks no more, has at least as much Recall@5 overlap and "
        "ROUGE-L, and is better in one of the three. Neighbors often differ by less than their intervals. "
        "What was chosen looks better than it is: compare it with the policy in force on the half held out."
    )
    rows = [_checked(f"{number}", each) for number, each in enumerate(report.pareto, start=1)]
    rows.append(_checked("now", report.current))
    groups = [("setting", ("share", "tau", "beta", "gamma")), ("chosen on", FIGURES), ("held out", FIGURES)]
    caption = (
        "Share is the share of linked entities that was to be generalized. All and identifiers are the "
        "sensitive entities of the originals that stand in their own sanitized text. The last line is the "
        "policy in force."
    )
    return section("Pareto set", sub, panel(table(caption, "No.", groups, rows)))


def _checked(name: str, cell: CheckedCell) -> str:
    note = f"and {cell.alike:,} alike" if cell.alike else ""
    return row(name, [*_setting(cell), *_figures(cell.chosen_on), *_figures(cell.held_out)], note)


def _setting(cell: Cell) -> list[str]:
    share = "as it is" if cell.share is None else f"{cell.share:g}"
    return [share, f"{cell.tau:.4f}", f"{cell.beta:g}", f"{cell.gamma:g}"]


def _figures(figures: TunedFigures) -> Iterable[str]:
    yield share_html(figures.disclosed)
    yield share_html(figures.identifiers)
    for k in (1, 5, 10):
        yield estimate_html(figures.recall_overlap[k])
    yield estimate_html(figures.rouge_l)


def _cells(report: TuningReport) -> str:
    rows = [row(told(cell), [cell.decisions[:6], *_figures(cell.chosen_on)]) for cell in report.cells]
    caption = "Every cell on the half to choose on. Cells with the same mark decided the same."
    return folded(
        f"All {len(report.cells):,} cells", table(caption, "Cell", [("", ("mark", *FIGURES))], rows)
    )


def _how(report: TuningReport) -> str:
    made = report.provenance
    facts = [
        ("Halves", report.procedure),
        ("Questions", report.split),
        ("Sensitive entities", f"{report.sensitive_entities:,}, {report.reference}"),
        ("Intervals", "95%; over questions for means, over documents for shares, where it is the wider one."),
        ("Scale", ", ".join(f"{each:.4f}" for each in report.scale)),
        ("Engine", report.engine),
        ("Machine", made.hardware),
        ("Versions", ", ".join(f"{name} {number}" for name, number in made.versions.items())),
        ("Commit", made.commit or "not known"),
        *sorted(made.settings.items()),
    ]
    return section("How this was measured", "Enough to run it again.", panel(words_list(facts)))
