"""Once named, always found. Every name and text here is invented."""

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


def covered(text: str, start: int, end: int, *names: str) -> bool:
    return any(
        entity.label == "person full name" and entity.span.start <= start and end <= entity.span.end
        for entity in found_in(text, *names)
    )


@given(
    st.sampled_from(SURNAMES),
    st.lists(st.sampled_from((*FILLERS, *TEMPLATES)), min_size=1, max_size=12),
)
def test_every_later_bare_surname_is_found(surname: str, parts: list[str]) -> None:
    sentences = [part.format(surname) for part in parts]
    text = " ".join([f"Mr Anton {surname} is the tenant.", *sentences])
    start = text.index(surname) + len(surname)
    while (at := text.find(surname, start)) >= 0:
        start = at + len(surname)
        assert covered(text, at, start, f"Anton {surname}")


@pytest.mark.parametrize(
    "written", ["t.zqarlo@example.org", "zqarlo.pdf", "@zqarlo", "www.example.org/zqarlo"]
)
def test_an_address_does_not_make_a_surname_an_ordinary_word(written: str) -> None:
    text = f"Mr Zqarlo is the tenant. Ask {written} about it. Later Zqarlo signed the paper."
    assert covered(text, text.index("Zqarlo signed"), text.index(" signed"), "Zqarlo")


def test_given_name_capitals_and_earlier_mentions_are_found() -> None:
    text = "KELLER called. Then Dr. Annika Keller wrote; Annika was ill. Keller’s file is closed."
    for word, count in (("KELLER", 1), ("Annika", 2), ("Keller", 2)):
        places = [at for at in range(len(text)) if text.startswith(word, at)]
        assert len(places) == count
        assert all(covered(text, at, at + len(word), "Annika Keller") for at in places)


def test_an_everyday_word_in_lower_case_stays() -> None:
    text = "Mr Anton Brown has a brown coat. We met Brown again, and the brown dog."
    found = [text[e.span.start : e.span.end] for e in found_in(text, "Anton Brown")]
    assert found == ["Anton Brown", "Brown"]


def test_part_of_a_longer_word_stays() -> None:
    text = "Ms Lena Keller left. The Kellerman papers and the Wolfkeller stayed."
    found = [text[e.span.start : e.span.end] for e in found_in(text, "Lena Keller")]
    assert found == ["Lena Keller"]
