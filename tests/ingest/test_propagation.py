"""Once named, always found. Every name and text here is invented."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.hybrid import HybridDetector
from ingest.documents import Document, Entity
from tests.doubles import FirstMentions

FILLERS = (
    "The weather was fine and nobody complained.",
    "A letter was sent, and the answer took two weeks.",
    "They walked to the station in silence.",
)
SURNAMES = ("Keller", "Ostrander", "Vukovic", "Tamura", "Brown", "O’Halloran", "Özkorkut", "Zqarlo")
TEMPLATES = (
    "Later {} signed the paper.",
    "The claim of Ms {} was paid.",
    "It was {}'s own idea.",
    "They wrote to {} again.",
    "PAID TO {}.",
)


def found_in(text: str, *names: str) -> list[Entity]:
    return HybridDetector(FirstMentions(*names)).detect([Document("d", text)])[0]


def words_in(text: str, *names: str) -> list[str]:
    return [text[each.span.start : each.span.end] for each in found_in(text, *names)]


def missed(text: str, word: str, *names: str) -> list[int]:
    """Where a word stands that is not found as a name."""
    spans = [each.span for each in found_in(text, *names) if each.label == "person full name"]
    places = [match.span() for match in re.finditer(re.escape(word), text)]
    assert places
    return [at for at, end in places if not any(span.start <= at and end <= span.end for span in spans)]


@given(st.sampled_from(SURNAMES), st.lists(st.sampled_from((*FILLERS, *TEMPLATES)), min_size=1, max_size=12))
def test_every_later_bare_surname_is_found(surname: str, parts: list[str]) -> None:
    text = " ".join([f"Mr Anton {surname} is the tenant.", *(part.format(surname) for part in parts)])
    assert missed(text, surname, f"Anton {surname}") == []


@pytest.mark.parametrize(
    "written", ["t.zqarlo@example.org", "zqarlo.pdf", "@zqarlo", "www.example.org/zqarlo"]
)
def test_an_address_does_not_make_a_surname_an_ordinary_word(written: str) -> None:
    text = f"Mr Zqarlo is the tenant. Ask {written} about it. Later Zqarlo signed the paper."
    assert missed(text, "Zqarlo", "Zqarlo") == []


@pytest.mark.parametrize("word", ["KELLER", "Annika", "Keller"])
def test_given_name_capitals_and_earlier_mentions_are_found(word: str) -> None:
    text = "KELLER called. Then Dr. Annika Keller wrote; Annika was ill. Keller’s file is closed."
    assert missed(text, word, "Annika Keller") == []


def test_an_everyday_word_in_lower_case_and_part_of_a_longer_word_stay() -> None:
    text = "Mr Anton Brown has a brown coat. We met Brown again, and the brown dog."
    assert words_in(text, "Anton Brown") == ["Anton Brown", "Brown"]
    text = "Ms Lena Keller left. The Kellerman papers and the Wolfkeller stayed."
    assert words_in(text, "Lena Keller") == ["Lena Keller"]
