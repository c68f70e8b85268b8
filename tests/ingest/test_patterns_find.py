"""Properties of the whole pattern layer, on generated and invented text."""

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.detection.patterns.checksums import is_luhn, is_mod97
from ingest.detection.patterns.find import PATTERNS, find_patterns, word_finder
from ingest.detection.patterns.page import WordFinder, page_of, zones
from ingest.detection.patterns.pattern import compiled
from ingest.documents import UNLINKED
from ingest.labels import LABELS
from tests.patterns import contact, dates, finance, records, technical
from tests.patterns_table import assert_absent, assert_found, found, marked
from tests.timing import cost

TABLES = (contact, dates, finance, records, technical)


def cases(kind: str) -> list[Any]:
    """Label and sentence, under a name without the sentence."""
    return [
        pytest.param(*row, id=f"{table.__name__.rpartition('.')[2]} {number}")
        for table in TABLES
        for number, row in enumerate(getattr(table, kind))
    ]


@pytest.mark.parametrize(("label", "sentence"), cases("POSITIVE"))
def test_is_found(label: str, sentence: str) -> None:
    assert_found(label, sentence)


@pytest.mark.parametrize(("label", "text"), cases("NEGATIVE"))
def test_look_alike_is_not(label: str, text: str) -> None:
    assert_absent(label, text)


WORDS = "the quiet river went along old walls while nobody asked why it rained on them".split()
prose = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
digits = st.text("0123456789", min_size=20, max_size=20)
SAMPLE = (
    "Ada Quill, born on 3 May 1980, has moved. Call 555-0143 or write to"
    " ada@example.org before 14:30. Her card is 4111 1111 1111 1111."
)


def with_luhn(body: str) -> str:
    return next(body + last for last in "0123456789" if is_luhn(body + last))


def iban_of(body: str) -> str:
    return next(value for check in range(2, 99) if is_mod97(value := f"DE{check:02}{body}"))


def is_found(label: str, before: str, value: str, after: str) -> bool:
    return (label, value) in found(f"{before} {value} {after}")


@given(prose, digits, prose)
def test_what_has_a_check_is_found_whole_and_not_when_broken(before: str, body: str, after: str) -> None:
    card, iban = with_luhn("4" + body[:14]), iban_of(body[:18])
    numbers = {"credit card number": card, "IBAN": iban, "phone IMEI": with_luhn("35" + body[:12])}
    for label, value in numbers.items():
        assert is_found(label, before, value, after)
        assert not is_found(label, before, value[:-1] + str((int(value[-1]) + 1) % 10), after)
    for label, value in (("credit card number", card), ("IBAN", iban)):
        fours = " ".join(value[place : place + 4] for place in range(0, len(value), 4))
        assert is_found(label, before, fours, after)


names = st.text(string.ascii_lowercase, min_size=2, max_size=12)


@given(prose, names, names, st.integers(200, 999), st.integers(0, 9999), prose)
def test_an_email_address_and_a_phone_are_found_whole(
    before: str, name: str, host: str, area: int, line: int, after: str
) -> None:
    assert is_found("email address", before, f"{name}.q@{host}.org", after)
    assert is_found("phone number", before, f"({area}) 555-{line:04}", after)


@settings(max_examples=150)
@given(st.text(st.sampled_from("0123456789 /.-:@()[]+,#$€aZé\n"), max_size=120))
def test_spans_lie_inside_and_are_sorted(text: str) -> None:
    entities = find_patterns(text)
    assert entities == find_patterns(text)
    for one in entities:
        assert 0 <= one.span.start < one.span.end <= len(text) and 0 <= one.confidence <= 1
        assert one.identifier is LABELS[one.label].identifier
        assert one.link == UNLINKED and one.source.startswith("pattern:")
    starts = [one.span.start for one in entities]
    assert starts == sorted(starts)


@given(prose)
def test_unrelated_prose_has_nothing_and_only_shifts_what_follows(before: str) -> None:
    assert find_patterns(before) == []
    shift = len(before) + 1
    alone = [(one.source, one.span.start + shift) for one in find_patterns(SAMPLE)]
    after = [(one.source, one.span.start) for one in find_patterns(f"{before} {SAMPLE}")]
    assert len(alone) == 5
    assert after == alone


def test_typographic_characters_hide_nothing_and_what_lies_within_a_stricter_find_is_dropped() -> None:
    card = "４１１１\u00a0１１１１\u00a01111\u00a01111"
    assert found(f"İ {card} x") == [("credit card number", card)]
    link = "https://github.com/ada/12.03.2021"
    assert found(f"see {link}") == [("personal web link", link)]


def test_names_of_patterns_are_unique_and_labels_known() -> None:
    names = [one.name for one in PATTERNS if one.name != "gps-degrees"]
    assert len(names) == len(set(names))
    assert {one.label for one in PATTERNS} <= set(LABELS)


PIECES = [
    "1", "a@", "1-", " ", "(", "1 ", "0 ", "a.", "a dot ", "http://", "(1", "1/", "1.", "A1",
    "no. 1/23, ", "+1", "01234 567890\n", "12 March ", "account number ", "password is ", "DE89 ", "@a",
    ":1", "one hundred ", "born ", "12 Aa Bb ", "Calle A ", "$1,000", "eyJ",
    "-----BEGIN PRIVATE KEY-----", "Mozilla/5.0 (", "A-1/", "a1._", "12:", "May ", "é1", "www.", "sk-",
    "\n", "№ 1", "from 1990 to ", "mrn:", "'",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_linearly(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        return cost(lambda: find_patterns(text), tries=2)

    small = seconds(20_000)
    large = seconds(100_000)
    assert large < 1.0 or large < 12 * small  # five times the text; a square would take 25 times


def test_zones_lose_nothing() -> None:
    for sentence in (row[1] for table in TABLES for row in (*table.POSITIVE, *table.NEGATIVE)):
        page = page_of(marked(sentence)[0], WordFinder(()))
        wide, narrow = (0, len(page.text)), page_of(page.text, word_finder())
        for one in PATTERNS:
            whole, within = (
                {
                    match.span()
                    for first, last in places
                    for match in compiled(one.regex).finditer(page.text, first, last)
                    if one.check is None or one.check(match["id" if "id" in match.re.groupindex else 0])
                }
                for places in ([wide], zones(narrow, one.where))
            )
            assert within == whole, one.name


BETWEEN = {
    "credit card number": "4111111111111111",
    "IBAN": "DE89370400440532013000",
    "IP address": "192.168.10.25",
    "national id number": "110101199003074514",
    "phone number": "13812345678",
    "email address": "anna@example.org",
}


@pytest.mark.parametrize(("label", "value"), BETWEEN.items())
@pytest.mark.parametrize("around", ["号码是{}吗", "は{}です", "번호는{}이다", "คือ{}ครับ"])
def test_an_identifier_ends_where_a_script_without_blanks_begins(label: str, value: str, around: str) -> None:
    assert (label, value) in found(around.format(value))


@pytest.mark.parametrize("value", ["110101199003074513", "110101199013074514", "11010119900307451"])
def test_a_chinese_card_needs_its_birth_date_and_its_check_character(value: str) -> None:
    assert [label for label, _ in found(f"身份证号{value}，")] == []
