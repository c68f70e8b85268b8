"""Questions with answers: what is counted. The questions stand in the project; all texts are invented."""

import json
from pathlib import Path

import pytest

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.answers import QUESTIONS, RESULTS, GoldQuestion, asked, gold_in, questions_in, row_of, shares
from ingest.documents import Document, SanitizedDocument
from models.corpora.passages import passages
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer, Citation, Passage, RetrievedPassage

GOLD = GoldQuestion("q1", "apart", "When is lunch?", "p1", [(0, 10)])
NONE = GoldQuestion("q2", "apart", "When is tea?", None, ())
FOUND = [RetrievedPassage(Passage(1, "p1", 0, 20, "Lunch is at one."), 0.5)]


def answer(text: str, *doc_ids: str) -> Answer:
    return Answer(text, [Citation(n, n, each) for n, each in enumerate(doc_ids, 1)], FOUND, "test")


def test_every_question_names_places_of_a_passage_that_was_put_aside() -> None:
    known = {each.name: each for each in passages("aside")}
    found = questions_in(QUESTIONS)
    assert {each.part for each in found} == {"chosen", "apart"}
    for each in found:
        assert all(known[str(each.document)].text[start:end].strip() for start, end in each.answers)
    texts = [each.question.casefold() for each in found]
    assert len({*texts}) == len(texts)


@pytest.mark.parametrize(
    "changed", [{"answers": []}, {"document": None}, {"id": "q1"}], ids=["no answer", "no document", "twice"]
)
def test_refuses_questions_that_contradict_themselves(tmp_path: Path, changed: dict[str, object]) -> None:
    row = {"id": "q0", "part": "apart", "question": "When?", "document": "p1", "answers": [[0, 1]]}
    lines = [json.dumps(each) for each in (row | {"id": "q1"}, row | changed)]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"questions\.jsonl"):
        questions_in(tmp_path / "questions.jsonl")


def test_a_row_says_what_was_read_cited_and_refused_and_shares_count_it() -> None:
    lunch = "Lunch is at one."
    right = row_of(GOLD, answer(f"{lunch} [1]", "p1"), [lunch])
    assert (right["holds"], right["cited"], right["only"], right["retrieved"]) == (True, True, True, True)
    wrong = row_of(GOLD, answer(f"{lunch} [1]", "p2"), [lunch])
    assert (wrong["holds"], wrong["cited"]) == (False, False)
    both = row_of(GOLD, answer("It rained. [1] Tea. [2]", "p1", "p2"), [lunch])
    assert (both["holds"], both["cited"], both["only"]) == (False, True, False)
    none = row_of(NONE, answer(NO_ANSWER), [])
    assert none["refused"]
    found = shares([right, row_of(GOLD, answer(NO_ANSWER), [lunch]), none])
    assert found["right sentence"]["value"] == found["refused though answered"]["value"] == 0.5
    assert found["says so when there is none"]["value"] == 1


def test_asks_the_passages_and_finds_gold_in_their_sanitized_text() -> None:
    questions = [each for each in questions_in(QUESTIONS) if each.document][:2]
    system = system_of(load_settings({}))
    known = {each.name: each for each in passages("aside")}
    for each in questions:
        (document,) = system.sanitizer().sanitize([Document("x", known[str(each.document)].text)])
        assert isinstance(document, SanitizedDocument)
        sentences = gold_in(document, each.answers)
        assert sentences
        assert all(" ".join(one.split()) in " ".join(document.text.split()) for one in sentences)


@pytest.mark.slow
def test_asks_every_question_once() -> None:
    questions = questions_in(QUESTIONS)[:3]
    rows = asked(system_of(load_settings({})), questions)
    assert [row["id"] for row in rows] == [each.id for each in questions]


def test_the_results_have_the_shares_of_their_rows() -> None:
    report = json.loads(RESULTS.read_text(encoding="utf-8"))
    for part, found in report["shares"].items():
        assert found == shares([row for row in report["rows"] if row["part"] == part])
