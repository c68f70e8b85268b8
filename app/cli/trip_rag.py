"""``lethe bench trip-rag``."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from app.cli.console import current_phase_on, message, progress, result_beside_table, show
from app.cli.given import check_trip, command_of, data_of, dp_barts_of
from app.compose import encoder_of, system_of
from app.settings.report import files_of, run_settings
from eval.corpora.corpus import Selection, under_public_ids
from eval.corpora.loaders import load
from eval.corpora.seen import held_out
from eval.reports.comparison import methods_table
from eval.reports.files import report_folder, write_comparison
from eval.studies.compare.report import TripRagReport
from eval.studies.compare.study import QUICK_DOCUMENTS, QUICK_PROMPTS, QUICK_QUESTIONS, Options, trip_rag
from eval.targets import reading_once
from models.catalog import ModelRef


def run(arguments: argparse.Namespace) -> int:
    """A table on standard error, the figures as one JSON line, and files on request.

    1 if a method could not sanitize every document: its figures are then incomplete.
    """
    data = data_of(arguments)
    settings = data.settings
    # The generator encodes much the same sentences for every system.
    system = system_of(settings, encoder=reading_once(encoder_of(settings)), answers=True)
    check_trip(system.policy, "The benchmark compares trip with every other policy")
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    corpus = load(arguments.corpus, Path(arguments.path), _selection(arguments, settings.ingest.follow_links))
    if arguments.held_out:
        corpus = held_out(Path(arguments.held_out), corpus)
    bart = [Path(arguments.dp_bart)] if arguments.dp_bart else []
    further = list(map(_reference, _names(arguments.encoders or "")))
    with progress("done") as bar:
        report = trip_rag(
            system,
            under_public_ids(corpus, data.public_ids),
            _options(arguments),
            current_phase_on(bar),
            further=[encoder_of(settings.model_copy(update={"encoder": each})) for each in further],
            dp_barts=dp_barts_of(arguments),
            folder=folder,
            made_with=run_settings(settings, further) + repr(files_of(bart)),
        )
    report = report.model_copy(update={"command": command_of(arguments)})
    show(methods_table(report))
    for name, reason in report.absent.items():
        message(f"{name} is absent: {reason}")
    result_beside_table(report.model_dump(mode="json", exclude={"rows", "sweep", "grid"}), arguments.json)
    if folder:
        message(f"report: {write_comparison(report, folder)}")
    return 0 if all_sanitized(report) else 1


def all_sanitized(report: TripRagReport) -> bool:
    """Whether every method could sanitize every document; reports those that could not."""
    failed = failures(report)
    if failed:
        counts = ", ".join(f"{name} {count:,}" for name, count in failed.items())
        message(
            f"documents could not be sanitized and are missing from the figures of the method: {counts}. A "
            "method looks safer without its worst documents: `lethe sanitize` names them. Repair them, or "
            "leave them out."
        )
    return not failed


def failures(report: TripRagReport) -> Mapping[str, int]:
    """How many documents each failing method could not sanitize, at its worst strength."""
    found: dict[str, int] = {}
    weighted = (cell.figures for cell in report.grid)
    for each in (*report.methods, *report.ablations, *report.sweep, *weighted):
        found[each.method] = max(found.get(each.method, 0), each.documents_failed)
    for planted in report.canaries:
        found[planted.method] = max(found.get(planted.method, 0), planted.documents_failed)
    return {name: count for name, count in found.items() if count}


def _selection(arguments: argparse.Namespace, follow_links: bool) -> Selection:
    quick = arguments.quick
    return Selection(
        seed=arguments.seed,
        most_documents=arguments.documents or (QUICK_DOCUMENTS if quick else None),
        most_questions=arguments.questions or (QUICK_QUESTIONS if quick else None),
        asked_share=arguments.asked_share,
        split=arguments.split,
        questions_file=Path(arguments.questions_file) if arguments.questions_file else None,
        follow_links=follow_links,
    )


def _options(arguments: argparse.Namespace) -> Options:
    prompts = arguments.prompts or (QUICK_PROMPTS if arguments.quick else Options().prompts)
    return Options(arguments.seed, prompts, not arguments.quick)


def _names(encoders: str) -> list[str]:
    return list(filter(None, map(str.strip, encoders.split(","))))


def _reference(name: str) -> ModelRef:
    """An encoder by a folder, a hub id or the word embedded."""
    if name == "embedded":
        return ModelRef()
    return ModelRef(source="path" if Path(name).is_dir() else "hub", name=name)
