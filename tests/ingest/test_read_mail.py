"""All messages, people and addresses here are invented."""

import io
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

import ingest.read.mail
from ingest.documents import Document, Unread
from ingest.errors import UnreadableDocument
from ingest.read.mail import Mail, mail_of, mbox_messages
from ingest.read.sources import read_documents
from tests.relative import relative
from tests.sample_files import write_docx, write_pdf, write_pptx, write_rtf, write_xlsx
from tests.timing import cost

HEAD = b"From: Ada <ada@example.org>\nTo: bo@example.org\nMessage-ID: <17@example.org>\nX-Spam: no\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, content: bytes) -> list[Document | UnreadableDocument]:
    Path(name).write_bytes(content)
    return [reading.item for reading in read_documents([name], limits=None)]


def body_of(content: bytes) -> str:
    return mail_of(content, "a.eml").text.partition("\n\n")[2]


def test_headers_are_lines_and_the_id_stands_in_brackets() -> None:
    headers = b"Cc: =?utf-8?q?Zo=C3=AB?=\n <zoe@example.org>\nSubject: hi\nDate: today\n"
    (item,) = read("a.eml", HEAD + headers + b"Reply-To: Greta\n\nDear Bo,\r\nyes\n")
    assert isinstance(item, Document)
    assert item.doc_id == "<17@example.org>"
    assert item.text == (
        "From: Ada <ada@example.org>\nReply-To: Greta\nTo: bo@example.org\nCc: Zoë <zoe@example.org>\n"
        "Subject: hi\nDate: today\n\nDear Bo,\nyes\n"
    )
    assert mail_of(b"Message-Id: 17\n\nx", "a.eml").message_id == "<17>"
    (item,) = read("a.eml", b"From: ada@example.org\n\nhello\n")
    assert isinstance(item, Document)
    assert relative(item.doc_id) == "a.eml"


@pytest.mark.parametrize(
    ("plain", "body"), [("plain words", "plain words"), (" \n", "html words\n\nmore")], ids=["plain", "html"]
)
def test_of_alternatives_the_plain_one_is_read_unless_it_is_empty(plain: str, body: str) -> None:
    message = EmailMessage()
    message.set_content(plain)
    message.add_alternative("<p>html <b>words</b></p><p>more</p>", subtype="html")
    assert body_of(message.as_bytes()).strip() == body


def test_attachments_are_counted_by_type_and_text_ones_read() -> None:
    message = EmailMessage()
    message["From"] = "ada@example.org"
    message.set_content("see below")
    for name in ("Utsr.pdf", "Utsr2.pdf"):
        message.add_attachment(b"Zyxwv", maintype="application", subtype="pdf", filename=name)
    message.add_attachment("attached words", filename="notes.txt")
    message.add_attachment(b"caf\xe9", maintype="text", subtype="csv", filename="Utsr.csv")
    text = mail_of(message.as_bytes(), "a.eml").text
    assert "Attachments: 4 (application/pdf, text/csv, text/plain)\n\nsee below" in text
    assert "attached words" in text and "Zyxwv" not in text and "Utsr" not in text


def test_a_forwarded_message_is_read_with_its_headers() -> None:
    inner = EmailMessage()
    inner["From"] = "cy@example.org"
    inner.set_content("inner words")
    outer = EmailMessage()
    outer.set_content("outer words")
    outer.add_attachment(inner)
    text = mail_of(outer.as_bytes(), "a.eml").text
    assert text.index("outer words") < text.index("From: cy@example.org") < text.index("inner words")


@pytest.mark.parametrize(
    ("declared", "transfer", "data", "text"),
    [("iso-8859-1", "8bit", b"caf\xe9", "café"), ("windows-1252", "8bit", b"\x93q\x94", "\u201cq\u201d")]
    + [("utf-8", "8bit", "café".encode(), "café"), ("us-ascii", "8bit", "café".encode(), "café")]
    + [("no-such-thing", "8bit", "café".encode(), "café"), ("base64", "8bit", b"Y2Fm", "Y2Fm")]
    + [("unicode_escape", "8bit", b"caf\\xe9", "caf\\xe9"), ("utf-8", "base64", b"Y2Fmw6k=", "café")],
)
def test_encodings(declared: str, transfer: str, data: bytes, text: str) -> None:
    said = f"Content-Type: text/plain; charset={declared}\nContent-Transfer-Encoding: {transfer}\n\n"
    assert body_of(HEAD + said.encode() + data) == text


