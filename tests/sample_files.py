"""One file of each kind that is read. Every person, address and case in them is invented."""

import io
import json
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

SCANNED = (
    "Ward note of Henrik Solvang.",
    "He fell from a ladder on 4 March.",
    "His left wrist is broken.",
)
"""What stands on the scanned page of the PDF, line by line."""

_NOTE = (
    "Visit note. Mrs Ottilie Brandmeyer came in with a dry cough that began in January. She has asthma and"
    " takes salbutamol twice a day. Her daughter can be reached at ottilie.brandmeyer@example.org.\n"
)
_MINUTES = (
    "# Minutes of the tenants' board\n\nChair: Raimund Delacroix-Petty. The board heard the eviction of flat"
    " 12. Its tenant had paid no rent since May. Questions go to r.delacroix@example.org.\n"
)
_LOG = (
    "2031-03-04 08:15:02 login of user celestine.varga from ward 7\n"
    "2031-03-04 08:16:40 opened the chart of Celestine Varga, allergy to penicillin noted\n"
    "2031-03-04 08:19:11 mailed the chart to c.varga@example.org\n"
)
_PAGE = (
    "<html><head><title>Care plan</title></head><body><!-- not for readers --><h1>Care plan</h1>"
    "<p>Ambrose Tillinghast, born in 1949, lives with heart failure.</p><p>A nurse calls on Mondays.</p>"
    "<p>Call his son at 0161 496 0732.</p></body></html>\n"
)
_TABLE = (
    "id;text;staff\n"
    "k-1;Mr Leopold Achterberg was sentenced to a fine. He appealed in June. Write to la@example.org.;Nuala\n"
    "k-2;The appeal of Leopold Achterberg was dismissed. It cost 900 pounds. No further step is open.;Nuala\n"
)
_ROWS = (
    "id\ttext\tclerk\n"
    "t-1\tZdenka Hollyoak slipped at work. She claims damages. Her number is 020 7946 0815.\tPieter\n"
)
_BUNDLE = {
    "resourceType": "Bundle",
    "entry": [
        {
            "resource": {
                "resourceType": "Patient",
                "name": [{"family": "Quillfeather", "given": ["Maren"]}],
                "telecom": [{"system": "email", "value": "maren.q@example.org"}],
            }
        },
        {
            "resource": {
                "resourceType": "Observation",
                "text": {"div": "<div><p>HbA1c of Maren Quillfeather is 9.1 %.</p></div>"},
                "note": [{"text": "She has type 1 diabetes. Her dose was raised. She comes again in May."}],
            }
        },
    ],
}
_LINES = (
    {
        "id": "j-1",
        "text": "Ludovic Pennyworth signed the lease. He is blind. Mail: ludo@example.org.",
        "room": 4,
    },
    {
        "id": "j-2",
        "text": "The lease of Ludovic Pennyworth ended. The keys are back. No rent is owed.",
        "room": 9,
    },
)
_SEGMENTS = (
    "MSH|^~\\&|LAB|NORTH|EHR|NORTH|20310304||ORU^R01|M-1|P|2.5",
    "PID|1||884421||Okonjo^Tamsin||19700512|F|||3 Mill Lane^^Larkmoor||020 7946 0321",
    "OBX|1|TX|1||Haemoglobin is low. Iron is advised. The sample was clear.",
)
_REFERRAL = ("Referral of Sunniva Aldcroft.", "She cannot lift her right arm.", "An X-ray is wanted.")
_CARDS = (
    "BEGIN:VCARD\nVERSION:3.0\nFN:Evander Holm\n quist\nNOTE:Is allergic to bees. Ring 020 7946 0411.\n"
    "END:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:Ysolde Farr\nNOTE:Keeps the keys of the chapel.\nEND:VCARD\n"
)
_CALENDAR = (
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nSUMMARY:Hip review of Leocadia Tarn\n"
    "DTSTART:20310304T093000Z\nDESCRIPTION:Bring the walking frame and the old X-rays.\nEND:VEVENT\n"
    "END:VCALENDAR\n"
)


