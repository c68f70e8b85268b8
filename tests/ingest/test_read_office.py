"""Word, Excel and PowerPoint files. All people and cases here are invented."""

import datetime
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import docx
import openpyxl
import pptx
import pytest
from docx.document import Document as WordDocument
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from openpyxl.comments import Comment
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

import ingest.read.office
import ingest.read.text
from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.office import docx_text, pptx_text
from ingest.read.text import ReadText
from ingest.read.xlsx import xlsx_text
from tests.sample_files import write_docx, write_pptx, write_xlsx
from tests.timing import cost

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
Reader = Callable[[BinaryIO, str], ReadText]
SHEET_PART = "xl/worksheets/sheet1.xml"
READERS: list[tuple[Reader, Callable[[io.BytesIO], None]]] = [
    (docx_text, write_docx),
    (xlsx_text, write_xlsx),
    (pptx_text, write_pptx),
]

ASIDE = "is read as text; ingest.asides leaves it out"


def made(write: Callable[[io.BytesIO], None]) -> io.BytesIO:
    out = io.BytesIO()
    write(out)
    out.seek(0)
    return out


def with_parts(file: io.BytesIO, changed: dict[str, bytes]) -> io.BytesIO:
    """The file with some parts in place of its own."""
    out = io.BytesIO()
    parts = dict(changed)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(part.filename, parts.pop(part.filename, b"") or old.read(part))
        for name, data in parts.items():
            new.writestr(name, data)
    out.seek(0)
    return out


def counts(read: ReadText) -> dict[str, int]:
    return {part.kind: part.count for part in read.unread}


def refused(reader: Reader, file: BinaryIO) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        reader(file, "a.file")
    assert caught.value.place == "a.file"
    assert caught.value.__cause__ is None
    return caught.value.reason


def test_a_letter_with_what_is_left_out() -> None:
    read = docx_text(made(write_docx), "x")
    assert "Wilhelmina" not in repr(read)
    assert read == ReadText(
        "Larkmoor Clinic\n"
        "Dear Dr Fitzalan, thank you for seeing Wilhelmina Ostrander.\n"
        "She has epilepsy and had two seizures in April. Her e-mail is w.ostrander@example.org.\n"
        "Drug | Dose\nLamotrigine | 100 mg\n"
        " [An EEG of Wilhelmina Ostrander] \n"
        "Call her first.",
        (
            Unread("deleted passage", 1, "was deleted with changes tracked, and stays so"),
            Unread("comment", 1, ASIDE, read=True),
            Unread("picture", 1, "may show text; write out what it says"),
        ),
    )


def word() -> WordDocument:
    document = docx.Document()
    document.core_properties.comments = ""
    return document


def body(*inner: str) -> ReadText:
    document = word()
    for each in inner:
        document.element.body.append(parse_xml(each))
    return docx_text(made(document.save), "x")


def test_form_fields_of_word_say_what_was_chosen() -> None:
    def field(inner: str) -> str:
        data = f"<w:fldChar w:fldCharType='begin'><w:ffData>{inner}</w:ffData></w:fldChar>"
        return f"<w:p {WORD}><w:r><w:t xml:space='preserve'>It is: </w:t></w:r><w:r>{data}</w:r></w:p>"

    entries = "<w:listEntry w:val='single'/><w:listEntry w:val='married'/>"
    assert body(
        field(f"<w:ddList><w:result w:val='1'/>{entries}</w:ddList>"),
        field(f"<w:ddList>{entries}</w:ddList>"),
        field("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>"),
        field("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>"),
        field("<w:textInput><w:default w:val='Zyxwv'/></w:textInput>"),
    ).text.split("\n") == ["It is: married", "It is: single", "It is: [x]", "It is: [ ]", "It is: "]


