"""``lethe bench``: measures detectors and privacy-risk models on your own corpora."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from app.cli.console import current_phase_on, message, progress
from app.cli.given import corpora_in, settings_of
from app.compose import detector_of, is_reader, reader_of, risk_of, system_of
from app.settings.load import Settings
from eval.progress import Progress as Phases
from eval.provenance import commit_here
from eval.reports.detection import markdown as detection_markdown
from eval.reports.files import report_folder
from eval.reports.risk import markdown as risk_markdown
from eval.studies.detection import study
from eval.studies.detection.tasks import Generalizer, LabelFactory, changed_by
from eval.studies.risk import measure
from ingest.documents import Document, Span
from ingest.private_files import write_private
from ingest.protocols import EntityDetector, RiskModel, Sanitizer
from ingest.scoring.prior import RiskPrior
from models.corpora.rubric import held_out, shipped_snippets
from models.errors import ConfigurationError, LetheError

COLUMNS = {"embedded": "lethe", "patterns": "patterns"}
"""What ``--columns`` calls a detector, and what the tables call it."""

UNKNOWN = "unknown"


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables and figures as files."""
    data = corpora_in(arguments)
    settings = settings_of(arguments)
    columns = _columns(arguments.columns, settings)
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    commit = arguments.commit or commit_here() or UNKNOWN
    snippets = shipped_snippets(data)
    with progress("done") as bar:
        reported = current_phase_on(bar)
        found = _detection(columns, data, arguments.corpus, reported, commit)
        judged = measure(
            _risk_models(settings), held_out(snippets)[1], reported, scored_twice=snippets, commit=commit
        )
    tables = f"## Detection\n\n{detection_markdown(found)}\n## Privacy risk\n\n{risk_markdown(judged)}"
    sys.stdout.write(tables)
    if folder:
        _write(folder, found.model_dump(mode="json"), judged.model_dump(mode="json"), tables)
        message(f"figures: {folder}")
    return 0


def _columns(asked: str | None, settings: Settings) -> dict[str, Settings]:
    """The settings of each measured detector, by its name in the tables."""
    chosen = list(COLUMNS) if asked is None else [name.strip() for name in asked.split(",")]
    unknown = sorted(set(chosen) - set(COLUMNS))
    if unknown:
        raise ConfigurationError(
            f"--columns: there is no {', '.join(unknown)}; name some of {', '.join(COLUMNS)}, with commas."
        )
    return {COLUMNS[name]: _settings_of(name, settings) for name in COLUMNS if name in chosen}


def _settings_of(column: str, settings: Settings) -> Settings:
    changes = {"learned": False} if column == "patterns" else {}
    detector = settings.detector.model_copy(update=changes)
    return settings.model_copy(update={"detector": detector})


def _detection(
    columns: Mapping[str, Settings],
    data: Path,
    corpora: Sequence[str] | None,
    reported: Phases,
    commit: str,
) -> study.DetectionReport:
    return study.run(
        {name: detector_of(settings) for name, settings in columns.items()},
        data,
        reported,
        for_labels={
            name: _factory(settings)
            for name, settings in columns.items()
            if settings.detector.learned and is_reader(settings.detector.model)
        },
        generalizers={name: _generalizer(settings) for name, settings in columns.items()},
        corpora=corpora,
        commit=commit,
    )


def _factory(settings: Settings) -> LabelFactory:
    """Detectors of the configured model alone, without patterns and rules, for given labels."""

    def made(labels: Sequence[str]) -> EntityDetector:
        from ingest.detection.reading import LabelDetector

        return LabelDetector(reader_of(settings, settings.detector.model, labels))

    return made


def _generalizer(settings: Settings) -> Generalizer:
    """The spans that the sanitizer changes; it is built at its first use."""

    @cache
    def sanitizer() -> Sanitizer:
        return system_of(settings).sanitizer()

    def changed(documents: Sequence[Document]) -> Sequence[Sequence[Span] | None]:
        return changed_by(sanitizer())(documents)

    return changed


def _risk_models(settings: Settings) -> dict[str, RiskModel]:
    prior: dict[str, RiskModel] = {"prior": RiskPrior()}
    return prior if settings.risk.kind == "prior" else {"learned": risk_of(settings), **prior}


def _write(folder: Path, found: Mapping[str, Any], judged: Mapping[str, Any], tables: str) -> None:
    try:
        for name, report in (("detection.json", found), ("risk.json", judged)):
            write_private(folder / name, json.dumps(report, indent=2) + "\n")
        write_private(folder / "tables.md", tables)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(
            f"{folder}: the figures could not be written ({reason}). Name another folder."
        ) from None
