"""One file of each kind from the disk to an answer and out again, by the command line. All is invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.read.pdf_pages import find_tesseract
from ingest.read.sources import EXTENSIONS
from tests.commands import Ran, lethe
from tests.formats_table import FIELDS, PAGE, page, table
from tests.sample_files import write_all

QUESTIONS = (
    "Who takes salbutamol twice a day?",
    "Is iron advised?",
    "How does the knee heal after the operation?",
)
"""What a text, a message of a laboratory and a PDF answer."""
NAMES = (
    "Brandmeyer Delacroix arga Tillinghast Achterberg Hollyoak Quillfeather Pennyworth Okonjo Vantongeren "
    "Grantchester Ostrander Oyelaran Maddox Kjeldsen Thackeray Aldcroft Holmquist Tarn"
).split()
"""Of each kind a name that stands in its document."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_all(tmp_path_factory.mktemp("files") / "in")


def done(ran: Ran) -> list[dict[str, Any]]:
    assert ran.code == 0, ran.err
    return ran.rows


def test_every_kind_that_is_read_has_a_sample(files: dict[str, Path]) -> None:
    same = {".htm", ".xlsm", ".ndjson", ".jpg", ".jpeg", ".tif", ".tiff"}
    assert {path.suffix for path in files.values()} == {*EXTENSIONS} - same


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_folder_with_one_file_of_each_kind(files: dict[str, Path], tmp_path: Path) -> None:
    data, folder = tmp_path / "data", files["txt"].parent
    arguments = (str(folder), "-c", "first-day", "--text-field", FIELDS)

    (planned,) = done(lethe(data, "ingest", *arguments, "--dry-run"))
    assert not data.exists()
    (kept,) = done(lethe(data, "ingest", *arguments))
    for summary in (planned, kept):
        assert (summary["documents_read"], summary["documents_failed"]) == (23, 0)
    assert planned["not_read"] == kept["not_read"]
    kinds = {row["kind"] for row in kept["not_read"]}
    assert {"attachment", "column", "comment", "field", "formula", "picture", "scanned page"} <= kinds

    rows = done(lethe(data, "documents", "-c", "first-day"))
    assert len(rows) == 23
    assert {part["kind"] for row in rows for part in row["not_read"]} == kinds
    stored = (data / "collections" / "first-day" / "collection.db").read_bytes()
    assert [name for name in NAMES if name.encode() in stored] == []

    for question in QUESTIONS:
        (answer,) = done(lethe(data, "ask", question, "-c", "first-day"))
        assert answer["citations"]

    erased = done(lethe(data, "erase", *map(str, files.values()), "-c", "first-day"))
    assert [row["traces_found"] for row in erased] == [0] * 23
    assert lethe(data, "documents", "-c", "first-day").out == ""


@pytest.mark.skipif(not find_tesseract(), reason="tesseract is not installed")
def test_the_page_tells_what_is_read_of_each_kind(files: dict[str, Path]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(table(files)), "run python -m tests.formats_table"


@pytest.mark.skipif(not find_tesseract(), reason="tesseract is not installed")
def test_a_scanned_page_is_read_and_said_to_be_recognized(files: dict[str, Path], tmp_path: Path) -> None:
    (row,) = done(lethe(tmp_path / "data", "sanitize", str(files["pdf"])))
    assert "Her knee heals well." in row["text"]
    assert "Solvang" not in row["text"]
    assert json.dumps(row["not_read"]).count("makes mistakes") == 1
