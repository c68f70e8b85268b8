"""The comparison of views of a question. Texts are invented."""

import numpy as np
import pytest

from benchmarks.question_views import View, ViewEncoder, figures, found_at, gain, recall
from eval.corpora.corpus import Corpus, Question
from ingest.documents import Document
from models.vectors import Vectors
from retrieval.documents import Passage, RetrievedPassage
from tests.doubles import WordEncoder

ASKED, SENT = "Is Tobias Keller well?", "Is somebody well?"


def test_the_views_are_the_question_what_is_sent_of_it_and_their_mean() -> None:
    encoder = WordEncoder()
    raw, sent, other = encoder.encode([ASKED, SENT, "a passage"])
    mean = (raw + sent) / np.linalg.norm(raw + sent)
    views: list[tuple[View, Vectors]] = [("raw", raw), ("sanitized", sent), ("mean", mean)]
    for view, expected in views:
        found = ViewEncoder(encoder, view, {ASKED: SENT}).encode([ASKED, "a passage"])
        assert found == pytest.approx(np.stack([expected, other]), abs=1e-6)


class Ranking:
    """Finds the same documents whatever the question."""

    def retrieve(self, questions: object, k: int) -> list[list[RetrievedPassage]]:
        row = [RetrievedPassage(Passage(n, doc_id, 0, 1, "x"), 0.5) for n, doc_id in enumerate("bbcda")]
        return [row[:k]] * 3


def test_a_document_is_found_at_its_first_passage() -> None:
    questions = [Question(str(n), "What?", "That.", about) for n, about in enumerate("bcz")]
    assert found_at(questions, Ranking()) == [1, 3, 0]


def test_recall_counts_what_is_found_by_a_depth_and_gain_what_another_view_adds() -> None:
    assert (recall([1, 3, 0, 5], 1).hits, recall([1, 3, 0, 5], 5).hits) == (1, 3)
    assert gain([1, 1, 0, 5], [0, 1, 1, 5], 5).value == 0
    assert gain([1, 1, 0, 2], [0, 1, 0, 0], 5).value == 0.5


def test_figures_of_a_small_corpus() -> None:
    from app.compose import system_of
    from app.settings.load import load_settings

    plain = {"detector.learned": False, "risk.kind": "prior", "policy.name": "redact", "threads": 1}
    texts = [
        "Invented. Mr Tobias Keller keeps the lighthouse.",
        "Invented. The boiler of the mill is broken.",
    ]
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    questions = [
        Question("q0", "Does Mr Tobias Keller keep the lighthouse?", "Yes.", "0"),
        Question("q1", "Is the boiler of the mill old?", "Yes.", "1"),
    ]
    result = figures(
        system_of(load_settings(plain)), Corpus("x", documents, questions, None, "all", "us", "none")
    )
    assert (result["documents"], result["questions"], result["questions_changed"]) == (2, 2, 1)
    assert [result["recall"][view]["1"]["hits"] for view in ("raw", "sanitized", "mean")] == [2, 2, 2]
    assert set(result["against_raw"]) == {"sanitized", "mean"}
