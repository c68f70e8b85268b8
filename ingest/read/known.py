"""Forms that are known by how they begin or by their keys, whatever a file is called."""

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from ingest.read.reading import ALL_BELOW, below

_MAGIC: Mapping[bytes, str] = {
    b"%PDF-": ".pdf",
    b"{\\rtf": ".rtf",
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
    b"MSH|": ".hl7",
    b"BEGIN:VCARD": ".vcf",
    b"BEGIN:VCALENDAR": ".ics",
    b"<!doctype html": ".html",
    b"<html": ".html",
    b"[": ".json",
}
_PACKED = {"word/": ".docx", "xl/": ".xlsx", "ppt/": ".pptx"}
_HEADER = re.compile(rb"[!-9;-~]+:.*\r?\n(?:[ \t].*\r?\n)*")
_OF_MAIL = re.compile(rb"^(?:message-id|received|mime-version):", re.IGNORECASE | re.MULTILINE)
_ENVELOPE = re.compile(rb"From \S+ .*\d{1,2}:\d{2}.*\d{4}\r?\n")
_ENTRY = re.compile(r"^BEGIN:(?:VCARD|VEVENT|VTODO|VJOURNAL)\b", re.MULTILINE | re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")
_PARAMETERS = re.compile(r"^[\w.-]+(?:;(?:[^:;\"\r\n]|\"[^\"\r\n]*\")*)+(?=:)", re.MULTILINE)
_NO_TEXT = re.compile(
    r";(?:altid|calscale|charset|encoding|fbtype|fmttype|language|mediatype|pid|pref|range|tzid|value)="
    r"(?:[^:;\"\r\n]|\"[^\"\r\n]*\")*",
    re.IGNORECASE,
)
CONVERSATIONS = ("messages", "conversations", "conversation")
_SPEAKERS = ("role", "from", "author", "sender", "user", "name")
_WORDS = ("content", "value", "text", "body", "message")


def known_kind(head: bytes, stream: BinaryIO) -> str:
    """The extension that a file should have, by its first bytes; empty where they do not tell."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if start.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
        return next((kind for part, kind in _PACKED.items() if any(part in name for name in names)), "")
    if start.startswith(b"{") and not start.startswith(b"{\\rtf"):
        first = start.partition(b"\n")[0].rstrip()
        return ".jsonl" if first.endswith(b"}") and first != start.rstrip() else ".json"
    lowered = start[:20].lower()
    magic = (kind for begin, kind in _MAGIC.items() if start.startswith(begin) or lowered.startswith(begin))
    return next(magic, "") or mail_kind(head)


def mail_kind(head: bytes) -> str:
    """``.mbox`` or ``.eml`` for what begins as a mailbox or a message does, else empty."""
    if _ENVELOPE.match(head):
        return ".mbox"
    headers = head
    while found := _HEADER.match(headers):
        headers = headers[found.end() :]
    return ".eml" if _OF_MAIL.search(head[: len(head) - len(headers)]) else ""


def entries(text: str) -> Sequence[str]:
    """The cards of an address book, or the entries of a calendar, each without folded lines.

    Parameters that only say how a value is written are left out, and so whatever stands in them.
    What stands before the first goes with it.
    """
    whole = _PARAMETERS.sub(lambda found: _NO_TEXT.sub("", found[0]), _FOLD.sub("", text))
    starts = [match.start() for match in _ENTRY.finditer(whole)][1:]
    return [whole[start:end] for start, end in zip([0, *starts], [*starts, len(whole)], strict=True)]


def path_of(fields: Mapping[str, object]) -> str:
    """The path of the text in a record of a known form; empty where its keys do not tell.

    A resource of FHIR is read whole, and so is the one in an entry of a bundle.
    """
    if isinstance(fields.get("resourceType"), str):
        return ALL_BELOW
    resource = fields.get("resource")
    return f"resource{ALL_BELOW}" if isinstance(resource, dict) and "resourceType" in resource else ""


def listed_in(value: Mapping[str, object]) -> list[object] | None:
    """The entries of a FHIR bundle."""
    listed = value.get("entry")
    return listed if value.get("resourceType") == "Bundle" and isinstance(listed, list) else None


def conversation(fields: Mapping[str, object]) -> str:
    """Who said what, a line each, in a record of chat messages; empty where it is none.

    Read are lists of messages as chat services exchange, train and export them.
    """
    lists = (fields.get(key) for key in CONVERSATIONS)
    messages = next((each for each in lists if isinstance(each, list) and each), [])
    said = [_message(each) for each in messages if isinstance(each, dict)]
    return "\n".join(each for each in said if each) if len(said) == len(messages) else ""


def _message(message: Mapping[str, object]) -> str:
    speaker = next((message[key] for key in _SPEAKERS if message.get(key)), None)
    words = [each for key in (*_WORDS, "tool_calls") if message.get(key) for each in _texts(message[key])]
    if speaker is None or not words:
        return ""
    return f"{' '.join(_texts(speaker))}: {' '.join(words)}"


def _texts(value: object) -> Iterator[str]:
    """The texts in a value, without what only says of which type and number they are."""
    for name, each in below(value):
        if isinstance(each, str) and name not in ("type", "id", "contentType", "userIdentityType"):
            yield each
