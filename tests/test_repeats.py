"""Names found once are found wherever they stand. Every text here is invented."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Entity
from ingest.repeats import SOURCE, repeats
from tests.doubles import entity

NAMES = ("Okoye", "Amara Okoye", "Larkmoor", "Brandt & Oster")


def marked(text: str, words: str, label: str = "person full name") -> Entity:
    start = text.index(words)
    return entity(start, start + len(words), label)


def found(text: str, *known: Entity) -> list[str]:
    return [text[e.span.start : e.span.end] for e in repeats(text, known)]


def test_a_name_is_found_again() -> None:
    text = "Amara Okoye left. Later Amara Okoye came back; Okoye too."
    assert found(text, marked(text, "Amara Okoye")) == ["Amara Okoye"]


def test_the_longest_name_is_taken_and_each_place_once() -> None:
    text = "Okoye, then Amara Okoye. Again: Amara Okoye, Okoye."
    again = repeats(text, [marked(text, "Amara Okoye"), marked(text, "Okoye")])
    assert [text[e.span.start : e.span.end] for e in again] == ["Amara Okoye", "Okoye"]
    assert {(e.label, e.source) for e in again} == {("person full name", SOURCE)}


@pytest.mark.parametrize(
    ("text", "words", "label"),
    [
        ("Will came. Will you come?", "Will", "person full name"),
        ("It was May. May I?", "May", "person full name"),
        ("the harbor, the harbor", "the harbor", "place"),
        ("AB and AB", "AB", "person full name"),
        ("on 3 May; on 3 May", "3 May", "date"),
        ("Larkmoor and Larkmoorland", "Larkmoor", "city name"),
        ("Larkmoor_2 after Larkmoor", "Larkmoor", "city name"),
    ],
)
def test_what_is_no_name_by_itself_is_left(text: str, words: str, label: str) -> None:
    known = [entity(m.start(), m.end(), label) for m in re.finditer(rf"\b{re.escape(words)}\b", text)][-1:]
    assert repeats(text, known) == []


def test_where_an_entity_stands_nothing_is_added() -> None:
    text = "Larkmoor, and the Larkmoor syndrome"
    assert (
        found(text, marked(text, "Larkmoor", "city name"), marked(text, "Larkmoor syndrome", "disease")) == []
    )


@given(st.lists(st.sampled_from((*NAMES, " ", ", ", "and ", "x", "\n", "_", "é")), max_size=30).map("".join))
def test_no_free_occurrence_of_a_name_is_left(text: str) -> None:
    known = [marked(text, name) for name in NAMES if name in text]
    covered = bytearray(len(text))
    for each in [*known, *repeats(text, known)]:
        covered[each.span.start : each.span.end] = b"1" * len(each.span)
    for each in known:
        name = text[each.span.start : each.span.end]
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            assert any(covered[match.start() : match.end()])


def test_time_does_not_grow_with_names_times_places() -> None:
    def seconds(number: int) -> float:
        text = " ".join(f"John Okoye{n % 997}x{n}" for n in range(number))
        known = [entity(m.start(), m.end(), "person full name") for m in re.finditer(r"John \w+", text)]
        began = time.thread_time()
        repeats(text, known)
        return time.thread_time() - began

    seconds(500)
    assert seconds(20_000) < 12 * max(seconds(4_000), 1e-3)
