"""The comparison of ways of searching. Texts are invented."""

import numpy as np
import pytest

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.searching import (
    BASELINES,
    GRID,
    ONE_E5,
    ONE_VECTOR,
    TWO_VIEWS,
    WAYS,
    WITH_E5,
    Found,
    TwoViews,
    first,
    measured,
    sanitized_questions,
    summary,
)
from eval.corpora.corpus import Corpus, Question
from eval.progress import no_progress
from ingest.documents import Document
from tests.doubles import WordEncoder

ASKED, SENT = "Is Tobias Keller well?", "Is somebody well?"
DOCUMENTS = [
    Document("0", "Invented. Mr Tobias Keller keeps the lighthouse."),
    Document("1", "Invented. The boiler of the mill is broken."),
]
QUESTIONS = [
    Question("q0", "Does Mr Tobias Keller keep the lighthouse?", "Yes.", "0"),
    Question("q1", "Is the boiler of the mill old?", "Yes.", "1"),
]
CORPUS = Corpus("x", DOCUMENTS, QUESTIONS, None, "all", "us", "none")


def test_two_views_are_the_mean_of_the_question_and_what_is_sent_of_it() -> None:
    encoder = WordEncoder()
    raw, sent, other = encoder.encode([ASKED, SENT, "a passage"])
    mean = (raw + sent) / np.linalg.norm(raw + sent)
    found = TwoViews(encoder, {ASKED: SENT}).encode([ASKED, "a passage"])
    assert found == pytest.approx(np.stack([mean, other]), abs=1e-6)


def test_every_method_is_searched_in_every_way() -> None:
    system = system_of(load_settings({"risk.kind": "prior", "threads": 1}))
    rows = dict(measured(system, CORPUS, WAYS | GRID, no_progress))
    assert {"origin", "redact", "lethe"} < set(rows)
    ways = {ONE_VECTOR, ONE_E5, *WAYS, *GRID, WITH_E5, TWO_VIEWS}
    assert all(set(found) == ways for found in rows.values())
    assert rows["origin"]["hybrid"] == rows["lethe"]["hybrid"] == Found([1, 1], ["0", "1"])
    figures = summary(rows)["lethe"]["hybrid"]
    assert (figures["first"]["hits"], figures["reciprocal_rank"]["value"]) == (2, 1.0)
    assert [figures["of_unsanitized"][base]["value"] for base in BASELINES] == [1.0, 1.0, 1.0]
    assert figures["overlap"]["value"] == 1.0
    question = CORPUS.questions[0]
    assert "Keller" not in sanitized_questions([question], system.sanitizer())[question.text]


def test_overlap_counts_another_document_in_the_first_place_and_first_the_first_rank_only() -> None:
    assert (first([1, 3, 0, 1]).hits, first([1, 3, 0, 1]).n) == (2, 4)
    same, other = Found([1, 2], ["0", "0"]), Found([1, 1], ["0", "1"])
    rows = {"origin": same, "lethe": same, "redact": other}
    found = summary({name: dict.fromkeys(BASELINES, found) for name, found in rows.items()})["redact"][
        "hybrid"
    ]
    assert (found["overlap"]["value"], found["overlap_minus_trip"]["value"]) == (0.5, -0.5)