PLAIN, EIGHT = b"Content-Type: text/plain", b"\nContent-Transfer-Encoding: 8bit\n\nZyxwv \xe9"
NOT_UTF8 = "a.eml: has a part that is not utf-8, as it says or has to be; export the message again"


MANY = b"Content-Type:\n multipart/mixed; boundary=b\n\n--b\n" * 3_000
PARTED = "a.eml: has 3,000 parts that are divided into parts, more than 100; split it"
EMPTY = "a.eml: holds no text, or only white space; fill it in or leave it out"


@pytest.mark.parametrize(
    ("content", "told"),
    [(HEAD + PLAIN + said + EIGHT, NOT_UTF8) for said in (b"", b"; charset=utf-8", b"; charset=us-ascii")]
    + [(b"From: Zyxwv \xe9\n\nhello\n", "a.eml, header From: is not UTF-8; export the message again")]
    + [(b"X-Nothing: 1\n\n  \n", EMPTY), (MANY, PARTED)],
    ids=["not declared", "utf-8", "us-ascii", "header", "no words", "parts"],
)
def test_a_message_that_cannot_be_read_is_refused(content: bytes, told: str) -> None:
    (item,) = read("a.eml", content)
    assert isinstance(item, UnreadableDocument)
    assert str(item) == told


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("From: Zoë\n\nhello", "From: Zoë\n\nhello"),
        ("From: =?no-such?q?Zo?=\n\nhello", "From: =?no-such?q?Zo?=\n\nhello"),
        ("Subject: a =?utf-8?q?=C3?= =?utf-8?q?=AB?= b =?utf-8?b?w6s=?=\n\n", "Subject: a ë b ë"),
        ("Subject: ë, =?utf-8?q?really??= =?\n\n", "Subject: ë, really? =?"),
    ],
)
def test_headers_are_decoded_where_they_stand(content: str, text: str) -> None:
    assert mail_of(content.encode(), "a.eml").text == text


def test_a_mailbox_is_cut_at_its_envelopes() -> None:
    content = (
        b"From ada@example.org Sat Nov 21 00:03:15 2020\nMessage-ID: <1@x>\n\nOne.\n"
        b"From here at 10:30 in 2020, no cut.\n\nFrom now on, none either.\n\n"
        b"From - Sat Nov 21 00:03:16 2020\n\nTwo.\n\n"
        b"From cy Sat Nov 21 00:03:17 2020\nFrom: Zyxwv \xe9\n\nThree.\n\n"
        b"From dee Sat Nov 21 00:03:18 2020\n\nFour.\n"
    )
    for data in (content, content.replace(b"\n", b"\r\n")):
        one, two, three, four = read("a.mbox", data)
        assert isinstance(one, Document) and isinstance(two, Document) and isinstance(four, Document)
        assert one.doc_id == "<1@x>"
        assert [relative(each.doc_id) for each in (two, four)] == ["a.mbox#2", "a.mbox#4"]
        said = "One. From here at 10:30 in 2020, no cut. From now on, none either."
        assert " ".join(one.text.split()) == said
        assert str(three) == "a.mbox, message 3, header From: is not UTF-8; export the message again"
    (item,) = read("a.mbox", b"From: ada@example.org\n\nZyxwv\n")
    assert str(item) == "a.mbox: does not begin with a 'From ' line; name a single message .eml"


def test_a_message_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.read.mail, "MAX_BYTES", 50)
    envelope = b"From x Sat Nov 21 00:03:15 2020\n"
    messages = (b"\nOne.\n\n", b"\n" + b"Zyxwv\n" * 20 + b"\n", b"\nThree.")
    one, two, three = read("a.mbox", b"".join(envelope + each for each in messages))
    assert isinstance(one, Document) and isinstance(three, Document)
    assert str(two) == "a.mbox, message 2: is larger than 50 bytes; leave it out"


