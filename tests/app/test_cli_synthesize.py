"""``lethe synthesize``: what it writes, what it promises in words, and what it refuses. All is invented."""

import json
import stat
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.commands import PLAIN, Ran, in_process, write_lines, write_records
from tests.small_models import one_thread
from tests.tiny_gpt2 import make_tiny_gpt2

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
        "lethe: this is promised of each document as it was read, not of a person with several. The number "
        "of documents is taken as public.",
        f"lethe: what {report['threshold']} documents or so share may be in the file word by word: learn "
        "from sanitized documents.",
    ]


def test_what_is_written_can_be_indexed_in_place_of_the_documents(
    clean: Path, synthesize: Synthesize, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    ran = synthesize("--epsilon", "8", "--count", "20", "--order", "5")
    # Without --delta it follows from the number of documents.
    assert ran.code == 0 and ran.summary["delta"] == pytest.approx(1 / (301 * 5.70711), rel=1e-5)
    assert "next to nothing" not in ran.err
    where = ("-c", "base", "--data-dir", str(clean / "data"))
    told = in_process(capsys, "ingest", "out.jsonl", *where)
    kept = told.summary["documents_kept"] + told.summary["duplicates_skipped"]
    assert (told.code, kept) == (0, 20), told.err
    found = in_process(capsys, "search", "heron at the mill", *where)
    assert "heron" in found.out and "zorvathian" not in found.out.lower()


def test_a_large_epsilon_and_a_seed_are_told(clean: Path, synthesize: Synthesize) -> None:
    def of_seed(seed: str) -> tuple[Ran, list[dict[str, Any]]]:
        (clean / "out.jsonl").unlink(missing_ok=True)
        ran = synthesize("--epsilon", "64", "--order", "1", "--seed", seed)
        return ran, rows_of(clean / "out.jsonl")

    ran, first = of_seed("7")
    assert first[0]["privacy"].startswith("none: epsilon 64, delta 0.00058")
    assert first[0]["privacy"].endswith("for each document, but drawn from a seed")
    assert ran.messages[-2:] == [
        "lethe: an epsilon of 64 promises next to nothing. Below 10 it begins to count.",
        "lethe: the guarantee is void: whoever guesses the seed takes the noise away. Leave out --seed.",
    ]
    assert of_seed("7")[1] == first != of_seed("8")[1]


def test_an_infinite_epsilon_promises_nothing_and_says_so(clean: Path, synthesize: Synthesize) -> None:
    ran = synthesize("--epsilon", "inf", "--count", "2000")
    assert (ran.code, ran.summary["epsilon"]) == (0, None)
    assert ran.summary["privacy"] == "none: epsilon is infinite"
    assert "zorvathian" in (clean / "out.jsonl").read_text(), "the comparison hides nothing"
    assert ran.messages == [
        "lethe: no guarantee: epsilon is infinite, and the file quotes single documents. Keep it private."
    ]


def test_what_is_written_can_be_read_again_and_what_cannot_be_read_is_counted(
    clean: Path, synthesize: Synthesize
) -> None:
    with (clean / "notes.jsonl").open("a") as file:
        file.write('{"id": "broken"}\n')
    ran = synthesize("--epsilon", "3", "--delta", "0.001")
    assert ran.code == 1 and ran.summary["documents_unread"] == 1
    assert len(rows_of(clean / "out.jsonl")) == 100
    (clean / "out.jsonl").rename(clean / "again.jsonl")
    ran = synthesize("--epsilon", "inf", "--count", "1", notes="again.jsonl")
    assert ran.code == 0 and 0 < ran.summary["documents_read"] <= 100


DELTA = "with a delta of 0.004 one of 301 documents could be published whole. Leave out --delta, or give one "


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *((f"--epsilon={each}", "must be a number above 0, or inf") for each in ("0", "-1", "nan", "much")),
        ("--epsilon 0.001", "epsilon 0.001 is too small for 100 n-grams of each document"),
        ("--epsilon 3 --delta 0.004", f"{DELTA}below 0.00058."),
        ("--epsilon 3 --output .", "--output: . is there already. Name a new one."),
        ("--epsilon 3 --output no/out", "--output: the folder of no/out is not there. Make it, or name"),
        # What is for the other method.
        ("--epsilon 3 --code kind", "--code goes with --model. Name both, or leave --code out."),
        ("--epsilon 3 --epochs 3", "--epochs goes with --model. Name both, or leave --epochs out."),
        ("--epsilon 3 --model x --order 2", "--order is of n-grams, and not for --model. Leave one of them"),
        ("--epsilon 3 --model x --per-document 2", "--per-document is of n-grams, and not for --model."),
    ],
)
def test_what_cannot_be_done_is_refused_as_misuse(
    clean: Path, synthesize: Synthesize, arguments: str, said: str
) -> None:
    ran = synthesize(*arguments.split())
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert not (clean / "out.jsonl").exists()


