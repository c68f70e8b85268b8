"""``lethe ingest``: the dry run, what is not read or doubted, where failures are told. All is invented."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.deciding.baselines.uniform import REDACT
from ingest.documents import Document, SanitizedDocument, Unread
from ingest.errors import SanitizationError
from ingest.pipeline import KINDS_TOLD, Tally
from ingest.protocols import Sanitizer
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from models.encoders.minilm import MiniLM
from retrieval.system import System
from tests.commands import PLAIN, in_process, write_records
from tests.doubles import PhraseDetector

NOTES = [
    "Invented. Mr Tobias Orrin, aged 61, keeps the lighthouse. He has a cough.",
    "Invented. Write to t.orrin@example.org, or to i.vexling@example.org.",
    "Invented. The heron of pier 2 was fed.",
]

Ran = tuple[int, dict[str, Any], str]
Lethe = Callable[..., Ran]


@pytest.fixture
def here(clean: Path, monkeypatch: pytest.MonkeyPatch, minilm: MiniLM) -> Path:
    """A folder with three notes, that the command is run in."""
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("app.compose._encoder", lambda settings: minilm)
    write_records(clean / "notes.jsonl", NOTES)
    return clean


@pytest.fixture
def lethe(here: Path, capsys: pytest.CaptureFixture[str]) -> Lethe:
    def run(*arguments: str) -> Ran:
        ran = in_process(capsys, *arguments)
        return ran.code, ran.summary, ran.err

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("policy", ["trip", "redact"])
def test_a_dry_run_counts_what_the_ingest_then_does(here: Path, lethe: Lethe, policy: str) -> None:
    (here / "in").mkdir()
    (here / "notes.jsonl").rename(here / "in" / "notes.jsonl")
    (here / "in" / "empty.txt").write_text("")
    (here / "in" / "copy.txt").write_text(NOTES[2])
    (here / "in" / "twice.jsonl").write_text(json.dumps({"id": "r0000", "text": "Invented. Another."}))
    arguments = ["ingest", "in", "-c", "clinic", "--policy", policy]
    before = contents(here)
    code, counted, _ = lethe(*arguments, "--dry-run")
    assert (code, counted["dry_run"]) == (1, True)
    assert contents(here) == before
    assert [path.name for path in here.iterdir()] == ["in"], "no folder for data, and no key"
    code, done, _ = lethe(*arguments)
    assert code == 1
    same = (
        "documents_read", "documents_kept", "documents_replaced", "duplicates_skipped", "documents_failed",
        "entities", "passages", "characters", "not_read", "doubts",
    )  # fmt: skip
    assert {name: counted[name] for name in same} == {name: done[name] for name in same}
    assert (done["documents_kept"], done["duplicates_skipped"], done["documents_failed"]) == (3, 1, 2)
    # Ids are digested under a key that nobody keeps, until there is one.
    assert [each["reason"] for each in counted["failures"]] == [each["reason"] for each in done["failures"]]
    assert "in/empty.txt" in [each["place"] for each in counted["failures"]]


def test_a_dry_run_shows_decisions_and_no_text(here: Path, lethe: Lethe) -> None:
    _, counted, err = lethe("ingest", "notes.jsonl", "-c", "clinic", "--dry-run")
    rows = counted["decisions"]
    assert {name for row in rows for name in row} == {
        "identifier", "label", "action", "reason", "mentions", "replacements",
    }  # fmt: skip
    by_action = Counter[str]()
    for row in rows:
        by_action[row["action"]] += row["mentions"]
    assert by_action == counted["entities"]
    (addresses,) = [row for row in rows if row["label"] == "email address"]
    assert (addresses["mentions"], addresses["action"]) == (2, "generalize")
    assert addresses["replacements"] == ["[email address A]", "[email address B]"]
    assert [row["mentions"] for row in rows] == sorted((row["mentions"] for row in rows), reverse=True)
    for word in ("Orrin", "Vexling", "vexling", "cough", "lighthouse"):
        assert word not in json.dumps(counted) + err


def test_a_dry_run_lists_fields_with_what_stands_in_them(here: Path, lethe: Lethe) -> None:
    records = [
        {"id": "1", "first_name": "Hope", "town": "Ware", "code": "A 47", "Orrin Vexling": "well"},
        {"id": "2", "first_name": "Art", "town": "Deal", "code": "B 12", "Orrin Vexling": "ill"},
    ]
    (here / "people.jsonl").write_text("\n".join(map(json.dumps, records)))
    arguments = ("ingest", "people.jsonl", "-c", "people", "--text-field", "...", "--dry-run")
    _, counted, _ = lethe(*arguments)
    kinds = {each["field"]: (each["kind"], each["values"]) for each in counted["fields"]}
    assert (kinds["first_name"], kinds["town"]) == (("given name", 2), ("city", 2))
    assert "Vexling" not in json.dumps(counted) and "Hope" not in json.dumps(counted)
    _, counted, _ = lethe(*arguments, "--field", "town=none", "--field", "code=passport")
    chosen = {each["field"]: each["kind"] for each in counted["fields"]}
    assert (chosen["town"], chosen["code"]) == ("none", "passport")
    assert "passport number" in {each["label"] for each in counted["decisions"]}
    for wrong in ("town", "=city", "town=", "town=shire"):
        code, _, err = lethe(*arguments, "--field", wrong)
        told = "date of birth" if wrong == "town=shire" else "--field takes NAME=KIND"
        assert (code, told in err) == (2, True), err


def test_a_dry_run_into_a_collection_decides_by_its_scale_and_writes_nothing(
    here: Path, lethe: Lethe, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lethe("ingest", "notes.jsonl", "-c", "clinic")[0] == 0
    place = here / "lethe-data" / "collections" / "clinic" / "manifest.json"
    manifest = json.loads(place.read_text())
    manifest["scale"]["source"] = "of the collection"
    place.write_text(json.dumps(manifest))
    before = contents(here)
    used = []
    sanitizer = System.sanitizer

    def watched(self: System) -> Sanitizer:
        assert self.scale is not None
        used.append(self.scale.source)
        return sanitizer(self)

    monkeypatch.setattr(System, "sanitizer", watched)
    code, counted, _ = lethe("ingest", "notes.jsonl", "-c", "clinic", "--dry-run")
    assert (code, counted["documents_kept"], used) == (0, 3, ["of the collection"])
    assert contents(here) == before
    # Only what differs is told, in the words of the user.
    for options, told in (
        (("--dry-run", "--policy", "redact"), "policy lethe, you asked for redact"),
        (("--fit", "40", "--keep-ids"), "k 50.0, you asked for 40.0; keep_ids no, you asked for yes"),
    ):
        code, counted, err = lethe("ingest", "notes.jsonl", "-c", "clinic", *options)
        assert (code, counted) == (1, {})
        assert err.splitlines()[-1] == (
            f"lethe: collection clinic uses {told}. Use the settings it was made with, or ingest into a new "
            "collection."
        )


def test_a_dry_run_refuses_what_an_ingest_refuses(here: Path, lethe: Lethe) -> None:
    code, _, err = lethe("ingest", "notes.jsonl", "-c", "clinic", "--dry-run", "--policy", "origin")
    assert (code, "raw text is never indexed" in err) == (2, True)
    code, _, err = lethe("ingest", "none*.txt", "-c", "clinic", "--dry-run")
    assert (code, "none*.txt: matches no file" in err) == (1, True)
    code, _, err = lethe("ingest", "notes.jsonl", "-c", "\x1b[31m", "--dry-run")
    assert (code, "\x1b[31m" in err) == (2, False)
    assert [path.name for path in here.iterdir()] == ["notes.jsonl"]


@pytest.mark.parametrize("watched", [False, True])
def test_a_person_at_a_terminal_is_told_of_a_failure_once_and_in_one_line(
    here: Path, lethe: Lethe, monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    (here / "a\x1b[31mb\n.txt").write_text("")
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: watched, raising=False)
    code, told, err = lethe("ingest", ".", "-c", "clinic", "--policy", "redact", "--json")
    (failure,) = told["failures"]
    assert (code, failure["place"]) == (1, "a\\x1b[31mb\\n.txt")
    line = f"lethe: {failure['place']}: is empty (0 bytes); fill it in or leave it out\n"
    assert (err.count(line), "\x1b[31m" in err) == (1, False)


def sanitized(unread: Sequence[Unread], doubts: Sequence[str]) -> SanitizedDocument:
    sanitizer = DecidingSanitizer(PhraseDetector({}), REDACT, RiskPrior())
    (document,) = sanitizer.sanitize([Document("d", "Invented.", unread=unread)])
    assert not isinstance(document, SanitizationError)
    return replace(document, doubts=doubts)


def test_what_is_not_read_is_summed_over_documents() -> None:
    tally = Tally()
    scans = Unread("scanned page", 3, "has no text")
    tally.count(sanitized([scans, Unread("scanned page", 1, "has no text")], ["in capitals"]))
    tally.count(sanitized([scans, Unread("attachment", 1, "is no text")], ["in capitals", "is a table"]))
    assert tally.summary()["not_read"] == [
        {"kind": "attachment", "count": 1, "reason": "is no text", "read": False, "documents": 1},
        {"kind": "scanned page", "count": 7, "reason": "has no text", "read": False, "documents": 2},
    ]
    assert tally.summary()["doubts"] == {"in capitals": 2, "is a table": 1}


def test_the_tally_stays_small_however_many_kinds_there_are() -> None:
    tally = Tally()
    for number in range(3 * KINDS_TOLD):
        tally.count(sanitized([Unread(f"kind {number}", 2, "x")], [f"doubt {number}"]))
    assert (len(tally.unread), len(tally.doubts)) == (KINDS_TOLD + 1, KINDS_TOLD + 1)
    rows = tally.summary()["not_read"]
    assert isinstance(rows, list)
    rest = [(row["count"], row["documents"]) for row in rows if row["kind"] == "further kinds"]
    assert rest == [(4 * KINDS_TOLD, 2 * KINDS_TOLD)]
    assert tally.doubts["further kinds"] == 2 * KINDS_TOLD


def test_an_ingest_tells_what_it_did_not_read(lethe: Lethe, monkeypatch: pytest.MonkeyPatch) -> None:
    sanitize = DecidingSanitizer.sanitize

    def doubtful(
        self: DecidingSanitizer, documents: Sequence[Document]
    ) -> list[SanitizedDocument | SanitizationError]:
        scans = (Unread("scanned page", 2, "has no text"),)
        found = sanitize(self, [replace(each, unread=scans) for each in documents])
        return [replace(each, doubts=("in capitals",)) for each in found if not isinstance(each, Exception)]

    monkeypatch.setattr(DecidingSanitizer, "sanitize", doubtful)
    for option in (["--dry-run"], []):
        _, told, _ = lethe("ingest", "notes.jsonl", "-c", "clinic", "--policy", "redact", *option)
        row = {"kind": "scanned page", "count": 6, "reason": "has no text", "read": False, "documents": 3}
        assert told["not_read"] == [row]
        assert told["doubts"] == {"in capitals": 3}


def test_only_the_files_that_failed_are_read_again(lethe: Lethe, here: Path) -> None:
    folder = here / "notes"
    folder.mkdir()
    for number, note in enumerate(NOTES):
        (folder / f"{number}.txt").write_text(note)
    (folder / "bad.txt").write_bytes(b"")
    (folder / "half.jsonl").write_text(json.dumps({"text": NOTES[0] + " Again."}) + "\n{broken\n")
    code, summary, _ = lethe("ingest", str(folder), "-c", "c")
    assert (code, summary["documents_read"], summary["documents_failed"]) == (1, 4, 2)
    assert lethe("collections")[1]["files_failed"] == 2
    (folder / "bad.txt").write_text("Invented. The ferry is late.")
    code, summary, _ = lethe("ingest", str(folder), "-c", "c", "--retry-failed")
    assert (code, summary["documents_kept"], summary["duplicates_skipped"]) == (1, 1, 1)
    assert (summary["documents_read"], summary["documents_failed"]) == (2, 1)
    assert lethe("collections")[1]["files_failed"] == 1
    (folder / "half.jsonl").write_text(json.dumps({"text": NOTES[0] + " Again."}) + "\n")
    assert lethe("ingest", str(folder), "-c", "c", "--retry-failed")[0] == 0
    assert lethe("collections")[1]["files_failed"] == 0
    code, _, told = lethe("ingest", str(folder), "-c", "c", "--retry-failed")
    assert code == 1
    assert "No file below these paths failed when collection c was last given it." in told
    stored = (here / "lethe-data" / "collections" / "c" / "collection.db").read_bytes()
    assert b"half" not in stored and b"bad.txt" not in stored


def test_neither_a_clash_nor_a_file_that_is_not_there_is_noted_for_retrying(lethe: Lethe, here: Path) -> None:
    for name, note in (("a", NOTES[0]), ("b", NOTES[1])):
        (here / f"{name}.jsonl").write_text(json.dumps({"id": "same", "text": note}) + "\n")
    code, summary, _ = lethe("ingest", "a.jsonl", "b.jsonl", "nowhere.txt", "-c", "c")
    assert (code, summary["documents_kept"], summary["documents_failed"]) == (1, 1, 2)
    assert lethe("collections")[1]["files_failed"] == 0
    assert lethe("ingest", "a.jsonl", "b.jsonl", "-c", "c", "--retry-failed")[0] == 1
    for more in ("--sync", "-"):
        code, _, told = lethe("ingest", str(here), more, "-c", "c", "--retry-failed")
        assert (code, "leave out --sync and standard input" in told) == (2, True)
