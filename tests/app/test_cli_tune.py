"""``lethe tune`` on a handful of invented letters and a small encoder."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.cli.tune import _write_policy
from app.settings.policy import PolicySettings
from eval.studies.tune import TuningReport

PEOPLE = ("Tobias Quellmann", "Ada Vennström", "Oswin Tarrant", "Mira Jaspersen", "Ilko Brandtner")
THINGS = ("boiler", "kettle", "harvest", "ferry", "orchard")
LETTER = (
    "Invented. Mr {person} asked twice in the long winter about the {thing} of his uncle. The {thing} stands "
    "in Varde and has been broken for a year.{more} Mr {person} is a plumber, aged {age}, and has diabetes."
)
MORE = (
    " He was in Oslo in May.",
    " He takes lisinopril for it and works in Bergen.",
    "",
    " He is Danish.",
    "",
)
SMALL = ("--betas", "0.5", "--gammas", "1", "--shares", "0.3,0.9")

Ran = tuple[int, dict[str, Any], str]


@pytest.fixture
def letters(small_corpus: Path) -> Path:
    for number, (person, thing) in enumerate(zip(PEOPLE, THINGS, strict=True)):
        text = LETTER.format(person=person, thing=thing, age=41 + number, more=MORE[number])
        (small_corpus / f"{number}.txt").write_text(text, encoding="utf-8")
    return small_corpus


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    code = main(["tune", *arguments])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, " ".join(err.split())


def test_the_set_is_one_line_of_figures_and_a_table(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, figures, stderr = ran(capsys, str(letters), *SMALL, "--seed", "3")
    assert code == 0, stderr
    assert (figures["documents"], figures["seed"], figures["corpus"]) == (5, 3, "folder")
    assert "cells" not in figures and figures["pareto"]
    for cell in figures["pareto"]:
        for half in ("chosen_on", "held_out"):
            assert cell[half]["rouge_l"]["n"] > 0 and cell[half]["disclosed"]["n"] > 0
            assert set(cell[half]["recall_overlap"]) == {"1", "5", "10"}
    assert figures["split"].startswith("Each question is a sentence of 8 to 40 words drawn")
    assert "of 8 cells are Pareto-optimal" in stderr
    assert "share tau beta gamma (held out) (held out) (held out)" in stderr
    assert "chosen on the first half, so its figures (chosen_on) flatter what was chosen" in stderr


def test_files_hold_every_cell_and_a_policy_of_each_choice(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = letters.with_name("tuned")
    code, figures, stderr = ran(capsys, str(letters), *SMALL, "--output", str(folder))
    assert code == 0, stderr
    whole = json.loads((folder / "tuning.json").read_text())
    assert len(whole.pop("cells")) == 8 and whole == figures
    assert (folder / "tuning.html").read_text().startswith("<!doctype html>")
    names = [
        f"share-{cell['share']:g}-beta-{cell['beta']:g}-gamma-{cell['gamma']:g}.toml"
        for cell in figures["pareto"]
    ]
    assert {path.name for path in folder.iterdir()} == {"tuning.json", "tuning.html", *names}
    for name, cell in zip(names, figures["pareto"], strict=True):
        policy = tomllib.loads((folder / name).read_text())
        assert {key: policy[key] for key in ("tau", "beta", "gamma")} == {
            key: cell[key] for key in ("tau", "beta", "gamma")
        }
        assert policy["scale"] == figures["scale"]


def test_a_policy_file_has_the_weights_of_its_cell(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = letters.with_name("tuned")
    assert ran(capsys, str(letters), *SMALL, "--output", str(folder))[0] == 0
    report = TuningReport.model_validate_json((folder / "tuning.json").read_text())
    cell = report.current.model_copy(update={"share": 0.3, "beta": 0.25, "gamma": 0.75, "tau": -0.5})
    _write_policy(folder, PolicySettings(direct_limit=0.9), report, cell)
    policy = tomllib.loads((folder / "share-0.3-beta-0.25-gamma-0.75.toml").read_text())
    expected = {"beta": 0.25, "gamma": 0.75, "tau": -0.5, "direct_limit": 0.9}
    assert {key: policy[key] for key in expected} == expected


def test_a_policy_file_sanitizes_as_the_cell_was_measured(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = letters.with_name("tuned")
    _, figures, _ = ran(capsys, str(letters), *SMALL, "--output", str(folder))
    cell = figures["pareto"][0]
    name = f"share-{cell['share']:g}-beta-{cell['beta']:g}-gamma-{cell['gamma']:g}.toml"
    assert main(["sanitize", str(letters), "--policy", str(folder / name)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kept = sum(each["action"] == "keep" for row in rows for each in row["decisions"])
    assert kept == cell["chosen_on"]["kept"]["hits"] + cell["held_out"]["kept"]["hits"]


def test_nothing_of_a_letter_is_reported(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = letters.with_name("tuned")
    assert main(["tune", str(letters), *SMALL, "--output", str(folder)]) == 0
    out, err = capsys.readouterr()
    written = [path.read_text() for path in folder.iterdir()]
    for secret in ("Quellmann", "Tarrant", "plumber", "orchard"):
        assert not any(secret in text for text in (out, err, *written))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("--policy", "redact"),
            2,
            "lethe: Only the policy trip has weights, and this is redact: leave out --policy, or name a "
            "file of a trip policy.",
        ),
        (("--shares", "0.5,1.5"), 2, "lethe: --shares holds 1.5: give shares above 0 and up to 1."),
        (("--betas=-1",), 2, "lethe: --betas holds -1: give weights of 0 or more."),
        (
            ("--corpus", "letters"),
            2,
            "lethe: There is no corpus 'letters': the names are mts_dialog, aci_bench, medqa, "
            "healthcaremagic, enronqa, aeslc, ewt_email, tab, demo, folder.",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(
    letters: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, message: str
) -> None:
    assert ran(capsys, str(letters), *arguments) == (code, {}, message)


def test_questions_about_one_document_are_too_few(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, figures, stderr = ran(capsys, str(letters), "--documents", "1", *SMALL)
    assert (code, figures) == (1, {})
    assert stderr.startswith(
        "lethe: All 3 questions of folder are about one document, and choosing and checking"
    )


def test_lists_are_numbers(letters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["tune", str(letters), "--gammas", "much"])
    assert ended.value.code == 2
    assert "argument --gammas: must be comma-separated numbers" in capsys.readouterr().err


def test_the_help_says_on_what_was_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tune", "--help"])
    stdout = " ".join(capsys.readouterr().out.split())
    assert "chosen on half of a corpus and checked on the held-out half" in stdout
