"""Characters in fancy dress are read as what they show. Every text here is invented."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.hybrid import HybridDetector
from ingest.documents import Document
from ingest.language.plain_letters import plain
from tests.doubles import FirstMentions


@pytest.mark.parametrize(
    ("fancy", "shown"),
    [("①⑴⒈❶²₂", "111122"), ("Best,\\nAda Lind", "Best, \nAda Lind"), ("𝐌𝟏Ⓜⓜ🄼🅜🅼⒨ᴍᴹＭ", "M1MmMMMmMMM")]
    + [("＠．，：", "@.,:"), ("𝓐𝓷𝓷𝓪 Ⓚⓔⓛⓛⓔⓡ", "Anna Keller"), ("٤١५", "415")]
    + [("Dr. Mаrguerite Аshdown", "Dr. Marguerite Ashdown")]
    + [("Seen: АННА КЕТТ, Τom Ηart", "Seen: AHHA KETT, Tom Hart")]
    + [("Аshdown пришла вчера", "Ashdown пришла вчера")],
)
def test_a_letter_or_digit_is_read_as_what_it_shows(fancy: str, shown: str) -> None:
    assert plain(fancy) == shown


@pytest.mark.parametrize(
    "text",
    ["‑–—\u00a0’“”。", "ªºµ°…½ﬁ", "éßøñçžЖλ中あ가", "🇬🇧😀", "Anna Keller, 44"]
    + ["Пациент Сара сегодня с мамой", "Η Άννα Κότα ήρθε", "Сара МРТ mit Ж", "5 μg, TGFβ, ΔT, λmax"],
)
def test_what_is_no_disguise_stays(text: str) -> None:
    assert plain(text) == text


@given(st.text())
def test_every_offset_stays_true(text: str) -> None:
    assert len(plain(text)) == len(text)
    assert plain(plain(text)) == plain(text)
    for before, after in zip(text, plain(text), strict=True):
        assert before == after or not before.isascii()


def test_every_form_of_a_letter_of_one_character_is_known() -> None:
    for point in range(0x100, 0x20000):
        shown = unicodedata.normalize("NFKC", chr(point))
        if len(shown) == 1 and shown.isascii() and shown.isalnum():
            assert plain(chr(point)) == shown


def test_a_name_in_look_alikes_is_found_where_it_stands() -> None:
    text = "Dr. Mаrguerite Аshdown was seen; Маrguеritе has a cough."
    (entities,) = HybridDetector(FirstMentions("Marguerite Ashdown")).detect([Document("a", text)])
    found = {text[each.span.start : each.span.end] for each in entities}
    assert {"Mаrguerite Аshdown", "Маrguеritе"} <= found
