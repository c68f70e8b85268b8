"""All pages, letters and people here are invented."""

import io
import logging
import re
import shutil
import zipfile
import zlib
from pathlib import Path

import docx
import pytest
from docx.document import Document as WordDocument
from docx.oxml import parse_xml
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

import ingest.read.text
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.html import html_text
from ingest.read.sources import read_documents
from tests.relative import relative

BINARY = "holds binary data, not text; give it the extension that it needs"
NO_PLAIN = "is {}, not text; give it the extension that it needs"
NOT_UTF8 = "not UTF-8 at byte {}; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"
NO_TEXT = "holds no text, or only white space; fill it in or leave it out"
NOT_WORD = "is not a Word file, or is encrypted or damaged; save it again as .docx without password"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, content: bytes) -> Document | UnreadableDocument:
    Path(name).write_bytes(content)
    (reading,) = read_documents([name], limits=None)
    assert reading.bytes_read == len(content)
    return reading.item


def text_of(name: str, content: bytes) -> str:
    item = read(name, content)
    assert isinstance(item, Document), item
    assert relative(item.doc_id) == name
    return item.text


def refused(name: str, content: bytes) -> str:
    item = read(name, content)
    assert isinstance(item, UnreadableDocument)
    assert (item.place, item.__context__, item.__traceback__) == (name, None, None)
    assert "Zyxwv" not in str(item)
    return item.reason


@pytest.mark.parametrize("name", ["a.txt", "a.md", "A.TXT"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_plain_text_is_read_with_a_few_control_characters(name: str, encoding: str) -> None:
    said = "né\r\nB\u200bo\f, \x1b[1mbold words\x1b[0m in a log"
    assert text_of(name, said.encode(encoding)) == "né\nBo , bold words in a log"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "is empty (0 bytes); fill it in or leave it out"), (b" \n\t\xc2\xad", NO_TEXT)]
    + [(b"Zyxwv \xe9", NOT_UTF8.format(6)), (b"\xef\xbb\xbfZyxwv \xe9", NOT_UTF8.format(9))]
    + [(b"\xff\xfeZ\0y\0x", "starts like UTF-16 but breaks off at byte 6; save it again as UTF-8")]
    + [(b"Zyxwv\0", BINARY), (b"Zyxwv" * 1_000 + b"\0", BINARY), (b"Zyxwv\x01", BINARY)]
    + [(b"%PDF-1.7 Zyxwv", NO_PLAIN.format("a PDF"))]
    + [(b"\x1f\x8bZyxwv", NO_PLAIN.format("compressed by gzip"))]
    + [(b"PK\x03\x04Zyxwv", NO_PLAIN.format("a zip archive or an Office document"))],
)
def test_what_is_no_plain_text(content: bytes, reason: str) -> None:
    assert refused("a.txt", content) == reason


def test_a_file_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.read.text, "MAX_BYTES", 10)
    assert refused("a.txt", b"Zyxwv " * 2) == "is larger than 10 bytes; split it"


def test_html_blocks_tables_and_what_is_not_seen() -> None:
    page = b"""<!doctype html><html><head><title>Visit</title><style>Zyxwv</style></head><body>
    <h1>Notes  on&nbsp;Ada</h1><!-- Zyxwv --><script>Zyxwv</script><template>Zyxwv</template>
    <p>She is <b>well</b>,<br>she
    says.</p><ul><li>one</li><li>two &amp; three</li></ul>
    <table><tr><th>Name</th><th>Age</th></tr><tr><td><p>Ada</p><p>B.</p></td><td>36</td></tr></table>
    <pre>kept
as is</pre></body></html>"""
    expected = "Visit|Notes on Ada|She is well,|she says.|one|two & three|Name / Age|Ada B. / 36|kept|as is"
    lines = [line.replace(" | ", " / ") for line in text_of("a.html", page).split("\n") if line]
    assert "|".join(lines) == expected
    inner = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    page = b"<table><tr><td><p>one</p><p>two</p></td></tr><tr><td>%b</td><td>side</td></tr></table>"
    lines = [line for line in text_of("a.html", page % inner.encode()).split("\n") if line]
    assert lines == ["one", "two", "a | b", "c | d", "side"]
    assert html_text("<p>open <b>never</p> closed", "x").text == "open never\nclosed"
    assert refused("a.htm", b"<p> <script>Zyxwv</script>") == NO_TEXT


@given(st.text("<>/!-ap&;\"' =[]?\n", max_size=60))
def test_html_of_any_kind_is_read_or_refused(markup: str) -> None:
    try:
        html_text(markup, "x")
    except UnreadableDocument as error:
        assert str(error).startswith("x: its HTML could not be parsed (")


def pdf(*pages: str) -> bytes:
    """Each page shows one line of text, or nothing."""
    out = io.BytesIO()
    canvas = Canvas(out, pageCompression=0, invariant=1)
    canvas.setTitle("")
    canvas.setSubject("")
    for text in pages:
        canvas.drawString(72, 760, text)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def test_pdf_pages() -> None:
    item = read("a.pdf", pdf("Ada is well.", "", "Bo is not."))
    assert isinstance(item, Document)
    assert item.text == "Ada is well.\n\nBo is not."
    assert item.metadata == {"source": "a.pdf"}
    assert item.unread == ()


def test_pdf_without_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert refused("a.pdf", pdf("", "")) == (
        "has no text on its 2 pages (scanned?); install tesseract, e.g. apt-get install tesseract-ocr,"
        " or run OCR first, e.g. ocrmypdf"
    )


