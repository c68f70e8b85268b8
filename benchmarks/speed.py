"""Speed of sanitizing and of an ingest, by number format and processes, and what the format changes.

``python -m benchmarks.speed DATA`` sanitizes documents that the defaults were not chosen on, in one thread
and both formats, and the gold documents; then ``lethe ingest`` takes the dialogues with one process and with
one for each core, and short commands are timed. Writes ``benchmarks/results/speed.json`` and docs/speed.md;
``--part`` measures one part anew, ``--page`` writes the page alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any, get_args

from app.compose import system_of
from app.machine import cores
from app.settings.load import load_settings
from benchmarks.results_page import DOCS, rendered
from benchmarks.searching import corpora
from benchmarks.yardstick import ASKED, CORPORA
from eval.corpora.marked import with_seen
from eval.measures.uncertainty import Estimate, clustered_share
from eval.provenance import commit_here, provenance_here
from eval.reports.render import markdown_table
from eval.reports.schema import Table, estimate_cell, table
from eval.tasks.marks import COVERED, MARKS, TOUCHED, figure, mark_counts
from ingest.documents import Action, Document, SanitizedDocument
from ingest.pipeline import Limits, batches
from ingest.scoring.scale import EMBEDDED_SCALE
from models.encoders.numbers import Numbers
from retrieval.system import System

RESULT = Path(__file__).parent / "results" / "speed.json"
PAGE, TEMPLATE = DOCS / "speed.md", DOCS / "speed.template.md"
FORMATS: Sequence[Numbers] = get_args(Numbers)
DOCUMENTS = {"mts_dialog": 89, "aci_bench": 12, "aeslc": 120}
STARTS = 7
COPIES = 4
"""How often the dialogues are taken into the ingest, each time with other words in front."""


def main() -> None:
    """Measure, write the figures and the page."""
    parser = argparse.ArgumentParser(description="Speed by number format and processes.")
    parser.add_argument("data", type=Path, nargs="?", help="the folder of the public corpora")
    parser.add_argument("--part", choices=tuple(PARTS), help="the part to measure; without it all")
    parser.add_argument("--page", action="store_true", help="rewrite the page from the figures")
    given = parser.parse_args()
    if given.data is not None and not given.page:
        commit = commit_here()
        figures = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
        for name in [given.part] if given.part else PARTS:
            found = PARTS[name](given.data)
            figures[name] = {
                "provenance": provenance_here({}, commit).model_dump(mode="json"),
                "rows": _rounded(found),
            }
            print(name, file=sys.stderr, flush=True)
        RESULT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def texts(data: Path) -> dict[str, Any]:
    """Speed and decisions in both formats, by corpus."""
    systems = _systems()
    return {
        corpus.name: _compared(systems, corpus.documents[: DOCUMENTS[corpus.name]])
        for corpus in corpora(data, chosen_on=False)
    }


def gold(data: Path) -> dict[str, Any]:
    """What must go and went, in both formats."""
    systems = _systems()
    return {name: _gold(systems, data, name) for name in CORPORA}


def ingests(data: Path) -> list[dict[str, Any]]:
    """The speed of the whole command."""
    documents = next(corpora(data, chosen_on=False)).documents[: DOCUMENTS["mts_dialog"]]
    return [_ingested(documents, numbers, workers) for numbers in FORMATS for workers in sorted({1, cores()})]


def starts(data: Path) -> list[dict[str, Any]]:
    """Seconds of short commands as whole processes, on the first dialogue."""
    document = next(corpora(data, chosen_on=False)).documents[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document.txt"
        path.write_text(document.text, encoding="utf-8")
        _run(["ingest", str(path), "-c", "start"], folder)
        commands = {
            "lethe sanitize FILE": ["sanitize", str(path)],
            "lethe search QUESTION": ["search", "-c", "start", "What was found?"],
            "lethe ask QUESTION": ["ask", "-c", "start", "What was found?"],
        }
        found = []
        for name, command in commands.items():
            seconds = []
            for _ in range(STARTS):
                began = time.monotonic()
                _run(command, folder)
                seconds.append(time.monotonic() - began)
            found.append({"command": name, "runs": STARTS, "seconds": sorted(seconds)})
    return found


PARTS: Mapping[str, Callable[[Path], Any]] = {
    "texts": texts,
    "gold": gold,
    "ingest": ingests,
    "start": starts,
}


def _systems() -> dict[Numbers, System]:
    return {each: _system(each) for each in FORMATS}


def _system(numbers: Numbers) -> System:
    system = system_of(load_settings({"threads": 1, "numbers": numbers}))
    return replace(system, scale=EMBEDDED_SCALE, language="any")


def _sanitized(system: System, documents: Sequence[Document]) -> list[SanitizedDocument]:
    sanitizer = system.sanitizer()
    found = [each for batch in batches(documents, Limits()) for each in sanitizer.sanitize(batch)]
    assert all(isinstance(each, SanitizedDocument) for each in found)
    return [each for each in found if isinstance(each, SanitizedDocument)]


def _compared(systems: Mapping[Numbers, System], documents: Sequence[Document]) -> dict[str, Any]:
    characters = sum(len(each.text) for each in documents)
    speed, made = {}, {}
    for name, system in systems.items():
        _sanitized(system, documents[:2])
        began = time.process_time()
        made[name] = _sanitized(system, documents)
        speed[name] = characters / (time.process_time() - began)
    spans = [
        [{each.entity.span for each in one.decisions if each.action is not Action.KEEP} for one in made[name]]
        for name in systems
    ]
    same = [len(one & other) for one, other in zip(*spans, strict=True)]
    every = [len(one | other) for one, other in zip(*spans, strict=True)]
    alike = sum(one.text == other.text for one, other in zip(*made.values(), strict=True))
    return {
        "documents": len(documents),
        "characters": characters,
        "characters_per_second": speed,
        "spans": sum(every),
        "same_spans": asdict(clustered_share(same, every)),
        "same_texts": alike,
    }


def _gold(systems: Mapping[Numbers, System], data: Path, name: str) -> dict[str, Any]:
    corpus = with_seen(data, name)
    found: dict[str, Any] = {}
    for numbers, system in systems.items():
        made = {each.doc_id: each for each in _sanitized(system, corpus.documents)}
        counts = [
            mark_counts(each, made[each.document.doc_id])
            for documents in corpus.by_annotator.values()
            for each in documents
        ]
        found[numbers] = {
            kind: [
                sum(each.get(figure((kind, 2), what), 0) for each in counts)
                for what in (TOUCHED, COVERED, MARKS)
            ]
            for kind in ("DIRECT", "QUASI")
        }
    return found


def _ingested(documents: Sequence[Document], numbers: str, workers: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.jsonl"
        with records.open("w", encoding="utf-8") as lines:
            for copy in range(COPIES):
                for each in documents:
                    row = {"id": f"{copy}-{each.doc_id}", "text": f"Copy {copy}.\n{each.text}"}
                    lines.write(json.dumps(row) + "\n")
        command = ["ingest", str(records), "-c", "speed", "--workers", str(workers)]
        told = json.loads(_run(command, folder, LETHE_NUMBERS=numbers))
    return {
        "numbers": numbers,
        "workers": workers,
        "documents": told["documents_kept"],
        "characters": told["characters"],
        "characters_per_second": told["characters_per_second"],
    }


def _run(command: Sequence[str], folder: str, **more: str) -> bytes:
    """What a ``lethe`` command writes, with its data in a folder."""
    environment = {**os.environ, "LETHE_DATA_DIR": folder, **more}
    whole = [sys.executable, "-m", "app.cli", *command]
    return subprocess.run(whole, env=environment, capture_output=True, check=True).stdout


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 4)
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case list():
            return [_rounded(each) for each in value]
        case _:
            return value


def page() -> str:
    """The page in Markdown."""
    found = json.loads(RESULT.read_text(encoding="utf-8"))
    shown: Mapping[str, Callable[[Any], Table]] = {
        "texts": _texts,
        "gold": _marks,
        "ingest": _ingests,
        "start": _starts,
    }
    tables = {
        name: markdown_table(made(found[name]["rows"])).rstrip()
        + "\n\n"
        + _measured(found[name]["provenance"])
        for name, made in shown.items()
    }
    return rendered(TEMPLATE, tables=tables)


def _measured(made: Mapping[str, Any]) -> str:
    return f"Measured on {made['date'][:10]}, {made['hardware']}, commit {made['commit']}."


def _texts(found: Mapping[str, Any]) -> Table:
    return table(
        "",
        list(found.items()),
        [
            ("", "documents", lambda row: f"{ASKED[row[0]]}, {row[1]['documents']}"),
            ("", "characters", lambda row: f"{row[1]['characters']:,}"),
            *(
                (
                    "",
                    f"{each}, characters a second",
                    lambda row, each=each: f"{row[1]['characters_per_second'][each]:,.0f}",
                )
                for each in FORMATS
            ),
            ("", "replaced spans", lambda row: f"{row[1]['spans']:,}"),
            ("", "the same in both", lambda row: estimate_cell(Estimate(**row[1]["same_spans"]))),
            ("", "texts the same", lambda row: f"{row[1]['same_texts']} of {row[1]['documents']}"),
        ],
    )


def _marks(found: Mapping[str, Any]) -> Table:
    rows = [(name, kind, found[name]) for name in found for kind in ("DIRECT", "QUASI")]
    return table(
        "",
        rows,
        [
            ("", "what must go", lambda row: f"{CORPORA[row[0]]}, {row[1]}"),
            ("", "marks", lambda row: f"{row[2][FORMATS[0]][row[1]][2]:,.0f}"),
            *(
                (
                    "",
                    f"{each}: touched, covered",
                    lambda row, each=each: ", ".join(f"{n:,.0f}" for n in row[2][each][row[1]][:2]),
                )
                for each in FORMATS
            ),
        ],
    )


def _ingests(found: Sequence[Mapping[str, Any]]) -> Table:
    return table(
        "",
        found,
        [
            ("", "processes", lambda row: str(row["workers"])),
            ("", "numbers", lambda row: row["numbers"]),
            ("", "documents", lambda row: f"{row['documents']:,}"),
            ("", "characters", lambda row: f"{row['characters']:,}"),
            ("", "characters a second", lambda row: f"{row['characters_per_second']:,}"),
        ],
    )


def _starts(found: Sequence[Mapping[str, Any]]) -> Table:
    return table(
        "",
        found,
        [
            ("", "command", lambda row: f"`{row['command']}`"),
            ("", "runs", lambda row: str(row["runs"])),
            ("", "seconds, least", lambda row: f"{row['seconds'][0]:.2f}"),
            ("", "median", lambda row: f"{median(row['seconds']):.2f}"),
        ],
    )


if __name__ == "__main__":
    main()
