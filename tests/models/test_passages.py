"""The invented passages that the reader learns from."""

import re
from collections import Counter

import pytest

from models.corpora.passages import FOLDER, Mark, Passage, parsed, passages, second_reading
from models.corpora.rubric import rows_of
from models.errors import ConfigurationError


@pytest.fixture(scope="module")
def every() -> list[Passage]:
    return [*passages("learn"), *passages("aside")]


def test_a_mark_is_a_span_of_the_text_without_marks_and_one_that_cannot_be_read_is_an_error() -> None:
    text, marks = parsed("Seen: Dr [[Orrin Vex|PERSON|DIRECT|2|1]], [[44|AGE|QUASI|2|2]].", "p")
    assert text == "Seen: Dr Orrin Vex, 44."
    assert marks == (Mark(9, 18, "PERSON", "DIRECT", 2, 1), Mark(20, 22, "AGE", "QUASI", 2, 2))
    for wrong in ("[[a|NAME|DIRECT|2|1]]", "[[a\nb|PERSON|DIRECT|2|1]]", "[[a|PERSON|DIRECT|3|1]]"):
        with pytest.raises(ConfigurationError, match="Passage p has a mark"):
            parsed(wrong, "p")


def test_passages_are_of_many_kinds_and_languages_and_whole_kinds_are_put_aside(every: list[Passage]) -> None:
    assert len({each.name for each in every}) == len(every) >= 1_400
    assert sum(len(each.text) for each in every) >= 1_200_000
    assert len({each.document for each in every}) >= 100
    assert min(Counter(each.language for each in every).values()) >= 60
    assert sum(not each.marks for each in every) >= 150
    assert 0.18 < sum(each.part == "aside" for each in every) / len(every) < 0.25
    english = [each for each in every if each.language == "English"]
    learned = {each.document for each in english if each.part == "learn"}
    assert len({each.document for each in english} - learned) >= 8


def test_marks_hold_whole_words_and_all_that_identifies_alone_has_to_go(every: list[Passage]) -> None:
    marks = [(each.text, mark) for each in every for mark in each.marks]
    cut = [
        (text, mark.start)
        for text, mark in marks
        if re.fullmatch(r"[^\W\d_]{2}", text[max(mark.start - 1, 0) : mark.start + 1])
        or re.fullmatch(r"[^\W\d_]{2}", text[mark.end - 1 : mark.end + 1])
    ]
    assert len(cut) < 0.01 * len(marks)
    assert all(mark.must == 2 for _, mark in marks if mark.identifier == "DIRECT")


def test_two_readers_agree_on_what_has_to_go(every: list[Passage]) -> None:
    first = {each.name: each.marks for each in every}
    again = second_reading()
    assert len(again) >= 120
    must = [(name, mark) for name in again for mark in first[name] if mark.must == 2]
    met = [
        any(other.start < mark.end and mark.start < other.end for other in again[name]) for name, mark in must
    ]
    assert sum(met) / len(met) > 0.98


def test_wordings_are_of_marked_items_and_say_less(every: list[Passage]) -> None:
    marks = {(each.name, mark.start, mark.end) for each in every for mark in each.marks}
    rows = [row for _, row in rows_of(FOLDER / "wordings.jsonl")]
    assert len(rows) >= 3_000
    assert all((row["id"], row["start"], row["end"]) in marks for row in rows)
    assert all(row["sort"] and row["up1"] and row["up2"] for row in rows)
    texts = {each.name: each.text for each in every}
    same = [row for row in rows if texts[str(row["id"])][row["start"] : row["end"]] == row["up1"]]
    assert len(same) < 0.05 * len(rows)


def test_answers_are_places_of_passages_that_only_teach(every: list[Passage]) -> None:
    texts = {each.name: each.text for each in every if each.part == "learn"}
    rows = [row for _, row in rows_of(FOLDER / "questions.jsonl")]
    assert len(rows) > 3_000
    assert 0.15 < sum(not row["answers"] for row in rows) / len(rows) < 0.3
    for row in rows:
        places = [*row["answers"], *([row["lead"]] if "lead" in row else [])]
        assert all(0 <= start < end <= len(texts[row["id"]]) for start, end in places)
        assert row["question"].strip() == row["question"] != ""


def test_forms_are_of_many_items_and_a_part_only_measures() -> None:
    rows = [row for _, row in rows_of(FOLDER / "forms.jsonl")]
    parts = Counter(row["part"] for row in rows)
    assert parts["learn"] > 1_500 and parts["aside"] == 250
    places = [(row["before"], row["item"]) for row in rows]
    assert len(places) == len(set(places))