def test_a_document_repeated_for_older_programs_is_read_once() -> None:
    compatibility = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    paragraph = "<w:p><w:r><w:t>once</w:t></w:r></w:p>"
    block = f"<mc:Choice>{paragraph}</mc:Choice><mc:Fallback>{paragraph}</mc:Fallback>"
    assert body(f"<mc:AlternateContent {compatibility} {WORD}>{block}</mc:AlternateContent>").text == "once"


def test_captions_and_diagrams_of_word_are_read_and_links_properties_macros_and_objects_counted() -> None:
    document = word()
    document.core_properties.title = "Zyxwv"
    document.part.relate_to("mailto:zyxwv@example.org", f"{RELATIONS}/hyperlink", is_external=True)
    field = "<w:r><w:instrText>HYPERLINK zyxwv@example.net</w:instrText></w:r>"
    document.element.body.insert(0, parse_xml(f"<w:p {WORD}>{field}<w:r><w:t>here</w:t></w:r></w:p>"))
    table = document.add_table(rows=1, cols=1)
    table.cell(0, 0).text = "cell"
    table._tbl.tblPr.append(parse_xml(f"<w:tblDescription {WORD} w:val='Doses of the week'/>"))
    point = "<d:pt><d:t><a:p><a:r><a:t>Ada reports to Bo</a:t></a:r></a:p></d:t></d:pt>"
    parts = dict.fromkeys(("vbaProject", "oleObject", "aFChunk", "audio"), b"Zyxwv")
    parts["diagramData"] = f"<d:m xmlns:d='d' xmlns:a='a'>{point}</d:m>".encode()
    for kind, blob in parts.items():
        part = Part(PackURI(f"/word/{kind}"), "application/xml", blob, document.part.package)
        document.part.relate_to(part, f"{RELATIONS}/{kind}")
    read = docx_text(made(document.save), "x")
    assert read.text == "here\nDoses of the week\ncell\nAda reports to Bo"
    assert counts(read) == {
        "link target": 2, "document property": 1, "macro": 1, "embedded file": 2, "recording": 1,
    }  # fmt: skip


