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

ASKED = {
    "txt": ("Who takes salbutamol twice a day?", "Brandmeyer"),
    "md": ("Why was the tenant of the flat evicted?", "Delacroix"),
    "log": ("Which allergy was noted in the chart?", "arga"),
    "html": ("Who lives with heart failure?", "Tillinghast"),
    "csv": ("Was the appeal dismissed?", "Achterberg"),
    "tsv": ("Who slipped at work?", "Hollyoak"),
    "json": ("How high is the HbA1c?", "Quillfeather"),
    "jsonl": ("Who signed the lease?", "Pennyworth"),
    "hl7": ("Is iron advised?", "Okonjo"),
    "eml": ("Who fell on the stairs of the library?", "Vantongeren"),
    "mbox": ("When is the hearing?", "Grantchester"),
    "docx": ("Who had two seizures in April?", "Ostrander"),
    "xlsx": ("Who has high blood pressure and is to walk more?", "Oyelaran"),
    "pptx": ("For how many years did the roof leak?", "Maddox"),
    "rtf": ("Who was granted custody of the son?", "Kjeldsen"),
    "pdf": ("How does the knee heal after the operation?", "Thackeray"),
    "png": ("Who cannot lift an arm?", "Aldcroft"),
    "vcf": ("Who is allergic to bees?", "Holmquist"),
    "ics": ("What is to be brought to the review?", "Tarn"),
}
"""Of each kind a question that its document answers, and a name that stands in it."""


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
    assert [name for _, name in ASKED.values() if name.encode() in stored] == []

    for kind in ("txt", "hl7", "pdf"):
        question, _ = ASKED[kind]
        (answer,) = done(lethe(data, "ask", question, "-c", "first-day"))
        assert answer["citations"]
    for question, name in ASKED.values():
        assert name not in question

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
