"""``lethe bench``: how good the detectors and the privacy-risk models are, on a user's own corpora."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.cli.attack import phases_on
from app.cli.console import message, progress
from app.cli.given import services_of
from app.compose import Services
from app.provenance import commit_here
from app.settings import DetectorSettings, Settings
from eval.detection import bench
from eval.detection import report as detection
from eval.detection.extras import Generalizer, LabelFactory, changed_by
from eval.detection.table import markdown as detection_markdown
from eval.report_files import report_folder
from eval.risk import report as risk
from eval.risk.measure import measure
from eval.risk.table import markdown as risk_markdown
from ingest.documents import Document, Span
from ingest.protocols import EntityDetector, RiskModel
from ingest.risk_prior import RiskPrior
from models.errors import ConfigurationError, LetheError
from models.trained import is_trained
from models.training.rubric import held_out, shipped_snippets

COLUMNS = {"embedded": "lethe", "recall": "lethe, recall profile", "patterns": "patterns and rules"}
"""What ``--columns`` calls a detector, and what the tables call it."""

UNKNOWN = "unknown"


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request they and the figures as files too."""
    data = Path(arguments.data)
    if not data.is_dir():
        raise ConfigurationError(f"{data} is no folder: name the one in which each corpus has its own.")
    services = services_of(arguments)
    columns = _columns(arguments.columns, services.settings)
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    commit = arguments.commit or commit_here() or UNKNOWN
    with progress("done") as bar:
        told = phases_on(bar)
        found = _detection(columns, data, arguments.corpus, told, commit)
        snippets = shipped_snippets(data)
        judged = measure(
            _risk_models(services), held_out(snippets)[1], told, scored_twice=snippets, commit=commit
        )
    tables = f"## Detection\n\n{detection_markdown(found)}\n## Privacy risk\n\n{risk_markdown(judged)}"
    sys.stdout.write(tables)
    if folder:
        _write(folder, detection.as_json(found), risk.as_json(judged), tables)
        message(f"figures: {folder}")
    return 0


def _columns(asked: str | None, settings: Settings) -> dict[str, Services]:
    """For each detector that is measured, by its name in the tables, the system that it is part of."""
    chosen = list(COLUMNS) if asked is None else [name.strip() for name in asked.split(",")]
    unknown = sorted(set(chosen) - set(COLUMNS))
    if unknown:
        raise ConfigurationError(
            f"--columns: there is no {', '.join(unknown)}; name some of {', '.join(COLUMNS)}, with commas."
        )
    if not _is_ours(settings.detector) and "recall" in chosen:
        if asked is not None:
            raise ConfigurationError(
                "--columns: the detector in the settings has no recall profile; leave recall out."
            )
        chosen.remove("recall")
    return {COLUMNS[name]: Services(_settings_of(name, settings)) for name in COLUMNS if name in chosen}


def _settings_of(column: str, settings: Settings) -> Settings:
    changes: Mapping[str, Mapping[str, object]] = {
        "embedded": {},
        # A threshold in the settings would stand above that of the profile.
        "recall": {"profile": "recall", "threshold": None},
        "patterns": {"learned": False},
    }
    detector = settings.detector.model_copy(update=dict(changes[column]))
    return settings.model_copy(update={"detector": detector})


def _is_ours(chosen: DetectorSettings) -> bool:
    """Whether a model finds entities that has fitted thresholds and takes any label."""
    embedded = chosen.model.source == "embedded" or is_trained(Path(chosen.model.name), "detector")
    return chosen.learned and embedded


def _detection(
    columns: Mapping[str, Services],
    data: Path,
    corpora: Sequence[str] | None,
    told: bench.Progress,
    commit: str,
) -> detection.DetectionReport:
    return bench.run(
        {name: services.detector for name, services in columns.items()},
        data,
        told,
        for_labels={
            name: _factory(services.settings.detector)
            for name, services in columns.items()
            if _is_ours(services.settings.detector)
        },
        generalizers={name: _generalizer(services) for name, services in columns.items()},
        corpora=corpora,
        commit=commit,
    )


def _factory(chosen: DetectorSettings) -> LabelFactory:
    """The model of the settings, asked for other labels and without patterns and rules beside it."""

    def made(labels: Sequence[str]) -> EntityDetector:
        from ingest.learned import LearnedDetector
        from models.new_labels import load_finder

        return LearnedDetector(load_finder(chosen.model, labels, chosen.profile, chosen.threshold))

    return made


def _generalizer(services: Services) -> Generalizer:
    """What the sanitizer changes; its parts are built when it is first asked."""

    def changed(documents: Sequence[Document]) -> Sequence[Sequence[Span] | None]:
        return changed_by(services.sanitizer())(documents)

    return changed


def _risk_models(services: Services) -> dict[str, RiskModel]:
    prior: dict[str, RiskModel] = {"prior": RiskPrior()}
    return prior if services.settings.risk.kind == "prior" else {"learned": services.risk, **prior}


def _write(folder: Path, found: Mapping[str, Any], judged: Mapping[str, Any], tables: str) -> None:
    try:
        for name, report in (("detection.json", found), ("risk.json", judged)):
            (folder / name).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        (folder / "tables.md").write_text(tables, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(
            f"{folder}: the figures could not be written ({reason}). Name a folder that can be."
        ) from None