def attached(data: bytes, content_type: str, name: str = "") -> Mail:
    message = EmailMessage()
    message.set_content("see below")
    maintype, subtype = content_type.split("/")
    message.add_attachment(data, maintype=maintype, subtype=subtype, filename=name or None)
    return mail_of(message.as_bytes(), "a.eml")


def made(write: Callable[[Path], None]) -> bytes:
    write(Path("made"))
    return Path("made").read_bytes()


OFFICE = "application/vnd.openxmlformats-officedocument"
UNKNOWN = "application/octet-stream"


@pytest.mark.parametrize(
    ("data", "content_type", "name", "kind", "words"),
    [
        (write_docx, f"{OFFICE}.wordprocessingml.document", "", "docx", "Lamotrigine | 100 mg"),
        (write_xlsx, f"{OFFICE}.spreadsheetml.sheet", "", "xlsx", "Barnaby Oyelaran | 2031-03-04"),
        (write_pptx, f"{OFFICE}.presentationml.presentation", "", "pptx", "4 March | Judgment for her"),
        (write_pdf, "application/pdf", "", "pdf", "Report on Ingeborg Thackeray."),
        (write_rtf, "application/rtf", "", "rtf", "custody of your son"),
        (write_rtf, "text/rtf", "", "rtf", "custody of your son"),
        (write_docx, UNKNOWN, "Zyxwv.DOCX", "docx", "Lamotrigine | 100 mg"),
        (write_pdf, "application/x-zyxwv", "Zyxwv.pdf", "pdf", "Report on Ingeborg Thackeray."),
        (b"a;b", UNKNOWN, "Zyxwv.csv", "csv", "a;b"),
        (b'{"a": 1}', "application/json", "", "json", '{"a": 1}'),
        (b"<p>a</p>", "application/xhtml+xml", "", "html", "a"),
        (b"BEGIN:VEVENT", "application/ics", "", "ics", "BEGIN:VEVENT"),
        (b"BEGIN:VCARD", "text/vcard", "", "vcard", "BEGIN:VCARD"),
        (b"<p>a</p>", "text/html", "", "html", "a"),
    ],
)
def test_attachments_are_read_by_their_type_or_else_their_name(
    data: bytes | Callable[[Path], None], content_type: str, name: str, kind: str, words: str
) -> None:
    is_text = isinstance(data, bytes)
    mail = attached(data if isinstance(data, bytes) else made(data), content_type, name)
    block = mail.text.split("see below", 1)[1].strip()
    assert block.startswith(f"--- attachment: {kind} ---\n")
    assert block.endswith(f"---\n{words}") if is_text else words in block
    assert f"Attachments: 1 ({content_type})" in mail.text
    assert not [part for part in mail.unread if is_text or part.kind == "attachment"]


NOT_READ = "is of a kind that is not read"
NOT_UTF8_AT_6 = "not UTF-8 at byte 6; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"


@pytest.mark.parametrize(
    ("data", "content_type", "name", "kind", "reason"),
    [
        (b"Zyxwv", "application/zip", "Zyxwv.zip", "attachment", NOT_READ),
        (b"Zyxwv", "application/ms-tnef", "winmail.dat", "attachment", NOT_READ),
        (b"Zyxwv", "application/pdf", "", "attachment", "is not a PDF; give it the extension that it needs"),
        (b" ", UNKNOWN, "Zyxwv.txt", "attachment", "holds no text"),
        (b"Zyxwv \xe9", UNKNOWN, "Zyxwv.txt", "attachment", NOT_UTF8_AT_6),
        (b"Zyxwv \xe9", "text/plain", "", "attachment", NOT_UTF8.removeprefix("a.eml: ")),
        (b"Zyxwv", "image/png", "Zyxwv.png", "picture", "may show text; write out what it says"),
        (b"Zyxwv", "audio/mpeg", "Zyxwv.mp3", "recording", "may be speech; write out what is said"),
    ],
)
def test_what_is_attached_and_not_read_is_counted(
    data: bytes, content_type: str, name: str, kind: str, reason: str
) -> None:
    mail = attached(data, content_type, name)
    assert mail.unread == (Unread(kind, 1, reason),)
    assert "Zyxwv" not in mail.text + repr(mail) + repr(Mail("<Zyxwv@x>", "Zyxwv", "a.eml"))
    assert f"Attachments: 1 ({content_type})" in mail.text


