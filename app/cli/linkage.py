"""``lethe bench linkage``: which sanitized documents a few known claims lead to."""

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Literal

from app.cli.asking import also_of, asker_of
from app.cli.benches import bench, folder_of
from app.cli.console import message
from app.cli.given import check_compared, data_of
from app.compose import system_of
from app.settings.report import run_settings
from eval.corpora.corpus import Selection
from eval.reports.linkage import markdown
from eval.studies.linkage.report import PRESETS, Attack, material
from eval.studies.linkage.study import QUICK_DOCUMENTS, Options, measure_linkage
from eval.tasks.linkage import JudgeName
from models.errors import ConfigurationError


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables, figures and rows as files.

    1 if a method could not sanitize every document: its figures are then incomplete.
    """
    data = data_of(arguments)
    system = system_of(data.settings)
    check_compared(system.policy)
    folder = folder_of(arguments)
    found = material(
        arguments.corpus,
        Path(arguments.path),
        _selection(arguments, data.settings.ingest.follow_links),
        data.public_ids,
        Path(arguments.held_out) if arguments.held_out else None,
    )
    with ExitStack() as stack:
        asker = asker_of(arguments, data, folder, stack)
        options = Options(
            _attack(arguments),
            arguments.seed,
            not arguments.quick,
            _judge(arguments),
            also_of(arguments, asker, system.detector.name),
            asker,
        )
        made_with = run_settings(data.settings)
        report = bench(
            arguments,
            lambda reported: measure_linkage(
                system, found, options, reported, message, folder=folder, made_with=made_with
            ),
            markdown,
            folder,
        )
    return 1 if any(each.failed for each in report.methods) else 0


def _judge(arguments: argparse.Namespace) -> JudgeName | None:
    """The judge by its name; None for the language model, which judges unless another is named."""
    named: JudgeName | Literal["model"] = arguments.judge or ("model" if arguments.ask_model else "lexical")
    if named != "model":
        return named
    if not arguments.ask_model:
        raise ConfigurationError("--judge model is the language model: add --ask-model.")
    return None


def _attack(arguments: argparse.Namespace) -> Attack:
    """The attack of a version of the paper, with the parts that were named instead of its own."""
    parts = {
        "linker": arguments.linker,
        "choice": arguments.known,
        "k": arguments.k,
        "words": arguments.words,
    }
    named = {name: value for name, value in parts.items() if value is not None}
    return replace(PRESETS[arguments.version_of_paper], **named)


def _selection(arguments: argparse.Namespace, follow_links: bool) -> Selection:
    most = arguments.documents or (QUICK_DOCUMENTS if arguments.quick else None)
    return Selection(
        seed=arguments.seed, most_documents=most, split=arguments.split, follow_links=follow_links
    )
