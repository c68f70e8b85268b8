"""All ids and names here are invented."""

import re
from collections.abc import Callable

import pytest

from ingest.read.doc_ids import digested_id, kept_id
from models.errors import ConfigurationError

KEY = b"sixteen bytes ok"
DIGEST = re.compile("doc-[0-9a-f]{16}")


def nobody(words: str) -> bool:
    return False


def names_smith(words: str) -> bool:
    return "Smith" in words.split()


@pytest.mark.parametrize("source_id", ["001-99417", "clinic/2020/a.jsonl#17", "urn:x:1", "A", "a" * 200])
def test_an_opaque_key_is_kept(source_id: str) -> None:
    assert kept_id(source_id, names_smith, KEY) == source_id


@pytest.mark.parametrize(
    ("path", "kept"),
    [("/data/smith/a1.txt", "a1~{}.txt"), ("/data/smith/a1.jsonl#7", "a1~{}.jsonl#7"), ("/data/a1", "a1~{}")]
    + [("/data/.a1", ".a1~{}")],
)
def test_a_path_keeps_the_name_of_its_file_alone(path: str, kept: str) -> None:
    expected = kept.format(digested_id(path, KEY)[-8:])
    assert kept_id(path, names_smith, KEY) == expected
    assert kept_id(expected, names_smith, KEY) == expected


SMITHS = "smith_john_1980.pdf notes/SMITH-JOHN.txt JohnSmith.docx smith1980.txt letters/2020smith#4"
SOMEBODY = (
    "9434765919 19460319-1234 a-4155550132.txt ashdown_m mashdown1946 MAshdown.docx notes/kim-3 ada194603 "
    "4111111111111111 /data/ashdown~1f.txt"
)
NOBODY = (
    "r0001 note-17 rec-000123.jsonl Letter_2020.html#4 a1~d0dc5401.txt a1~12345678.txt "
    "0f8fad5b-d9cb-469f-adad-708677289501 adabe00112345678"
)
NO_KEYS = ["<17@example.org>", "<17>", "two words", "", "a" * 201, "naïve", "x\n"]


@pytest.mark.parametrize(
    ("source_id", "is_name"),
    [(each, names_smith) for each in SMITHS.split()]
    + [(each, nobody) for each in (*SOMEBODY.split(), *NO_KEYS)]
    + [("78-05-1120", lambda text: text == "78-05-1120")],
)
def test_what_may_name_somebody_or_has_no_opaque_shape_is_digested(
    source_id: str, is_name: Callable[[str], bool]
) -> None:
    assert DIGEST.fullmatch(kept_id(source_id, is_name, KEY))


@pytest.mark.parametrize("source_id", NOBODY.split())
def test_what_is_random_or_a_plain_word_is_kept(source_id: str) -> None:
    assert kept_id(source_id, nobody, KEY) == source_id


def test_same_id_same_answer_and_only_under_the_same_key() -> None:
    one = kept_id("<17@example.org>", nobody, KEY)
    assert one == kept_id("<17@example.org>", nobody, KEY) == kept_id(one, nobody, KEY)
    assert one != kept_id("<18@example.org>", nobody, KEY)
    assert one != kept_id("<17@example.org>", nobody, KEY[::-1])


@pytest.mark.parametrize("size", [0, 15, 65])
def test_a_key_of_the_wrong_size_is_refused(size: int) -> None:
    told = f"^the key for document ids has {size} bytes; give it 16 to 64 random ones$"
    with pytest.raises(ConfigurationError, match=told):
        kept_id("a", nobody, bytes(size))


def test_every_id_can_be_digested_and_a_digested_id_stays_as_it_is() -> None:
    others = ["00482913", "jsmith.txt", "r0001", "/home/x/brzezinski_divorce.md"]
    for source_id in (*others, *(f"keller-{number}" for number in range(200))):
        once = digested_id(source_id, KEY)
        assert DIGEST.fullmatch(once)
        assert digested_id(once, KEY) == once == kept_id(once, lambda text: True, KEY)
