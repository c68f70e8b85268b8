"""What a PDF holds beside its text. All pages and people here are invented."""

import io
import logging
import resource
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Link, Text
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, StreamObject, TextStringObject
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

import ingest.read.pdf_pages
import ingest.read.whole_files
from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.pdf_pages import recognized
from ingest.read.text import ReadText
from ingest.read.whole_files import pdf_text
from tests.sample_files import SCANNED, picture, write_pdf

REPAIR = "is damaged; repair the file, e.g. qpdf in.pdf out.pdf"
INSTALL = "install tesseract, e.g. apt-get install tesseract-ocr, or run OCR first, e.g. ocrmypdf"
needs_tesseract = pytest.mark.skipif(not shutil.which("tesseract"), reason="needs tesseract")


@pytest.fixture
def no_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)


def drawn(*pages: Callable[[Canvas], object]) -> bytes:
    """A PDF of pages that are drawn by functions."""
    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.setTitle("")
    canvas.setSubject("")
    for page in pages:
        page(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def words(text: str) -> Callable[[Canvas], object]:
    return lambda canvas: canvas.drawString(72, 700, text)


def scan(*lines: str) -> Callable[[Canvas], object]:
    image = ImageReader(io.BytesIO(picture(*lines)))
    return lambda canvas: canvas.drawImage(image, 50, 500, width=500, height=150)


def blank(canvas: Canvas) -> None:
    """Nothing is drawn."""


def changed(data: bytes, change: Callable[[PdfWriter], object]) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def read(data: bytes) -> ReadText:
    return pdf_text(io.BytesIO(data), "a.pdf")


def refused(data: bytes) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        read(data)
    return str(caught.value)


def broken_page(writer: PdfWriter) -> None:
    writer.pages[0][NameObject("/Resources")] = NameObject("/Zyxwv")


def test_pages_notes_forms_and_attachments(tmp_path: Path, no_tesseract: None) -> None:
    write_pdf(tmp_path / "a.pdf")
    assert read((tmp_path / "a.pdf").read_bytes()) == ReadText(
        "Report on Ingeborg Thackeray.\nShe was operated on in May. Her knee heals well.\n"
        "Write to i.thackeray@example.org.\nShe asked for a second opinion.\n\n"
        "Guardian: Rosalind Thackeray\n\n"
        "--- attachment: txt ---\nBill of Ingeborg Thackeray: 40 pounds. It is paid. Thank you.",
        (
            Unread("note", 1, "is read as text; ingest.asides leaves it out", read=True),
            Unread("scanned page", 1, f"has no text; {INSTALL}"),
        ),
    )


@needs_tesseract
def test_a_scanned_page_is_recognized_where_tesseract_is(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf")
    result = read((tmp_path / "a.pdf").read_bytes())
    assert [line for line in SCANNED if line not in result.text] == []
    recognized = Unread("scanned page", 1, "was recognized by tesseract, which makes mistakes", read=True)
    assert recognized in result.unread
    reason = "a.pdf: has no text on its 2 pages (scanned?); run OCR first, e.g. ocrmypdf"
    assert refused(drawn(scan(), blank)) == reason
    kinds = read(drawn(words("well"), scan())).unread
    assert kinds == (Unread("scanned page", 1, "shows no text that tesseract recognizes"),)


def test_scans_only_are_refused_where_tesseract_is_not_and_blank_pages_are_not_counted(
    no_tesseract: None,
) -> None:
    assert refused(drawn(scan("Zyxwv"), blank)) == f"a.pdf: has no text on its 2 pages (scanned?); {INSTALL}"
    assert read(drawn(words("well"), blank, blank)) == ReadText("well")


def test_a_page_of_drawings_is_not_taken_for_a_blank_one() -> None:
    drawing = drawn(words("well"), lambda canvas: canvas.line(0, 0, 9, 9))
    reason = "shows drawings and no text; if these are letters, run OCR first, e.g. ocrmypdf"
    assert read(drawing) == ReadText("well", (Unread("drawn page", 1, reason),))


def test_a_picture_beside_text_is_counted_once_in_a_file() -> None:
    image = ImageReader(io.BytesIO(picture("Zyxwv")))

    def page(canvas: Canvas) -> None:
        words("well")(canvas)
        canvas.drawImage(image, 0, 0)

    assert [(part.kind, part.count) for part in read(drawn(page, page)).unread] == [("picture", 1)]


def script(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let a shell script stand for tesseract."""
    path = folder / "tesseract"
    path.write_text(f'#!/bin/sh\n[ "$1" = --list-langs ] && {{ echo eng; exit 0; }}\n{text}\n')
    path.chmod(stat.S_IRWXU)
    monkeypatch.setattr(shutil, "which", lambda name: str(path))


PAGE = "run OCR first, e.g. ocrmypdf"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exec sleep 20", f"was not recognized in time; {PAGE}"),
        ("cat > /dev/null; echo Zyxwv >&2; exit 1", f"could not be recognized; {PAGE}"),
    ],
)
def test_a_recognizer_that_fails_or_takes_too_long_leaves_pages_unread(
    text: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, monkeypatch, text)
    monkeypatch.setattr(ingest.read.whole_files, "OCR_SECONDS", 0.3 if "sleep" in text else 60)
    pages = drawn(words("well"), scan("Zyxwv"), scan("Zyxwv"))
    assert read(pages) == ReadText("well", (Unread("scanned page", 2, reason),))


def test_an_image_that_only_a_file_could_decode_stays_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, monkeypatch, "cat > /dev/null; echo Zyxwv")

    def change(writer: PdfWriter) -> None:
        resources = writer.pages[1]["/Resources"]
        assert isinstance(resources, DictionaryObject)
        for image in resources["/XObject"].values():  # type: ignore[attr-defined]
            image.get_object()[NameObject("/Filter")] = NameObject("/JBIG2Decode")

    result = read(changed(drawn(words("well"), scan("Zyxwv")), change))
    assert [part.reason for part in result.unread] == [f"could not be recognized; {PAGE}"]


def test_images_and_text_go_through_pipes_and_past_our_own_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, monkeypatch, 'head -c 4 | tail -c 3; echo " $* $OMP_THREAD_LIMIT"; ulimit -S -v')
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, hard))
    try:
        said = recognized(picture("Zyxwv"), str(tmp_path / "tesseract"), 5)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert said is not None
    allowed = "unlimited" if hard == resource.RLIM_INFINITY else str(hard // 1024)
    assert said.splitlines() == ["PNG stdin stdout -l eng 1", allowed]
    assert [path.name for path in tmp_path.iterdir()] == ["tesseract"]


def test_letters_are_words_labels_stand_with_values_and_columns_follow_one_another() -> None:
    def letters(canvas: Canvas) -> None:
        for number, char in enumerate("Wil Oster"):
            if char != " ":
                canvas.drawString(72 + 7 * number, 700, char)
        at = 72.0
        for char in "Mimi Littow":
            canvas.drawString(at, 650, char)
            at += canvas.stringWidth(char)

    def rows(right: int, *lines: str) -> Callable[[Canvas], None]:
        def page(canvas: Canvas) -> None:
            for number, line in enumerate(lines):
                for place, part in zip((72, right), line.split("|"), strict=True):
                    canvas.drawString(place, 700 - 20 * number, part)

        return page

    form = rows(200, "Surname|Oster", "Town|Ware")
    columns = rows(300, "one two three|a b c", "four five six|d e f", "seven eight nine|g h i")
    assert read(drawn(letters, form, columns)).text == (
        "Wil Oster\nMimi Littow\n\nSurname | Oster\nTown | Ware\n\n"
        "one two three\nfour five six\nseven eight nine\na b c\nd e f\ng h i"
    )


def test_values_of_a_form_come_with_their_labels() -> None:
    def page(canvas: Canvas) -> None:
        words("well")(canvas)
        form = canvas.acroForm
        form.textfield(name="a", value="Ada\nOkoye", x=9, y=9)
        form.textfield(name="b", tooltip="Empty", value="", x=9, y=59)
        form.checkbox(name="c", tooltip="Smokes", checked=True, x=9, y=99)
        form.checkbox(name="d", tooltip="Drinks", checked=False, x=9, y=129)
        form.choice(name="e", tooltip="Ward", value="North", options=["North", "South"], x=9, y=159)

    assert read(drawn(page)).text == "well\n\na: Ada Okoye\nSmokes: Yes\nWard: North"


def test_notes_links_and_recordings_on_a_page() -> None:
    def change(writer: PdfWriter) -> None:
        for number, kind in enumerate((Text, FreeText)):
            writer.add_annotation(0, kind(text=f"note {number}", rect=(50, 550, 200, 650)))
        writer.add_annotation(0, Link(url="mailto:zyxwv@example.org", rect=(50, 550, 200, 650)))
        writer.add_annotation(0, DictionaryObject({NameObject("/Subtype"): NameObject("/Screen")}))
        hidden = {"/Subtype": NameObject("/Popup"), "/Contents": TextStringObject("Zyxwv")}
        writer.add_annotation(0, DictionaryObject({NameObject(key): said for key, said in hidden.items()}))

    data = changed(drawn(words("well")), change)
    assert read(data).text == "well\nnote 0\nnote 1"
    counted = {each.kind: each.count for each in read(data).unread}
    assert counted == {"note": 2, "link target": 1, "recording": 1}


def test_files_pinned_to_a_page_and_those_of_other_kinds() -> None:
    def change(writer: PdfWriter) -> None:
        writer.add_attachment("Zyxwv.zip", b"Zyxwv")
        content = StreamObject()
        content.set_data(b"pinned words")
        embedded = DictionaryObject({NameObject("/F"): writer._add_object(content)})
        file = {NameObject("/F"): TextStringObject("Zyxwv.txt"), NameObject("/EF"): embedded}
        kind = DictionaryObject({NameObject("/Subtype"): NameObject("/FileAttachment")})
        kind[NameObject("/FS")] = DictionaryObject(file)
        writer.add_annotation(0, kind)

    data = changed(drawn(words("well")), change)
    unread = Unread("attachment", 1, "is of a kind that is not read")
    assert read(data) == ReadText("well\n\n--- attachment: txt ---\npinned words", (unread,))


def test_titles_and_forms_of_another_kind_are_counted() -> None:
    def change(writer: PdfWriter) -> None:
        writer.add_metadata({"/Title": "Zyxwv", "/Author": "Zyxwv"})
        form = DictionaryObject({NameObject(key): ArrayObject() for key in ("/XFA", "/Fields")})
        writer.root_object[NameObject("/AcroForm")] = form

    assert read(changed(drawn(words("well")), change)).unread == (
        Unread("document property", 1, "titles and keywords of a file are not taken as its text"),
        Unread("form", 1, "is of the kind XFA, whose values are not read; print it to a PDF"),
    )


def test_damage_in_one_part_leaves_the_others(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def change(writer: PdfWriter) -> None:
        broken_page(writer)
        writer.pages[1][NameObject("/Annots")] = ArrayObject([NameObject("/Zyxwv")])
        field = DictionaryObject({NameObject("/T"): TextStringObject("Zyxwv")})
        field[NameObject("/Parent")] = field[NameObject("/V")] = writer._add_object(field)
        form = DictionaryObject({NameObject("/Fields"): ArrayObject([field["/Parent"].indirect_reference])})
        writer.root_object[NameObject("/AcroForm")] = form

    result = read(changed(drawn(words("Zyxwv"), words("well")), change))
    assert result == ReadText("well", tuple(Unread(kind, 1, REPAIR) for kind in ("page", "note", "form")))
    assert caplog.text == ""


def test_a_file_of_damaged_pages_only_is_refused_and_pictures_that_cannot_be_counted_cost_no_text() -> None:
    def change(writer: PdfWriter) -> None:
        resources = writer.pages[0]["/Resources"]
        assert isinstance(resources, DictionaryObject)
        resources[NameObject("/XObject")] = NameObject("/Zyxwv")

    damaged = "a.pdf: is a damaged PDF; repair it, e.g. qpdf in.pdf out.pdf"
    assert refused(changed(drawn(words("Zyxwv")), broken_page)) == damaged
    pictures = ReadText("well", (Unread("picture", 1, REPAIR),))
    assert read(changed(drawn(words("well")), change)) == pictures
