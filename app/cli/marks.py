"""``lethe bench marks``: what methods do to what annotators marked."""

import argparse

from app.cli.benches import bench, folder_of
from app.cli.console import message
from app.cli.given import check_compared, corpora_in, settings_of
from app.compose import system_of
from app.demo import corpus_path
from app.settings.report import run_settings
from eval.corpora.marked import marked_corpora
from eval.studies.marks.study import Options, markdown, measure_marks


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables, figures and rows as files.

    1 if a method could not sanitize every document: its figures are then incomplete.
    """
    data = corpora_in(arguments)
    settings = settings_of(arguments)
    system = system_of(settings)
    check_compared(system.policy)
    folder = folder_of(arguments)
    options = Options(
        arguments.corpus or marked_corpora(), arguments.seed, arguments.learned, demo=corpus_path()
    )
    report = bench(
        arguments,
        lambda reported: measure_marks(
            system, data, options, reported, folder=folder, made_with=run_settings(settings)
        ),
        markdown,
        folder,
    )
    for name, reason in report.absent.items():
        message(f"{name} is absent: {reason}")
    return 1 if any(part.failed for corpus in report.corpora for part in corpus.parts) else 0
