"""``lethe bench marks`` on an invented gold of three visits."""

import json
from pathlib import Path

import pytest

from app.cli import marks
from app.cli.main import main
from app.compose import system_of
from app.demo import corpus_path
from app.settings.load import Settings
from eval.corpora.marked import VISITS_MAIL
from eval.rows import read_rows
from eval.studies.marks.methods import METHODS
from eval.studies.marks.study import MEAN, MarkFigure, MarksReport
from retrieval.system import System
from tests.doubles import WordEncoder
from tests.eval.test_marked_corpora import IDS, MENTIONS, write, write_gold

SECRETS = ("Ada", "Lind", *IDS)


@pytest.fixture
def data(clean: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the gold alone, and a system without trained models."""
    folder = clean / "corpora"
    write_gold(folder)
    monkeypatch.setenv("LETHE_DATA_DIR", str(clean / "data"))
    monkeypatch.setenv("LETHE_RISK__KIND", "prior")

    def small(settings: Settings) -> System:
        return system_of(settings, encoder=WordEncoder())

    monkeypatch.setattr(marks, "system_of", small)
    return folder


def figures_of(
    report: MarksReport, part: str = "held out"
) -> dict[tuple[str, str, str, int, str], MarkFigure]:
    (corpus,) = report.corpora
    (chosen,) = (each for each in corpus.parts if each.name == part)
    return {(each.method, each.annotator, each.kind, each.must, each.count): each for each in chosen.figures}


def test_tables_figures_and_rows_of_every_method(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = data.with_name("out")
    command = ["bench", "marks", str(data), "--corpus", VISITS_MAIL, "--output", str(output)]
    assert main(command) == 0
    out = capsys.readouterr().out
    report = MarksReport.model_validate_json((output / "marks.json").read_text(encoding="utf-8"))
    found = figures_of(report)
    assert {method for method, *_ in found} == set(METHODS)
    assert {annotator for _, annotator, *_ in found} == {"a", "b", MEAN}
    left = {method: found[method, MEAN, "DIRECT", 2, "entities left"].estimate for method in METHODS}
    assert (left["origin"].value, left["trip"].value, left["oracle"].value) == (1, 0, 0)
    assert found["origin", "a", "DIRECT", 2, "entities left"].minus_trip.value == 1
    assert found["redact", "a", "ANY", 0, "touched"].estimate.value == 1
    assert found["oracle", "a", "ANY", 0, "touched"].estimate.value == 0
    (corpus,) = report.corpora
    assert corpus.exposures == {"learned from": 1, "looked at": 2, "unseen": 0}
    assert report.command == f"DATA --corpus {VISITS_MAIL}"
    assert (output / "tables.md").read_text(encoding="utf-8") == out
    rows = read_rows(output / VISITS_MAIL / "rows.jsonl")
    marked = {row.case for row in rows if row.task.startswith("marks")}
    assert marked == {f"{VISITS_MAIL} 001", f"{VISITS_MAIL} 002"}
    (held_out,) = corpus.parts
    shares = {method: estimate.value for method, estimate in held_out.extracted.items()}
    assert (shares["origin"], shares["trip"]) == (1, 0)
    for path in output.rglob("*.*"):
        content = path.read_text(encoding="utf-8")
        assert not any(secret in content for secret in SECRETS), path.name


def test_a_second_run_goes_on_and_another_gold_is_another_run(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = data.with_name("out")
    command = ["bench", "marks", str(data), "--corpus", VISITS_MAIL, "--output", str(output)]
    assert main(command) == 0
    rows = (output / VISITS_MAIL / "rows.jsonl").read_bytes()
    assert main(command) == 0
    assert (output / VISITS_MAIL / "rows.jsonl").read_bytes() == rows
    write_gold(data, MENTIONS[:1])
    capsys.readouterr()
    assert main(command) == 1
    assert "is of another run" in capsys.readouterr().err


def test_what_was_learned_from_is_a_part_of_its_own(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = data.with_name("out")
    # A few of its documents: this is about parts, and all methods are measured on each.
    few = corpus_path().read_text(encoding="utf-8").splitlines(keepends=True)[:7]
    data.with_name("demo.jsonl").write_text("".join(few), encoding="utf-8")
    monkeypatch.setattr(marks, "corpus_path", lambda: data.with_name("demo.jsonl"))
    command = ["bench", "marks", str(data), "--learned", "--seed", "3", "--output", str(output)]
    assert main(command) == 0
    report = MarksReport.model_validate_json((output / "marks.json").read_text(encoding="utf-8"))
    parts = {each.name: [(part.name, part.documents) for part in each.parts] for each in report.corpora}
    assert parts == {VISITS_MAIL: [("held out", 2), ("learned from", 1)], "demo": [("learned from", 6)]}
    assert set(report.absent) == {"spia_cases", "spia_posts", "tab"}
    assert report.command == "DATA --learned --seed 3"
    assert "spia_cases is absent" in capsys.readouterr().err


def test_a_corpus_that_is_not_there_is_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "marks", str(data), "--corpus", "demo"]) == 1
    assert "demo: all of its 72 documents were learned from" in capsys.readouterr().err
    assert main(["bench", "marks", str(data / "nowhere")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_only_trip_is_compared_with_its_controls(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETHE_POLICY__NAME", "redact")
    assert main(["bench", "marks", str(data)]) == 2
    assert "the settings say redact" in capsys.readouterr().err


def test_a_document_that_fails_fails_the_command(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    polish = "Pani Lind przyszła wczoraj z mężem do przychodni i znowu skarżyła się na swój kaszel. " * 3
    path = data / VISITS_MAIL / "documents.json"
    documents = json.loads(path.read_text(encoding="utf-8"))
    documents[0]["text"] += f" {polish}"
    documents[1]["text"] = f"{documents[1]['text']} {polish * 5}"
    write(path, documents)
    assert main(["bench", "marks", str(data), "--corpus", VISITS_MAIL]) == 1
    out = capsys.readouterr().out
    assert "Documents that could not be sanitized are not measured: origin 2, redact 2" in out
    assert "kaszel" not in out