def test_what_an_attachment_does_not_read_is_counted_with_the_mail() -> None:
    mail = attached(made(write_docx), "application/octet-stream", "a.docx")
    assert [part.kind for part in mail.unread] == ["deleted passage", "comment", "picture"]
    (item,) = read("a.eml", b"Content-Type: image/png\nFrom: a\n\nx")
    assert isinstance(item, Document)
    assert [part.kind for part in item.unread] == ["picture"]


def test_pictures_of_an_alternative_that_is_not_shown_are_counted_and_an_invitation_is_read() -> None:
    message = EmailMessage()
    message.set_content("plain words")
    message.add_alternative("<p>html words</p>", subtype="html")
    _, page = message.iter_parts()
    assert isinstance(page, EmailMessage)
    page.add_related(b"Zyxwv", maintype="image", subtype="png")
    message.add_alternative("BEGIN:VCALENDAR", subtype="calendar")
    mail = mail_of(message.as_bytes(), "a.eml")
    assert mail.text.split() == ["plain", "words", "BEGIN:VCALENDAR"]
    assert {part.kind: part.count for part in mail.unread} == {"picture": 1, "alternative version": 1}


def test_files_packed_into_each_other_are_read_to_a_depth() -> None:
    def packed(inner: bytes, name: str) -> bytes:
        writer, out = PdfWriter(clone_from=PdfReader(io.BytesIO(made(write_pdf)))), io.BytesIO()
        writer.add_attachment(name, inner)
        writer.write(out)
        return out.getvalue()

    once = attached(packed(b"inmost words", "x.txt"), "application/pdf")
    assert "inmost words" in once.text
    twice = attached(packed(packed(b"inmost words", "x.txt"), "x.pdf"), "application/pdf")
    assert "inmost words" not in twice.text
    reason = "is packed into more than 2 other files; name it as a file of its own"
    assert Unread("attachment", 2, reason) in twice.unread


def test_a_header_is_read_up_to_a_length() -> None:
    mail = mail_of(b"Subject: " + b"ab " * 50_000 + b"Zyxwv\n\nbody", "a.eml")
    assert mail.unread == (Unread("header", 1, "is longer than 100,000 characters; the rest is left out"),)
    assert 99_000 < len(mail.text) < 101_000
    for shift in range(3):
        assert mail_of(b"Subject: " + b"a" * shift + "ë".encode() * 90_000, "a.eml").unread == mail.unread
    assert mail_of(b"X-Long: " + b"ab " * 50_000 + b"\n\nbody", "a.eml").unread == ()


PARTS = b'Content-Type: multipart/%s; boundary="b"\n\n'
DIVIDED = b"".join(b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(20))
GROWING = {
    "encoded words": (b"Subject: ", b"=?utf-8?q?a?= ", b"\n\nx"),
    "words that never end": (b"Subject: ", b"=?a?q?x", b"\n\nx"),
    "folds": (b"Subject: ", b"a\n ", b"\n\nx"),
    "parameters": (b"Content-Type: text/plain", b';a="\\', b"\n\nx"),
    "headers": (b"", b"From: a\n", b"\n\nx"),
    "parts": (PARTS % b"mixed", b"--b\nContent-Type: image/png\n\nx\n", b""),
    "alternatives": (PARTS % b"alternative", b"--b\n\nx\n--b\nContent-Type: text/html\n\nx\n", b""),
    "depth": (DIVIDED, b"x\n", b""),
    "envelopes": (b"From a\n\nx\n\nFrom a", b" 1:11", b"\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_size_of_a_mail(name: str) -> None:
    before, unit, behind = GROWING[name]

    def work(size: int) -> float:
        content = before + unit * (size // len(unit)) + behind

        def read_all() -> None:
            with suppress(UnreadableDocument):
                if name == "envelopes":
                    list(mbox_messages(io.BytesIO(content), "a.mbox"))
                else:
                    mail_of(content, "a.eml")

        return cost(read_all)

    took, longer = work(60_000), work(240_000)
    # What is fast may be too short to compare: it has to stay so.
    assert longer < (0.5 if took < 0.01 else 10 * took)