def test_an_output_that_is_there_is_left_as_it_is(
    clean: Path, synthesize: Synthesize, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clean / "out.jsonl").write_text("mine")
    ran = synthesize("--epsilon", "3")
    assert ran.code == 2
    assert ran.messages == ["lethe: --output: out.jsonl is there already. Name a new one."]
    # One that appears while documents are read is no more replaced.
    monkeypatch.setattr("app.cli.synthesize.check_new", lambda output, option: None)
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


@pytest.fixture
def tiny(clean: Path) -> Iterator[str]:
    with one_thread():
        yield str(make_tiny_gpt2(clean / "tiny"))


def test_a_language_model_writes_behind_control_codes(clean: Path, synthesize: Synthesize, tiny: str) -> None:
    kinds = [{"id": "1", "text": COMMON, "kind": kind, "ward": "north"} for kind in ("note", "letter") * 3]
    write_lines(clean / "notes.jsonl", kinds)
    ran = synthesize(
        "--model", tiny, "--epsilon", "inf", "--epochs", "1", "--count", "6", "--code", "kind", "--code",
        "ward", "--seed", "1",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    rows = rows_of(clean / "out.jsonl")
    assert {tuple(row["codes"]) for row in rows} == {("note", "north"), ("letter", "north")}
    assert {row["method"] for row in rows} == {"fine-tuning of a language model"} and len(rows) == 6
    assert (ran.summary["epochs"], ran.summary["privacy"]) == (1, "none: epsilon is infinite")
    assert ran.messages[-2:] == [
        "lethe: what the model learned before, and the control codes, are taken as public.",
        "lethe: what documents share may be in the file word by word: learn from sanitized documents.",
    ]


@pytest.mark.skipif(find_spec("opacus") is None, reason="opacus is absent: pip install 'lethe[dp]'")
def test_a_language_model_learns_with_a_promise(clean: Path, synthesize: Synthesize, tiny: str) -> None:
    write_records(clean / "notes.jsonl", NOTES[-20:])
    ran = synthesize("--model", tiny, "--epsilon", "8", "--epochs", "2", "--count", "2")
    assert ran.code == 0, ran.err
    rows = rows_of(clean / "out.jsonl")
    assert {row["privacy"] for row in rows} == {"epsilon 8, delta 0.0166904 for each document"}
    assert {row["method"] for row in rows} == {"DP-SGD of a language model"} and "codes" not in rows[0]
    report = ran.summary
    assert (report["epsilon"], report["clip"], report["sample_rate"], report["steps"]) == (8, 1.0, 1.0, 2)
    assert 7.9 < report["epsilon_spent"] <= 8 and report["accountant"].startswith("RDP (opacus ")
    assert "changes the probability of any output by at most e^8-fold" in ran.err
    assert ran.messages[-1] == (
        "lethe: the noise is torch's: floating-point numbers, and of a generator that can be guessed."
    )


def test_codes_that_cannot_be_read_are_refused(clean: Path, synthesize: Synthesize, tiny: str) -> None:
    ran = synthesize("--epsilon", "inf", "--model", tiny, "--code", "kind")
    assert ran.code == 1 and ran.messages[-1].endswith(
        "notes.jsonl, line 1: has no text in the field 'kind', and 300 more have none. Name a field of "
        "--code that all records have."
    )
    ran = synthesize("--epsilon", "inf", "--model", tiny, "--code", "kind", notes="-")
    assert ran.code == 2 and "standard input cannot be: name a file" in ran.messages[-1]
    ran = synthesize("--epsilon", "inf", "--model", str(clean / "absent"))
    assert ran.code == 1 and "absent" in ran.messages[-1]
    assert not (clean / "out.jsonl").exists()
