"""``lethe sanitize``: by which ids documents are told of, and the files that it writes. All is invented."""

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.sanitize import FileRefused, SanitizedFiles, name_of
from ingest.documents import Document
from ingest.errors import SanitizationError
from ingest.sanitize import DecidingSanitizer
from models.errors import ConfigurationError, LetheError
from tests.commands import READING, in_process, write_lines, write_records

NOTES = ["Invented. Tobias Orrin was fed.", "Invented. The heron of pier 2 was fed."]


@pytest.fixture
def here(clean: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the command is run in."""
    for name, value in (READING | {"LETHE_POLICY__NAME": "redact"}).items():
        monkeypatch.setenv(name, value)
    return clean


Sanitize = Callable[..., tuple[int, list[dict[str, Any]], str]]


@pytest.fixture
def sanitize(here: Path, capsys: pytest.CaptureFixture[str]) -> Sanitize:
    def run(*arguments: str) -> tuple[int, list[dict[str, Any]], str]:
        ran = in_process(capsys, "sanitize", *arguments)
        return ran.code, ran.rows, ran.err

    return run


def files_below(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


# -- ids ---------------------------------------------------------------------------------------------------


def test_ids_are_digested_as_in_a_collection_unless_they_may_be_kept(here: Path, sanitize: Sanitize) -> None:
    (here / "orrin_tobias.txt").write_text(NOTES[0])
    mail = "From: Tobias Orrin <t@example.org>\nMessage-ID: <orrin.7@example.org>\nSubject: x\n\nInvented.\n"
    (here / "a.eml").write_text(mail)
    write_records(here / "r.jsonl", NOTES[1:])
    code, rows, err = sanitize(".")
    assert (code, err) == (0, "")
    assert len(rows) == 3
    assert all(row["doc_id"].startswith("doc-") for row in rows)
    assert "orrin" not in json.dumps([row["doc_id"] for row in rows]).lower()
    assert [row["doc_id"] for row in sanitize(".")[1]] == [row["doc_id"] for row in rows], "as before"
    kept = [row["doc_id"] for row in sanitize(".", "--keep-ids")[1]]
    assert [each for each in kept if not each.startswith("doc-")] == ["r0000"]


def test_what_cannot_be_sanitized_is_told_by_its_place_and_its_digest(
    here: Path, sanitize: Sanitize, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: DecidingSanitizer, documents: list[Document]) -> list[SanitizationError]:
        return [SanitizationError(each.doc_id, "detection failed (RuntimeError)") for each in documents]

    monkeypatch.setattr(DecidingSanitizer, "sanitize", failing)
    write_records(here / "r.jsonl", NOTES)
    code, rows, err = sanitize("r.jsonl")
    assert (code, rows) == (1, [])
    said = "was not indexed: detection failed (RuntimeError); nothing of it was kept"
    for number, line in enumerate(err.splitlines(), 1):
        told = rf"lethe: r\.jsonl, line {number}: document doc-[0-9a-f]+ "
        assert re.fullmatch(told + re.escape(said), line)
    assert len(err.splitlines()) == len(NOTES)


def test_a_file_name_steers_no_terminal(here: Path, sanitize: Sanitize) -> None:
    (here / "a\x1b[31mb\n.txt").write_text("")
    _, _, err = sanitize(".")
    assert err == "lethe: a\\x1b[31mb\\n.txt: is empty (0 bytes); fill it in or leave it out\n"


# -- files -------------------------------------------------------------------------------------------------


def test_each_text_is_a_file_of_its_own_for_the_owner_alone(here: Path, sanitize: Sanitize) -> None:
    write_records(here / "r.jsonl", NOTES)
    _, plain, _ = sanitize("r.jsonl")
    old = os.umask(0)
    try:
        code, rows, err = sanitize("r.jsonl", "--output", "a/clean")
    finally:
        os.umask(old)
    assert (code, err) == (0, "")
    clean = here / "a" / "clean"
    assert files_below(clean) == {f"{row['doc_id']}.txt": row["text"] for row in plain}
    assert [row["file"] for row in rows] == [f"a/clean/{row['doc_id']}.txt" for row in plain]
    assert {name for row in rows for name in row} == set(plain[0]) - {"text"} | {"file"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in clean.iterdir()} == {0o600}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (clean, clean.parent)] == [0o700, 0o700]


def test_kept_ids_name_the_files_below_the_folder(here: Path, sanitize: Sanitize) -> None:
    (here / "in" / "b").mkdir(parents=True)
    (here / "in" / "b" / "x1.md").write_text(NOTES[1])
    (here / "in" / "x2.txt").write_text(f"{NOTES[1]} Again.")
    code, rows, _ = sanitize(str(here / "in" / "b"), "in/x2.txt", "--output", "clean", "--keep-ids")
    assert code == 0
    assert all((here / row["file"]).read_text().startswith("Invented.") for row in rows)
    names = sorted(re.sub("~[0-9a-f]{8}", "", row["file"]) for row in rows)
    assert names == ["clean/x1.md.txt", "clean/x2.txt"]


def test_another_text_is_never_replaced_unasked_or_in_part(
    here: Path, sanitize: Sanitize, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_records(here / "r.jsonl", NOTES)
    _, rows, _ = sanitize("r.jsonl", "--output", "clean")
    before, first = files_below(here / "clean"), rows[0]["file"]
    assert sanitize("r.jsonl", "--output", "clean") == (0, rows, "")
    (here / first).write_text("Invented. A note of mine.")
    said = "a file with another text exists. Give --overwrite to replace it."
    refused = f"lethe: r.jsonl, line 1: {first}: {said}\n"
    assert sanitize("r.jsonl", "--output", "clean") == (1, rows[1:], refused)
    assert (here / first).read_text() == "Invented. A note of mine."
    assert sanitize("r.jsonl", "--output", "clean", "--overwrite") == (0, rows, "")
    assert files_below(here / "clean") == before

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    write_records(here / "r.jsonl", [f"{note} The lamp is out." for note in NOTES])
    said = "could not be written (No space left on device). Free some space, or name another folder."
    assert sanitize("r.jsonl", "--output", "clean", "--overwrite") == (1, [], f"lethe: {first}: {said}\n")
    assert files_below(here / "clean") == before, "neither replaced nor half-written"


def test_neither_a_source_nor_another_document_is_replaced(here: Path, sanitize: Sanitize) -> None:
    replacing = ("--keep-ids", "--overwrite", "--output")
    (here / "x1.txt").write_text(NOTES[0])
    write_lines(here / "r.jsonl", [{"id": "x1.txt", "text": NOTES[0]}])
    code, rows, err = sanitize("x1.txt", "r.jsonl", *replacing, ".")
    assert (code, len(rows)) == (1, 1)
    said = "is an input file and is not replaced. Name another folder."
    assert err == f"lethe: r.jsonl, line 1: x1.txt: {said}\n"
    assert (here / "x1.txt").read_text() == NOTES[0]
    write_lines(here / "r.jsonl", [{"id": "k1", "text": text} for text in NOTES])
    code, rows, err = sanitize("r.jsonl", *replacing, "clean")
    assert (code, len(rows)) == (1, 1)
    said = "another document of this run was written to it. Give every document its own id."
    assert err == f"lethe: r.jsonl, line 2: clean/k1.txt: {said}\n"
    assert "heron" not in files_below(here / "clean")["k1.txt"]


def test_misuse_of_the_folder_is_refused(here: Path, sanitize: Sanitize) -> None:
    write_records(here / "r.jsonl", NOTES)
    for folder in (".", "clean", "in/clean"):
        lies = f"--output: {folder} lies in ., which is an input, so that its files would be read too."
        said = f"lethe: {lies} Name a folder outside of it.\n"
        assert sanitize(".", "--output", folder) == (2, [], said)
    said = "lethe: --overwrite goes with --output: name the folder, or leave out --overwrite.\n"
    assert sanitize("r.jsonl", "--overwrite") == (2, [], said)
    assert [path.name for path in here.iterdir()] == ["r.jsonl"]


def test_what_stands_in_the_way_is_told(here: Path, sanitize: Sanitize) -> None:
    write_records(here / "r.jsonl", NOTES[:1])
    (here / "taken").write_text("")
    said = "could not be written (Not a directory). Free some space, or name another folder."
    assert sanitize("r.jsonl", "--output", "taken/clean") == (1, [], f"lethe: taken/clean: {said}\n")
    (here / "clean" / "r0000.txt").mkdir(parents=True)
    code, rows, err = sanitize("r.jsonl", "--output", "clean", "--keep-ids", "--overwrite")
    assert (code, rows) == (1, [])
    assert "clean/r0000.txt: is not a regular file. Name another folder with --output.\n" in err


@pytest.mark.parametrize("inside", [True, False])
def test_a_file_that_two_links_lead_to_is_written_once(here: Path, sanitize: Sanitize, inside: bool) -> None:
    folder = here / "in"
    (folder / "deep").mkdir(parents=True)
    path = write_records((folder / "deep" if inside else here) / "r.jsonl", NOTES)
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).symlink_to(path)
    code, rows, err = sanitize("in", "--follow-links", "--output", "clean")
    assert (code, len(rows), len(files_below(here / "clean"))) == (0, len(NOTES), len(NOTES))
    again = ["b.jsonl", "deep/r.jsonl"] if inside else ["b.jsonl"]
    first = f"is the same file as {folder / 'a.jsonl'}, and is read once"
    assert err.splitlines() == [f"lethe: {folder / name}: {first}" for name in again]
    assert len(sanitize("in", "--follow-links")[1]) == len(NOTES)


@given(st.text(st.sampled_from("aZ0._:/#-"), min_size=1, max_size=30))
def test_no_id_leads_out_of_the_folder(doc_id: str) -> None:
    try:
        name = name_of(doc_id)
    except FileRefused as error:
        assert not set(doc_id) - set("./")
        assert str(error) == f"{doc_id}: cannot be a file name. Leave out --keep-ids."
        return
    assert not name.is_absolute()
    assert ".." not in name.parts
    assert name.name.endswith(".txt")


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "mine.txt"
    target.write_text("mine")
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "k.txt").symlink_to(target)
    files = SanitizedFiles(tmp_path / "clean", [], overwrite=True)
    assert files.write("k", "clean text").read_text() == "clean text"
    assert target.read_text() == "mine"
    with pytest.raises(LetheError):
        files.write("k", "other")
    with pytest.raises(ConfigurationError):
        SanitizedFiles(tmp_path / "clean", [str(tmp_path)], overwrite=True)
