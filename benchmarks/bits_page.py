"""``python -m benchmarks.bits_page`` writes docs/bits.md from docs/bits.template.md and the figures."""

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.kept import read
from benchmarks.results_page import DOCS, rendered
from benchmarks.yardstick import CORPORA, RESULTS
from eval.measures.uncertainty import Estimate
from eval.reports.render import markdown_table
from eval.reports.schema import DASH, Cell, Row, Table, estimate_cell

PAGE, TEMPLATE = DOCS / "bits.md", DOCS / "bits.template.md"


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    """The page in Markdown."""
    narrowing = json.loads(read(RESULTS / "narrowing.json"))
    tables = {
        "linking": _linking(narrowing),
        "default": _at_default(narrowing),
        "still_said": _still_said(narrowing),
        "fitting": _fitting(narrowing),
    }
    return rendered(
        TEMPLATE,
        made="{date:.10}, {hardware}, {commit}".format(**narrowing["provenance"]),
        **{name: markdown_table(each).rstrip() for name, each in tables.items()},
    )


def _linking(narrowing: Mapping[str, Any]) -> Table:
    """The share of the whole effect that a fifth of the facts has, and its bits above five draws."""
    corpora = narrowing["corpora"]
    linkers = list(next(iter(corpora.values()))["linkers"])
    counted = [(linker, by) for by in ("characters", "number") for linker in linkers]
    rows: list[Row] = []
    for corpus, row in corpora.items():
        for order in row["linkers"][linkers[0]]["number"]:
            cells = (row["linkers"][linker][by][order]["0.2"] for linker, by in counted)
            rows.append((f"{corpus} ({row['texts']})", order, *map(_of_effect, cells)))
    return Table("", ["texts", "first", *(f"{linker}, at equal {by}" for linker, by in counted)], rows)


def _at_default(narrowing: Mapping[str, Any]) -> Table:
    """What replacing all facts does to the owner's rank, and the share of it that the default has."""
    rows: list[Row] = []
    for corpus, row in narrowing["corpora"].items():
        for linker, figures in row["linkers"].items():
            whole, first = Estimate(**figures["bits of everything"]), figures["own first"]
            rows.append(
                (
                    corpus,
                    linker,
                    f"{first['nothing']:.0%} / {first['everything']:.0%}",
                    estimate_cell(whole),
                    f"{figures['default']['share of facts']:.0%}",
                    _of_effect(figures["default"]),
                    _of_effect(figures["drawn as many"]),
                )
            )
    head = ["texts", "linker", "found first, before / after all facts", "all facts: bits of rank"]
    return Table("", [*head, "facts that the default replaces", "of the effect", "drawn, as many"], rows)


def _of_effect(figures: Mapping[str, Any]) -> Cell:
    share, above = figures["share of effect"], figures["above drawn"]
    shown = DASH if share is None else f"{share:.2f}"
    if above["low"] is None or not above["value"]:
        return Cell(shown)
    return Cell(f"{shown} ({above['value']:+.2f}; {above['low']:+.2f} to {above['high']:+.2f})")


def _still_said(narrowing: Mapping[str, Any]) -> Table:
    """What stays word for word of what has to go, and how often a trade is guessed, by share replaced."""
    rows: list[Row] = []
    for what, found in (("extracted", narrowing["extracted"]), ("trade guessed", narrowing["inferred"])):
        for corpus, row in found.items():
            for share in ("0.2", "0.5"):
                less = Estimate(**row[share]["less than drawn"])
                ours, drawn = (f"{row[share][order]:.1%}" for order in ("bits", "drawn"))
                name = f"{CORPORA.get(corpus, corpus)} ({row.get('documents', row.get('texts'))})"
                rows.append((what, name, f"{float(share):.0%}", ours, drawn, estimate_cell(less)))
    return Table("", ["attack", "texts", "facts replaced", "bits", "drawn", "less than drawn"], rows)


def _fitting(narrowing: Mapping[str, Any]) -> Table:
    """How predicted and counted k agree, and how often fewer fit than were predicted."""
    rows: list[Row] = []
    for corpus, row in narrowing["fitting"].items():
        below = (
            estimate_cell(each, note=f"{each.hits} of {each.n}")
            for each in (Estimate(**figures) for figures in row["below promised"].values())
        )
        agreed = estimate_cell(Estimate(**row["spearman"]))
        rows.append((corpus, f"{row['people']:,}", f"{row['cases']:,}", agreed, *below))
    asked = next(iter(narrowing["fitting"].values()))["below promised"]
    promised = [f"fewer than {k} of those promised" for k in asked]
    return Table("", ["texts", "people", "cases", "Spearman", *promised], rows)


if __name__ == "__main__":
    main()
