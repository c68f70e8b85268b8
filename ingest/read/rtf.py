r"""RTF files to text, in one pass over their control words.

The first word of a group in braces names its purpose; its changes end with it. Bytes are in the code page of
their font, else of the file; ``\u`` gives a character by number.
"""

import codecs
import re
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.text import DELETED, EMBEDDED, LINK, PICTURE, PROPERTY, ReadText, added_up, contents, joined

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
_BROKEN_OFF = Unread("end of the file", 1, "is missing; save the file again")
_CHARACTER = Unread("character", 1, "is not of the code page that the file names")

_SHOWN = {
    "par": "\n",
    "line": "\n",
    "sect": "\n",
    "page": "\n",
    "column": "\n",
    "row": "\n",
    "nestrow": "\n",
    "tab": "\t",
    "cell": " | ",
    "nestcell": " | ",
    "emdash": "\u2014",
    "endash": "\u2013",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "bullet": "\u2022",
    **dict.fromkeys(("annotation", "footnote"), " "),
    **dict.fromkeys(
        ("header", "headerf", "headerl", "headerr", "footer", "footerf", "footerl", "footerr"), "\n"
    ),
}
_SYMBOLS = {b"~": " ", b"_": "-", b"\r": "\n", b"\n": "\n", b"\\": "\\", b"{": "{", b"}": "}"}
# What they hold is not shown, or is shown by something beside them.
_NOT_SHOWN = frozenset(
    "author bkmkend bkmkstart buptim category colortbl comment company creatim datafield doccomm"
    " filetbl fldinst fonttbl hlinkbase keywords linkval listoverridetable listtable manager"
    " nonesttables nonshppict objclass objdata objname operator pict printim propname revtbl revtim"
    " rxe sp staticval stylesheet subject tc template title xe".split()
)
# An asterisk says: pass over the group if you do not know it. These hold text that is shown.
_SHOWN_ALL_THE_SAME = frozenset({"annotation", "do", "nesttableprops", "shpinst", "shppict"})
_COUNTED = {
    "pict": PICTURE,
    "objdata": EMBEDDED,
    **dict.fromkeys(("title", "subject", "keywords", "doccomm", "category"), PROPERTY),
}
_OF_THE_FILE = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_OF_A_FONT = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}


@dataclass(frozen=True, slots=True)
class _Group:
    r"""State until the group ends. ``substitutes``: number of fallback bytes after each ``\u``."""

    shown: bool = True
    deleted: bool = False
    substitutes: int = 1
    font: int = -1
    in_fonts: bool = False


@dataclass(slots=True)
class _Reader:
    """A reader on its way: the groups that are open, and what it has found so far."""

    groups: list[_Group] = field(default_factory=lambda: [_Group()])
    pieces: list[str] = field(default_factory=list, repr=False)
    held: bytearray = field(default_factory=bytearray, repr=False)
    unread: list[Unread] = field(default_factory=list)
    fonts: dict[int, str] = field(default_factory=dict)
    of_the_file: str = "cp1252"
    default_font: int = -1
    starred: bool = False
    skipped: int = 0

    @property
    def group(self) -> _Group:
        return self.groups[-1]

    def change(self, **changes: Any) -> None:
        self.flush()
        self.groups[-1] = replace(self.groups[-1], **changes)

    def show(self, text: str) -> None:
        if self.group.shown and not self.group.deleted:
            self.flush()
            self.pieces.append(text)

    def show_bytes(self, data: bytes) -> None:
        taken = min(self.skipped, len(data))
        self.skipped -= taken
        if self.group.shown and not self.group.deleted:
            self.held += data[taken:]
        elif b"HYPERLINK" in data:
            self.unread.append(LINK)

    def flush(self) -> None:
        """Decode the bytes since the last change of font: a character may be made of several."""
        if self.held:
            text = self.held.decode(self.fonts.get(self.group.font, self.of_the_file), "replace")
            self.unread += [replace(_CHARACTER, count=n)] if (n := text.count("\ufffd")) else []
            self.pieces.append(text)
            self.held.clear()


