"""``python -m benchmarks.attacks_page`` writes docs/attacks.md from its template and the kept figures.

``keep FOLDER`` puts the report there that ``lethe bench defences --output FOLDER`` wrote, rounded.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import protecting
from benchmarks.kept import keep, read
from benchmarks.models_page import RESULTS
from benchmarks.results_page import DOCS, rendered
from eval.measures.uncertainty import Estimate, share_of
from eval.reports.defences import commands_table, costs_table, facts, leaks_table
from eval.reports.render import markdown_table
from eval.reports.schema import PERCENT, Cell, Table, estimate_cell, table
from eval.studies.defences import DefencesReport

PAGE, TEMPLATE = DOCS / "attacks.md", DOCS / "attacks.template.md"
DEFENCES, ATTRIBUTES = RESULTS / "defences.json.gz", RESULTS / "attributes.json"
ORDER = ("origin", "lethe", "redact", "rules alone", "random within rules")
KINDS = ("strict", "lenient", "first_three", "prior")
UNTOUCHED, ALL = "origin", "all"


def main(arguments: Sequence[str] = ()) -> None:
    """Rewrite the page; first keep a report, if one is named."""
    match list(arguments):
        case ["keep", folder]:
            keep(Path(folder) / "defences.json", DefencesReport, DEFENCES)
        case []:
            pass
        case _:
            raise SystemExit("usage: python -m benchmarks.attacks_page [keep FOLDER]")
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


def page() -> str:
    """The page in Markdown."""
    report = DefencesReport.model_validate_json(read(DEFENCES))
    attributes, searched = (json.loads(read(path)) for path in (ATTRIBUTES, protecting.OUTPUT))
    return rendered(
        TEMPLATE,
        facts=facts(report),
        leaks=markdown_table(leaks_table(report)),
        costs=markdown_table(costs_table(report)),
        commands=markdown_table(commands_table(report)),
        inferred=inferred_table(attributes["parts"]),
        by_attribute=attributes_table(attributes["parts"]),
        protected=protected_table(searched["parts"]),
        kept=kept_sentence(searched),
        machine=f"{attributes['provenance']['hardware']}, commit {attributes['provenance']['commit']}",
    )


def inferred_table(parts: dict[str, Any]) -> str:
    """What is inferred, all attributes together, and what is protected of people and of attributes."""
    rows = [(part, system, systems[system]) for part, systems in parts.items() for system in ORDER]
    return markdown_table(
        table(
            "Attributes inferred",
            rows,
            [
                ("", "texts", lambda row: row[0]),
                ("", "system", lambda row: row[1]),
                *(("", kind.replace("_", " "), _figure(kind)) for kind in KINDS),
                ("", "IPR", lambda row: _cell(row[2]["protection"]["individual"])),
                ("", "CPR", lambda row: _cell(row[2]["protection"]["collective"])),
            ],
        ),
        words=2,
    )


def attributes_table(parts: dict[str, Any]) -> str:
    """What is inferred of untouched texts, by attribute, beside the most frequent value."""
    rows = [
        (part, attribute, figures)
        for part, systems in parts.items()
        for attribute, figures in systems[UNTOUCHED]["inferred"].items()
        if attribute != ALL
    ]
    return markdown_table(
        table(
            "Untouched texts, by attribute",
            rows,
            [
                ("", "texts", lambda row: row[0]),
                ("", "attribute", lambda row: row[1]),
                ("", "n", lambda row: str(row[2]["strict"]["n"])),
                ("", "strict", lambda row: _cell(row[2]["strict"])),
                ("", "prior", lambda row: _cell(row[2]["prior"])),
            ],
        ),
        words=2,
    )


def _cell(values: dict[str, Any]) -> Cell:
    return estimate_cell(Estimate(**values), PERCENT)


def _figure(kind: str) -> Callable[[tuple[str, str, dict[str, Any]]], Cell]:
    return lambda row: _cell(row[2]["inferred"][ALL][kind])


def protected_table(parts: dict[str, Any]) -> str:
    """What three attackers infer before and after the search, of posts without part in its rules."""
    rows = []
    for name, own in parts["held out"]["attackers"][protecting.SAME].items():
        after = [parts["held out"]["attackers"][each][name]["after"] for each in protecting.ATTACKERS]
        shares = [share_of(round(share * own["n"]), own["n"]) for share in (own["before"], *after)]
        rows.append(
            (
                name,
                f"{own['n']:,}",
                f"{own['majority']:.1%}",
                *(estimate_cell(each, PERCENT) for each in shares),
            )
        )
    head = (
        "attribute",
        "posts",
        "most frequent",
        "before",
        *(f"after: {each}" for each in protecting.ATTACKERS),
    )
    return markdown_table(Table("", head, rows))


def kept_sentence(report: dict[str, Any]) -> str:
    """What stays of the texts, and how fast the search was."""
    held = report["parts"]["held out"]
    made = report["provenance"]
    return (
        f"{held['posts']:,} posts: ROUGE-L {held['rouge_l']:.3f}, cosine {held['cosine']:.3f} with their "
        f"originals; {report['characters_a_second']:,} characters a second; "
        f"{made['hardware']}, commit {made['commit']}."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
