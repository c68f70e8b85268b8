"""``lethe bench defences``: what each defence takes from attackers, and what it costs users."""

import argparse

from app.cli.benches import bench, folder_of
from app.cli.given import fields_of, numbered, reported_readings_of, settings_of
from app.compose import system_of
from app.server.quotas.budgets import Budgets
from app.server.quotas.later import TryLater
from app.settings.load import ServerSettings, Settings
from app.settings.report import run_settings
from eval.corpora.corpus import gold_rows, read_corpus
from eval.documents import Target
from eval.reports.defences import markdown
from eval.studies.defences import ALIKE, SHARE, Limits, Options, measure_defences
from eval.targets import reading_once
from ingest.protocols import Encoder
from retrieval.documents import Answer
from retrieval.guards.passages import PassageRules

ALIKE_QUESTIONS, DOCUMENTS_PERCENT, QUOTE_WORDS = 10, 20.0, 20
LEAST_SIMILARITY, COPY_LEVEL = 0.5, 0.05
"""What is measured of limits and rules that the settings leave open."""


class OneCaller:
    """A target behind the budgets of the server, for one caller within one window."""

    def __init__(self, target: Target, settings: ServerSettings, encoder: Encoder, documents: int) -> None:
        self._target, self._encoder, self._documents = target, encoder, documents
        self._budgets = Budgets(settings, clock=lambda: 0.0)

    def ask(self, question: str) -> Answer:
        """The answer; raises TryLater where the caller has asked or seen too much."""
        self._budgets.ask("caller", "collection", question, self._encoder)
        answer = self._target.ask(question)
        self._budgets.show("caller", "collection", answer.passages, lambda: self._documents)
        return answer


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables, figures and rows as files.

    1 if a document could not be sanitized or something was not measured.
    """
    settings = settings_of(arguments)
    system = system_of(settings)
    folder = folder_of(arguments)
    gold = None
    if arguments.gold_field:
        gold = gold_rows(arguments.paths, arguments.gold_field, fields_of(arguments))
    report = bench(
        arguments,
        lambda reported: measure_defences(
            system,
            read_corpus(reported_readings_of(arguments, settings), numbered, gold, reported),
            _options(arguments, settings, reading_once(system.encoder)),
            reported,
            folder=folder,
            made_with=run_settings(settings),
        ),
        markdown,
        folder,
    )
    return int(bool(report.failed) or any(each.not_measured for each in report.defences))


def _options(arguments: argparse.Namespace, settings: Settings, encoder: Encoder) -> Options:
    alike = settings.server.alike_questions or ALIKE_QUESTIONS
    percent = settings.server.documents_percent or DOCUMENTS_PERCENT
    search = settings.retrieval
    limited: dict[str, dict[str, float | None]] = {
        ALIKE: {"alike_questions": alike, "documents_percent": None},
        SHARE: {"alike_questions": None, "documents_percent": percent},
    }

    def limits(name: str, documents: int) -> Limits:
        chosen = settings.server.model_copy(update=limited[name])
        return lambda target: OneCaller(target, chosen, encoder, documents)

    return Options(
        limits,
        (TryLater.__name__,),
        {"like questions": float(alike), "percent of documents": percent},
        arguments.questions,
        settings.generator.quote_words or QUOTE_WORDS,
        tuple(dict.fromkeys(arguments.also or ())),
        PassageRules(
            LEAST_SIMILARITY if search.least_similarity is None else search.least_similarity,
            search.hide_copies or COPY_LEVEL,
        ),
        arguments.seed,
    )
