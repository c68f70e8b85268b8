"""``lethe synthesize``: what it writes, what it promises in words, and what it refuses. All is invented."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Ran, in_process, write_records

COMMON = "The heron of the mill was fed at noon."
CANARY = "Zorvathian Quell keeps a tame otter."
NOTES = [COMMON] * 300 + [CANARY]

Synthesize = Callable[..., Ran]


@pytest.fixture
def synthesize(clean: Path, capsys: pytest.CaptureFixture[str]) -> Synthesize:
    write_records(clean / "notes.jsonl", NOTES)

    def run(*arguments: str, notes: str = "notes.jsonl") -> Ran:
        return in_process(capsys, "synthesize", notes, "--output", "out.jsonl", *arguments)

    return run


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_documents_are_written_with_what_they_are_and_what_was_promised(
    clean: Path, synthesize: Synthesize
) -> None:
    ran = synthesize("--epsilon", "3", "--delta", "0.001", "--count", "20", "--per-document", "12")
    assert ran.code == 0, ran.err
    rows = rows_of(clean / "out.jsonl")
    assert [row["id"] for row in rows] == [f"synthetic-{number}" for number in range(1, 21)]
    assert all(row["synthetic"] is True and row["truthful"] is False for row in rows)
    assert {row["method"] for row in rows} == {"DP n-gram synthesis, not DP-SGD"}
    assert {row["privacy"] for row in rows} == {"epsilon 3, delta 0.001 for each document"}
    assert any("heron" in row["text"] for row in rows)
    assert "zorvathian" not in (clean / "out.jsonl").read_text().lower()
    assert stat.S_IMODE((clean / "out.jsonl").stat().st_mode) == 0o600
    report = ran.summary
    assert report["file"] == "out.jsonl" and report["documents"] == 20 and report["truthful"] is False
    assert (report["epsilon"], report["delta"], report["per_document"]) == (3.0, 0.001, 12)
    assert report["accountant"] == "zero-concentrated differential privacy" and 0 < report["rho"] < 1
    assert report["noise_variance"] > 1 and report["threshold"] > 2
    assert len(report["ngrams_kept"]) == 3 and min(report["ngrams_kept"]) > 0
    assert (report["documents_read"], report["documents_unread"]) == (301, 0)
    assert ran.messages == [
        "lethe: whether a document was read or not changes the probability of any output by at most e^3-fold,"
        " but for 0.001: a bet on it at even odds is won in at most 95.262% of cases.",
        "lethe: this is promised of each document, not of a person with several, and takes the number of "
        "documents as public.",
        f"lethe: what {report['threshold']} documents or so share may be in the file word by word: learn "
        "from sanitized documents.",
    ]


def test_without_delta_it_follows_from_the_number_of_documents(synthesize: Synthesize) -> None:
    ran = synthesize("--epsilon", "8", "--count", "1")
    assert ran.code == 0 and ran.summary["delta"] == pytest.approx(1 / (301 * 5.70711), rel=1e-5)
    assert "next to nothing" not in ran.err


def test_a_large_epsilon_and_a_seed_are_told(clean: Path, synthesize: Synthesize) -> None:
    ran = synthesize("--epsilon", "64", "--order", "1", "--seed", "7")
    first = rows_of(clean / "out.jsonl")
    assert first[0]["privacy"].startswith("none: epsilon 64, delta 0.00058")
    assert first[0]["privacy"].endswith("for each document, but drawn from a seed")
    assert ran.messages[-2:] == [
        "lethe: an epsilon of 64 promises next to nothing. Below 10 it begins to count.",
        "lethe: the guarantee is void: whoever guesses the seed takes the noise away. Leave out --seed.",
    ]
    (clean / "out.jsonl").unlink()
    synthesize("--epsilon", "64", "--order", "1", "--seed", "7")
    assert rows_of(clean / "out.jsonl") == first
    (clean / "out.jsonl").unlink()
    synthesize("--epsilon", "64", "--order", "1", "--seed", "8")
    assert rows_of(clean / "out.jsonl") != first


def test_an_infinite_epsilon_promises_nothing_and_says_so(clean: Path, synthesize: Synthesize) -> None:
    ran = synthesize("--epsilon", "inf", "--count", "2000")
    assert (ran.code, ran.summary["epsilon"], ran.summary["privacy"]) == (
        0,
        None,
        "none: epsilon is infinite",
    )
    assert "zorvathian" in (clean / "out.jsonl").read_text(), "the comparison hides nothing"
    assert ran.messages == [
        "lethe: no guarantee: epsilon is infinite, and the file quotes single documents. Keep it private."
    ]


def test_what_is_written_can_be_read_again(clean: Path, synthesize: Synthesize) -> None:
    synthesize("--epsilon", "3", "--delta", "0.001")
    (clean / "out.jsonl").rename(clean / "again.jsonl")
    ran = synthesize("--epsilon", "inf", "--count", "1", notes="again.jsonl")
    assert ran.code == 0 and 0 < ran.summary["documents_read"] <= 100


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "much"])
def test_an_epsilon_that_is_none_is_refused(clean: Path, synthesize: Synthesize, epsilon: str) -> None:
    ran = synthesize(f"--epsilon={epsilon}")
    assert ran.code == 2 and "--epsilon: must be a number above 0, or inf" in ran.err
    assert not (clean / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--epsilon", "0.001"], "epsilon 0.001 is too small for 100 n-grams of each document"),
        (["--epsilon", "3", "--output", "."], "--output: . is there already. Name a new file."),
        (
            ["--epsilon", "3", "--output", "no/out.jsonl"],
            "--output: the folder of no/out.jsonl is not there. Make it, or name another.",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_as_misuse(
    synthesize: Synthesize, arguments: list[str], said: str
) -> None:
    ran = synthesize(*arguments)
    assert ran.code == 2 and said in ran.messages[-1]


def test_an_output_that_is_there_is_left_as_it_is(
    clean: Path, synthesize: Synthesize, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clean / "out.jsonl").write_text("mine")
    ran = synthesize("--epsilon", "3")
    assert (ran.code, ran.messages) == (
        2,
        ["lethe: --output: out.jsonl is there already. Name a new file."],
    )
    # One that appears while documents are read is no more replaced.
    monkeypatch.setattr("app.cli.synthesize._check_new", lambda output: None)
    ran = synthesize("--epsilon", "inf")
    assert ran.code == 1 and "out.jsonl: could not be written (File exists)" in ran.err
    assert (clean / "out.jsonl").read_text() == "mine"
    assert sorted(each.name for each in clean.iterdir()) == ["notes.jsonl", "out.jsonl"]


def test_no_documents_and_too_few_are_told(clean: Path, synthesize: Synthesize) -> None:
    ran = synthesize("--epsilon", "3", notes="absent.jsonl")
    assert ran.code == 1
    assert ran.messages[-1] == "lethe: There is no document to learn from: none of the paths could be read."
    write_records(clean / "few.jsonl", NOTES[:4])
    ran = synthesize("--epsilon", "3", notes="few.jsonl")
    assert ran.code == 1 and "no token stands in enough of the 4 documents" in ran.messages[-1]
    assert not (clean / "out.jsonl").exists()


def test_what_cannot_be_read_is_counted_and_the_rest_goes_on(clean: Path, synthesize: Synthesize) -> None:
    with (clean / "notes.jsonl").open("a") as file:
        file.write('{"id": "broken"}\n')
    ran = synthesize("--epsilon", "3", "--delta", "0.001")
    assert ran.code == 1 and ran.summary["documents_unread"] == 1
    assert len(rows_of(clean / "out.jsonl")) == 100