def encrypted(user: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("Zyxwv is well."))))
    writer.encrypt(user, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pdf_with_a_password_or_encrypted_in_an_unknown_way() -> None:
    strange = pdf("Zyxwv").replace(b"/Root ", b"/Encrypt << /Filter /Strange /V 9 >> /Root ")
    for content in (encrypted("secret"), strange):
        assert refused("a.pdf", content) == "is encrypted; take the password off first, e.g. qpdf --decrypt"
    assert text_of("a.pdf", encrypted("")) == "Zyxwv is well."


def test_pdf_damaged_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    whole = pdf("Zyxwv is well.")
    for damaged in (
        whole[:60],
        whole.replace(b"/Kids", b"/Zyxwv"),
        re.sub(rb"/Contents \d+ 0 R", b"/Contents 1 0 R", whole),
        re.sub(rb"\n0000000\d\d\d", b"\n0000000000", whole).replace(b"/Pages", b"/Zyxwv"),
    ):
        item = read("a.pdf", damaged)
        shown = item.reason if isinstance(item, UnreadableDocument) else ""
        assert not shown or shown.startswith(("is a damaged PDF (", "has no text on its "))
        assert "Zyxwv" not in shown
    reason = refused("a.pdf", b"%PDF-1.4 Zyxwv")
    assert reason.startswith("is a damaged PDF (")
    assert reason.endswith("); repair it, e.g. qpdf in.pdf out.pdf")
    assert refused("b.pdf", b"Zyxwv") == "is not a PDF; give it the extension that it needs"
    assert caplog.text == ""
    assert logging.getLogger("pypdf").level == logging.NOTSET


@given(st.integers(0, 1_500), st.binary(min_size=1, max_size=8))
def test_pdf_with_bytes_overwritten_is_read_or_refused(at: int, noise: bytes) -> None:
    whole = pdf("Zyxwv is well.")
    Path("noise.pdf").write_bytes(whole[:at] + noise + whole[at + len(noise) :])
    (reading,) = read_documents(["noise.pdf"], limits=None)
    if isinstance(reading.item, UnreadableDocument):
        assert "Zyxwv" not in str(reading.item)


def saved(document: WordDocument) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_docx_in_reading_order_with_comments() -> None:
    document = docx.Document()
    section = document.sections[0]
    section.header.paragraphs[0].text = "Clinic of Ada"
    section.footer.paragraphs[0].text = "Page of Bo"
    document.add_paragraph("Before\tthe table")
    table = document.add_table(rows=2, cols=2)
    cells = [*table.rows[0].cells, *table.rows[1].cells]
    for cell, text in zip(cells, ["Name", "Age", "Ada", "36\nyears"], strict=True):
        cell.text = text
    document.add_comment(document.add_paragraph("After ").add_run("it"), text="a remark")
    assert text_of("a.docx", saved(document)) == (
        "Clinic of Ada\nBefore\tthe table\nName | Age\nAda | 36 years\nAfter it\nPage of Bo\na remark"
    )


def test_docx_reads_what_stands_in_wrappers_and_not_what_was_deleted() -> None:
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    document = docx.Document()
    body = document.element.body
    for inner in (
        "<w:ins w:id='1'><w:r><w:t>inserted</w:t></w:r></w:ins>"
        "<w:del w:id='2'><w:r><w:delText>Zyxwv</w:delText></w:r></w:del>",
        "<w:pPr><w:tabs><w:tab w:val='left' w:pos='9'/></w:tabs></w:pPr>"
        "<w:hyperlink><w:r><w:t>linked</w:t></w:r></w:hyperlink>",
        "<w:moveFrom w:id='3'><w:r><w:t>Zyxwv</w:t></w:r></w:moveFrom><w:r><w:t>moved</w:t></w:r>",
        "<w:r><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:r>",
    ):
        body.append(parse_xml(f"<w:p {word}>{inner}</w:p>"))
    control = "<w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent>"
    body.append(parse_xml(f"<w:sdt {word}>{control}</w:sdt>"))
    lines = [line for line in text_of("a.docx", saved(document)).split("\n") if line]
    assert lines == ["inserted", "linked", "moved", "boxed", "controlled"]


def test_docx_that_is_none() -> None:
    whole, other = saved(docx.Document()), io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("Zyxwv.txt", "Zyxwv")
    for content in (b"Zyxwv", b"\xd0\xcf\x11\xe0Zyxwv", whole[: len(whole) // 2], other.getvalue()):
        assert refused("a.docx", content) == NOT_WORD
    assert refused("a.docx", whole) == NO_TEXT


def test_docx_that_unpacks_to_too_much() -> None:
    bomb = io.BytesIO(saved(docx.Document()))
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("word/x.xml", "w") as part:
        for _ in range(201):
            part.write(bytes(1_000_000))
    assert len(bomb.getvalue()) < 1_000_000
    reason = refused("a.docx", bomb.getvalue())
    assert reason.startswith("would unpack to 201,")
    assert reason.endswith(" bytes, more than 200,000,000; split it")


def test_docx_that_lies_about_what_it_unpacks_to() -> None:
    letter = saved(docx.Document())
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(letter)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(part.filename, old.read(part))
        body = old.read("word/document.xml")
    size = len(body).to_bytes(4, "little")
    crc = zlib.crc32(body).to_bytes(4, "little")
    lying = out.getvalue().replace(crc, b"\0\0\0\0").replace(size, (10).to_bytes(4, "little"))
    assert lying != out.getvalue()
    assert refused("a.docx", lying) == NOT_WORD