def test_a_workbook_with_what_is_left_out() -> None:
    assert xlsx_text(made(write_xlsx), "x") == ReadText(
        "Visits\nPatient | Seen on | Finding\n"
        "Barnaby Oyelaran | 2031-03-04 | High blood pressure. He is to walk more.\n"
        "Barnaby Oyelaran | 2031-04-01 | Better. Mail b.oyelaran@example.org.\n"
        "His brother was treated here too.\n[Picture]\n\nCosts\nBarnaby Oyelaran | 120.5",
        (
            Unread("formula", 1, "has no stored value; open the file in Excel and save it again"),
            Unread("comment", 1, ASIDE, read=True),
            Unread("hidden row", 2, ASIDE, read=True),
            Unread("picture", 1, "may show text; write out what it says"),
        ),
    )


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (12.5, "0", "12.5"), (0.1 + 0.2, "General", "0.3"),
        (4111111111111111, "General", "4111111111111111"), (123, "00000", "00123"),
        (0.125, "0.00%", "12.5%"), (True, "General", "TRUE"),
        (datetime.date(2031, 3, 4), "dd/mm/yyyy", "2031-03-04"),
        (datetime.datetime(2031, 3, 4, 14, 30), "d.m.yy hh:mm", "2031-03-04 14:30:00"),
        (datetime.timedelta(hours=30), "[h]:mm", "1 day, 6:00:00"), (-5, "dd/mm/yyyy", "-5"),
        ("two\nlines", "General", "two lines"), ("#N/A", "General", "#N/A"),
    ],
)  # fmt: skip
def test_cells_show_their_values(value: object, form: str, shown: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    cell = sheet.cell(1, 1)
    cell.value = value
    cell.number_format = form
    assert xlsx_text(made(book.save), "x").text.split("\n", 1)[1] == shown
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    assert xlsx_text(made(book.save), "x").text.split("\n", 1)[1] == shown


def sheet_of(rows: str, behind: str = "") -> io.BytesIO:
    claim = "<dimension ref='A1:XFD1048576'/>"
    data = f"<worksheet {SHEET}>{claim}<sheetData>{rows}</sheetData>{behind}</worksheet>"
    return with_parts(made(openpyxl.Workbook().save), {SHEET_PART: data.encode()})


def text_cell(reference: str, text: str) -> str:
    return f"<c r='{reference}' t='inlineStr'><is><t>{text}</t></is></c>"


def shown(rows: str, behind: str = "") -> list[str]:
    title, *said = xlsx_text(sheet_of(rows, behind), "x").text.splitlines()
    assert title == "Sheet"
    return said


def test_gaps_in_a_row_keep_their_bars() -> None:
    cells = f"{text_cell('B9', 'a')}<c r='C9' s='0'/>{text_cell('D9', 'b')}"
    assert shown(f"<row r='9' hidden='1'>{cells}</row><row r='11'/>") == ["| a |  | b"]


def test_a_merged_cell_stands_in_each_row_that_it_covers() -> None:
    table = "A1 Client B1 Contact / B2 Phone C2 Mail / A3 Ada B3 1 / B4 2".split(" / ")
    rows = ""
    for number, row in enumerate(map(str.split, table), 1):
        cells = "".join(map(text_cell, row[::2], row[1::2]))
        rows += f"<row r='{number}'>{cells}</row>"
    merged = "".join(f"<mergeCell ref='{ref}'/>" for ref in ("A1:A2", "B1:C1", "A3:A4"))
    told = ["Client | Contact", "Client | Phone | Mail", "Ada | 1", "Ada | 2"]
    assert shown(rows, f"<mergeCells>{merged}</mergeCells>") == told


def test_headers_of_printed_sheets_and_hints_and_choices_of_cells_are_read() -> None:
    header = '<oddHeader>&amp;C&amp;"Arial,Bold"&amp;12 Ward of Ada&amp;R&amp;P</oddHeader>'
    assert shown("", f"<headerFooter>{header}</headerFooter>") == ["Ward of Ada"]
    hints = "promptTitle='Ask Ada' prompt='of ward 7' error='Only Greta may'"
    choices = f"<dataValidation {hints} type='list'><formula1>\"Basil,Otto\"</formula1></dataValidation>"
    cells = "<dataValidation type='list'><formula1>$A$1:$A$3</formula1></dataValidation>"
    said = shown("", f"<dataValidations>{choices}{cells}</dataValidations>")
    assert said == ["Ask Ada", "of ward 7", "Only Greta may", "Basil,Otto"]


def test_a_sheet_is_as_large_as_its_cells_and_not_as_it_says_and_a_gap_a_hundred_bars_at_most() -> None:
    near = f"<row r='1'>{text_cell('A1', 'a')}{text_cell('XFD1', 'b')}</row>"
    far = "".join(f"<row r='{n}'>{text_cell(f'XFD{n}', 'x')}</row>" for n in range(1_000_000, 1_000_050))
    assert "".join(shown(near)).count("|") == 100
    assert "".join(shown(near + far)).count("x") == 50


def test_one_long_string_shown_often_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.read.text, "MAX_CHARACTERS", 1_000_000)
    cells = "<row>" + "<c t='s'><v>0</v></c>" * 100 + "</row>"
    targets = {"worksheet": "worksheets/sheet1.xml", "sharedStrings": "strings.xml"}
    relations = "".join(
        f"<Relationship Id='rId{number}' Type='{RELATIONS}/{name}' Target='{targets[name]}'/>"
        for number, name in enumerate(targets, 1)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts = {
        "xl/strings.xml": f"<sst {SHEET}><si><t>{'Zyxwv ' * 5_000}</t></si></sst>",
        "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='{package}'>{relations}</Relationships>",
    }
    file = with_parts(sheet_of(cells), {name: text.encode() for name, text in parts.items()})
    assert refused(xlsx_text, file) == "holds more than 1,000,000 characters; split it"


def test_comments_of_a_workbook_are_read_and_charts_links_and_names_of_cells_counted() -> None:
    book = openpyxl.Workbook()
    for name in ("Pay_of_Ada", "_xlnm.Print_Area"):
        book.defined_names[name] = openpyxl.workbook.defined_name.DefinedName(name, attr_text="7")
    sheet = book.worksheets[0]
    sheet.append(["a", 1])
    sheet["A1"].comment = Comment("said of a", "Zyxwv")
    sheet["B1"].hyperlink = "mailto:zyxwv@example.org"
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(sheet, min_col=2, min_row=1))
    sheet.add_chart(chart, "D1")
    read = xlsx_text(made(book.save), "x")
    assert read.text.startswith("Sheet\na | 1\nsaid of a")
    assert counts(read) == {"comment": 1, "link target": 1, "chart": 1, "defined name": 1}


