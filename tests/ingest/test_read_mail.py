"""All messages, people and addresses here are invented."""

import io
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest

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


def sentence(content: bytes) -> str:
    (item,) = read("a.eml", content)
    assert isinstance(item, UnreadableDocument)
    return str(item)


def test_headers_are_lines_and_the_id_stands_in_brackets() -> None:
    content = (
        HEAD + b"Cc: =?utf-8?q?Zo=C3=AB?=\n <zoe@example.org>\nSubject: hi\nDate: today\n\nDear Bo,\r\nyes\n"
    )
    (item,) = read("a.eml", content)
    assert isinstance(item, Document)
    assert item.doc_id == "<17@example.org>"
    assert item.text == (
        "From: Ada <ada@example.org>\nTo: bo@example.org\nCc: Zoë <zoe@example.org>\n"
        "Subject: hi\nDate: today\n\nDear Bo,\nyes\n"
    )


def test_without_a_message_id_the_file_names_the_document() -> None:
    (item,) = read("a.eml", b"From: ada@example.org\n\nhello\n")
    assert isinstance(item, Document)
    assert relative(item.doc_id) == "a.eml"


def test_an_id_without_brackets_gets_them() -> None:
    assert mail_of(b"Message-Id: 17\n\nx", "a.eml").message_id == "<17>"


def test_whom_to_answer_is_a_line() -> None:
    assert mail_of(b"From: Ada\nReply-To: Greta\n\nwords", "x").text == "From: Ada\nReply-To: Greta\n\nwords"


def test_of_alternatives_the_plain_one_is_read() -> None:
    message = EmailMessage()
    message.set_content("plain words")
    message.add_alternative("<p>html words</p>", subtype="html")
    assert body_of(message.as_bytes()).strip() == "plain words"


def test_html_is_read_where_the_plain_alternative_is_empty() -> None:
    message = EmailMessage()
    message.set_content(" \n")
    message.add_alternative("<p>html <b>words</b></p><p>more</p>", subtype="html")
    assert body_of(message.as_bytes()).strip() == "html words\n\nmore"


def test_attachments_are_counted_by_type_and_text_ones_read() -> None:
    message = EmailMessage()
    message["From"] = "ada@example.org"
    message.set_content("see below")
    message.add_attachment(b"Zyxwv", maintype="application", subtype="pdf", filename="Utsr.pdf")
    message.add_attachment(b"Zyxwv", maintype="application", subtype="pdf", filename="Utsr2.pdf")
    message.add_attachment("attached words", filename="notes.txt")
    message.add_attachment(b"caf\xe9", maintype="text", subtype="csv", filename="Utsr.csv")
    text = mail_of(message.as_bytes(), "a.eml").text
    assert "Attachments: 4 (application/pdf, text/csv, text/plain)\n\nsee below" in text
    assert "attached words" in text
    assert "Zyxwv" not in text
    assert "Utsr" not in text


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
    ("declared", "data", "text"),
    [
        ("iso-8859-1", b"caf\xe9", "café"),
        ("windows-1252", b"\x93q\x94", "\u201cq\u201d"),
        ("utf-8", "café".encode(), "café"),
        ("us-ascii", "café".encode(), "café"),
        ("no-such-thing", "café".encode(), "café"),
        ("base64", b"Y2Fm", "Y2Fm"),
        ("unicode_escape", b"caf\\xe9", "caf\\xe9"),
    ],
)
def test_declared_encodings(declared: str, data: bytes, text: str) -> None:
    content = HEAD + f"Content-Type: text/plain; charset={declared}\n".encode()
    assert body_of(content + b"Content-Transfer-Encoding: 8bit\n\n" + data) == text


def test_transfer_encodings_are_undone() -> None:
    content = (
        HEAD + b'Content-Type: text/plain; charset="utf-8"\nContent-Transfer-Encoding: base64\n\nY2Fmw6k=\n'
    )
    assert body_of(content) == "café"


@pytest.mark.parametrize("charset", [b"", b"; charset=utf-8", b"; charset=us-ascii"])
def test_a_body_in_an_encoding_that_is_not_declared_is_refused(charset: bytes) -> None:
    content = (
        HEAD + b"Content-Type: text/plain" + charset + b"\nContent-Transfer-Encoding: 8bit\n\nZyxwv \xe9"
    )
    assert sentence(content) == (
        "a.eml: has a part that is not utf-8, as it says or has to be; export the message again"
    )


def test_a_header_in_another_encoding_is_refused() -> None:
    assert sentence(b"From: Zyxwv \xe9\n\nhello\n") == (
        "a.eml, header From: is not UTF-8; export the message again"
    )


