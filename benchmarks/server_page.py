"""``python -m benchmarks.server_page`` writes docs/server.md from docs/server.template.md and the figures."""

import json
from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.results_page import DOCS, rendered
from benchmarks.server import RESULT
from eval.measures.uncertainty import Estimate
from eval.reports.render import markdown_table
from eval.reports.schema import estimate_cell, table

PAGE, TEMPLATE = DOCS / "server.md", DOCS / "server.template.md"
TENTHS, HUNDREDTHS = "{:.1f}", "{:.2f}"
GIGABYTE = 1e9
LEAST = 80
"""Searches a second that were aimed at."""


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(json.loads(RESULT.read_text(encoding="utf-8"))), encoding="utf-8")
    print(PAGE)


def page(found: Mapping[str, Any]) -> str:
    """The page in Markdown."""
    made = found["provenance"]
    return rendered(
        TEMPLATE,
        passages=f"{found['passages']:,}",
        questions=found["questions"],
        asked=f"{found['search']['milliseconds']['HTTP']['0.5']['n']:,}",
        cores=found["cores"],
        goals=_goals(found),
        ways=_ways(found["search"]["milliseconds"]),
        measured=f"Measured on {made['date'][:10]}, {made['hardware']}, commit {made['commit']}; "
        f"load average before it {made['settings']['load average before']}.",
    )


def _goals(found: Mapping[str, Any]) -> str:
    """What was aimed at beside what was measured."""
    times = found["search"]["HTTP as times"]
    starts = found["seconds until ready"]["runs"]
    rows = [
        *(
            (f"search over HTTP as times of {way}, {name}", estimate_cell(_of(each[q]), HUNDREDTHS), aim)
            for way, each in sorted(times.items(), key=lambda way: way[0] != "retriever")
            for q, name, aim in (("0.5", "median", "at most 1.5"), ("0.99", "99th percentile", "at most 2.5"))
        ),
        *(
            (
                f"first byte of a chat, {when}, at {found['chat']['clients']} clients, {name}, ms",
                estimate_cell(_of(each[q]), TENTHS),
                aim,
            )
            for when, each in found["chat"]["first byte, milliseconds"].items()
            for q, name, aim in (("0.5", "median", ""), ("0.95", "95th percentile", "at most 150"))
        ),
        *(
            (f"searches a second, {clients} clients", estimate_cell(_of(each), TENTHS), _least(each))
            for clients, each in found["searches a second"].items()
        ),
        (
            f"seconds until ready, median of {len(starts)} starts (least–most)",
            f"{median(starts):.2f} ({min(starts):.2f}–{max(starts):.2f})",
            "at most 4",
        ),
        *(
            (f"memory (PSS), {when}, GB", f"{held / GIGABYTE:.2f}", "at most 1.0")
            for when, held in found["bytes"].items()
        ),
    ]
    columns = [
        ("", "", lambda row: row[0]),
        ("", "measured", lambda row: row[1]),
        ("", "aim", lambda row: row[2]),
    ]
    return markdown_table(table("", rows, columns)).rstrip()


def _least(rate: Mapping[str, Any]) -> str:
    """What was aimed at, and whether it was missed."""
    return f"at least {LEAST}{': **missed**' if rate['value'] < LEAST else ''}"


def _ways(found: Mapping[str, Any]) -> str:
    """Milliseconds of each way."""
    columns = [
        ("", "", lambda row: row[0]),
        *(
            ("", name, lambda row, q=q: estimate_cell(_of(row[1][q]), TENTHS))
            for q, name in (("0.5", "median, ms"), ("0.95", "95th percentile"), ("0.99", "99th percentile"))
        ),
    ]
    return markdown_table(table("", list(found.items()), columns)).rstrip()


def _of(row: Mapping[str, Any]) -> Estimate:
    return Estimate(**row)


if __name__ == "__main__":
    main()
