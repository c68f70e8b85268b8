"""``python -m benchmarks.papers_page`` writes docs/papers.md: published figures, and ours in the same rows.

``keep FOLDER`` keeps the report of ``lethe bench attributes`` or ``lethe bench linkage`` there, rounded.
``answered_threshold.json`` is what ``lethe calibrate --ask-model`` printed, with documents, commit and date
put in by hand. What IncogniText printed (tables 1 and 2) stands here, the rest in ``eval/reports/words``.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from benchmarks.kept import keep, read
from benchmarks.models_page import RESULTS
from benchmarks.results_page import DOCS, rendered
from eval.measures.claim_distance import FAITHFUL, UTILITY
from eval.measures.inferred import Inferred
from eval.measures.uncertainty import Estimate
from eval.reports.render import markdown_table
from eval.reports.schema import DASH, PERCENT, Cell, Table, estimate_cell
from eval.reports.words import words
from eval.studies.attributes import ALL, AttributesReport, MethodFigures
from eval.studies.linkage.report import LinkageReport

PAGE, TEMPLATE = DOCS / "papers.md", DOCS / "papers.template.md"
KEPT: Mapping[str, tuple[Path, type[BaseModel]]] = {
    "attributes.json": (RESULTS / "answered_attributes.json.gz", AttributesReport),
    "linkage.json": (RESULTS / "answered_linkage.json.gz", LinkageReport),
}
INCOGNITEXT: Mapping[str, Sequence[str]] = {
    "origin": ("71.2", "100", "100"),
    "iterative": ("26", "68", "86"),
    "feedback": ("43.2", "87.9", "98.8"),
    "feedback-early": ("36.0", "90.0", "99.0"),
    "target-inference": ("9.5", "81.3", "92.6"),
    "target-truth": ("7.8", "78.7", "92.8"),
    "target-hinted": ("8.0", "77.5", "91.8"),
    "incognitext": ("7.2", "80.7", "92.2"),
    **dict.fromkeys(("redact", "lethe", "search"), (DASH, DASH, DASH)),
}
"""The attacker's accuracy, ROUGE and utility in percent: with Phi-3-small, *iterative* by its own authors."""
_Cells = Sequence[Cell | str]
LINKED = {"no sanitization": "origin", "sanitize and paraphrase": "sanitize-paraphrase"}
"""Methods of A False Sense of Privacy by our names; the others of each stand alone."""


def main(arguments: Sequence[str] = ()) -> None:
    """Rewrite the page; first keep the report of a run, if its folder is named."""
    match list(arguments):
        case ["keep", folder]:
            for name, (path, model) in KEPT.items():
                if (Path(folder) / name).is_file():
                    keep(Path(folder) / name, model, path)
        case []:
            pass
        case _:
            raise SystemExit("usage: python -m benchmarks.papers_page [keep FOLDER]")
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    """The page in Markdown."""
    inferred = AttributesReport.model_validate_json(read(KEPT["attributes.json"][0]))
    linked = LinkageReport.model_validate_json(read(KEPT["linkage.json"][0]))
    return rendered(
        TEMPLATE,
        incognitext=markdown_table(incognitext_table(inferred)),
        linkage=markdown_table(linkage_table(linked)),
        inferred=inferred,
        linked=linked,
        faithful=_share(_of(inferred, "incognitext").judged[FAITHFUL]),
        prior=_share(_right(inferred, "origin").prior),
        three=_share(_right(inferred, "feedback").first_three),
        threshold=json.loads(read(RESULTS / "answered_threshold.json")),
        rounds=_of(inferred, "incognitext").rounds,
        asked={name: int(each) for name, each in inferred.usage.items()},
    )


def incognitext_table(report: AttributesReport) -> Table:
    """What a language model infers, and what stays of the texts."""
    ours = {
        method: (
            estimate_cell(_right(report, method).strict, PERCENT),
            *(
                estimate_cell(each)
                for each in (_of(report, method).rouge, _of(report, method).judged[UTILITY])
            ),
        )
        for method in INCOGNITEXT
    }
    return _beside(("attacker right, %", "ROUGE", "utility"), INCOGNITEXT, ours)


def _of(report: AttributesReport, method: str) -> MethodFigures:
    return next(each for each in report.methods if each.method == method)


def _right(report: AttributesReport, method: str) -> Inferred:
    """What the language model, the last attacker, infers of all attributes."""
    return _of(report, method).attacks[-1].by_attribute[ALL]


def _share(found: Estimate) -> str:
    return DASH if found.value is None else f"{found.value:.0%}"


def linkage_table(report: LinkageReport) -> Table:
    """Links by three random claims, distances of claims, right answers and coherence."""
    printed = words("linkage")
    linked = {name: row[1] for name, row in printed["linkage"].items()}
    published = {
        LINKED.get(name, name): [*map(_printed, (linked.get(name), row[0], row[2], row[3], None))]
        for name, row in printed["medqa"].items()
        if not name.startswith("synthesis")
    }
    ours = {
        each.method: [
            _cell(each.main.linkage.rate),
            *map(_cell, (each.main.lexical.mean, each.main.distance.mean, each.accuracy, each.coherence)),
        ]
        for each in report.methods
    }
    heads = ("linked right", "lexical distance", "semantic distance", "right answers", "coherence")
    return _beside(heads, published, ours)


def _beside(heads: Sequence[str], published: Mapping[str, _Cells], ours: Mapping[str, _Cells]) -> Table:
    """A row for each method, with what is printed before what is measured here."""
    missing: _Cells = [DASH] * len(heads)
    rows: list[list[Cell | str]] = [
        [
            method,
            *chain.from_iterable(zip(published.get(method, missing), ours.get(method, missing), strict=True)),
        ]
        for method in dict.fromkeys((*published, *ours))
    ]
    return Table("", ["method", *(f"{who}{head}" for head in heads for who in ("published: ", ""))], rows)


def _printed(value: float | None) -> str:
    return DASH if value is None or math.isnan(value) else f"{value:.2f}"


def _cell(found: Estimate | None) -> Cell:
    return Cell(DASH) if found is None or found.value is None else estimate_cell(found)


if __name__ == "__main__":
    main(sys.argv[1:])