def test_a_header_in_utf8_is_read() -> None:
    assert mail_of("From: Zoë\n\nhello".encode(), "a.eml").text == "From: Zoë\n\nhello"


def test_an_unknown_encoded_word_stays_as_it_is() -> None:
    word = "=?no-such?q?Zo?="
    assert mail_of(f"From: {word}\n\nhello".encode(), "a.eml").text == f"From: {word}\n\nhello"


def test_a_message_nested_too_deep_is_one_sentence() -> None:
    content = b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(3_000)
    )
    assert sentence(content).startswith("a.eml: ")


def test_a_message_without_words_is_refused() -> None:
    assert sentence(b"X-Nothing: 1\n\n  \n") == (
        "a.eml: holds no text, or only white space; fill it in or leave it out"
    )


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
        assert isinstance(one, Document)
        assert isinstance(two, Document)
        assert isinstance(four, Document)
        assert one.doc_id == "<1@x>"
        assert [relative(each.doc_id) for each in (two, four)] == ["a.mbox#2", "a.mbox#4"]
        assert (
            one.text.split()
            == b"One. From here at 10:30 in 2020, no cut. From now on, none either.".decode().split()
        )
        assert str(three) == "a.mbox, message 3, header From: is not UTF-8; export the message again"


def test_a_message_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.read.mail, "MAX_BYTES", 50)
    envelope = b"From x Sat Nov 21 00:03:15 2020\n"
    one, two, three = read(
        "a.mbox",
        envelope + b"\nOne.\n\n" + envelope + b"\n" + b"Zyxwv\n" * 20 + b"\n" + envelope + b"\nThree.",
    )
    assert isinstance(one, Document)
    assert str(two) == "a.mbox, message 2: is larger than 50 bytes; leave it out"
    assert isinstance(three, Document)


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


@pytest.mark.parametrize(
    ("write", "content_type", "name", "kind", "words"),
    [
        (write_docx, f"{OFFICE}.wordprocessingml.document", "", "docx", "Lamotrigine | 100 mg"),
        (write_xlsx, f"{OFFICE}.spreadsheetml.sheet", "", "xlsx", "Barnaby Oyelaran | 2031-03-04"),
        (write_pptx, f"{OFFICE}.presentationml.presentation", "", "pptx", "4 March | Judgment for her"),
        (write_pdf, "application/pdf", "", "pdf", "Report on Ingeborg Thackeray."),
        (write_rtf, "application/rtf", "", "rtf", "custody of your son"),
        (write_rtf, "text/rtf", "", "rtf", "custody of your son"),
        (write_docx, "application/octet-stream", "Zyxwv.DOCX", "docx", "Lamotrigine | 100 mg"),
        (write_pdf, "application/x-zyxwv", "Zyxwv.pdf", "pdf", "Report on Ingeborg Thackeray."),
    ],
)
def test_attachments_are_read_by_their_type_or_else_their_name(
    write: Callable[[Path], None], content_type: str, name: str, kind: str, words: str
) -> None:
    mail = attached(made(write), content_type, name)
    block = mail.text.split("see below", 1)[1]
    assert block.strip().startswith(f"--- attachment: {kind} ---\n")
    assert words in block
    assert f"Attachments: 1 ({content_type})" in mail.text
    assert not [part for part in mail.unread if part.kind == "attachment"]


@pytest.mark.parametrize(
    ("data", "content_type", "name", "words"),
    [
        (b"a;b", "application/octet-stream", "Zyxwv.csv", "--- attachment: csv ---\na;b"),
        (b'{"a": 1}', "application/json", "", '--- attachment: json ---\n{"a": 1}'),
        (b"<p>a</p>", "application/xhtml+xml", "", "--- attachment: html ---\na"),
        (b"BEGIN:VEVENT", "application/ics", "", "--- attachment: ics ---\nBEGIN:VEVENT"),
        (b"BEGIN:VCARD", "text/vcard", "", "--- attachment: vcard ---\nBEGIN:VCARD"),
        (b"<p>a</p>", "text/html", "", "--- attachment: html ---\na"),
    ],
)
def test_attached_text_is_read_as_text(data: bytes, content_type: str, name: str, words: str) -> None:
    mail = attached(data, content_type, name)
    assert mail.text.strip().endswith(words)
    assert mail.unread == ()