def test_slides_with_what_is_left_out() -> None:
    assert pptx_text(made(write_pptx), "x") == ReadText(
        "Case of Florentina Maddox\nShe sued her landlord.\nThe roof leaked for two years.\n"
        "Ask her at f.maddox@example.org before you show this.\n\n"
        "Date | Step\n4 March | Judgment for her\n[The roof of Florentina Maddox]",
        (
            Unread("speaker note", 1, ASIDE, read=True),
            Unread("picture", 1, "may show text; write out what it says"),
        ),
    )


def test_grouped_shapes_and_comments_of_slides_are_read_and_charts_and_slide_numbers_counted() -> None:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "in a group\vtwo"
    numbered = slide.shapes.add_textbox(0, 0, 9, 9).text_frame.paragraphs[0]
    drawing = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    numbered._p.append(parse_xml(f"<a:fld {drawing} id='1' type='slidenum'><a:t>7</a:t></a:fld>"))
    data = CategoryChartData()
    data.categories = ["Zyxwv"]
    data.add_series("Zyxwv", (1,))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, Inches(1), Inches(1), data)
    old = b"<p:cmLst xmlns:p='p'><p:cm authorId='0'><p:text>an old remark</p:text></p:cm></p:cmLst>"
    new = b"<q:cmLst xmlns:q='q' xmlns:a='a'><q:cm><a:p><a:r><a:t>new</a:t></a:r></a:p></q:cm></q:cmLst>"
    for number, blob in enumerate((old, new)):
        name = pptx.opc.packuri.PackURI(f"/ppt/c{number}.xml")
        part = pptx.opc.package.Part(name, "application/xml", show.part.package, blob)
        slide.part.relate_to(part, "http://schemas.microsoft.com/office/2018/10/relationships/comments")
    read = pptx_text(made(show.save), "x")
    assert read.text == "in a group\ntwo\nan old remark\nnew"
    assert counts(read) == {"comment": 2, "chart": 1, "embedded file": 1, "document property": 1}


def test_slides_come_in_their_order_and_what_their_master_says_once() -> None:
    show = Presentation()
    for text in ("one", "two", "three"):
        box = show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9)
        box.text_frame.text = text
    order = show.slides._sldIdLst
    order.insert(0, order[2])
    said = "<a:p><a:r><a:t>Clinic of Ada</a:t></a:r></a:p>"
    shape = (
        "<p:sp xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main' xmlns:a='http://schemas"
        ".openxmlformats.org/drawingml/2006/main'><p:nvSpPr><p:cNvPr id='9' name='n'/><p:cNvSpPr/><p:nvPr/>"
        f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{said}</p:txBody></p:sp>"
    )
    show.slide_master.shapes._spTree.append(parse_xml(shape))
    assert pptx_text(made(show.save), "x").text == "three\n\none\n\ntwo\n\nClinic of Ada"


