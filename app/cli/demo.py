"""``lethe demo``: ingest, ask and audit the bundled corpus, with comments on the terminal."""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count, islice
from pathlib import Path

from app.auditing import audit_of
from app.cli.console import console, current_phase_on, message, progress, result_beside_table, show
from app.cli.trip_rag import all_sanitized
from app.compose import system_of
from app.data_dir import DataDir
from app.demo import corpus_path, questions
from app.explaining import fitting
from app.ingesting import ingest
from app.settings.load import load_settings
from app.settings.report import run_settings
from eval.corpora.corpus import Corpus, Selection, gold_rows, read_corpus, under_public_ids
from eval.corpora.loaders import load
from eval.reports.audit import audit_table
from eval.reports.comparison import methods_table
from eval.reports.files import report_folder, write_audit, write_comparison
from eval.studies.audit.options import Options as AuditOptions
from eval.studies.audit.report import AuditReport
from eval.studies.compare.study import QUICK_DOCUMENTS, QUICK_PROMPTS, QUICK_QUESTIONS, Options, trip_rag
from ingest.documents import Action, Document
from ingest.pipeline import Tally
from ingest.read.reading import Fields
from ingest.read.sources import read_documents, total_bytes
from retrieval.system import System

COLLECTION = "demo"
SEED = 0
SHOWN = 12
"""Documents of which it is shown how many people fit them."""
ALL_MINUTES, AUDIT_MINUTES = "4 to 11", "2 to 7"
"""On two cores, idle ones to ones with other work: the whole demo, and the demo without the comparison."""


def run(arguments: argparse.Namespace) -> int:
    """Run every step; the figures of the audit are one JSON line on standard output. 1 if a step failed."""
    started = time.monotonic()
    compares = not arguments.no_comparison
    message(_how_long(compares))
    output = Path(arguments.output)
    data_dir = Path(arguments.data_dir or output / "data")
    data = DataDir(load_settings({"data_dir": str(data_dir), "ingest.keep_ids": True}))
    system = system_of(data.settings)
    # A demo that was run before, perhaps by another version, is made anew.
    shutil.rmtree(data.folder(COLLECTION), ignore_errors=True)
    steps = count(1)

    def say(title: str) -> None:
        console().rule(f"{next(steps)}. {title}")

    say("Ingest an invented corpus of clinic, office and tribunal documents")
    kept = _ingest(system, data)
    say("Ask, from the command line, from a cold start")
    answered = _ask(data_dir)
    say("Audit it: attacks on it, on the originals, on fair controls")
    report, page = _audit(data, output / "audit")
    show(audit_table(report), narrow=True)
    pages = {"the audit": page}
    compared = True
    if compares:
        say("Compare it with every baseline, in a quick run of the benchmark")
        pages["every method beside the others"], compared = _compare(system, data, output / "comparison")
    say("The reports, pages that need no network")
    for what, where in pages.items():
        message(f"{what}: {where.resolve()}")
    message(f"the demo took {(time.monotonic() - started) / 60:.1f} minutes")
    result_beside_table(report.model_dump(mode="json"), arguments.json)
    return 0 if kept and answered and compared else 1


def _how_long(compares: bool) -> str:
    minutes = ALL_MINUTES if compares else AUDIT_MINUTES
    shorter = f", and {AUDIT_MINUTES} with --no-comparison" if compares else ""
    return f"the demo takes {minutes} minutes on two cores{shorter}"


def _ingest(system: System, data: DataDir) -> bool:
    path = str(corpus_path())
    with progress("documents") as bar:
        task = bar.add_task("ingest", total=total_bytes([path]), count=0)

        def on_progress(tally: Tally) -> None:
            doing = "measuring a sample" if tally.sampled else "ingest"
            bar.update(task, description=doing, completed=tally.bytes_done, count=tally.sampled or tally.read)

        tally = ingest(system, data, COLLECTION, read_documents([path]), on_progress)
    with data.open(COLLECTION) as collection:
        reasons = collection.store.entities_by_reason()
    message(
        f"{tally.kept} documents, {tally.characters:,} characters, {tally.passages} passages in "
        f"{tally.seconds:.1f} s"
    )
    for (action, reason), mentions in reasons.items():
        message(f"{mentions:6d} mentions: {action} ({reason})")
    sanitizer = system.deciding()
    for reading in islice(read_documents([path]), SHOWN):
        if isinstance(reading.item, Document):
            explanation = sanitizer.explain(reading.item)
            kept = sum(each.action is Action.KEEP for each in explanation.entities)
            stay = f"{kept} of {len(explanation.entities)} entities stay"
            message(f"{reading.item.doc_id}: {stay}; {fitting(explanation, system.policy)}")
    return not tally.failed


def _ask(data_dir: Path) -> bool:
    answered = True
    for question in questions():
        command = [sys.executable, "-m", "app.cli", "ask", question, "-c", COLLECTION]
        started = time.perf_counter()
        done = subprocess.run(
            [*command, "--data-dir", str(data_dir)], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - started
        message(f"Q: {question}")
        if done.returncode:
            for line in done.stderr.splitlines():
                message(line)
            answered = False
            continue
        answer = json.loads(done.stdout)
        message(f"A: {' '.join(answer['answer'].split())}")
        cited = ", ".join(f"[{each['mark']}] {each['doc_id']}" for each in answer["citations"])
        message(f"   {cited or 'no citation'}; {seconds:.1f} s from the command to the answer")
    return answered


def _audit(data: DataDir, folder: Path) -> tuple[AuditReport, Path]:
    """The audit with the entities that people marked, and its page."""
    path = str(corpus_path())
    gold = gold_rows([path], "entities", Fields())
    # A demo that was run before, perhaps by another version, is made anew.
    shutil.rmtree(folder, ignore_errors=True)
    with progress("done") as bar:
        reported = current_phase_on(bar)

        def originals(public_ids: Callable[[Sequence[str]], Sequence[str]]) -> Corpus:
            return read_corpus(read_documents([path]), public_ids, gold, reported)

        report = audit_of(data, COLLECTION, originals, AuditOptions("quick"), reported, report_folder(folder))
    return report, write_audit(report, folder)


def _compare(system: System, data: DataDir, folder: Path) -> tuple[Path, bool]:
    wanted = Selection(SEED, QUICK_DOCUMENTS, QUICK_QUESTIONS)
    # A demo that was run before, perhaps by another version, is made anew.
    shutil.rmtree(folder, ignore_errors=True)
    with progress("done") as bar:
        report = trip_rag(
            system,
            under_public_ids(load("demo", corpus_path(), wanted), data.public_ids),
            Options(SEED, QUICK_PROMPTS, thorough=False),
            current_phase_on(bar),
            folder=report_folder(folder),
            made_with=run_settings(data.settings),
        )
    show(methods_table(report))
    return write_comparison(report, folder), all_sanitized(report)
