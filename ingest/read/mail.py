"""Mail to text: who wrote to whom about what, what they said, and what they attached.

The headers From, Reply-To, To, Cc, Subject and Date stay as lines: people ask about them, and they must be
sanitized. Attachments of a readable kind follow the body, each as a block; others are counted by type.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import Compat32
from itertools import pairwise
from typing import BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.text import MAX_BYTES, PICTURE, RECORDING, added_up, raw_lines, refuse_binary
from ingest.read.whole_files import attached_text, shown_text

MAX_PARTED = 100
"""Maximum number of multipart parts in a message."""
MAX_HEADER = 100_000
"""Maximum characters read of a header."""

_HEADERS = ("From", "Reply-To", "To", "Cc", "Subject", "Date")
_ID = "Message-ID"
_READ_HEADERS = frozenset(name.lower() for name in (*_HEADERS, _ID))
# Python takes such headers apart in a time that grows with the square of their length.
_MAX_OTHER_HEADER = 2_000
# Bytes beyond ASCII, as Python keeps them in a header: of the last character some may be cut off.
_NOT_ASCII = "".join(map(chr, range(0xDC80, 0xDD00)))
_PARTED = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)
_TIME = re.compile(rb"\d{1,2}:\d{2}")
_YEAR = re.compile(rb"\d{4}")
# Python's own pattern looks for the end of each word up to the end of the line.
_ENCODED_WORD = re.compile(r"=\?[^?\s]{1,60}\?[qQbB]\?.{0,1000}?\?=")
# What repeats a plain text with its looks and its pictures.
_PAGES = ("text/html", "multipart/related")
_ALTERNATIVE = Unread("alternative version", 1, "only the plain text is read; it may say something else")
# Python's own notations, which no mail is written in.
_NOT_OF_MAIL = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})


@dataclass(frozen=True, slots=True)
class Mail:
    """A message as text. ``message_id`` stands in angle brackets, or is empty if the message has none."""

    message_id: str = field(repr=False)
    text: str = field(repr=False)
    place: str
    unread: tuple[Unread, ...] = ()


class _ShortHeaders(Compat32):
    """Python's message policy, with overlong headers truncated."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        # One more than is read shows later that the header was cut.
        return name, value[: (MAX_HEADER if name.lower() in _READ_HEADERS else _MAX_OTHER_HEADER) + 1]


@dataclass(frozen=True, slots=True)
class _Found:
    """Collected besides the text of a message: attachment types and unread parts."""

    attachments: list[str] = field(default_factory=list, repr=False)
    unread: list[Unread] = field(default_factory=list)


def mail_of(data: bytes, place: str) -> Mail:
    """One message; ``UnreadableDocument`` if a part that is shown cannot be decoded."""
    refuse_binary(data[:4096], place)
    parted = sum(1 for _ in _PARTED.finditer(data))
    if parted > MAX_PARTED:
        raise UnreadableDocument(
            place, f"has {parted:,} parts that are divided into parts, more than {MAX_PARTED}; split it"
        )
    unread: list[Unread] = []
    try:
        message = message_from_bytes(data, policy=_ShortHeaders())
        bare_id = "".join(_header(message, _ID, place, unread).split()).strip("<>")
        text = _message_text(message, place, unread)
        return Mail(f"<{bare_id}>" if bare_id else "", text, place, added_up(unread))
    except (UnreadableDocument, MemoryError):
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
            and (not started or (after_empty and _is_envelope(line)))
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


def _is_envelope(line: bytes) -> bool:
    """Whether a line that begins with "From " goes on with a time and, behind it, a year."""
    time = _TIME.search(line)
    return time is not None and _YEAR.search(line, time.end()) is not None


def _message_text(message: Message, place: str, unread: list[Unread]) -> str:
    found = _Found(unread=unread)
    bodies = [text for text in _bodies(message, place, found) if text.strip()]
    head = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name, place, unread))]
    if found.attachments:
        types = ", ".join(sorted(set(found.attachments)))
        head.append(f"Attachments: {len(found.attachments)} ({types})")
    return "\n\n".join(["\n".join(head), *bodies]) if bodies or head else ""