@pytest.mark.parametrize(
    ("reader", "program", "extension"),
    [(docx_text, "a Word", ".docx"), (xlsx_text, "an Excel", ".xlsx"), (pptx_text, "a PowerPoint", ".pptx")],
)
def test_what_is_of_no_such_program(reader: Reader, program: str, extension: str) -> None:
    kind = f"is not {program} file, or is encrypted or damaged"
    reason = f"{kind}; save it again as {extension} without password"
    others = [made(write) for read, write in READERS if read is not reader]
    (whole,) = [made(write) for read, write in READERS if read is reader]
    broken = io.BytesIO(whole.getvalue()[:5_000])
    for file in (*others, broken, io.BytesIO(b"Zyxwv"), io.BytesIO(b"\xd0\xcf\x11\xe0Zyxwv")):
        assert refused(reader, file) == reason


@pytest.mark.parametrize(("reader", "write"), READERS)
def test_what_would_unpack_to_too_much_or_is_packed_in_another_way(
    monkeypatch: pytest.MonkeyPatch, reader: Reader, write: Callable[[io.BytesIO], None]
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(made(write)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as new:
        for part in old.infolist():
            new.writestr(part.filename, old.read(part))
    assert refused(reader, out).startswith("is not a")
    monkeypatch.setattr(ingest.read.office, "MAX_UNPACKED_BYTES", 10_000)
    reason = refused(reader, made(write))
    assert reason.startswith("would unpack to ") and reason.endswith(" bytes, more than 10,000; split it")


def test_entities_are_not_expanded_and_hide_no_text() -> None:
    entity = "<!DOCTYPE w:document [<!ENTITY e 'Zyxwv'>]>"
    said = f"{entity}<w:document {WORD}><w:body><w:p><w:r><w:t>a&e;b</w:t></w:r></w:p></w:body></w:document>"
    file = with_parts(made(write_docx), {"word/document.xml": said.encode()})
    assert refused(docx_text, file).startswith(
        "is not a Word file, or is encrypted or damaged; save it again"
    )


BOMBS = {
    "paragraphs": ("w:document", "<w:body>", "<w:p/>", "</w:body>"),
    "rows": ("w:document", "<w:body><w:tbl>", "<w:tr/>", "</w:tbl></w:body>"),
    "cells": ("worksheet", "<sheetData><row>", "<c/>", "</row></sheetData>"),
    "sheet rows": ("worksheet", "<sheetData>", "<row/>", "</sheetData>"),
    "formulas": ("worksheet", "<sheetData>", "<row><c><f/></c></row>", "</sheetData>"),
}


def bomb(name: str, size: int) -> bytes:
    root, before, unit, behind = BOMBS[name]
    space = SHEET if root == "worksheet" else WORD
    data = f"<{root} {space}>{before}{unit * (size // len(unit))}{behind}</{root}>".encode()
    if root == "w:document":
        return with_parts(made(docx.Document().save), {"word/document.xml": data}).getvalue()
    return with_parts(made(openpyxl.Workbook().save), {SHEET_PART: data}).getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_time_grows_with_what_is_unpacked(name: str) -> None:
    reader = docx_text if BOMBS[name][0] == "w:document" else xlsx_text
    small, large = (bomb(name, size) for size in (80_000, 320_000))
    took = cost(lambda: reader(io.BytesIO(small), "x"))
    if took < 0.02:
        pytest.skip("too fast to compare")
    assert cost(lambda: reader(io.BytesIO(large), "x")) < 10 * took


def test_millions_of_empty_paragraphs_stay_small_in_memory(tmp_path: Path) -> None:
    (tmp_path / "bomb.docx").write_bytes(bomb("paragraphs", 4_000_000))
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom ingest.read.office import docx_text\n"
        "import lxml.etree\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "docx_text(Path(sys.argv[1]).open('rb'), 'x')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "bomb.docx")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 40_000, "more than 40 MB for 600,000 empty paragraphs"
