"""RTF files. All letters and people here are invented."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.rtf import rtf_text
from ingest.read.text import ReadText
from tests.sample_files import write_rtf
from tests.timing import cost


def read(inner: bytes, head: bytes = rb"\ansi\ansicpg1252") -> ReadText:
    return rtf_text(io.BytesIO(rb"{\rtf1" + head + b" " + inner + b"}"), "a.rtf")


def test_a_letter_with_what_is_left_out(tmp_path: Path) -> None:
    write_rtf(tmp_path / "a.rtf")
    assert rtf_text(io.BytesIO((tmp_path / "a.rtf").read_bytes()), "a.rtf") == ReadText(
        "Dear Ms Przemysława Kjeldsen,\n"
        "the court has granted you custody of your son. Order of 4 March. He stays at his school.\n"
        "Call us at 020 7946 0555…\n"
        "Weekday | Parent\nFriday | Father\n",
        (
            Unread("document property", 1, "titles and keywords of a file are not taken as its text"),
            Unread("picture", 1, "may show text; write out what it says"),
        ),
    )


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (rb"caf\'e9", "café"),
        (b"caf\xe9", "café"),
        (rb"caf\u233\'e9s", "cafés"),
        (rb"\uc2 caf\u233ees", "cafés"),
        (rb"{\uc0 caf\u233 }\u233?s", "cafés".replace("fé", "féé")),
        (rb"\u-10179?\u-8704?", "😀"),
        (rb"\'93a\'94 \endash  b\~c\_d\-e", "“a” – b c-de"),
        (rb"\\ \{ \}", "\\ { }"),
        (b"a\r\nb\\\nc\\par d\\line e\\tab f", "ab\nc\nd\ne\tf"),
        (rb"{\fonttbl{\f1\fcharset204 A;}}{\f1 \'c0\'ed\'ed\'e0}, \'e0", "Анна, à"),
        (rb"{\fonttbl{\f1\fcharset128 A;}}\f1 \'8e\'52\'93c", "山田"),
        (rb"a{\v hidden}b", "ahiddenb"),
        (rb"a{\*\annotation remark}b", "a remarkb"),
        (rb"{\header Clinic\par}a", "\nClinic\na"),
        (rb"a{\listtext 1.\tab}b", "a1.\tb"),
        (rb"{\shp{\*\shpinst{\sp{\sn x}{\sv Zyxwv}}{\shptxt boxed}}}", "boxed"),
        (rb"a{\*\unknown Zyxwv{\b Zyxwv}}b", "ab"),
        (rb"a{\stylesheet{\s1 Zyxwv;}}{\colortbl;\red1;}b", "ab"),
        (b"a\\bin5 {{}}}b", "ab"),
    ],
)
def test_what_is_written_is_shown(inner: bytes, text: str) -> None:
    assert read(inner).text == text
    assert read(inner).unread == ()


def test_the_code_page_of_the_file_holds_where_a_font_has_none() -> None:
    assert read(rb"\'e0", rb"\ansi\ansicpg1251").text == "а"
    assert read(rb"\'8e", rb"\mac").text == "é"
    assert read("é".encode(), rb"\ansi\ansicpg65001").text == "é"
    assert read(rb"\'e0", rb"\ansi\ansicpg99999").text == "à"
    fonts = rb"{\fonttbl{\f3\fcharset204 A;}}"
    assert read(fonts + rb"\f0 \'e0\plain \'e0", rb"\ansi\deff3").text == "àа"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (rb"{\pict\pngblip 8950}a", {"picture": 1}),
        (rb"{\*\shppict{\pict 89}}{\nonshppict{\pict 89}}", {"picture": 1}),
        (rb"{\object{\*\objdata 01}{\result a}}", {"embedded file": 1}),
        (rb'{\field{\*\fldinst{HYPERLINK "mailto:zyxwv"}}{\fldrslt her}}', {"link target": 1}),
        (rb"a\deleted Zyxwv\'e9\u233?\deleted0 b{\deleted Z}c\deleted Z\plain d", {"deleted passage": 3}),
        (rb"{\info{\title Z}{\author Z}{\doccomm Z}}a", {"document property": 2}),
        (rb"a\'81\'8d", {"character": 2}),
    ],
)
def test_what_is_not_read_is_counted(inner: bytes, expected: dict[str, int]) -> None:
    assert {part.kind: part.count for part in read(inner).unread} == expected
    assert "deleted" not in str(expected) or read(inner).text == "abcd"


def test_a_file_that_breaks_off_says_so() -> None:
    whole = rb"{\rtf1 Dear Ada, {\b you are well.}}"
    for end in (-1, -2, -5):
        cut = rtf_text(io.BytesIO(whole[:end]), "a.rtf")
        assert cut.text.startswith("Dear Ada, you are")
        assert cut.unread == (Unread("end of the file", 1, "is missing; save the file again"),)
    assert rtf_text(io.BytesIO(whole + b"\0Zyxwv"), "a.rtf") == ReadText("Dear Ada, you are well.")


def test_what_is_no_rtf() -> None:
    with pytest.raises(UnreadableDocument, match=r"^a\.rtf: is not an RTF file; save it again as \.rtf$"):
        rtf_text(io.BytesIO(b"Zyxwv"), "a.rtf")


TOKENS = [rb"{\*", b"{", b"}", rb"\u9", rb"\'", b"ab ", rb"\uc9", rb"\bin2", b"\\"]


@given(st.lists(st.sampled_from(TOKENS)))
def test_any_file_is_read_to_its_end(tokens: list[bytes]) -> None:
    assert isinstance(read(b"".join(tokens)), ReadText)


UNITS = rb"{ {} \'ab \ \u9? {\*\x_ {\pict} \deleted_a\deleted0_ \f1_a \bin1_ {\field{\*\fldinst_X}}".split()


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_size(unit: bytes) -> None:
    unit = unit.replace(b"_", b" ")
    took = cost(lambda: read(unit * (15_000 // len(unit))))
    longer = cost(lambda: read(unit * (60_000 // len(unit))))
    assert longer < (10 * took if took > 0.005 else 0.5)
