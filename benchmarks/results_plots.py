"""The benchmark's plots as files of their own, beside docs/results.md.

They are drawn by ``eval.trip_rag`` for its page, whose styles and legend a file lacks: both are put in.
"""

import re
from collections.abc import Callable, Sequence
from html import escape
from xml.etree import ElementTree

from eval.measures.intervals import Estimate
from eval.report_style import STYLE
from eval.trip_rag.grid_plots import cell_values, heat_map, weight_bars
from eval.trip_rag.page_style import PAGE_STYLE
from eval.trip_rag.page_tradeoff import ALL, IDENTIFIERS, Left, curves_of
from eval.trip_rag.plots import scatter
from eval.trip_rag.report import MethodFigures, TripRagReport

EDGE, HEAD = 20, 56
"""Room around a drawing, and above it for its title."""
LEGEND_COLUMN, LEGEND_LINE = 240, 22
PALETTE = STYLE[: STYLE.index("* {")]
"""The page's colors, light and dark."""
FILLS = "\n".join(re.findall(r"\.(?:series-\d|leader) {[^}]*}", STYLE + PAGE_STYLE))
DRAWING = PAGE_STYLE[PAGE_STYLE.index(".plot text") :]
"""How texts, lines, marks, cells and bars look."""
OWN_STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.paper { fill: var(--card); } .plot .title { font-size: 15px; font-weight: 600; fill: var(--ink); }
"""


def tradeoff_plots(report: TripRagReport) -> dict[str, str]:
    """Leakage against usefulness, by the name of the file; none where nothing was measured."""
    points = [*report.methods, *report.sweep]
    drawn = {
        "recall": _tradeoff(points, "Recall@1 overlap", lambda each: each.recall_overlap[1], IDENTIFIERS),
        "recall-all": _tradeoff(points, "Recall@1 overlap", lambda each: each.recall_overlap[1], ALL),
        "answers": _tradeoff(points, "ROUGE-L", lambda each: each.rouge_l, ALL),
    }
    return {name: as_file(figure) for name, figure in drawn.items() if figure}


def _tradeoff(
    points: Sequence[MethodFigures], use: str, figure: Callable[[MethodFigures], Estimate], left: Left
) -> str | None:
    curves = curves_of(points, figure, left)
    words = "Small figures are strengths: the share of entities that rules and scores take, or a budget."
    return scatter(f"{use} by {left.told}", words, left.told, use, curves) if curves else None


def weight_plots(report: TripRagReport) -> dict[str, str]:
    """The grid of weights, by the name of the file; none where it was not measured."""
    cells = report.grid
    if not cells:
        return {}
    recall = cell_values(cells, lambda each: each.recall_overlap[1].mean)
    left = cell_values(cells, lambda each: each.identifiers.share)
    drawn = {
        "weights-recall": heat_map("Recall@1 overlap", "Higher is better.", recall),
        "weights-leakage": heat_map("Identifiers left in the index", "Lower is better.", left, "{:.1%}"),
        "weights-answers": weight_bars("BLEU-1 and ROUGE-L", "Filled: BLEU-1. Outlined: ROUGE-L.", cells),
    }
    return {name: as_file(figure) for name, figure in drawn.items()}


def title_of(svg: str) -> str:
    """What a file that ``as_file`` made is called."""
    return ElementTree.fromstring(svg).findtext("{http://www.w3.org/2000/svg}title", "")


def as_file(figure: str) -> str:
    """A figure of the page as an SVG document with its title, explanation, legend and styles."""
    drawn = ElementTree.fromstring(figure)
    title, words = (drawn.findtext(f"figcaption/{part}", "") for part in ("strong", "span"))
    plot = next(drawn.iter("svg"))
    width, height = (int(number) for number in plot.attrib["viewBox"].split()[2:])
    legend = _legend(drawn.findall("ul/li"), width, height)
    wide, tall = width + 2 * EDGE, HEAD + height + len(legend) * LEGEND_LINE + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" width="{wide}" height="{tall}" '
        f'viewBox="{-EDGE} {-HEAD} {wide} {tall}" role="img">',
        f"<title>{escape(title)}</title><style>{PALETTE}{FILLS}\n{DRAWING}{OWN_STYLE}</style>",
        f'<rect class="paper" x="{-EDGE}" y="{-HEAD}" width="100%" height="100%" rx="12"/>',
        f'<text class="title" x="0" y="{22 - HEAD}">{escape(title)}</text>',
        f'<text x="0" y="{42 - HEAD}">{escape(words)}</text>',
        *(ElementTree.tostring(part, encoding="unicode") for part in plot),
        *legend,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(items: Sequence[ElementTree.Element], width: int, top: int) -> list[str]:
    """One group a line, each with as many names as fit."""
    columns = width // LEGEND_COLUMN
    lines: list[str] = []
    for first in range(0, len(items), columns):
        y = top + 8 + len(lines) * LEGEND_LINE
        line = "".join(
            _entry(item, place * LEGEND_COLUMN) for place, item in enumerate(items[first : first + columns])
        )
        lines.append(f'<g transform="translate(0 {y})">{line}</g>')
    return lines


def _entry(item: ElementTree.Element, x: int) -> str:
    look = item[0]
    drawn = "".join(ElementTree.tostring(part, encoding="unicode") for part in look)
    name = escape(look.tail or "")
    return f'<g transform="translate({x} 0)">{drawn}<text x="42" y="12">{name}</text></g>'
