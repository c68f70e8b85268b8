"""The benchmark of answers: its questions, its rows and its shares. Texts are invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.demo.corpus import corpus_path
from benchmarks.answers import (
    FILES,
    JUDGED,
    RESULTS,
    GoldQuestion,
    asked,
    digest_of,
    fitted_floor,
    judgements,
    questions_in,
    rejudged,
    report,
    row_of,
    shares,
)
from ingest.documents import Document
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Citation, Passage, RetrievedPassage

GOLD = GoldQuestion("q1", "Who keeps the lamp?", "The keeper.", ("a", "b"), "who")
NONE = GoldQuestion("q2", "Who won the cup?", None, (), "none")


def answer(text: str, *cited: str, retrieved: str = "abc") -> Answer:
    passages = [RetrievedPassage(Passage(n, doc_id, 0, 1, "x"), 0.5) for n, doc_id in enumerate(retrieved)]
    citations = [Citation(n, n, doc_id) for n, doc_id in enumerate(cited, start=1)]
    return Answer(text, citations, passages, "extractive")


def test_the_questions_are_about_documents_of_the_demo_and_stand_in_one_split_only() -> None:
    ids = {json.loads(line)["id"] for line in corpus_path().read_text(encoding="utf-8").splitlines()}
    splits = [questions_in(path) for path in FILES.values()]
    assert [len(split) for split in splits] == [120, 40, 20]
    assert [sum(each.answer is None for each in split) for split in splits] == [30, 10, 5]
    every = [each for split in splits for each in split]
    assert len({each.question for each in every}) == len({each.id for each in every}) == 180
    assert all(set(each.documents) <= ids for each in every)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [{"id": "q1", "answer": "That.", "documents": []}],
            "questions.jsonl, q1: give an answer and its documents, or neither",
        ),
        (
            [{"id": "q1", "answer": None, "documents": ["a"]}],
            "questions.jsonl, q1: give an answer and its documents, or neither",
        ),
        ([{"id": "q1", "answer": None, "documents": []}] * 2, "questions.jsonl: an id stands twice"),
    ],
)
def test_refuses_questions_that_contradict_themselves(
    tmp_path: Path, lines: list[dict[str, Any]], message: str
) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [json.dumps({"question": "What?", "kind": "what"} | line) for line in lines]
    path.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(ValueError) as refused:
        questions_in(path)
    assert str(refused.value) == message


def test_an_answer_is_judged_by_its_digest() -> None:
    judged = {("q1", digest_of("The keeper. [1]")): True}
    assert row_of(GOLD, answer("The keeper. [1]", "a"), judged)["holds"] is True
    assert row_of(GOLD, answer("The keepers. [1]", "a"), judged)["holds"] is None
    assert row_of(GOLD, answer(NO_ANSWER), judged)["holds"] is False
    assert row_of(NONE, answer("The keeper. [1]", "a"), judged)["holds"] is None


def test_a_row_says_what_was_retrieved_cited_and_refused() -> None:
    row = row_of(GOLD, answer("So. [1]", "c", retrieved="ccb"))
    assert (row["retrieved"], row["cited"]) == (["c", "b"], ["c"])
    assert (row["gold_retrieved"], row["gold_cited"], row["refused"]) == (True, False, False)


def test_shares_count_what_they_say() -> None:
    judged = {("q1", digest_of("Yes. [1]")): True, ("q1", digest_of("No. [1]")): False}
    rows = [
        row_of(GOLD, answer("Yes. [1]", "a"), judged),
        row_of(GOLD, answer("No. [1]", "c"), judged),
        row_of(GOLD, answer("Not read. [1]", "b"), judged),
        row_of(GOLD, answer(NO_ANSWER, retrieved="c"), judged),
        row_of(NONE, answer(NO_ANSWER)),
        row_of(NONE, answer("Yes. [1]", "a")),
    ]
    found = shares(rows)
    counts = {name: (each["hits"], each["n"]) for name, each in found.items() if isinstance(each, dict)}
    assert (found["questions"], found["judged"], found["not judged"]) == (6, 3, 1)
    assert counts == {
        "holds the answer": (1, 3),
        "retrieved": (3, 4),
        "cited": (2, 4),
        "refused though answered": (1, 4),
        "says so when there is none": (1, 2),
    }
    assert 0 < found["cited"]["low"] < 0.5 < found["cited"]["high"] < 1
    assert report(rows)["by kind"]["none"]["questions"] == 2


def test_new_judgements_are_taken_in_without_asking_again() -> None:
    rows = [row_of(GOLD, answer("Yes. [1]", "a")), row_of(NONE, answer(NO_ANSWER))]
    before = {"provenance": {"seed": "0"}, **report(rows)}
    after = rejudged(before, {("q1", digest_of("Yes. [1]")): True})
    assert (before["shares"]["judged"], after["shares"]["judged"]) == (0, 1)
    assert after["provenance"] == {"seed": "0"}
    assert [row["holds"] for row in after["rows"]] == [True, None]


def test_the_floor_with_the_largest_sum_of_both_shares_comes_first() -> None:
    rows = [
        {"gold": "x", "gold_cited": cited, "relevance": relevance}
        for cited, relevance in ((True, 0.5), (True, 0.41), (False, 0.6), (True, 0.25))
    ]
    rows += [{"gold": None, "gold_cited": False, "relevance": each} for each in (0.3, 0.35, 0.55)]
    assert fitted_floor(rows)[0] == (0.36, 0.5, 2 / 3)


def test_asks_a_small_corpus() -> None:
    from app.compose import system_of
    from app.settings.load import load_settings

    plain = {"detector.learned": False, "risk.kind": "prior", "policy.name": "redact", "threads": 1}
    documents = [
        Document("a", "Invented. The lamp of the lighthouse is kept by a keeper and his cat."),
        Document("b", "Invented. The boiler of the mill is broken again, and the plumber is on leave."),
    ]
    questions = [GoldQuestion("q1", "What is broken at the mill?", "The boiler.", ["b"], "what"), NONE]
    rows = asked(system_of(load_settings(plain)), documents, questions, {})
    assert rows[0]["cited"] == ["b"]
    assert [row["refused"] for row in rows] == [False, True]
    assert rows[0]["relevance"] > rows[1]["relevance"]


def test_the_results_have_the_shares_of_their_rows_and_judgements() -> None:
    judged = judgements(JUDGED)
    for split, found in json.loads(RESULTS.read_text(encoding="utf-8")).items():
        assert found["shares"] == shares(found["rows"])
        gold = {each.id: each for each in questions_in(FILES[split])}
        for row in found["rows"]:
            assert row["question"] == gold[row["id"]].question
            assert row["digest"] == digest_of(row["answer"])
            if row["gold"] is not None and not row["refused"]:
                assert row["holds"] == judged.get((row["id"], row["digest"]))
