"""Put measured figures into the README: ``python -m benchmarks.readme`` after ``README.template.md``.

Figures come from ``benchmarks/results``: what ``lethe bench trip-rag`` and ``lethe ingest`` wrote.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.results_page import kept_reports
from eval.trip_rag.goals import worst_case
from eval.trip_rag.report import TripRagReport
from eval.trip_rag.table import estimate_cell, markdown_table, share_cell

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"

SHOWN = {"origin": "unsanitized", "redact": "everything redacted", "trip": "Lethe"}
PASSAGES = 5
HEAD = ("corpus", "index", "identifiers leaked", "all leaked", "Recall@1 overlap", "ROUGE-L of answers")
INGEST_HEAD = (
    "corpus", "documents", "characters", "passages", "kept / generalized", "seconds", "characters / s",
)  # fmt: skip


def main() -> None:
    """Rewrite README.md from its template."""
    (ROOT / "README.md").write_text(readme(), encoding="utf-8")


def readme() -> str:
    """The README with the output of its Python example and the tables of results."""
    text = (ROOT / "docs" / "README.template.md").read_text(encoding="utf-8")
    filled = {"@PYTHON@": printed(python_block(text)), "@LEAKAGE@": leakage(), "@INGEST@": ingests()}
    for place, words in filled.items():
        text = text.replace(place, words)
    return text


def python_block(text: str) -> str:
    """The README's example."""
    return text.split("```python\n")[1].split("```")[0]


def printed(code: str) -> str:
    """What the example prints, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def leakage() -> str:
    """What leaks and what is left of use."""
    reports = kept_reports(RESULTS / "trip_rag")
    rows = [_row(name, report, method) for name, report in reports.items() for method in SHOWN]
    return markdown_table(HEAD, rows).rstrip()


def ingests() -> str:
    """How fast documents are taken in."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("ingest-*.json"))}
    return markdown_table(INGEST_HEAD, (_ingest_row(name, row) for name, row in found.items())).rstrip()


def _row(name: str, report: TripRagReport, method: str) -> tuple[str, ...]:
    figures = next(each for each in report.methods if each.method == method)
    attack = worst_case(report.attacks, method, PASSAGES)
    leaked = (attack.identifiers, attack.all_entities) if attack else ()
    return (
        name,
        SHOWN[method],
        *(share_cell(share, intervals=True) for share in leaked),
        estimate_cell(figures.recall_overlap[1], intervals=True),
        estimate_cell(figures.rouge_l, intervals=True),
    )


def _ingest_row(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    entities = row["entities"]
    return (
        name.removeprefix("ingest-"),
        f"{row['documents_kept']:,}",
        f"{row['characters']:,}",
        f"{row['passages']:,}",
        f"{entities.get('keep', 0):,} / {entities.get('generalize', 0):,}",
        f"{row['seconds']:,.0f}",
        f"{row['characters_per_second']:,}",
    )


if __name__ == "__main__":
    main()
