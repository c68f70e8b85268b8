import json
from pathlib import Path

import pytest

from ingest.documents import Span
from ingest.spans import substitute
from tests.commands import Ran, lethe, write_records

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
    assert ran.rows[-1]["documents_kept"] == 3
    return folder / "data"


def run(data: Path, *arguments: str, stdin: str | None = None) -> Ran:
    return lethe(data, *arguments, stdin=stdin)


def test_sanitize_writes_what_is_promised(data: Path) -> None:
    ran = run(data, "sanitize", str(data.parent / "notes.jsonl"))
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
    (row,) = run(data, "sanitize", "-", "--policy", "redact", stdin=text).rows
    acted = [d for d in row["decisions"] if d["action"] != "keep"]
    rebuilt = substitute(text, [(Span(d["start"], d["end"]), d["replacement"]) for d in acted])
    assert rebuilt == row["text"]
    assert "Keller" not in rebuilt


@pytest.mark.parametrize("policy", ["lethe", "trip", "redact", "suppress", "origin"])
def test_every_policy_by_name(data: Path, policy: str) -> None:
    (row,) = run(data, "sanitize", "-", "--policy", policy, stdin=NOTES[2]).rows
    assert row["policy"] == policy
    assert ("t.keller@example.org" in row["text"]) == (policy == "origin")


def test_a_policy_file(data: Path) -> None:
    path = data.parent / "strict.toml"
    path.write_text('name = "trip"\ntau = 0.0\n')
    (row,) = run(data, "sanitize", "-", "--policy", str(path), stdin=NOTES[0]).rows
    assert "61" not in row["text"]


def test_search_and_ask(data: Path) -> None:
    best = run(data, "search", "what is wrong with the boiler?", "-c", "notes", "-k", "1").rows[0]
    assert best["doc_id"] == "r0001"
    answer = run(data, "ask", "What is broken at the mill?", "-c", "notes").rows[0]
    assert "boiler" in answer["answer"]
    assert answer["citations"][0]["doc_id"] == "r0001"
    assert answer["engine"] == "extractive"


def test_ingesting_again_skips_what_is_there(data: Path) -> None:
    ran = run(data, "ingest", str(data.parent / "notes.jsonl"), "-c", "notes")
    assert ran.rows[-1]["duplicates_skipped"] == 3
    assert ran.rows[-1]["documents_kept"] == 0


def test_another_policy_is_refused(data: Path) -> None:
    ran = run(data, "ingest", str(data.parent / "notes.jsonl"), "-c", "notes", "--fit", "90")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == (
        "lethe: collection notes uses k 50.0, you asked for 90.0. Use the settings it was made with, or "
        "ingest into a new collection."
    )


def test_raw_text_is_never_indexed(data: Path) -> None:
    ran = run(data, "ingest", str(data.parent / "notes.jsonl"), "-c", "raw", "--policy", "origin")
    assert ran.code == 2
    assert "raw text is never indexed" in ran.err
    assert not (data / "collections" / "raw" / "manifest.json").exists()


def test_collections(data: Path) -> None:
    (row,) = [row for row in run(data, "collections").rows if row["collection"] == "notes"]
    assert row["documents"] >= 3
    assert row["policy"] == "lethe"
    assert row["risk"] == "lethe-reader"
    assert row["audit_log"] == "whole"
    assert row["interrupted"] is False


def test_erase_takes_the_id_as_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "keller_tobias.txt").write_text(NOTES[0])
    data = tmp_path / "data"
    lethe(data, "ingest", str(tmp_path / "keller_tobias.txt"), "-c", "one")
    shown = lethe(data, "search", "lighthouse", "-c", "one").rows[0]["doc_id"]
    assert "keller" not in shown
    ran = lethe(data, "erase", str(tmp_path / "keller_tobias.txt"), "-c", "one")
    assert ran.code == 0, ran.err
    assert ran.rows[0]["passages"] == 1
    assert ran.rows[0]["traces_found"] == 0


def test_attack_prints_every_arm(data: Path, tmp_path: Path) -> None:
    ran = run(
        data, "attack", "extraction", str(data.parent / "notes.jsonl"), "-c", "notes", "-n", "4",
        "--aim", "health", "--report", str(tmp_path / "report"),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (summary,) = ran.rows
    arms = {arm["name"]: arm["entity_leakage"]["value"] for arm in summary["arms"]}
    assert set(arms) == {"origin", "redact", "lethe"}
    assert arms["origin"] == 1.0
    assert arms["redact"] == 0.0
    assert "origin" in ran.err
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Keller" not in page
    assert "http" not in page


def test_settings_say_where_each_value_comes_from(data: Path) -> None:
    rows = {row["name"]: row for row in run(data, "settings").rows}
    assert rows["data_dir"]["origin"] == "environment"
    assert rows["policy.tau"]["origin"] == "default"


def test_models(data: Path) -> None:
    known = {row["model"]: row for row in run(data, "models", "list").rows}
    assert known["all-MiniLM-L6-v2"]["here"] is True
    assert [row["state"] for row in run(data, "models", "verify").rows] == ["ok"] * 18


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ask", "q", "-c", "none"], 1, "There is no collection none"),
        (["ask", "q", "-c", "../x"], 2, "A collection's name has 1 to 64 letters"),
        (["ingest", "nowhere.txt", "-c", "x"], 1, "nowhere.txt"),
        (["sanitize", "-", "--policy", "nope"], 2, "policy.name"),
        (["sanitize", "-", "--policy", "nope.toml"], 2, "there is no such file"),
        (["sanitize", "-", "--tau", "nan"], 2, "policy.tau"),
        (["search", "q", "-c", "notes", "-k", "1000"], 2, "retrieval.k"),
        (["erase", "zz", "-c", "notes"], 1, "there is no document zz"),
        (["frobnicate"], 2, "invalid choice"),
        ([], 2, "the following arguments are required"),
        (["models", "pull", "someone/some-model"], 1, "some-model"),
    ],
)
def test_misuse_is_told_in_one_sentence(data: Path, arguments: list[str], code: int, message: str) -> None:
    ran = run(data, *arguments, stdin="")
    assert (ran.code, message in ran.err) == (code, True), ran.err
    assert "Traceback" not in ran.err


def test_bad_input_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    good = json.dumps({"id": "good", "text": "Invented. The heron was fed."})
    (folder / "a.jsonl").write_text(f'{good}\n{{"id": "x", "text": \n{{"id": "y"}}\n')
    (folder / "b.pdf").write_bytes(b"%PDF-1.7 not a pdf")
    (folder / "c.txt").write_bytes(b"")
    (folder / "d.txt").write_bytes(bytes(range(256)) * 8)
    (folder / "e.txt").write_bytes("Invented, caf\xe9".encode("latin-1"))
    ran = lethe(tmp_path / "data", "ingest", str(folder), "-c", "mixed")
    summary = ran.rows[-1]
    assert ran.code == 1
    assert summary["documents_kept"] == 1
    assert summary["documents_failed"] == 6
    reasons = {failure["place"].split("/")[-1]: failure["reason"] for failure in summary["failures"]}
    for name in ("b.pdf", "c.txt", "d.txt", "e.txt"):
        assert any(place.startswith(name) for place in reasons), reasons
    assert "Traceback" not in ran.err