def _header(message: Message, name: str, place: str, unread: list[Unread]) -> str:
    """All values of a header in one line, encoded words decoded."""
    raw = [str(value) for key, value in message.raw_items() if key.lower() == name.lower()]
    if any(len(value) > MAX_HEADER for value in raw):
        unread.append(Unread("header", 1, f"is longer than {MAX_HEADER:,} characters; the rest is left out"))
        raw = [value if len(value) <= MAX_HEADER else value[:MAX_HEADER].rstrip(_NOT_ASCII) for value in raw]
    values = (_header_value(value, f"{place}, header {name}") for value in raw)
    return " ".join(", ".join(values).split())


def _header_value(value: str, place: str) -> str:
    try:
        value = value.encode("utf-8", "surrogateescape").decode()
    except UnicodeDecodeError:
        problem = "is not UTF-8; export the message again"
    else:
        return "".join(_decoded_words(value))
    raise UnreadableDocument(place, problem)


def _decoded_words(value: str) -> Iterator[str]:
    """The value with its encoded words decoded; a character may begin in one word and end in the next."""
    run = ""
    words = [match.span() for match in _ENCODED_WORD.finditer(value)]
    yield value[: words[0][0]] if words else value
    for (start, end), (following, _) in pairwise([*words, (len(value), len(value))]):
        run += value[start:end]
        between = value[end:following]
        if following < len(value) and not between.strip():
            continue
        yield _decoded_run(run)
        yield between
        run = ""


def _decoded_run(words: str) -> str:
    try:
        return str(make_header(decode_header(words)))
    except (HeaderParseError, LookupError, ValueError):
        # An unknown encoding of a word: the word stays as it is written.
        return words


def _bodies(part: Message, place: str, found: _Found) -> Iterator[str]:
    """The texts of a part and of the parts in it; what is attached or not read is added to ``found``."""
    kind = part.get_content_type()
    if kind == "message/rfc822":
        # An inner message that came apart is counted, so that its absence shows.
        found.attachments.extend([] if _children(part) else [kind])
        for inner in _children(part):
            yield _message_text(inner, place, found.unread)
    elif part.is_multipart():
        for inner in _shown(part, kind, found):
            yield from _bodies(inner, place, found)
    elif part.get_content_maintype() == "text" and not (
        part.get_content_disposition() == "attachment" or part.get_content_subtype() in ("rtf", "richtext")
    ):
        yield _text(part, place, found)
    else:
        found.attachments.append(kind)
        yield _attachment(part, place, found)


def _attachment(part: Message, place: str, found: _Found) -> str:
    match part.get_content_maintype():
        case "image":
            found.unread.append(PICTURE)
        case "audio" | "video":
            found.unread.append(RECORDING)
        case "text" if part.get_content_subtype() not in ("rtf", "richtext"):
            try:
                return f"--- attachment: {part.get_content_subtype()} ---\n{_text(part, place, found)}"
            except UnreadableDocument as error:
                found.unread.append(Unread("attachment", 1, error.reason))
        case _:
            name = str(part.get_filename("") or "")
            read = attached_text(_payload(part), part.get_content_type(), name, place, depth=1)
            found.unread.extend(read.unread)
            return read.text
    return ""


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [inner for inner in payload if isinstance(inner, Message)] if isinstance(payload, list) else []


def _shown(part: Message, kind: str, found: _Found) -> list[Message]:
    """The parts to read: of alternatives that say the same, the plain one if it says anything."""
    parts = _children(part)
    if kind == "multipart/alternative":
        plain = [inner for inner in parts if inner.get_content_type() == "text/plain"]
        if any(_payload(inner).strip() for inner in plain):
            pages = [inner for inner in parts if inner.get_content_type() in _PAGES]
            shown = (each for page in pages for each in page.walk() if each.get_content_maintype() == "image")
            found.unread.extend(PICTURE for _ in shown)
            found.unread.extend(_ALTERNATIVE for _ in pages)
            return [inner for inner in parts if inner.get_content_type() not in _PAGES]
    return parts


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _text(part: Message, place: str, found: _Found) -> str:
    data = _payload(part)
    encoding = _encoding(part)
    try:
        text = data.decode(encoding)
    except UnicodeError:
        problem = f"has a part that is not {encoding}, as it says or has to be; export the message again"
    else:
        read = shown_text(text, html=part.get_content_type() == "text/html", place=place)
        found.unread.extend(read.unread)
        return read.text
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
