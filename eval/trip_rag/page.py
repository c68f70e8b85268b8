"""A benchmark as one page that needs nothing else: no script, no network, no font.

Whatever is not a number is escaped: names of corpora, engines and settings come from users.
"""

from html import escape

from eval.report_style import STYLE
from eval.trip_rag.cells import missing, panel, section, words_list
from eval.trip_rag.page_answers import index_reader, usefulness
from eval.trip_rag.page_attacks import guessing, leakage
from eval.trip_rag.page_canaries import canaries
from eval.trip_rag.page_scores import ablations, features
from eval.trip_rag.page_style import PAGE_STYLE
from eval.trip_rag.page_summary import cards, promises
from eval.trip_rag.page_tradeoff import frontier, weights
from eval.trip_rag.page_words import DEFINITIONS, facts
from eval.trip_rag.report import TripRagReport


def trip_rag_page(report: TripRagReport) -> str:
    """The whole page, as HTML."""
    sections = (
        _header(report),
        cards(report),
        usefulness(report),
        leakage(report),
        index_reader(report),
        ablations(report),
        features(report),
        weights(report),
        frontier(report),
        promises(report),
        canaries(report),
        guessing(report),
        _absent(report),
        _how(report),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Lethe benchmark: {escape(report.corpus.name)}</title><style>{STYLE}{PAGE_STYLE}</style>"
        f"</head><body><main>{''.join(sections)}"
        "<footer>Written by Lethe. This page holds figures only: no document, question or answer is "
        "quoted.</footer></main></body></html>\n"
    )


def _header(report: TripRagReport) -> str:
    corpus = report.corpus
    chips = (
        f"{corpus.documents:,} documents",
        f"{corpus.questions:,} questions",
        f"{corpus.sensitive_entities:,} sensitive entities: {corpus.reference}",
        f"split: {corpus.split}",
        *(f"encoder {name}" for name in dict.fromkeys(each.encoder for each in report.methods)),
        f"answers by {report.generator}",
        f"seed {report.seed}",
        f"commit {report.provenance.commit or 'not known'}",
        report.provenance.date,
    )
    items = "".join(f"<li>{escape(chip)}</li>" for chip in chips)
    return (
        f"<header><h1>TRIP-RAG and what it is compared with: {escape(corpus.name)}</h1>"
        '<p class="lead">How useful retrieval stays after each method of sanitizing, and what attackers '
        "still get. Every method saw the same documents and was asked the same questions.</p>"
        f'<ul class="chips">{items}</ul></header>'
    )


def _absent(report: TripRagReport) -> str:
    title, sub = (
        "Not in the tables",
        "Methods that could not run here, and why. They are neither good nor bad.",
    )
    if not report.absent:
        return section(title, sub, missing("Every method ran."))
    return section(title, sub, panel(words_list(report.absent.items())))


def _how(report: TripRagReport) -> str:
    return section(
        "How this was measured",
        "What each figure counts.",
        panel(words_list(DEFINITIONS.items())),
    ) + section(
        "What it was measured with",
        "Enough to run it again.",
        panel(words_list(facts(report))),
    )
