"""``lethe tune`` on a handful of invented letters and a small encoder."""

import io
import json
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from tests.commands import READING, in_process
from tests.doubles import WordEncoder

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
NAME = "share-{share:g}-beta-{beta:g}-gamma-{gamma:g}.toml"
SMALL = ("--betas", "0.5", "--gammas", "1", "--shares", "0.3,0.9")


@dataclass(frozen=True)
class Tuned:
    """What a run over the letters said and wrote."""

    letters: Path
    folder: Path
    out: str
    err: str

    @property
    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    def policies(self) -> list[tuple[Path, dict[str, Any]]]:
        """The file of each choice, and its cell."""
        return [(self.folder / NAME.format(**cell), cell) for cell in self.figures["pareto"]]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tuned]:
    here = tmp_path_factory.mktemp("tune")
    letters, folder = here / "letters", here / "tuned"
    letters.mkdir()
    for number, (person, thing) in enumerate(zip(PEOPLE, THINGS, strict=True)):
        text = LETTER.format(person=person, thing=thing, age=41 + number, more=MORE[number])
        (letters / f"{number}.txt").write_text(text, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**READING, "LETHE_DATA_DIR": str(here / "data")}.items():
            patch.setenv(name, value)
        patch.setenv("LETHE_RETRIEVAL__PASSAGE_TOKENS", "32")
        patch.setenv("LETHE_POLICY__DIRECT_LIMIT", "0.9")
        patch.setattr("app.compose._encoder", lambda settings: WordEncoder())
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["tune", str(letters), *SMALL, "--seed", "3", "--output", str(folder)])
        assert code == 0, err.getvalue()
        yield Tuned(letters, folder, out.getvalue(), " ".join(err.getvalue().split()))


def test_the_set_is_one_line_of_figures_and_a_table(tuned: Tuned) -> None:
    figures = tuned.figures
    assert (figures["documents"], figures["seed"], figures["corpus"]) == (5, 3, "folder")
    assert "cells" not in figures and figures["pareto"]
    for cell in figures["pareto"]:
        for half in ("chosen_on", "held_out"):
            assert cell[half]["rouge_l"]["n"] > 0 and cell[half]["disclosed"]["n"] > 0
            assert set(cell[half]["recall_overlap"]) == {"1", "5", "10"}
    assert figures["split"].startswith("Each question is a sentence of 8 to 40 words drawn")
    assert "of 8 cells are Pareto-optimal" in tuned.err
    assert "share tau beta gamma (held out) (held out) (held out)" in tuned.err
    assert "chosen on the first half, so its figures (chosen_on) flatter what was chosen" in tuned.err


def test_files_hold_every_cell_a_policy_of_each_choice_and_nothing_of_a_letter(tuned: Tuned) -> None:
    whole = json.loads((tuned.folder / "tuning.json").read_text())
    assert len(whole.pop("cells")) == 8 and whole == tuned.figures
    assert (tuned.folder / "tuning.html").read_text().startswith("<!doctype html>")
    names = [path.name for path, _ in tuned.policies()]
    assert {path.name for path in tuned.folder.iterdir()} == {"tuning.json", "tuning.html", *names}
    for path, cell in tuned.policies():
        policy = tomllib.loads(path.read_text())
        assert {key: policy[key] for key in ("tau", "beta", "gamma")}.items() <= cell.items()
        assert (policy["scale"], policy["direct_limit"]) == (whole["scale"], 0.9)
    written = [path.read_text() for path in tuned.folder.iterdir()]
    for secret in ("Quellmann", "Tarrant", "plumber", "orchard"):
        assert not any(secret in text for text in (tuned.out, tuned.err, *written))


def test_a_policy_sanitizes_as_was_measured(tuned: Tuned, capsys: pytest.CaptureFixture[str]) -> None:
    path, cell = tuned.policies()[0]
    rows = in_process(capsys, "sanitize", str(tuned.letters), "--policy", str(path)).rows
    kept = sum(each["action"] == "keep" for row in rows for each in row["decisions"])
    assert kept == cell["chosen_on"]["kept"]["hits"] + cell["held_out"]["kept"]["hits"]


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
        (("--corpus", "letters"), 2, "lethe: There is no corpus 'letters': the names are mts_dialog, aci_"),
        (("--gammas", "much"), 2, "argument --gammas: must be comma-separated numbers"),
        (
            ("--documents", "1", *SMALL),
            1,
            "lethe: All 3 questions of folder are about one document, and choosing and checking",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(
    tuned: Tuned, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = in_process(capsys, "tune", str(tuned.letters), *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in " ".join(ran.err.split())
