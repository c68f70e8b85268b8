"""``lethe bench attributes``: what is inferred of people, before and after their texts are protected."""

import argparse
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from app.cli.asking import also_of, asker_of
from app.cli.benches import bench, folder_of
from app.cli.console import message
from app.cli.given import data_of, dp_barts_of, fields_of, numbered, reported_readings_of
from app.compose import system_of
from eval.attacks.attribute_truths import truths_in
from eval.attacks.attributes import attribute_attack
from eval.corpora.corpus import fields_in, read_corpus
from eval.progress import Progress
from eval.reports.attributes import markdown
from eval.studies.attributes import AttributesReport, Options, measure_attributes, same_value
from ingest.private_files import check_new, write_new
from ingest.protecting.incognitext import FEEDBACK, INCOGNITEXT, VARIANTS, Pair, pairs_text
from ingest.protecting.targets import drawn_target, randomized_response
from ingest.sanitize import Rewriter
from models.errors import ConfigurationError
from models.language.asking import Asker

USUAL = (FEEDBACK.name, INCOGNITEXT.name)


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables and figures as files.

    1 if a method could not rewrite every text: its figures are then incomplete.
    """
    data = data_of(arguments)
    _check(arguments)
    folder = folder_of(arguments)
    truths = truths_in(fields_in(arguments.paths, arguments.attributes_field, fields_of(arguments)))
    system = system_of(data.settings)
    with ExitStack() as stack:
        asker = asker_of(arguments, data, folder, stack)
        also = also_of(arguments, asker, system.detector.name)
        options = _options(arguments, data.key, asker, also)
        pairs: list[Pair] = []

        def measure(reported: Progress) -> AttributesReport:
            readings = reported_readings_of(arguments, data.settings)
            corpus = read_corpus(readings, numbered, None, reported, None, truths)
            report, found = measure_attributes(
                system, corpus, attribute_attack(system.encoder), options, reported, message
            )
            pairs.extend(found)
            return report

        report = bench(arguments, measure, markdown, folder)
    if arguments.pairs:
        write_new(Path(arguments.pairs), pairs_text(pairs))
        message(
            f"{len(pairs):,} pairs: {arguments.pairs}. It holds raw texts and what is true of their authors: "
            "keep it private"
        )
    for each in report.methods:
        if each.failed:
            message(f"{each.method}: {each.failed:,} texts could not be rewritten, and count nowhere")
    return int(any(each.failed for each in report.methods))


def _check(arguments: argparse.Namespace) -> None:
    """Before long work, options that would do nothing or contradict each other, and the place for pairs."""
    variants = [VARIANTS[name] for name in arguments.variant or USUAL]
    needs = {"--pairs": arguments.pairs, "--target": arguments.target, "--epsilon": arguments.epsilon}
    for option, given in needs.items():
        if given is not None and not arguments.ask_model:
            raise ConfigurationError(f"{option} is for a language model: name one, and give --ask-model.")
        if given is not None and not any(each.target for each in variants):
            raise ConfigurationError(f"{option} needs a variant with a target, such as incognitext.")
    if arguments.budgets and not arguments.dp_bart:
        raise ConfigurationError("--budgets are of --dp-bart: name its folder.")
    if arguments.target and arguments.epsilon is not None:
        raise ConfigurationError(
            "--target leaves nothing to draw: who sees another value knows the true one. Give --target or "
            "--epsilon."
        )
    if arguments.pairs:
        check_new(Path(arguments.pairs), "--pairs")


def _options(
    arguments: argparse.Namespace, key: bytes, asker: Asker | None, also: Mapping[str, Rewriter]
) -> Options:
    rewriters = {**also, **{each.name: each for each in dp_barts_of(arguments)}}
    if asker is None:
        return Options(arguments.seed, rewriters)
    epsilon = arguments.epsilon
    if epsilon is None:
        draw = drawn_target(key, same_value, dict(arguments.target or ()))
    else:
        draw = randomized_response(key, epsilon, same_value)
    variants = [VARIANTS[name] for name in arguments.variant or USUAL]
    return Options(arguments.seed, rewriters, asker, variants, draw)
