"""``python -m benchmarks.results_page`` writes docs/results.md from docs/results.template.md.

Figures come from ``benchmarks/results``; those of TRIP-RAG's tables lie in ``trip_rag`` there, one compressed
file a corpus. ``keep FOLDER CORPUS`` puts the report there that ``lethe bench trip-rag --output FOLDER``
wrote, ``--pages FOLDER`` writes all tables and plots of each corpus as HTML, and ``--check`` fails where the
page is stale.
"""

import argparse
import json
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from benchmarks import yardstick
from benchmarks.kept import read, write_packed
from benchmarks.results_tables import tables_of
from eval.reports.comparison import DEFINITIONS
from eval.reports.files import report_folder, write_comparison
from eval.studies.compare.figures import with_comparisons
from eval.studies.compare.report import TripRagReport
from models.errors import LetheError

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TEMPLATE = DOCS / "results.template.md"
PAGE = DOCS / "results.md"
RESULTS = ROOT / "benchmarks" / "results" / "trip_rag"
NAME = re.compile("[a-z0-9][a-z0-9_-]*")
"""Names are file names and column heads."""
DECIMALS = 4


def main(arguments: Sequence[str] | None = None, results: Path = RESULTS, page_path: Path = PAGE) -> int:
    """Write, check, keep, or write the pages of corpora; the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.verb == "keep":
            print(keep(Path(asked.folder), asked.corpus, results))
            return 0
        reports = kept_reports(results)
        if asked.pages:
            for name, report in reports.items():
                print(write_comparison(report, report_folder(Path(asked.pages) / name)))
            return 0
    except LetheError as error:
        print(error, file=sys.stderr)
        return 1
    wanted = page(reports)
    stale = not page_path.is_file() or page_path.read_text(encoding="utf-8") != wanted
    if stale:
        print(f"{'stale' if asked.check else 'written'}: {page_path}")
        if not asked.check:
            page_path.write_text(wanted, encoding="utf-8")
    return int(asked.check and stale)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results_page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where the page is stale")
    parser.add_argument("--pages", metavar="FOLDER", help="write every table and plot of each corpus there")
    kept = parser.add_subparsers(dest="verb").add_parser("keep", help="keep the report of a run")
    kept.add_argument("folder", help="what --output of lethe bench trip-rag named")
    kept.add_argument("corpus", help="what the page calls the corpus; a file name without its ending")
    return parser


def keep(folder: Path, corpus: str, results: Path = RESULTS) -> Path:
    """Compress a report with its rows, its figures rounded; the path of the copy.

    Comparisons are recomputed from the rows, so that changes of intervals need no new run.

    Raises:
        LetheError: The folder has no whole report, or the name cannot be that of a file.
    """
    if not NAME.fullmatch(corpus):
        raise LetheError(f"{corpus!r} is no name of a corpus: give small letters, digits, hyphens and _.")
    path = folder / "report.json"
    try:
        with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        figures = json.loads(path.read_text(encoding="utf-8"))
        compared = with_comparisons(TripRagReport.model_validate({**figures, "rows": rows}))
        report = _rounded(compared).model_copy(update={"rows": compared.rows})
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from None
    results.mkdir(parents=True, exist_ok=True)
    packed = results / f"{corpus}.json.gz"
    write_packed(packed, report.model_dump_json())
    return packed


def _rounded(report: TripRagReport) -> TripRagReport:
    rounded = json.loads(
        report.model_dump_json(exclude={"rows"}), parse_float=lambda number: round(float(number), DECIMALS)
    )
    return TripRagReport.model_validate({**rounded, "rows": ()})


def kept_reports(results: Path = RESULTS) -> dict[str, TripRagReport]:
    """The stored reports by file name, in order.

    Raises:
        LetheError: A file is not a report.
    """
    reports = {}
    for path in sorted(results.glob("*.json.gz")):
        try:
            reports[path.name.removesuffix(".json.gz")] = TripRagReport.model_validate_json(read(path))
        except (OSError, EOFError, zlib.error, ValueError) as error:
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
    """The page in Markdown."""
    tables = yardstick.tables() | tables_of(reports)
    return rendered(TEMPLATE, tables=tables, definitions=DEFINITIONS, measured=bool(reports))


def rendered(template: Path, **parts: object) -> str:
    """A template of Markdown with its parts put in."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return environment.from_string(template.read_text(encoding="utf-8")).render(**parts)


if __name__ == "__main__":
    sys.exit(main())
