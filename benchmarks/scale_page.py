"""``python -m benchmarks.scale_page`` writes docs/scale.md from docs/scale.template.md and the figures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results_page import DOCS, rendered
from eval.reports.render import markdown_table
from eval.reports.schema import table

RESULTS = Path(__file__).parent / "results"
PAGE, TEMPLATE = DOCS / "scale.md", DOCS / "scale.template.md"
PRICE = 0.04
"""Dollars for an hour of one core: an assumption."""
GIGABYTE, HOUR, DAY = 1e9, 3600, 86_400
MEMORY, VECTOR = 128 * GIGABYTE, 2 * 384
"""Bytes of a large machine, and of a vector in half precision."""
SIZES = {"10 GB": 10 * GIGABYTE, "1 TB": 1e12, "10 TB": 1e13}
CORES = (2, 64, 1000)


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    """The page in Markdown."""
    curve, sink = _read("ingest_curve"), _read("sink")
    per_core = _per_core(curve["rows"])
    written = sink["characters"] / sink["seconds"]
    growth = sink["megabytes_stored"] * 1e6 / sink["characters"]
    row = sink["characters"] / sink["passages"]
    return rendered(
        TEMPLATE,
        curve=_curve(curve),
        ended=_ended(curve),
        sink=_sink(sink),
        price=PRICE,
        paper=_paper(per_core, written),
        megabytes=f"{written / 1e6:.2f}",
        actors=f"{written / per_core:,.0f}",
        growth=f"{growth:.0f}",
        stored=f"{growth * 10:.0f}",
        passage=f"{row:.0f}",
        vector=f"{VECTOR / 1000:.2f}",
        memory=f"{MEMORY / GIGABYTE:.0f}",
        held=f"{MEMORY / VECTOR * row / GIGABYTE:,.0f}",
    )


def _per_core(rows: Sequence[Mapping[str, float]]) -> float:
    """Characters that a second of one core sanitizes, over the whole curve."""
    before = [0.0, *(row["characters"] for row in rows)]
    more = [row["characters"] - earlier for row, earlier in zip(rows, before, strict=False)]
    worked = sum(each / row["characters_per_processor_second"] for row, each in zip(rows, more, strict=True))
    return sum(more) / worked


def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _curve(found: Mapping[str, Any]) -> str:
    columns = [
        ("", "documents", lambda row: f"{row['documents']:,}"),
        ("", "characters", lambda row: f"{row['characters']:,}"),
        ("", "seconds since the start", lambda row: f"{row['seconds']:,.0f}"),
        ("", "characters a second", lambda row: f"{row['characters_per_second']:,}"),
        (
            "",
            "a second of the processor",
            lambda row: f"{row['characters_per_processor_second']:,}",
        ),
        ("", "most memory, GB", lambda row: f"{row['peak_bytes'] / GIGABYTE:.1f}"),
    ]
    return markdown_table(table("", found["rows"], columns)).rstrip()


def _ended(found: Mapping[str, Any]) -> str:
    ended = f"The command was ended after {found['seconds']:,.0f} seconds"
    return f"{ended}: {found['stored']:,} records, {found['processes']} processes. {_measured(found)}"


def _sink(found: Mapping[str, Any]) -> str:
    columns = [
        ("", "documents", lambda row: f"{row['documents']:,}"),
        ("", "passages", lambda row: f"{row['passages']:,}"),
        ("", "seconds", lambda row: f"{row['seconds']:.0f}"),
        ("", "of the processor", lambda row: f"{row['processor_seconds']:.0f}"),
        ("", "documents a second", lambda row: f"{row['documents_per_second']:,}"),
        ("", "MB of text a second", lambda row: f"{row['megabytes_of_text_per_second']:.2f}"),
        ("", "MB stored", lambda row: f"{row['megabytes_stored']:,}"),
    ]
    return f"{markdown_table(table('', [found], columns)).rstrip()}\n\n{_measured(found)}"


def _measured(found: Mapping[str, Any]) -> str:
    made = found["provenance"]
    return f"Measured on {made['date'][:10]}, {made['hardware']}, commit {made['commit']}."


def _paper(per_core: float, written: float) -> str:
    """Core-hours, dollars and days for sizes of text; days are bound by the one writer where it is slower."""

    def shown(days: float) -> str:
        return f"{days:.1f}" if days < 10 else f"{days:,.0f}"

    def days(size: float, cores: int) -> str:
        sanitizing, writing = size / (per_core * cores) / DAY, size / written / DAY
        bound = "" if sanitizing >= writing else f" (one writer: {shown(writing)})"
        return shown(sanitizing) + bound

    columns = [
        ("", "text", lambda row: row[0]),
        ("", "core-hours", lambda row: f"{row[1] / per_core / HOUR:,.0f}"),
        ("", "dollars", lambda row: f"{row[1] / per_core / HOUR * PRICE:,.0f}"),
        *(("", f"days on {cores:,} cores", lambda row, cores=cores: days(row[1], cores)) for cores in CORES),
    ]
    return markdown_table(table("", list(SIZES.items()), columns)).rstrip()


if __name__ == "__main__":
    main()