def write_all(folder: Path) -> dict[str, Path]:
    """A file of each kind, by kind; ``folder`` is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Path], object]] = {
        "txt": lambda path: path.write_text(_NOTE),
        "md": lambda path: path.write_text(_MINUTES),
        "log": lambda path: path.write_text(_LOG),
        "html": lambda path: path.write_text(_PAGE),
        "csv": lambda path: path.write_text(_TABLE),
        "tsv": lambda path: path.write_text(_ROWS),
        "json": lambda path: path.write_text(json.dumps(_BUNDLE, indent=1)),
        "jsonl": lambda path: path.write_text("".join(f"{json.dumps(line)}\n" for line in _LINES)),
        "hl7": lambda path: path.write_text("\r".join(_SEGMENTS) + "\r", newline=""),
        "eml": write_eml,
        "mbox": write_mbox,
        "docx": write_docx,
        "xlsx": write_xlsx,
        "pptx": write_pptx,
        "rtf": write_rtf,
        "pdf": write_pdf,
        "png": lambda path: path.write_bytes(picture(*_REFERRAL)),
        "vcf": lambda path: path.write_text(_CARDS),
        "ics": lambda path: path.write_text(_CALENDAR),
    }
    paths = {kind: folder / f"sample.{kind}" for kind in makers}
    for kind, make in makers.items():
        make(paths[kind])
    return paths


def write_eml(path: Path) -> None:
    """A message with a table and a letter attached, which are read, and an archive, which is not."""
    message = EmailMessage()
    message["From"] = "Cordelia Vantongeren <c.vantongeren@example.org>"
    message["To"] = "claims@example.org"
    message["Subject"] = "Claim after the fall"
    message["Date"] = "Tue, 04 Mar 2031 09:30:00 +0000"
    message["Message-ID"] = "<claim-17@example.org>"
    message.set_content(
        "Dear team,\n\nI fell on the stairs of the library. My hip is broken. The letter is attached.\n"
    )
    message.add_attachment("item;cost\ntaxi;14\n", subtype="csv", filename="costs.csv")
    letter = io.BytesIO()
    write_docx(letter)
    message.add_attachment(
        letter.getvalue(),
        maintype="application",
        subtype="vnd.openxmlformats-officedocument.wordprocessingml.document",
        filename="letter.docx",
    )
    message.add_attachment(b"PK\x05\x06" + bytes(18), maintype="application", subtype="zip", filename="a.zip")
    message.add_attachment(picture(), maintype="image", subtype="png", disposition="inline")
    path.write_bytes(message.as_bytes())


def write_mbox(path: Path) -> None:
    """Two messages."""
    path.write_text(
        "From ada Tue Mar  4 09:30:00 2031\nMessage-ID: <m-1@example.org>\nFrom: Isolde Grantchester"
        " <isolde@example.org>\nSubject: hearing\n\nThe hearing is on Friday. My lawyer is ill. Please move"
        " it.\n\nFrom bo Tue Mar  4 10:30:00 2031\nMessage-ID: <m-2@example.org>\nFrom: court@example.org\n"
        "Subject: Re: hearing\n\nDear Ms Isolde Grantchester. The hearing is moved. It is now on Monday.\n"
    )


def write_docx(path: Path | io.BytesIO) -> None:
    """A letter with a table, a note in its header, a picture, a comment and a deleted passage."""
    import docx
    from docx.oxml import parse_xml

    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    document = docx.Document()
    document.core_properties.comments = ""
    document.sections[0].header.paragraphs[0].text = "Larkmoor Clinic"
    document.add_paragraph("Dear Dr Fitzalan, thank you for seeing Wilhelmina Ostrander.")
    document.add_paragraph(
        "She has epilepsy and had two seizures in April. Her e-mail is w.ostrander@example.org."
    )
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("Drug", "Dose", "Lamotrigine", "100 mg"), strict=True):
        cell.text = text
    document.add_picture(io.BytesIO(picture()))
    document.element.body.xpath(".//wp:docPr")[0].set("descr", "An EEG of Wilhelmina Ostrander")
    deleted = "<w:del w:id='1'><w:r><w:delText>She drinks.</w:delText></w:r></w:del>"
    document.element.body.insert(2, parse_xml(f"<w:p {word}>{deleted}</w:p>"))
    document.add_comment(document.paragraphs[0].runs[0], text="Call her first.")
    document.save(path if isinstance(path, io.BytesIO) else str(path))


def write_xlsx(path: Path | io.BytesIO) -> None:
    """Two sheets, one hidden; dates, a comment, a formula without a value and a picture."""
    import datetime

    import openpyxl
    from openpyxl.comments import Comment
    from openpyxl.drawing.image import Image

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Visits"
    sheet.append(["Patient", "Seen on", "Finding"])
    sheet.append(["Barnaby Oyelaran", datetime.date(2031, 3, 4), "High blood pressure. He is to walk more."])
    sheet.append(["Barnaby Oyelaran", datetime.date(2031, 4, 1), "Better. Mail b.oyelaran@example.org."])
    sheet["A2"].comment = Comment("His brother was treated here too.", "Clerk")
    sheet["D2"] = "=SUM(1,2)"
    sheet.add_image(Image(io.BytesIO(picture())), "F2")
    hidden = book.create_sheet("Costs")
    hidden.append(["Barnaby Oyelaran", 120.5])
    hidden.sheet_state = "hidden"
    book.save(path)


def write_pptx(path: Path | io.BytesIO) -> None:
    """Two slides with a title, a list, a table, a picture and notes."""
    from pptx import Presentation
    from pptx.util import Inches

    show = Presentation()
    show.core_properties.comments = ""
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Case of Florentina Maddox"
    slide.placeholders[1].text = "She sued her landlord.\nThe roof leaked for two years."
    slide.notes_slide.notes_text_frame.text = "Ask her at f.maddox@example.org before you show this."
    other = show.slides.add_slide(show.slide_layouts[6])
    table = other.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for cell, text in zip(table.iter_cells(), ("Date", "Step", "4 March", "Judgment for her"), strict=True):
        cell.text = text
    shown = other.shapes.add_picture(io.BytesIO(picture()), Inches(1), Inches(4))
    shown._element.nvPicPr.cNvPr.set("descr", "The roof of Florentina Maddox")
    show.save(path)


def write_rtf(path: Path) -> None:
    """A letter with letters of another code page, a table, a footnote and a picture."""
    path.write_bytes(
        rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset238 Arial CE;}}"
        rb"{\colortbl;\red255\green0\blue0;}{\info{\title Letter}{\author Clerk}}"
        rb"\pard Dear Ms Przemys{\f1\'b3}awa Kjeldsen,\par "
        rb"the court has granted you custody of your son.{\footnote Order of 4 March.} He stays at his"
        rb" school.\par Call us at 020 7946 0555\'85\par "
        rb"\trowd\cellx1000\cellx2000\intbl Weekday\cell Parent\cell\row\intbl Friday"
        rb"\cell Father\cell\row\pard "
        rb"{\pict\pngblip 89504e47}}"
    )


def write_pdf(path: Path) -> None:
    """A page of text with a form field and a note, a scanned page, a blank one, and an attached text."""
    from pypdf import PdfReader, PdfWriter
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    drawn = io.BytesIO()
    canvas = Canvas(drawn)
    canvas.setTitle("")
    canvas.setSubject("")
    canvas.drawString(72, 760, "Report on Ingeborg Thackeray.")
    canvas.drawString(72, 740, "She was operated on in May. Her knee heals well.")
    canvas.drawString(72, 720, "Write to i.thackeray@example.org.")
    canvas.acroForm.textfield(name="guardian", tooltip="Guardian", value="Rosalind Thackeray", x=72, y=640)
    canvas.textAnnotation("She asked for a second opinion.", Rect=[400, 700, 420, 720])
    canvas.showPage()
    canvas.drawImage(ImageReader(io.BytesIO(picture(*SCANNED))), 50, 500, width=500, height=150)
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(drawn))
    writer.add_attachment("bill.txt", b"Bill of Ingeborg Thackeray: 40 pounds. It is paid. Thank you.")
    writer.write(path)


def picture(*lines: str) -> bytes:
    """A PNG of black text on white, large enough to be recognized."""
    from PIL import Image, ImageDraw, ImageFont

    font: Any = ImageFont.load_default(size=40)
    image = Image.new("L", (1_000, 60 + 80 * len(lines)), "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((40, 30 + 80 * number), line, fill="black", font=font)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
