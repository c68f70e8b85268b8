"""``lethe bench intact`` on invented court cases."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from eval.corpora.replaced import backgrounds, halves, replaced_cases
from eval.studies.intact.methods import DOU, METHODS, PUBLISHED
from eval.studies.intact.report import IntactReport
from eval.studies.intact.study import ALL
from ingest.documents import Span
from ingest.errors import UnreadableDocument

SECRETS = ("Ada Lind", "Leeds", "Quarnby", "3 May 2019", "12345/67", "plumber")
CASE = (
    "The case of {name} began on {day}. {name}, a {job} born in {year}, lives in {town}. "
    "The County Court of {town} heard the case, no. {code}."
)
PEOPLE = [
    ("Ada Lind", "3 May 2019", "plumber", "1970", "Leeds", "12345/67"),
    ("Bo Ferris", "14 June 2018", "nurse", "1981", "Quarnby", "22345/67"),
    ("Cy Marrow", "9 March 2001", "baker", "1955", "Hull", "32345/67"),
    ("Di Sorrel", "1 April 2011", "teacher", "1962", "Bristol", "42345/67"),
]
TYPES = {"name": "PERSON", "day": "DATETIME", "job": "DEM", "year": "DATETIME", "town": "LOC", "code": "CODE"}


def case(number: int) -> dict[str, Any]:
    values = dict(zip(("name", "day", "job", "year", "town", "code"), PEOPLE[number], strict=True))
    text = CASE.format(**values)
    mentions = []
    for key, said in values.items():
        at = text.find(said)
        while at >= 0:
            words = {"intact": f"{TYPES[key]}_1", "gpt35_presidio": "something"}
            mentions.append(
                {
                    "start": at,
                    "end": at + len(said),
                    "type": TYPES[key],
                    "text": said,
                    "reference_replacements": words,
                }
            )
            at = text.find(said, at + 1)
    return {"doc_id": f"case-{number}", "text": text, "mentions": mentions}


@pytest.fixture
def corpus(clean: Path) -> Path:
    folder = clean / "tab"
    folder.mkdir()
    lines = [json.dumps(case(number)) for number in range(len(PEOPLE))]
    (folder / "dev.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = {f"case-{number}": f"A {person[2]} of {person[4]}." for number, person in enumerate(PEOPLE)}
    (folder / "background_public10_train_dev.json").write_text(json.dumps(known), encoding="utf-8")
    return folder


def test_cases_with_their_marks_and_published_words(corpus: Path) -> None:
    cases = replaced_cases(corpus)
    assert [each.document.doc_id for each in cases] == [f"case-{number}" for number in range(4)]
    first = cases[0]
    said = {first.document.text[mark.start : mark.end]: mark.type for mark in first.marked.marks}
    assert said["Leeds"] == "LOC"
    assert first.published["intact"][Span(12, 20)] == "PERSON_1"
    assert "Ada" not in repr(first)
    assert len(backgrounds(corpus)) == 4


def test_halves_share_no_case_and_do_not_depend_on_the_order(corpus: Path) -> None:
    cases = replaced_cases(corpus)
    chosen_on, reported = halves(cases)
    assert len(chosen_on) == len(reported) == 2
    assert halves(cases[::-1]) == (chosen_on, reported)


def test_tables_and_figures_of_every_method(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = corpus.with_name("out")
    assert main(["bench", "intact", str(corpus), "--output", str(output)]) == 0
    out = capsys.readouterr().out
    report = IntactReport.model_validate_json((output / "intact.json").read_text(encoding="utf-8"))
    found = {each.method: each for each in report.methods}
    assert set(found) == set(METHODS)
    assert set(report.absent) == {DOU}
    assert (report.cases, report.individuals, report.command) == (2, 4, "PATH")
    tps = {name: each.tps.value or 0 for name, each in found.items()}
    assert tps["suppression"] < tps["entity type"] < min(tps["lethe"], tps["most specific"])
    every = {name: each.kinds[ALL] for name, each in found.items()}
    assert every["suppression"].fallback.value == every[PUBLISHED["intact"]].fallback.value == 1
    assert (every["lethe"].fallback.value or 0) < 0.5
    assert sum(every["most specific"].rungs.values()) > 0
    assert found["suppression"].trir_minus_suppression is not None
    assert (output / "tables.md").read_text(encoding="utf-8") == out
    written = out + (output / "intact.json").read_text(encoding="utf-8")
    assert not any(secret in written for secret in SECRETS)


def test_the_check_beside_what_people_said(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {"system": "intact", "entity_type": "LOC", "span_text": "Leeds", "less_specific": 1, "truthful": 1}
    rows = [said | {"doc_id": f"case-{number}", "replacement": "England"} for number in range(20)]
    judged = corpus.with_name("judged.jsonl")
    judged.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["bench", "intact", str(corpus), "--judged", str(judged)]) == 0
    out = capsys.readouterr().out
    assert "| truthful | all | 1.000" in out
    judged.write_text(json.dumps(said), encoding="utf-8")
    assert main(["bench", "intact", str(corpus), "--judged", str(judged)]) == 2
    assert "Line 1 of" in capsys.readouterr().err


def test_a_corpus_without_published_outputs_or_backgrounds(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [case(number) for number in range(2)]
    for row in rows:
        for mention in row["mentions"]:
            del mention["reference_replacements"]
    bare = corpus.with_name("bare")
    bare.mkdir()
    (bare / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["bench", "intact", str(bare), "--documents", "1", "--seed", "2"]) == 0
    out = capsys.readouterr().out
    assert "INTACT, published output is absent: the corpus has no output of it" in out
    assert "not measured" in out


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (
            {"mentions": [{"start": 0, "end": 9_999, "type": "LOC"}]},
            "has a mention without start, end or type",
        ),
        ({"mentions": [{"start": 0, "type": "LOC"}]}, "has a mention without start, end or type"),
        ({"text": 7}, "has no text in doc_id or text"),
    ],
)
def test_a_broken_record_is_named_and_not_quoted(
    corpus: Path, broken: dict[str, object], reason: str
) -> None:
    (corpus / "dev.jsonl").write_text(json.dumps(case(0) | broken) + "\n", encoding="utf-8")
    with pytest.raises(UnreadableDocument, match=reason) as error:
        replaced_cases(corpus)
    assert not any(secret in str(error.value) for secret in SECRETS)


def test_a_broken_background_file(corpus: Path) -> None:
    (corpus / "background_public10_train_dev.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UnreadableDocument, match="is no JSON object of texts by id"):
        backgrounds(corpus)


def test_no_such_folder(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "intact", str(clean / "nowhere")]) == 2
    assert "holds no file of the corpus tab" in capsys.readouterr().err