def rtf_text(stream: BinaryIO, place: str) -> ReadText:
    """The text: a line per paragraph and per table row, cells separated by bars.

    Unread are pictures, embedded files, link targets, deleted passages, document properties, characters
    outside the code page, and the end of a file that breaks off.

    Raises:
        UnreadableDocument: It is no RTF file.
    """
    data = contents(stream, place)
    if not data.startswith(b"{\\rtf"):
        raise UnreadableDocument(place, "is not an RTF file; save it again as .rtf")
    reader = _Reader()
    at = 0
    while at < len(data) and (token := _TOKEN.match(data, at)):
        word, number, code, symbol, brace, plain = token.groups()
        at = token.end()
        if word == b"bin":
            at += max(0, int(number or 0))
        elif word:
            _word(reader, word.decode("ascii"), None if number is None else int(number))
        elif code:
            reader.show_bytes(bytes.fromhex(code.decode("ascii")))
        elif symbol:
            _symbol(reader, symbol)
        elif plain:
            reader.show_bytes(plain)
        elif brace and _brace(reader, brace):
            break
    else:
        reader.unread.append(_BROKEN_OFF)
    reader.flush()
    text = joined(reader.pieces, place).replace(" | \n", "\n")
    # Characters beyond the first 65,536 are written as two halves.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return ReadText(text, added_up(reader.unread))


def _brace(reader: _Reader, brace: bytes) -> bool:
    """Open or end a group; whether that was the last one."""
    reader.flush()
    reader.skipped, reader.starred = 0, False
    if brace == b"{":
        reader.groups.append(reader.group)
    else:
        reader.groups.pop()
    return len(reader.groups) == 1


def _symbol(reader: _Reader, symbol: bytes) -> None:
    if symbol == b"*":
        reader.starred = True
    elif reader.skipped:
        reader.skipped -= 1
    elif symbol in _SYMBOLS:
        reader.show(_SYMBOLS[symbol])


def _word(reader: _Reader, word: str, number: int | None) -> None:
    starred, reader.starred = reader.starred, False
    if word in _COUNTED and reader.group.shown:
        reader.unread.append(_COUNTED[word])
    if word in _NOT_SHOWN or (starred and word not in _SHOWN_ALL_THE_SAME):
        reader.change(shown=False, in_fonts=word == "fonttbl")
    elif word in _SHOWN:
        reader.skipped = 0
        reader.show(_SHOWN[word])
    elif word == "u" and number is not None:
        reader.show(chr(number % 0x10000))
        reader.skipped = reader.group.substitutes
    elif word in ("uc", "deleted", "plain", "f", "deff"):
        _change(reader, word, number)
    else:
        _code_page(reader, word, number)


def _change(reader: _Reader, word: str, number: int | None) -> None:
    match word:
        case "uc":
            reader.change(substitutes=max(0, number or 0))
        case "f":
            reader.change(font=number or 0)
        case "deff":
            reader.default_font = number or 0
            reader.change(font=reader.default_font)
        case "plain":
            reader.change(deleted=False, font=reader.default_font)
        case "deleted":
            reader.unread += [DELETED] if number != 0 and not reader.group.deleted else []
            reader.change(deleted=number != 0)


def _code_page(reader: _Reader, word: str, number: int | None) -> None:
    if word == "ansicpg":
        name = "utf-8" if number == 65001 else f"cp{number}"
        try:
            codecs.lookup(name)
        except LookupError:
            return
        reader.of_the_file = name
    elif word in _OF_THE_FILE:
        reader.of_the_file = _OF_THE_FILE[word]
    elif word == "fcharset" and reader.group.in_fonts and number in _OF_A_FONT:
        reader.fonts[reader.group.font] = _OF_A_FONT[number]
