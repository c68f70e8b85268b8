"""``lethe demo``: ingest, ask and attack the bundled corpus, and tell it as a story on the terminal."""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from app.attacking import extraction
from app.bench.options import QUICK_DOCUMENTS, QUICK_PROMPTS, QUICK_QUESTIONS, Options
from app.bench.trip_rag import trip_rag
from app.cli.attack import phases_on
from app.cli.console import console, current_phase_on, message, progress, result
from app.cli.trip_rag import all_sanitized
from app.compose import Services
from app.corpus import read_corpus
from app.demo.corpus import corpus_path, questions
from app.ingesting import ingest
from app.settings import load_settings
from eval.attacks.extraction import Aim
from eval.attacks.suite import extraction_suite
from eval.corpora.bench_corpus import Selection
from eval.corpora.loaders import load
from eval.gold import gold_rows
from eval.report import ExtractionReport, summary
from eval.report_files import report_folder, write_report
from eval.report_table import leakage_table
from eval.trip_rag.files import write_report as write_comparison
from eval.trip_rag.table import methods_table
from ingest.pipeline import Tally
from ingest.read.sources import read_documents, total_bytes

COLLECTION = "demo"
PROMPTS_PER_AIM = 40
SEED = 0


def run(arguments: argparse.Namespace) -> int:
    """The whole job; the figures of the attack are one JSON line on standard output. 1 if a part failed."""
    output = Path(arguments.output)
    data_dir = Path(arguments.data_dir or output / "data")
    services = Services(load_settings({"data_dir": str(data_dir), "ingest.keep_ids": True}))
    # A demo that was run before, perhaps by another version, is made anew.
    shutil.rmtree(services.folder(COLLECTION), ignore_errors=True)
    say = console().rule
    say("1. Ingest an invented corpus of clinic, office and tribunal documents")
    kept = _ingest(services)
    say("2. Ask, from the command line, from a cold start")
    answered = _ask(data_dir)
    say("3. Attack it: unsanitized, fully redacted, and as Lethe keeps it")
    report = _attack(services)
    console().print(leakage_table(report))
    _, _, page = write_report(report, output / "report")
    say("4. Compare it with every baseline, in a quick run of the benchmark")
    comparison, compared = _compare(services, output / "comparison")
    say("5. The reports, pages that need no network")
    message(f"what an attacker gets: {page.resolve()}")
    message(f"every method beside the others: {comparison.resolve()}")
    result(summary(report))
    return 0 if kept and answered and compared and not report.problems else 1


def _ingest(services: Services) -> bool:
    path = str(corpus_path())
    with progress("documents") as bar:
        task = bar.add_task("ingest", total=total_bytes([path]), count=0)

        def on_progress(tally: Tally) -> None:
            doing = "measuring a sample" if tally.sampled else "ingest"
            bar.update(task, description=doing, completed=tally.bytes_read, count=tally.sampled or tally.read)

        tally = ingest(services, COLLECTION, read_documents([path]), on_progress)
    with services.open(COLLECTION) as collection:
        reasons = collection.store.entities_by_reason()
    message(
        f"{tally.kept} documents, {tally.characters:,} characters, {tally.passages} passages in "
        f"{tally.seconds:.1f} s"
    )
    for (action, reason), count in reasons.items():
        message(f"{count:6d} mentions: {action} ({reason})")
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
            message(done.stderr.strip())
            answered = False
            continue
        answer = json.loads(done.stdout)
        message(f"A: {answer['answer']}")
        cited = ", ".join(f"[{each['mark']}] {each['doc_id']}" for each in answer["citations"])
        message(f"   {cited or 'no citation'}; {seconds:.1f} s from the command to the answer")
    return answered


def _attack(services: Services) -> ExtractionReport:
    path = str(corpus_path())
    gold = gold_rows([path], "entities", "text", "id")
    suite = extraction_suite(list(Aim), PROMPTS_PER_AIM, SEED)
    with progress("done") as bar:
        told = phases_on(bar)
        corpus = read_corpus(services, read_documents([path]), gold, phases=told)
        return extraction(services, corpus, suite, collection=COLLECTION, phases=told)


def _compare(services: Services, folder: Path) -> tuple[Path, bool]:
    wanted = Selection(SEED, QUICK_DOCUMENTS, QUICK_QUESTIONS)
    # A demo that was run before, perhaps by another version, is made anew.
    shutil.rmtree(folder, ignore_errors=True)
    with progress("done") as bar:
        report = trip_rag(
            services,
            load("demo", corpus_path(), wanted),
            Options(SEED, QUICK_PROMPTS, thorough=False),
            current_phase_on(bar),
            folder=report_folder(folder),
        )
    console().print(methods_table(report))
    return write_comparison(report, folder), all_sanitized(report)
