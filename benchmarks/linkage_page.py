"""``python -m benchmarks.linkage_page`` writes docs/linkage.md from its template and the kept figures.

``keep FOLDER`` puts the report there that ``lethe bench linkage --output FOLDER`` wrote; figures are rounded.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.kept import keep, read
from benchmarks.models_page import RESULTS
from benchmarks.results_page import DOCS, rendered
from eval.measures.uncertainty import Estimate
from eval.reports.linkage import answering, facts, overlap, tables
from eval.studies.linkage.report import Attack, LinkageReport, MethodFigures
from eval.studies.marks.methods import LETHE, ORIGIN, REDACT

PAGE, TEMPLATE = DOCS / "linkage.md", DOCS / "linkage.template.md"
KEPT = RESULTS / "linkage.json.gz"
LEAST_LINKED, MOST_ABOVE, TIMES = 0.95, 0.03, 1.5
"""What was aimed at: how often unsanitized documents are linked by claims in their own words, how far Lethe's
rate may be above that of redaction, and how many times redaction's facts it keeps."""


def main(arguments: Sequence[str] = ()) -> None:
    """Rewrite the page; first keep a report, if one is named."""
    match list(arguments):
        case ["keep", folder]:
            keep(Path(folder) / "linkage.json", LinkageReport, KEPT)
        case []:
            pass
        case _:
            raise SystemExit("usage: python -m benchmarks.linkage_page [keep FOLDER]")
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    """The page in Markdown."""
    report = LinkageReport.model_validate_json(read(KEPT))
    return rendered(
        TEMPLATE,
        tables=tables(report),
        overlap=overlap(report),
        answering=answering(report),
        facts=facts(report),
        command=report.command,
        judge=report.engines["judge"],
        aims=aims(report),
    )


def aims(report: LinkageReport) -> list[str]:
    """What was aimed at, what came out, and whether it was reached."""
    own = next(each for each in report.attacks if each.attack == _in_own_words(report.main))
    linked = next(each for each in own.outcomes if each.method == ORIGIN).linkage.rate
    lethe = _of(report, LETHE)
    above, times = lethe.rate_minus_redact, lethe.facts_over_redact
    rate, redacted = lethe.main.linkage.rate, _of(report, REDACT).main.linkage.rate
    return [
        _aim(
            f"unsanitized documents are linked by {report.main.k} claims in their own words in at least "
            f"{LEAST_LINKED:.0%}",
            linked,
            (linked.value or 0) >= LEAST_LINKED,
        ),
        _aim(
            f"`lethe` ({rate.value:.3f}) is linked right at most {MOST_ABOVE} more often than redaction "
            f"({redacted.value:.3f})",
            above,
            above.value is not None and above.value <= MOST_ABOVE,
        ),
        _aim(f"and keeps at least {TIMES} times its facts", times, (times.value or 0) >= TIMES),
    ]


def _in_own_words(main: Attack) -> Attack:
    return Attack(main.linker, main.choice, main.k, "own")


def _of(report: LinkageReport, method: str) -> MethodFigures:
    return next(each for each in report.methods if each.method == method)


def _aim(words: str, found: Estimate, reached: bool) -> str:
    assert found.value is not None
    ends = "" if found.interval is None else " ({:.3f} to {:.3f})".format(*found.interval)
    return f"{words}: it is {found.value:.3f}{ends}, {'reached' if reached else '**missed**'}"


if __name__ == "__main__":
    main(sys.argv[1:])
