from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ingest.documents import Span
from ingest.spans import substitute
from tests.commands import Ran, environment, in_process, lethe, write_records

Here = Callable[..., Ran]
NOTES = [
    "Invented note. Mr Tobias Keller, aged 61, keeps the lighthouse. He has had a cough for three weeks.",
    "Invented note. The boiler of the mill is broken; the plumber asks for 400 euros to repair it.",
    "Invented note. Mr Keller was told to take lisinopril 10 mg daily. Write to t.keller@example.org.",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    write_records(folder / "notes.jsonl", NOTES)
    ran = lethe(folder / "data", "ingest", str(folder / "notes.jsonl"), "-c", "notes")
    assert ran.code == 0, ran.err
    assert ran.summary["documents_kept"] == 3
    return folder / "data"


@pytest.fixture
def here(
    clean: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """The command in this process, beside the notes: most of a short one is its start."""
    monkeypatch.chdir(data.parent)
    for name, value in environment(data).items():
        monkeypatch.setenv(name, value)
    return partial(in_process, capsys)


def test_sanitize_writes_what_is_promised(here: Here) -> None:
    ran = here("sanitize", "notes.jsonl")
    assert ran.code == 0, ran.err
    assert [row["doc_id"] for row in ran.rows] == ["r0000", "r0001", "r0002"]
    first = ran.rows[0]
    assert "Keller" not in first["text"]
    assert "cough" in first["text"]
    assert set(first["decisions"][0]) == {
        "start", "end", "label", "identifier", "confidence", "scores", "action", "replacement", "reason",
        "link", "source",
    }  # fmt: skip
    assert set(first["decisions"][0]["scores"]) == {"risk", "divergence", "relevance", "priority", "bits"}
    assert all(0 <= first["detected_risk"][when] <= 1 for when in ("before", "after"))


def test_decisions_count_characters_of_the_text_as_read(data: Path) -> None:
    text = "Invented. 😀 Tobias Keller wrote: tobias@example.org."
    (row,) = lethe(data, "sanitize", "-", "--policy", "redact", stdin=text).rows
    acted = [d for d in row["decisions"] if d["action"] != "keep"]
    rebuilt = substitute(text, [(Span(d["start"], d["end"]), d["replacement"]) for d in acted])
    assert rebuilt == row["text"]
    assert "Keller" not in rebuilt


@pytest.mark.parametrize("policy", ["lethe", "trip", "redact", "suppress", "origin", "strict.toml"])
def test_every_policy_by_name_or_file(data: Path, here: Here, policy: str) -> None:
    (data.parent / "strict.toml").write_text('name = "trip"\ntau = 0.0\n')
    rows = here("sanitize", "notes.jsonl", "--policy", policy).rows
    assert {row["policy"] for row in rows} == {"trip" if policy == "strict.toml" else policy}
    assert ("t.keller@example.org" in rows[2]["text"]) == (policy == "origin")
    assert "61" not in rows[0]["text"] or policy != "strict.toml"


def test_search_and_ask(data: Path) -> None:
    best = lethe(data, "search", "what is wrong with the boiler?", "-c", "notes", "-k", "1").rows[0]
    assert best["doc_id"] == "r0001"
    answer = lethe(data, "ask", "What is broken at the mill?", "-c", "notes").rows[0]
    assert "boiler" in answer["answer"]
    assert (answer["citations"][0]["doc_id"], answer["engine"]) == ("r0001", "extractive")


def test_ingesting_again_skips_what_is_there(here: Here) -> None:
    summary = here("ingest", "notes.jsonl", "-c", "notes").summary
    assert (summary["duplicates_skipped"], summary["documents_kept"]) == (3, 0)
    (row,) = here("collections").rows
    shown = ("collection", "policy", "risk", "audit_log", "interrupted", "documents")
    assert [row[name] for name in shown] == ["notes", "lethe", "lethe-reader", "whole", False, 3]


def test_attack_prints_every_arm(here: Here, tmp_path: Path) -> None:
    more = ["-c", "notes", "-n", "4", "--aim", "health", "--report", str(tmp_path / "report")]
    ran = here("attack", "extraction", "notes.jsonl", *more)
    assert ran.code == 0, ran.err
    (summary,) = ran.rows
    arms = {arm["name"]: arm["entity_leakage"]["value"] for arm in summary["arms"]}
    assert set(arms) == {"origin", "redact", "lethe"}
    assert (arms["origin"], arms["redact"]) == (1.0, 0.0)
    assert "origin" in ran.err
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Keller" not in page and "http" not in page


def test_settings_say_where_values_come_from_and_models_what_is_here(data: Path, here: Here) -> None:
    rows = {row["name"]: row for row in here("settings").rows}
    assert (rows["data_dir"]["origin"], rows["policy.tau"]["origin"]) == ("environment", "default")
    known = {row["model"]: row for row in here("models", "list").rows}
    assert known["all-MiniLM-L6-v2"]["here"] is True
    assert [row["state"] for row in here("models", "verify").rows] == ["ok"] * 18
    pulled = lethe(data, "models", "pull", "someone/some-model")
    assert (pulled.code, "some-model" in pulled.err, "Traceback" in pulled.err) == (1, True, False)


OTHER_K = "lethe: collection notes uses k 50.0, you asked for 90.0. Use the settings it was made with, or"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("ask q -c none", 1, "There is no collection none"),
        ("ask q -c ../x", 2, "A collection's name has 1 to 64 letters"),
        ("ingest nowhere.txt -c x", 1, "nowhere.txt"),
        ("ingest notes.jsonl -c notes --fit 90", 1, OTHER_K),
        ("ingest notes.jsonl -c raw --policy origin", 2, "raw text is never indexed"),
        ("sanitize - --policy nope", 2, "policy.name"),
        ("sanitize - --policy nope.toml", 2, "there is no such file"),
        ("sanitize - --tau nan", 2, "policy.tau"),
        ("search q -c notes -k 1000", 2, "retrieval.k"),
        ("erase zz -c notes", 1, "there is no document zz"),
        ("frobnicate", 2, "invalid choice"),
        ("", 2, "the following arguments are required"),
    ],
)
def test_misuse_is_told_in_one_sentence(
    data: Path, here: Here, arguments: str, code: int, message: str
) -> None:
    ran = here(*arguments.split())
    assert (ran.code, message in ran.err) == (code, True), ran.err
    assert not (data / "collections" / "raw" / "manifest.json").exists()
