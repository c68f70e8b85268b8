"""All messages, people and addresses here are invented."""

from email.message import EmailMessage
from pathlib import Path

import pytest

import ingest.read.mail
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.mail import Mail, mail_of
from ingest.read.sources import read_documents

HEAD = b"From: Ada <ada@example.org>\nTo: bo@example.org\nMessage-ID: <17@example.org>\nX-Spam: no\n"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, content: bytes) -> list[Document | UnreadableDocument]:
    Path(name).write_bytes(content)
    return [reading.item for reading in read_documents([name])]


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
    assert item.doc_id == "a.eml"


def test_an_id_without_brackets_gets_them() -> None:
    assert mail_of(b"Message-Id: 17\n\nx", "a.eml").message_id == "<17>"


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
    assert "Attachments: 4 (application/pdf, text/csv, not read, text/plain)\n\nsee below" in text
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
        assert (one.doc_id, two.doc_id, four.doc_id) == ("<1@x>", "a.mbox#2", "a.mbox#4")
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


def test_what_is_no_mailbox() -> None:
    (item,) = read("a.mbox", b"From: ada@example.org\n\nZyxwv\n")
    assert str(item) == "a.mbox: does not begin with a 'From ' line; name a single message .eml"


def test_a_mail_shows_nothing_private() -> None:
    assert "Zyxwv" not in repr(Mail("<Zyxwv@x>", "Zyxwv", "a.eml"))
