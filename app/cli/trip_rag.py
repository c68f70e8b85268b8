"""``lethe bench trip-rag``."""

import argparse
from pathlib import Path

from app.bench.options import QUICK_DOCUMENTS, QUICK_PROMPTS, QUICK_QUESTIONS, Options
from app.bench.trip_rag import trip_rag
from app.cli.console import console, current_phase_on, message, progress, result
from app.cli.given import services_of
from app.compose import Services
from eval.corpora.bench_corpus import Selection
from eval.corpora.loaders import load
from eval.report_files import report_folder
from eval.trip_rag.files import write_report
from eval.trip_rag.table import methods_table
from ingest.protocols import Encoder
from models.catalog import ModelRef
from models.errors import ConfigurationError


def run(arguments: argparse.Namespace) -> int:
    """A table on standard error, the figures as one JSON line, and files on request."""
    services = services_of(arguments)
    if services.policy.name != "trip":
        raise ConfigurationError(
            f"The benchmark compares trip with every other policy, and this is {services.policy.name}: "
            "leave --policy away, or name a file of a trip policy."
        )
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    bench = load(arguments.corpus, Path(arguments.path), _selection(arguments))
    options = _options(arguments)
    with progress("done") as bar:
        report = trip_rag(
            services,
            bench,
            options,
            current_phase_on(bar),
            further=_further(services, arguments.encoders or ""),
            folder=folder,
        )
    console().print(methods_table(report))
    for name, reason in report.absent.items():
        message(f"{name} is absent: {reason}")
    result(report.model_dump(mode="json", exclude={"rows", "sweep", "grid"}))
    if folder:
        message(f"report: {write_report(report, folder)}")
    return 0


def _selection(arguments: argparse.Namespace) -> Selection:
    quick = arguments.quick
    return Selection(
        seed=arguments.seed,
        most_documents=arguments.documents or (QUICK_DOCUMENTS if quick else None),
        most_questions=arguments.questions or (QUICK_QUESTIONS if quick else None),
        asked_share=arguments.asked_share,
        split=arguments.split,
        questions_file=Path(arguments.questions_file) if arguments.questions_file else None,
    )


def _options(arguments: argparse.Namespace) -> Options:
    prompts = arguments.prompts or (QUICK_PROMPTS if arguments.quick else Options().prompts)
    return Options(arguments.seed, prompts, thorough=not arguments.quick)


def _further(services: Services, names: str) -> list[Encoder]:
    """Encoders by a folder, a hub id or the word embedded."""
    encoders = []
    for name in filter(None, map(str.strip, names.split(","))):
        settings = services.settings.model_copy(update={"encoder": _reference(name)})
        encoders.append(Services(settings).encoder)
    return encoders


def _reference(name: str) -> ModelRef:
    if name == "embedded":
        return ModelRef()
    return ModelRef(source="path" if Path(name).is_dir() else "hub", name=name)
