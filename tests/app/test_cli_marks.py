"""``lethe bench marks`` on an invented gold of three visits."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from app.cli import marks
from app.compose import system_of
from app.demo import corpus_path
from eval.corpora.marked import VISITS_MAIL
from eval.rows import read_rows
from eval.studies.marks.methods import METHODS
from eval.studies.marks.study import MEAN, MarksReport
from tests.commands import Ran, in_process
from tests.doubles import WordEncoder
from tests.eval.test_marked_corpora import IDS, MENTIONS, write, write_gold

Measure = Callable[..., Ran]
SECRETS = ("Ada", "Lind", *IDS)


@pytest.fixture
def data(clean: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the gold alone, and a system without trained models."""
    write_gold(clean / "corpora")
    monkeypatch.setenv("LETHE_DATA_DIR", str(clean / "data"))
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")
    monkeypatch.setattr(marks, "system_of", partial(system_of, encoder=WordEncoder()))
    return clean / "corpora"


@pytest.fixture
def measure(data: Path, capsys: pytest.CaptureFixture[str]) -> Measure:
    return partial(in_process, capsys, "bench", "marks")


def report_in(output: Path) -> MarksReport:
    return MarksReport.model_validate_json((output / "marks.json").read_text(encoding="utf-8"))


def test_every_method_is_measured_and_a_second_run_goes_on(data: Path, measure: Measure) -> None:
    output = data.with_name("out")
    command = [str(data), "--corpus", VISITS_MAIL, "--output", str(output)]
    ran = measure(*command)
    assert ran.code == 0
    report = report_in(output)
    (corpus,) = report.corpora
    (held_out,) = corpus.parts
    figures = held_out.figures
    found = {(each.method, each.annotator, each.kind, each.must, each.count): each for each in figures}
    assert {method for method, *_ in found} == set(METHODS)
    assert {annotator for _, annotator, *_ in found} == {"a", "b", MEAN}
    left = {method: found[method, MEAN, "DIRECT", 2, "entities left"].estimate for method in METHODS}
    assert (left["origin"].value, left["trip"].value, left["oracle"].value) == (1, 0, 0)
    assert found["origin", "a", "DIRECT", 2, "entities left"].minus_trip.value == 1
    assert found["redact", "a", "ANY", 0, "touched"].estimate.value == 1
    assert found["oracle", "a", "ANY", 0, "touched"].estimate.value == 0
    assert corpus.exposures == {"learned from": 1, "looked at": 2, "unseen": 0}
    assert report.command == f"DATA --corpus {VISITS_MAIL}"
    assert (output / "tables.md").read_text(encoding="utf-8") == ran.out
    path = output / VISITS_MAIL / "rows.jsonl"
    marked = {row.case for row in read_rows(path) if row.task.startswith("marks")}
    assert marked == {f"{VISITS_MAIL} 001", f"{VISITS_MAIL} 002"}
    assert (held_out.extracted["origin"].value, held_out.extracted["trip"].value) == (1, 0)
    for each in output.rglob("*.*"):
        content = each.read_text(encoding="utf-8")
        assert not any(secret in content for secret in SECRETS), each.name
    rows = path.read_bytes()
    assert measure(*command).code == 0
    assert path.read_bytes() == rows
    write_gold(data, MENTIONS[:1])
    another = measure(*command)
    assert (another.code, "is of another run" in another.err) == (1, True)


def test_what_was_learned_from_is_a_part_of_its_own(
    data: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = data.with_name("out")
    # A few of its documents: this is about parts, and all methods are measured on each.
    few = corpus_path().read_text(encoding="utf-8").splitlines(keepends=True)[:3]
    data.with_name("demo.jsonl").write_text("".join(few), encoding="utf-8")
    monkeypatch.setattr(marks, "corpus_path", lambda: data.with_name("demo.jsonl"))
    ran = measure(str(data), "--learned", "--seed", "3", "--output", str(output))
    assert (ran.code, "spia_cases is absent" in ran.err) == (0, True)
    report = report_in(output)
    parts = {each.name: [(part.name, part.documents) for part in each.parts] for each in report.corpora}
    assert parts == {VISITS_MAIL: [("held out", 2), ("learned from", 1)], "demo": [("learned from", 2)]}
    assert set(report.absent) == {"spia_cases", "spia_posts", "tab"}
    assert report.command == "DATA --learned --seed 3"


def test_what_cannot_be_measured_is_said(
    data: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, corpus, code, said in (
        (data, "demo", 1, "demo: all of its 72 documents were learned from"),
        (data / "nowhere", VISITS_MAIL, 2, "is not a folder"),
    ):
        ran = measure(str(folder), "--corpus", corpus)
        assert (ran.code, said in ran.err) == (code, True)
    monkeypatch.setenv("LETHE_POLICY__NAME", "redact")
    ran = measure(str(data))
    assert (ran.code, "the settings say redact" in ran.err) == (2, True)


def test_a_document_that_fails_fails_the_command(data: Path, measure: Measure) -> None:
    polish = "Pani Lind przyszła wczoraj z mężem do przychodni i znowu skarżyła się na swój kaszel. " * 3
    path = data / VISITS_MAIL / "documents.json"
    documents = json.loads(path.read_text(encoding="utf-8"))
    for document, times in zip(documents[:2], (1, 5), strict=True):
        document["text"] += f" {polish * times}"
    write(path, documents)
    ran = measure(str(data), "--corpus", VISITS_MAIL)
    assert ran.code == 1
    assert "Documents that could not be sanitized are not measured: origin 2, redact 2" in ran.out
    assert "kaszel" not in ran.out
