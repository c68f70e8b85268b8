"""Sections, tables and cells of the benchmark's page. What is called ``html`` is HTML already."""

from collections.abc import Iterable, Sequence
from html import escape

from eval.measures.intervals import Estimate, Share, widest
from eval.report import NOT_MEASURED, percent
from eval.trip_rag.published import CORPORA

PUBLISHED = "published, other data"
DASH = "–"


def section(title: str, sub: str, *html: str) -> str:
    """A titled section with a sentence on how to read it."""
    return f'<section><h2>{escape(title)}</h2><p class="sub">{escape(sub)}</p>{"".join(html)}</section>'


def panel(*html: str) -> str:
    """A card around tables; what is wider than the screen scrolls within."""
    return f'<div class="panel">{"".join(html)}</div>'


def folded(summary: str, *html: str) -> str:
    """A card that opens on request."""
    return f"<details><summary>{escape(summary)}</summary>{panel(*html)}</details>"


def missing(words: str) -> str:
    """Says that a part was not measured."""
    return panel(f'<p class="missing">{escape(words)}</p>')


def words_list(pairs: Iterable[tuple[str, str]]) -> str:
    """Terms and what they mean."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in pairs)
    return f"<dl>{rows}</dl>"


def table(caption: str, corner: str, groups: Sequence[tuple[str, Sequence[str]]], rows: Iterable[str]) -> str:
    """A table whose columns stand in groups, with a second line of heads where a group has a name."""
    columns = "".join(f'<colgroup span="{len(names)}"></colgroup>' for _, names in groups)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for _, names in groups for name in names)
    over = ""
    if any(name for name, _ in groups):
        titles = "".join(
            f'<th scope="colgroup" colspan="{len(names)}">{escape(name)}</th>' for name, names in groups
        )
        over = f'<tr class="over"><td></td>{titles}</tr>'
    return (
        f"<table><caption><span>{escape(caption)}</span></caption><colgroup></colgroup>{columns}<thead>{over}"
        f'<tr><th scope="col">{escape(corner)}</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def row(name: str, html: Iterable[str], note: str = "") -> str:
    """The name and the note are text."""
    more = f"<small>{escape(note)}</small>" if note else ""
    cells = "".join(f"<td>{cell}</td>" for cell in html)
    return f'<tr><th scope="row">{escape(name)}{more}</th>{cells}</tr>'


def share_html(share: Share) -> str:
    """Percent, the wider interval, and what was counted."""
    if share.share is None:
        return nothing()
    reach = widest(share)
    span = f"<small>{100 * reach[0]:.1f} to {100 * reach[1]:.1f}</small>" if reach else ""
    return f"{percent(share.share)}{span}<small>{share.hits:,} of {share.n:,}</small>"


def estimate_html(estimate: Estimate) -> str:
    """The mean, its interval and n."""
    if estimate.mean is None:
        return nothing()
    known = estimate.low is not None and estimate.high is not None
    span = f"<small>{estimate.low:.3f} to {estimate.high:.3f}</small>" if known else ""
    return f"{estimate.mean:.3f}{span}<small>n = {estimate.n:,}</small>"


def nothing() -> str:
    """A cell for what was not measured."""
    return f'<span class="nothing">{NOT_MEASURED}</span>'


def published_html(value: float | None, style: str = "{:.3f}") -> str:
    """A figure of the paper, set apart from ours; a dash where it printed none."""
    return f'<span class="published">{DASH if value is None else style.format(value)}</span>'


def published_groups(names: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """The heads of the same columns for each corpus of the paper."""
    return [(f"{PUBLISHED}: {corpus}", names) for corpus in CORPORA]