@pytest.mark.parametrize(
    ("data", "content_type", "name", "kind", "reason"),
    [
        (b"Zyxwv", "application/zip", "Zyxwv.zip", "attachment", "is of a kind that is not read"),
        (b"Zyxwv", "application/ms-tnef", "winmail.dat", "attachment", "is of a kind that is not read"),
        (b"Zyxwv", "application/pdf", "", "attachment", "is not a PDF; give it the extension that it needs"),
        (b" ", "application/octet-stream", "Zyxwv.txt", "attachment", "holds no text"),
        (
            b"Zyxwv \xe9",
            "application/octet-stream",
            "Zyxwv.txt",
            "attachment",
            "not UTF-8 at byte 6; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8",
        ),
        (
            b"Zyxwv \xe9",
            "text/plain",
            "",
            "attachment",
            "has a part that is not utf-8, as it says or has to be; export the message again",
        ),
        (b"Zyxwv", "image/png", "Zyxwv.png", "picture", "may show text; write out what it says"),
        (b"Zyxwv", "audio/mpeg", "Zyxwv.mp3", "recording", "may be speech; write out what is said"),
    ],
)
def test_what_is_attached_and_not_read_is_counted(
    data: bytes, content_type: str, name: str, kind: str, reason: str
) -> None:
    mail = attached(data, content_type, name)
    assert mail.unread == (Unread(kind, 1, reason),)
    assert "Zyxwv" not in mail.text + repr(mail)
    assert f"Attachments: 1 ({content_type})" in mail.text


def test_what_an_attachment_does_not_read_is_counted_with_the_mail() -> None:
    mail = attached(made(write_docx), "application/octet-stream", "a.docx")
    assert [(part.kind, part.count) for part in mail.unread] == [("deleted passage", 1), ("picture", 1)]
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
    assert [(part.kind, part.count) for part in mail.unread] == [
        ("picture", 1),
        ("alternative version", 1),
    ]


def test_files_packed_into_each_other_are_read_to_a_depth() -> None:
    from pypdf import PdfReader, PdfWriter

    def packed(inner: bytes, name: str) -> bytes:
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(made(write_pdf))))
        writer.add_attachment(name, inner)
        out = io.BytesIO()
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


def test_encoded_words_are_decoded_where_they_stand() -> None:
    subject = "a =?utf-8?q?=C3?= =?utf-8?q?=AB?= b =?utf-8?b?w6s=?=, =?utf-8?q?really??= =?"
    text = mail_of(f"Subject: {subject}\n\n".encode(), "a.eml").text
    assert text == "Subject: a ë b ë, really? =?"


def test_a_message_of_too_many_parts_is_refused() -> None:
    content = b"Content-Type:\n multipart/mixed; boundary=b\n\n--b\n" * 101
    assert sentence(content) == ("a.eml: has 101 parts that are divided into parts, more than 100; split it")


PARTS = b'Content-Type: multipart/%s; boundary="b"\n\n'
GROWING = {
    "encoded words": (b"Subject: ", b"=?utf-8?q?a?= ", b"\n\nx"),
    "words that never end": (b"Subject: ", b"=?a?q?x", b"\n\nx"),
    "folds": (b"Subject: ", b"a\n ", b"\n\nx"),
    "parameters": (b"Content-Type: text/plain", b';a="\\', b"\n\nx"),
    "headers": (b"", b"From: a\n", b"\n\nx"),
    "parts": (PARTS % b"mixed", b"--b\nContent-Type: image/png\n\nx\n", b""),
    "alternatives": (PARTS % b"alternative", b"--b\n\nx\n--b\nContent-Type: text/html\n\nx\n", b""),
    "depth": (
        b"".join(b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(20)),
        b"x\n",
        b"",
    ),
    "envelopes": (b"From a\n\nx\n\nFrom a", b" 1:11", b"\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_size_of_a_mail(name: str) -> None:
    before, unit, behind = GROWING[name]

    def work(size: int) -> float:
        content = before + unit * (size // len(unit)) + behind

        def read_all() -> None:
            if name == "envelopes":
                list(mbox_messages(io.BytesIO(content), "a.mbox"))
                return
            with suppress(UnreadableDocument):
                mail_of(content, "a.eml")

        return cost(read_all)

    took = work(60_000)
    if took < 0.01:
        # What is fast may be too short to compare: it has to stay so.
        assert work(240_000) < 0.5
    else:
        assert work(240_000) < 10 * took


def test_what_is_no_mailbox() -> None:
    (item,) = read("a.mbox", b"From: ada@example.org\n\nZyxwv\n")
    assert str(item) == "a.mbox: does not begin with a 'From ' line; name a single message .eml"


def test_a_mail_shows_nothing_private() -> None:
    assert "Zyxwv" not in repr(Mail("<Zyxwv@x>", "Zyxwv", "a.eml"))
