"""Mail to text: who wrote to whom about what, and what they said.

A message keeps its headers From, To, Cc, Subject and Date as lines, because they are what people ask about
and what must be sanitized; attachments are counted and named by their type only, unless they are text.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from typing import BinaryIO

from ingest.errors import UnreadableDocument
from ingest.read.html import html_text
from ingest.read.text import MAX_BYTES, raw_lines, refuse_binary

_HEADERS = ("From", "To", "Cc", "Subject", "Date")
_ENVELOPE = re.compile(rb"From .*\d{1,2}:\d{2}.*\d{4}")
# Python's own notations, which no mail is written in.
_NOT_OF_MAIL = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})


@dataclass(frozen=True, slots=True)
class Mail:
    """A message as text. ``message_id`` stands in angle brackets, or is empty if the message has none."""

    message_id: str = field(repr=False)
    text: str = field(repr=False)
    place: str


def mail_of(data: bytes, place: str) -> Mail:
    """One message; ``UnreadableDocument`` if a part that is shown cannot be decoded."""
    refuse_binary(data[:4096], place)
    try:
        message = message_from_bytes(data)
        bare_id = "".join(_header(message, "Message-ID", place).split()).strip("<>")
        return Mail(f"<{bare_id}>" if bare_id else "", _message_text(message, place), place)
    except UnreadableDocument:
        raise
    except Exception as error:
        reason = f"is a damaged message ({type(error).__name__}); export it again"
        raise UnreadableDocument(place, reason) from None


def mbox_messages(stream: BinaryIO, place: str) -> Iterator[Mail | UnreadableDocument]:
    """The messages of a mailbox, one at a time. One that cannot be read is answered by an error."""
    for number, data in enumerate(_split(stream, place), 1):
        here = f"{place}, message {number:,}"
        try:
            if data is None:
                raise UnreadableDocument(here, f"is larger than {MAX_BYTES:,} bytes; leave it out")
            yield mail_of(data, here)
        except UnreadableDocument as error:
            yield error


def _split(stream: BinaryIO, place: str) -> Iterator[bytes | None]:
    """Cut a mailbox at its envelope lines, which stand at the start or after an empty line."""
    parts: list[bytes] = []
    size = 0
    started = False
    after_empty = True
    for line, length in raw_lines(stream):
        if (
            line is not None
            and line.startswith(b"From ")
            and (not started or (after_empty and _ENVELOPE.match(line)))
        ):
            if started:
                yield b"".join(parts) if size <= MAX_BYTES else None
            started, parts, size = True, [], 0
        elif not started and (line is None or line.strip()):
            raise UnreadableDocument(place, "does not begin with a 'From ' line; name a single message .eml")
        else:
            size += length
            if line is not None and size <= MAX_BYTES:
                parts.append(line)
        after_empty = line is not None and not line.strip()
    if started:
        yield b"".join(parts) if size <= MAX_BYTES else None


def _message_text(message: Message, place: str) -> str:
    attachments: list[str] = []
    bodies = [text for text in _bodies(message, place, attachments) if text.strip()]
    head = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name, place))]
    if attachments:
        head.append(f"Attachments: {len(attachments)} ({', '.join(sorted(set(attachments)))})")
    return "\n\n".join(["\n".join(head), *bodies]) if bodies or head else ""


def _header(message: Message, name: str, place: str) -> str:
    """All values of a header in one line, encoded words decoded."""
    raw = [str(value) for key, value in message.raw_items() if key.lower() == name.lower()]
    return " ".join(", ".join(_header_value(value, f"{place}, header {name}") for value in raw).split())


def _header_value(value: str, place: str) -> str:
    try:
        value = value.encode("utf-8", "surrogateescape").decode()
    except UnicodeDecodeError:
        problem = "is not UTF-8; export the message again"
    else:
        try:
            return str(make_header(decode_header(value)))
        except (HeaderParseError, LookupError, ValueError):
            # An unknown encoding of a word: the word stays as it is written.
            return value
    raise UnreadableDocument(place, problem)


def _bodies(part: Message, place: str, attachments: list[str]) -> Iterator[str]:
    """The texts of a part and of the parts in it; the types of its attachments are added to the list."""
    kind = part.get_content_type()
    attached = part.get_content_disposition() == "attachment"
    if kind == "message/rfc822":
        # An inner message that came apart is counted, so that its absence shows.
        attachments += [] if _children(part) else [kind]
        for inner in _children(part):
            yield _message_text(inner, place)
    elif part.is_multipart():
        for inner in _shown(part, kind):
            yield from _bodies(inner, place, attachments)
    elif part.get_content_maintype() != "text":
        attachments.append(kind)
    elif attached:
        attachments.append(kind)
        try:
            yield _text(part, place)
        except UnreadableDocument:
            attachments[-1] = f"{kind}, not read"
    else:
        yield _text(part, place)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [inner for inner in payload if isinstance(inner, Message)] if isinstance(payload, list) else []


def _shown(part: Message, kind: str) -> list[Message]:
    """The parts to read: of alternatives that say the same, the plain one if it says anything."""
    parts = _children(part)
    if kind == "multipart/alternative":
        plain = [inner for inner in parts if inner.get_content_type() == "text/plain"]
        if any(_payload(inner).strip() for inner in plain):
            return plain
    return parts


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _text(part: Message, place: str) -> str:
    data = _payload(part)
    encoding = _encoding(part)
    try:
        text = data.decode(encoding)
    except UnicodeError:
        problem = f"has a part that is not {encoding}, as it says or has to be; export the message again"
    else:
        return html_text(text, place) if part.get_content_type() == "text/html" else text
    raise UnreadableDocument(place, problem)


def _encoding(part: Message) -> str:
    """The name of the encoding that a part declares; UTF-8 for none, an unknown one, or plain ASCII."""
    try:
        known = codecs.lookup(part.get_content_charset("utf-8")).name
        # Codecs that make no text, such as base64, are known only by this refusal.
        b"  ".decode(known, "replace")
    except (LookupError, ValueError):
        return "utf-8"
    return "utf-8" if known == "ascii" or known in _NOT_OF_MAIL else known
