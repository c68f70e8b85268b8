"""``lethe attack extraction | membership | custom``."""

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from app.cli.asking import asking
from app.cli.console import current_phase_on, message, progress, result_beside_table, show
from app.cli.given import data_of, fields_of, reported_readings_of
from app.compose import system_of
from app.settings.report import run_settings
from eval.attacks.extraction import Aim, attack_from, extraction_suite
from eval.corpora.corpus import gold_rows, read_corpus
from eval.documents import Attack
from eval.reports.extraction_page import leakage_table, membership_tables
from eval.reports.files import extraction_folder, report_folder, write_extraction, write_membership
from eval.studies.extraction import extraction, summary
from eval.studies.membership import Options, infer_membership
from eval.studies.membership import summary as membership_summary


def run(arguments: argparse.Namespace) -> int:
    """Run an attack: a table on standard error, its figures as one JSON line, files on request.

    1 if something keeps the figures from being a verdict: a failed document or attempt, or an unsanitized
    arm that the attack did not break.
    """
    attack = _attack(arguments)
    data = data_of(arguments)
    worst_case = arguments.generator == "verbatim"
    system = system_of(data.settings, answers=not worst_case)
    folder = extraction_folder(Path(arguments.report)) if arguments.report else None
    gold = None
    if arguments.gold_field:
        gold = gold_rows(arguments.paths, arguments.gold_field, fields_of(arguments))
    with ExitStack() as stack, progress("done") as bar:
        collection = None
        public_ids = data.public_ids
        if arguments.collection:
            collection = stack.enter_context(data.open(arguments.collection))
            public_ids = partial(data.public_ids, keep=collection.manifest.keeps_ids)
        reported = current_phase_on(bar)
        corpus = read_corpus(reported_readings_of(arguments, data.settings), public_ids, gold, reported)
        report = extraction(
            system, corpus, attack, collection=collection, worst_case=worst_case, progress=reported
        )
    show(leakage_table(report), narrow=True)
    result_beside_table(summary(report), arguments.json)
    if folder:
        page = write_extraction(report, folder)
        message(f"report: {page}")
    return 1 if report.problems else 0


def membership(arguments: argparse.Namespace) -> int:
    """Infer membership: tables on standard error, their figures as one JSON line, files on request.

    1 if something keeps the figures from being a verdict, as for ``run``.
    """
    data = data_of(arguments)
    worst_case = arguments.generator == "verbatim"
    system = system_of(data.settings, answers=not worst_case)
    folder = report_folder(Path(arguments.report)) if arguments.report else None
    with ExitStack() as stack:
        asker = None
        if system.language_model is not None and not worst_case:
            asker = asking(system.language_model, data, folder, stack)
        reported = current_phase_on(stack.enter_context(progress("done")))
        corpus = read_corpus(
            reported_readings_of(arguments, data.settings), data.public_ids, progress=reported
        )
        report = infer_membership(
            system,
            corpus,
            Options(arguments.held_out, arguments.candidates, arguments.seed),
            asker=asker,
            worst_case=worst_case,
            told=message,
            progress=reported,
            folder=folder,
            made_with=run_settings(data.settings),
        )
    for each in membership_tables(report):
        show(each)
    result_beside_table(membership_summary(report), arguments.json)
    if folder:
        page = write_membership(report, folder)
        message(f"report: {page}")
    return 1 if report.problems else 0


def _attack(arguments: argparse.Namespace) -> Attack:
    """The extraction attack, or one of the user's own."""
    if arguments.attack == "custom":
        return attack_from(arguments.attack_file)
    aims = dict.fromkeys(Aim(aim) for aim in arguments.aim or Aim)
    return extraction_suite(list(aims), arguments.n, arguments.seed)
