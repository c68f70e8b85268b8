"""``python -m benchmarks.results_page`` writes docs/results.md after docs/results.template.md, and its plots.

Figures come from ``benchmarks/results/trip_rag``, one file a corpus. ``keep FOLDER CORPUS`` puts the report
there that ``lethe bench trip-rag --output FOLDER`` wrote, and ``--check`` fails where a file is stale.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from benchmarks.results_corpus import corpus_section, plots_of
from benchmarks.results_goals import goals_table
from eval.trip_rag.comparing import with_comparisons
from eval.trip_rag.page_words import DEFINITIONS
from eval.trip_rag.report import TripRagReport
from models.errors import LetheError

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TEMPLATE = DOCS / "results.template.md"
RESULTS = ROOT / "benchmarks" / "results" / "trip_rag"
PAGE, PLOTS = "results.md", "results"
"""The page, and the folder of its plots beside it."""
NAME = re.compile("[a-z0-9][a-z0-9_-]*")
"""Names are those of files and headings, and of links to these."""
DECIMALS = 4
NOTHING = "No corpus was measured yet."


def main(arguments: Sequence[str] | None = None, results: Path = RESULTS, docs: Path = DOCS) -> int:
    """Write, check or keep; the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.verb == "keep":
            print(keep(Path(asked.folder), asked.corpus, results))
            return 0
        found = stale(results, docs)
        if not asked.check:
            _write(results, docs)
    except LetheError as error:
        print(error, file=sys.stderr)
        return 1
    for name in found:
        print(f"{'stale' if asked.check else 'written'}: docs/{name}")
    return int(asked.check and bool(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results_page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a file is stale")
    kept = parser.add_subparsers(dest="verb").add_parser("keep", help="keep the report of a run")
    kept.add_argument("folder", help="what --output of lethe bench trip-rag named")
    kept.add_argument("corpus", help="what the page calls the corpus; a file name without its ending")
    return parser


def keep(folder: Path, corpus: str, results: Path = RESULTS) -> Path:
    """Copy a report without its rows and with rounded figures; the path of the copy.

    What is compared is compared anew out of the rows, so that a better interval needs no new run.

    Raises:
        LetheError: The folder has no whole report, or the name cannot be that of a file.
    """
    if not NAME.fullmatch(corpus):
        raise LetheError(f"{corpus!r} is no name of a corpus: give small letters, digits, hyphens and _.")
    path = folder / "report.json"
    try:
        with (folder / "rows.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        figures = json.loads(path.read_text(encoding="utf-8"))
        compared = with_comparisons(TripRagReport.model_validate({**figures, "rows": rows}))
        report = _rounded(compared.model_copy(update={"rows": ()}))
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from None
    results.mkdir(parents=True, exist_ok=True)
    kept = results / f"{corpus}.json"
    kept.write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return kept


def _rounded(report: TripRagReport) -> TripRagReport:
    told = json.loads(report.model_dump_json(), parse_float=lambda number: round(float(number), DECIMALS))
    return TripRagReport.model_validate(told)


def kept_reports(results: Path = RESULTS) -> dict[str, TripRagReport]:
    """The reports that were kept, by the name of their file, in its order.

    Raises:
        LetheError: A file is not a report.
    """
    reports = {}
    for path in sorted(results.glob("*.json")):
        try:
            reports[path.stem] = TripRagReport.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from None
    return reports


def _unreadable(path: Path, error: Exception) -> LetheError:
    if isinstance(error, ValidationError):
        place = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"]) or "the whole"
        reason = f"{error.error_count()} fields do not fit, the first is {place}"
    else:
        reason = getattr(error, "strerror", None) or type(error).__name__
    return LetheError(
        f"{path}: no report of lethe bench trip-rag ({reason}). Run it again with --output, and keep that."
    )


def page(reports: Mapping[str, TripRagReport]) -> str:
    """The page in markdown."""
    parts = {
        "@GOALS@": goals_table(reports) if reports else NOTHING,
        "@CONTENTS@": "\n".join(f"- [{name}](#{name})" for name in reports),
        "@DEFINITIONS@": "\n".join(f"- **{name}.** {words}" for name, words in DEFINITIONS.items()),
        "@CORPORA@": "\n\n".join(corpus_section(name, report, PLOTS) for name, report in reports.items()),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(name, part.strip())
    return text.rstrip() + "\n"


def files(reports: Mapping[str, TripRagReport]) -> dict[str, str]:
    """The page and its plots by their paths within docs."""
    plots = {
        f"{PLOTS}/{file}": svg
        for name, report in reports.items()
        for file, svg in plots_of(name, report).items()
    }
    return {PAGE: page(reports), **plots}


def stale(results: Path = RESULTS, docs: Path = DOCS) -> list[str]:
    """Files of the page that are not there, differ, or should not be there."""
    wanted = files(kept_reports(results))
    there = {path.relative_to(docs).as_posix(): path for path in (docs / PLOTS).glob("*.svg")}
    there |= {PAGE: docs / PAGE} if (docs / PAGE).is_file() else {}
    return sorted(
        name
        for name in {*wanted, *there}
        if name not in wanted or name not in there or there[name].read_text(encoding="utf-8") != wanted[name]
    )


def _write(results: Path, docs: Path) -> None:
    wanted = files(kept_reports(results))
    for path in (docs / PLOTS).glob("*.svg"):
        if path.relative_to(docs).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = docs / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
