"""``lethe bench trip-rag`` on a handful of invented letters and a small encoder."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.cli.arguments import parser
from app.cli.given import command_of
from app.cli.main import main
from app.cli.trip_rag import failures
from eval.studies.compare.report import GridCell
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.extract import Extract
from tests.doubles import WordEncoder

NAME = "Anna Keller, HIV clinic"
THINGS = ("boiler", "kettle", "harvest", "ferry")
LETTER = (
    "Invented. Mr Quellmann asked twice in the long winter about the {thing} of his uncle. The {thing} "
    "stands in Varde and has been broken for a year. Mr Quellmann, a plumber, pays for the {thing} himself."
)
QUICK = ("--quick", "--prompts", "2", "--questions", "5")


@pytest.fixture
def letters(small_corpus: Path) -> Path:
    for thing in THINGS:
        (small_corpus / f"{NAME} {thing}.txt").write_text(LETTER.format(thing=thing), encoding="utf-8")
    return small_corpus


def test_no_file_and_no_line_has_the_name_of_a_document_and_a_second_run_goes_on(
    letters: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = letters.with_name("out")
    command = ["bench", "trip-rag", str(letters), *QUICK, "--output", str(output)]
    assert main(command) == 0
    out, err = capfd.readouterr()
    files = {path.name: path.read_text(encoding="utf-8") for path in output.iterdir()}
    kept = {"rows.jsonl", "questions.jsonl", "attacks.jsonl"}
    assert set(files) == kept | {"report.json", "report.html"}
    assert all(files.values())
    for place, content in {**files, "stdout": out, "stderr": err}.items():
        assert "keller" not in content.lower(), place
        assert "hiv" not in content.lower(), place
    assert json.loads(out)["command"] == "PATH --quick --questions 5 --prompts 2"
    assert json.loads(files["report.json"])["command"] == json.loads(out)["command"]
    assert main(command) == 0
    assert all((output / name).read_text(encoding="utf-8") == files[name] for name in kept)
    assert main([*command, "--seed", "1"]) == 1
    assert "is of another run" in capfd.readouterr().err


def test_two_encoders_of_one_name_are_refused_before_anything_is_measured(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = letters.with_name("out")
    command = ["bench", "trip-rag", str(letters), *QUICK, "--output", str(output), "--encoders", "embedded"]
    assert main(command) == 2
    told = f"Two encoders are named {WordEncoder.name}, and figures are identified by that name: name"
    assert told in capsys.readouterr().err
    assert list(output.iterdir()) == []


def test_documents_that_fail_fail_the_command(
    letters: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite = Extract.rewrite

    def failing(extract: Extract, texts: Sequence[AnnotatedText]) -> list[str]:
        if any("kettle" in text.text for text in texts):
            raise RuntimeError("kettle")
        return rewrite(extract, texts)

    monkeypatch.setattr(Extract, "rewrite", failing)
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["bench", "trip-rag", str(letters), *QUICK]) == 1
    out, err = capsys.readouterr()
    assert "could not be sanitized and are missing from the figures of the method: extract 1. A" in err
    assert "* of fewer documents: the others could not be sanitized" in err
    assert "extract* " in " ".join(err.split())
    methods = {each["method"]: each for each in json.loads(out)["methods"]}
    assert methods["extract"]["documents_failed"] == 1
    assert methods["extract"]["entities_failed"] > 0
    missing = methods["origin"]["disclosed"]["n"] - methods["extract"]["disclosed"]["n"]
    assert missing == methods["extract"]["entities_failed"]


def test_failures_are_those_of_the_worst_strength() -> None:
    from tests.eval.test_trip_rag_page import figures, quick_report

    report = quick_report()
    assert failures(report) == {"presidio": 1}
    swept = [figures("lprag", 0.5, 0.1, n).model_copy(update={"documents_failed": n}) for n in (2, 3)]
    assert failures(report.model_copy(update={"sweep": tuple(swept)})) == {"presidio": 1, "lprag": 3}
    failed = swept[1].model_copy(update={"method": "beta 1, gamma 1"})
    whole = figures("beta 1, gamma 0.5", 0.5, 0.1)
    cells = GridCell(beta=1, gamma=1, figures=failed), GridCell(beta=1, gamma=0.5, figures=whole)
    assert failures(report.model_copy(update={"grid": cells})) == {"presidio": 1, "beta 1, gamma 1": 3}


def shown_command(*words: str) -> str:
    return command_of(parser().parse_args(["bench", "trip-rag", *words]))


def test_the_command_says_what_was_asked_and_no_path_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "bge").mkdir()
    command = shown_command(
        "/home/keller/mts", "--corpus", "mts_dialog", "--split", "test", "--quick", "--asked-share", "0.5",
        "--tau", "-0.25", "--seed", "7", "--gguf", "/home/keller/llama 2.gguf",
        "--policy", "/home/keller/p.toml", "--questions-file", "/home/keller/q.jsonl",
        "--encoders", f"{tmp_path / 'bge'}, embedded,BAAI/bge-m3",
        "--dp-bart", "/home/keller/bart", "--budgets", "10,2500",
        "--preset", "paper", "--output", "/home/keller/out", "--data-dir", "/home/keller/data", "--json",
    )  # fmt: skip
    assert "keller" not in command and str(tmp_path) not in command
    asked = vars(parser().parse_args(["bench", "trip-rag", *shlex.split(command)]))
    given = {name: value for name, value in asked.items() if value not in (None, False)}
    assert given == {
        "verb": "bench", "bench": "trip-rag", "module": "trip_rag", "function": "run", "path": "PATH",
        "corpus": "mts_dialog", "split": "test", "quick": True, "asked_share": 0.5, "tau": -0.25, "seed": 7,
        "gguf": "llama 2.gguf", "policy": "p.toml", "questions_file": "q.jsonl",
        "encoders": "bge,embedded,BAAI/bge-m3", "preset": "paper",
        "dp_bart": "bart", "budgets": (10, 2500),
    }  # fmt: skip


def test_a_command_without_options_is_short() -> None:
    assert shown_command("/home/keller/letters") == "PATH"
    assert shown_command("letters", "--policy", "trip") == "PATH --policy trip"
