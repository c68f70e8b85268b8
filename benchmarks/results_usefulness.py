"""What methods leave of an index's use, and what their parts add, as tables in markdown.

A table is empty where nothing was measured.
"""

from collections.abc import Callable, Iterable, Sequence

from eval.measures.contrasts import Figure
from eval.trip_rag import published
from eval.trip_rag.cells import DASH, PUBLISHED
from eval.trip_rag.frontier import by_area
from eval.trip_rag.page_scores import VARIANTS
from eval.trip_rag.report import Correlation, MethodFigures, TripRagReport
from eval.trip_rag.table import estimate_cell, markdown_table, share_cell

DEPTHS = (1, 5, 10)


def retrieval(report: TripRagReport) -> str:
    """Recall@k overlap by method and encoder, and how often the document asked about was found."""
    rows = [
        (
            each.method,
            each.encoder,
            *(estimate_cell(each.recall_overlap[k], intervals=True) for k in DEPTHS),
            share_cell(each.found[5], intervals=True),
            *_printed(each, lambda row: [row.recall[k] for k in DEPTHS]),
        )
        for each in (*report.methods, *report.encoders)
    ]
    theirs = (f"{PUBLISHED}: {name}, R@1 / R@5 / R@10" for name in published.CORPORA)
    return markdown_table(("method", "encoder", "R@1", "R@5", "R@10", "found@5", *theirs), rows)


def answers(report: TripRagReport) -> str:
    """What answers are worth by method and encoder."""
    rows = [
        (
            each.method,
            each.encoder,
            *(estimate_cell(of, intervals=True) for of in (each.bleu1, each.sacrebleu, each.rouge_l)),
            *_printed(each, lambda row: [row.bleu, row.rouge_l]),
        )
        for each in (*report.methods, *report.encoders)
    ]
    theirs = (f"{PUBLISHED}: {name}, BLEU / ROUGE-L" for name in published.CORPORA)
    return markdown_table(("method", "encoder", "BLEU-1", "sacreBLEU", "ROUGE-L", *theirs), rows)


def _printed(figures: MethodFigures, chosen: Callable[[published.Answers], Iterable[float]]) -> list[str]:
    """The paper's cells for a row: it has them for its methods with its encoders, of which we hold one."""
    theirs = published.answers_of(figures.encoder, figures.method)
    return [
        " / ".join(f"{value:.3f}" for value in chosen(theirs[name])) if name in theirs else DASH
        for name in published.CORPORA
    ]


def ablations(report: TripRagReport) -> str:
    """The default and each variant of it, beside the paper's."""
    if not report.ablations:
        return ""
    whole = [each for each in report.methods if each.method == "trip"]
    rows = [_variant(each) for each in (*whole, *report.ablations)]
    theirs = f"{PUBLISHED}: {published.CHATDOCTOR}, R@1 / R@5 / BLEU-1"
    head = ("variant", "R@1", "R@5", "BLEU-1", "ROUGE-L", "identifiers", "all", "kept", theirs)
    return markdown_table(head, rows)


def _variant(figures: MethodFigures) -> Sequence[str]:
    note = VARIANTS.get(figures.method)
    means = (figures.recall_overlap[1], figures.recall_overlap[5], figures.bleu1, figures.rouge_l)
    printed = published.ABLATIONS.get(figures.method)
    return (
        f"{figures.method}: {note}" if note else figures.method,
        *(estimate_cell(each, intervals=True) for each in means),
        *(
            share_cell(each, intervals=True)
            for each in (figures.identifiers, figures.disclosed, figures.kept)
        ),
        DASH if printed is None else " / ".join(f"{value:.4f}" for value in printed),
    )


def features(report: TripRagReport) -> str:
    """Spearman of each pair of scores."""
    rows = []
    for each in report.correlations:
        theirs = published.CORRELATIONS.get((each.one, each.other), {})
        printed = (f"{theirs[name]:+.4f}" if name in theirs else DASH for name in published.CORPORA)
        rows.append((f"{each.one} and {each.other}", _rho(each), f"{each.n:,}", *printed))
    theirs_head = (f"{PUBLISHED}: {name}" for name in published.CORPORA)
    return markdown_table(("scores", "Spearman", "linked entities", *theirs_head), rows) if rows else ""


def _rho(found: Correlation) -> str:
    known = found.low is not None and found.high is not None
    return f"{found.rho:+.3f}" + (f" ({found.low:+.3f} to {found.high:+.3f})" if known else "")


def weight_correlations(report: TripRagReport) -> str:
    """Spearman of each weight with Recall@5 overlap over the grid."""
    if not report.grid:
        return ""
    n = f"{len(report.grid):,}"
    rows = [(name, f"{rho:+.3f}", n, DASH) for name, rho in report.grid_spearman.items()]
    rows.append(("beta or gamma", DASH, DASH, f"{published.WEIGHT_SPEARMAN:+.4f}, n = 36"))
    return markdown_table(("weight", "Spearman with R@5", "pairs of weights", PUBLISHED), rows)


def grid(report: TripRagReport) -> str:
    """Every pair of weights."""
    rows = [
        (
            f"{cell.beta:g}, {cell.gamma:g}",
            *(estimate_cell(cell.figures.recall_overlap[k], intervals=True) for k in DEPTHS),
            *(estimate_cell(each, intervals=True) for each in (cell.figures.bleu1, cell.figures.rouge_l)),
            share_cell(cell.figures.identifiers, intervals=True),
        )
        for cell in report.grid
    ]
    head = ("beta, gamma", "R@1", "R@5", "R@10", "BLEU-1", "ROUGE-L", "identifiers left")
    return markdown_table(head, rows) if rows else ""


def areas(report: TripRagReport) -> str:
    """The area under each method's curve, the largest first."""
    points = [*report.methods, *report.sweep]
    found, everything = report.frontier.areas, report.frontier_all.areas
    names = by_area(report.frontier, report.frontier_all)
    rows = [
        (
            name,
            f"{sum(each.method == name for each in points):,}",
            *(_area(areas.get(name)) for areas in (found, everything)),
        )
        for name in names
    ]
    return markdown_table(("method", "points", "area, identifiers", "area, all"), rows) if rows else ""


def _area(area: Figure | None) -> str:
    if area is None:
        return DASH
    span = f" ({'–'.join(f'{end:.3f}' for end in area.interval)})" if area.interval else ""
    return f"{area.value:.3f}{span}"


def all_points(report: TripRagReport) -> str:
    """Every method at every strength."""
    rows = [
        (
            each.method,
            "default" if each.strength is None else f"{each.strength:g}",
            *(share_cell(share, intervals=True) for share in (each.identifiers, each.disclosed)),
            *(
                estimate_cell(mean, intervals=True)
                for mean in (each.recall_overlap[1], each.bleu1, each.rouge_l)
            ),
        )
        for each in (*report.methods, *report.sweep)
    ]
    return markdown_table(("method", "strength", "identifiers", "all", "R@1", "BLEU-1", "ROUGE-L"), rows)
