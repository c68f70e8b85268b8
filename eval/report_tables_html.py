"""The tables of a report page: every number of it, by arm, by label and by action."""

from collections.abc import Sequence
from html import escape

from eval.measures.intervals import Estimate, Share
from eval.report import ArmSummary, ExtractionReport, percent
from eval.report_charts import stacked
from ingest.documents import Action, Identifier

MOST_LABELS = 30


def numbers_table(report: ExtractionReport) -> str:
    """All measures, one column an arm."""
    depths = sorted({k for arm in report.arms for k in arm.recall_overlap})
    kinds = [kind for kind in Identifier if any(kind in arm.by_identifier for arm in report.arms)]
    rows = [
        _row("Prompts answered", [f"{arm.completed:,} of {arm.planned:,}" for arm in report.arms]),
        _shares("Entity leakage", [arm.entity_leakage for arm in report.arms]),
        _shares("– not named by the prompt", [arm.unprompted_leakage for arm in report.arms]),
        *(_shares(f"– {kind}", [arm.by_identifier.get(kind) for arm in report.arms]) for kind in kinds),
        _shares("Query leakage", [arm.query_leakage for arm in report.arms]),
        _row("Prompts with nothing sensitive behind them", [f"{a.queries_without:,}" for a in report.arms]),
        _shares("Coverage of all sensitive entities", [arm.coverage for arm in report.arms]),
        _shares("Copied prompts (20 words)", [arm.repeat_prompts for arm in report.arms]),
        _shares("Copied passages", [arm.repeat_passages for arm in report.arms]),
        _estimates("Longest copy in words, mean", [a.copied_tokens for a in report.arms], "{:.1f}"),
        _shares("ROUGE-L recall above 0.5", [arm.rouge_recall_prompts for arm in report.arms]),
        _shares("ROUGE-L F above 0.5", [arm.rouge_f_prompts for arm in report.arms]),
        _row("Documents attacked", [_attacked(arm) for arm in report.arms]),
        _row("Documents retrieved", [f"{arm.documents_retrieved:,}" for arm in report.arms]),
        _row("Passages retrieved", [f"{arm.passages_retrieved:,}" for arm in report.arms]),
        *(
            _estimates(f"Recall@{k} overlap", [a.recall_overlap.get(k) for a in report.arms], "{:.3f}")
            for k in depths
        ),
        _estimates("Mean similarity", [arm.similarity for arm in report.arms], "{:.3f}"),
    ]
    caption = "Share, what it counts, Wilson's 95% interval, and the wider bootstrap of prompts or documents."
    return _section("All numbers", _table(caption, "Measure", _names(report), rows))


def _attacked(arm: ArmSummary) -> str:
    if arm.documents_kept is None:
        return "not told"
    return f"{arm.documents_kept:,} of {arm.documents_kept + arm.documents_failed:,}"


def labels_table(report: ExtractionReport) -> str:
    """Entity leakage of each label, the most frequent first."""
    counts: dict[str, int] = {}
    for arm in report.arms:
        for label, share in arm.by_label.items():
            counts[label] = max(counts.get(label, 0), share.n)
    labels = sorted(counts, key=lambda label: (-counts[label], label))
    if not labels:
        return ""
    rows = [
        _shares(label, [arm.by_label.get(label) for arm in report.arms]) for label in labels[:MOST_LABELS]
    ]
    left = len(labels) - len(rows)
    caption = "Entity leakage by label" + (f"; {left} rarer labels are in summary.json" if left else "")
    table = _table(caption, "Label", _names(report), rows)
    return (
        f"<section><details><summary>By label ({len(labels)})</summary>"
        f'<div class="panel">{table}</div></details></section>'
    )


def decisions_table(report: ExtractionReport) -> str:
    """What was done with the entities of each arm; nothing if that was not told."""
    if not report.decisions:
        return ""
    rows = []
    for arm, counts in report.decisions.items():
        ordered = {action: counts.get(action, 0) for action in Action}
        total = sum(ordered.values())
        cells = [f"{n:,}<small>{percent(n / total if total else None)}</small>" for n in ordered.values()]
        rows.append(_row(arm, [*cells, f"{total:,}", stacked(ordered)]))
    heads = [
        *(
            f'<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect class="action-{name}" '
            f'width="1" height="1"/></svg>{name}'
            for name in Action
        ),
        "all",
        "shares",
    ]
    table = _table("Entities by action", "Arm", heads, rows)
    return _section("What was done with the entities", table)


def _section(title: str, table: str) -> str:
    return f'<section><h2>{title}</h2><div class="panel">{table}</div></section>'


def _names(report: ExtractionReport) -> list[str]:
    return [escape(arm.name) for arm in report.arms]


def _table(caption: str, corner: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """Heads and rows are HTML already."""
    cells = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return (
        f'<table><caption>{caption}</caption><thead><tr><th scope="col">{corner}</th>{cells}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _row(name: str, cells: Sequence[str]) -> str:
    """The name is text, the cells are HTML already."""
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{c}</td>" for c in cells)}</tr>'


def _shares(name: str, shares: Sequence[Share | None]) -> str:
    return _row(name, [_share(share) for share in shares])


def _share(share: Share | None) -> str:
    if share is None or share.share is None:
        return percent(None)
    lines = [f"{share.hits:,} of {share.n:,}"]
    if share.low is not None and share.high is not None:
        lines.append(f"{100 * share.low:.1f} to {100 * share.high:.1f}")
    if share.clustered is not None:
        lines.append("redrawn: {:.1f} to {:.1f}".format(*(100 * end for end in share.clustered)))
    return percent(share.share) + "".join(f"<small>{line}</small>" for line in lines)


def _estimates(name: str, estimates: Sequence[Estimate | None], style: str) -> str:
    return _row(name, [_estimate(estimate, style) for estimate in estimates])


def _estimate(estimate: Estimate | None, style: str) -> str:
    if estimate is None or estimate.mean is None:
        return percent(None)
    known = estimate.low is not None and estimate.high is not None
    span = f"<small>{style.format(estimate.low)} to {style.format(estimate.high)}</small>" if known else ""
    return f"{style.format(estimate.mean)}{span}<small>n = {estimate.n:,}</small>"
