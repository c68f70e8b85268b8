"""Put measured figures into the README: ``python -m benchmarks.readme`` after ``README.template.md``.

Figures come from ``benchmarks/results``: what ``lethe attack extraction`` and ``lethe ingest`` printed.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"

LEAKAGE_TEXT = (
    "Extraction attack against a generator that repeats whatever it retrieves, the worst case. Shown is the",
    "share of the sensitive entities of the original documents behind the retrieved passages that came out,",
    "with the wider of Wilson's and the query bootstrap's 95 % interval, and the share of the same documents",
    "among the first k (R@k). Where the detector also found the sensitive entities (last column), what it",
    "does not find is not counted, and what it wrongly takes for a name is.",
)
LEAKAGE_HEAD = "| corpus | arm | n | all entities | direct | quasi | R@1 | R@5 | sensitive entities |"
INGEST_HEAD = "| corpus | documents | characters | passages | kept / generalized | seconds | characters / s |"
SOURCES_TEXT = (
    "in `benchmarks/results`, which `lethe attack extraction` and `lethe ingest` wrote. The corpora are the",
    "bundled demo corpus, e-mail of the English Web Treebank, MTS-Dialog, and the development cases of TAB.",
)


def main() -> None:
    """Rewrite README.md from its template."""
    (ROOT / "README.md").write_text(readme(), encoding="utf-8")


def readme() -> str:
    """The README with the output of its Python example and the tables of results."""
    template = (ROOT / "docs" / "README.template.md").read_text(encoding="utf-8")
    return template.replace("@PYTHON@", printed(python_block(template))).replace("@RESULTS@", results())


def python_block(text: str) -> str:
    """The README's example."""
    return text.split("```python\n")[1].split("```")[0]


def printed(code: str) -> str:
    """What the example prints, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def results() -> str:
    """Two tables: leakage under the extraction attack, and bulk ingest."""
    reports = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("extraction-*.json"))}
    ingests = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("ingest-*.json"))}
    if not reports:
        return "No results yet."
    provenance = next(iter(reports.values()))["provenance"]
    used = provenance["settings"]
    lines = [
        *LEAKAGE_TEXT,
        "",
        LEAKAGE_HEAD,
        "|---" * LEAKAGE_HEAD.count(" | ") + "|---|",
        *(_arm_row(name, report, arm) for name, report in reports.items() for arm in report["arms"]),
        "",
        INGEST_HEAD,
        "|---" * INGEST_HEAD.count(" | ") + "|---|",
        *(_ingest_row(name, row) for name, row in ingests.items()),
        "",
        f"Detector {used['detector']}, privacy risk by {used['risk model']};",
        f"{provenance['date'][:10]}, {provenance['hardware']}, {_commits(reports)}; from the files",
        *SOURCES_TEXT,
    ]
    return "\n".join(lines)


def _commits(reports: Mapping[str, dict[str, Any]]) -> str:
    """The commits of the reports, each with its corpora where there are several."""
    by_commit: dict[str, list[str]] = {}
    for name, report in reports.items():
        by_commit.setdefault(report["provenance"]["commit"], []).append(name.removeprefix("extraction-"))
    if len(by_commit) == 1:
        return f"commit {next(iter(by_commit))}"
    return "commits " + ", ".join(f"{commit} ({', '.join(names)})" for commit, names in by_commit.items())


def _arm_row(name: str, report: dict[str, Any], arm: dict[str, Any]) -> str:
    shares = [arm["entity_leakage"], *(arm["by_identifier"].get(kind) for kind in ("direct", "quasi"))]
    overlap = [arm["recall_overlap"].get(k) for k in ("1", "5")]
    cells = [
        name.removeprefix("extraction-"),
        arm["name"],
        str(arm["completed"]),
        *(_share(share) for share in shares),
        *("" if each is None else f"{each['mean']:.3f}" for each in overlap),
        report["reference"]["source"],
    ]
    return f"| {' | '.join(cells)} |"


def _share(share: dict[str, Any] | None) -> str:
    if share is None or share["share"] is None:
        return "not measured"
    low, high = share["low"], share["high"]
    if share["clustered"]:
        low, high = min((low, high), share["clustered"], key=lambda pair: pair[0] - pair[1])
    return f"{100 * share['share']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _ingest_row(name: str, row: dict[str, Any]) -> str:
    entities = row["entities"]
    cells = [
        name.removeprefix("ingest-"),
        f"{row['documents_kept']:,}",
        f"{row['characters']:,}",
        f"{row['passages']:,}",
        f"{entities.get('keep', 0):,} / {entities.get('generalize', 0):,}",
        f"{row['seconds']:,.0f}",
        f"{row['characters_per_second']:,}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
