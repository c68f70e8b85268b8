"""Invented training texts: what is marked is what was put in, and stays so."""

import os
import re
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from models.corpora.examples import Edit, Example, Mention
from models.errors import ConfigurationError, ModelUnavailable
from models.training.labels import LABELS, PERSON, asked_for
from models.training.synthetic import frames as frame_files
from models.training.synthetic.frames import frames, parse, word
from models.training.synthetic.generate import render, synthetic_examples
from models.training.synthetic.marked import (
    MarkedPiece,
    apply_edits,
    by_character,
    compose,
    corrupted,
    join,
    mark,
    tidied,
)
from models.training.synthetic.people import (
    Stage,
    digits,
    fakers,
    new_stage,
    number_words,
    ordinal_words,
    year_words,
)

pytest.importorskip("faker", reason="the names of the invented texts come from faker")

COUNT = 2500


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(synthetic_examples(COUNT, seed=7))


@pytest.fixture(scope="module")
def stage() -> Stage:
    random = Random(5)
    return new_stage(random, fakers(random))


def fresh(stage: Stage, source: str) -> MarkedPiece:
    return render(parse(source), Stage(stage.random, stage.fakers, stage.today))


def shown(piece: MarkedPiece) -> list[tuple[str, str]]:
    return [(piece.text[m.start : m.end], m.label) for m in piece.mentions]


def test_as_many_as_were_wanted_none_twice_and_every_frame_before_one_is_used_again(
    examples: list[Example],
) -> None:
    assert len(examples) == COUNT
    assert len({example.id for example in examples}) == COUNT
    assert list(synthetic_examples(0, seed=7)) == []
    first = [example.group for example in examples[: len(frames())]]
    assert sorted(first) == sorted(frame.id for frame in frames())
    assert len(frames()) >= 400
    assert {example.corpus for example in examples} == {"synthetic"}
    seen = Counter(label for e in examples for label in {mention.label for mention in e.mentions})
    assert set(seen) == set(LABELS)
    assert {label: count for label, count in seen.items() if count < 10} == {}


DIGEST = """
import hashlib
from models.training.synthetic.people import italian_towns
from models.training.synthetic.generate import synthetic_examples
made = [italian_towns(), *((e.text, e.mentions, e.asked) for e in synthetic_examples(200, 3))]
print(hashlib.sha256(repr(made).encode()).hexdigest())
"""


def test_another_process_makes_the_same_examples() -> None:
    # The order of sets, which a library of names may go through, differs with the seed of hashes.
    asked: Any = {"capture_output": True, "text": True, "check": True}
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST], env=os.environ | {"PYTHONHASHSEED": seed}, **asked
        ).stdout
        for seed in ("0", "1")
    }
    assert len(digests) == 1


def test_the_same_seed_gives_the_same_examples(examples: list[Example]) -> None:
    assert list(synthetic_examples(300, seed=7)) == examples[:300]
    other = synthetic_examples(300, seed=8)
    assert [example.text for example in other] != [example.text for example in examples[:300]]


def test_mentions_hold_no_margin_and_begin_and_end_where_words_do(examples: list[Example]) -> None:
    for example in examples:
        for m in example.mentions:
            value = example.text[m.start : m.end]
            assert 0 <= m.start < m.end <= len(example.text)
            assert value == value.strip(), f"{example.group}: {m.label}"
            for place in (m.start, m.end):
                around = example.text[max(place - 1, 0) : place + 1]
                assert not re.fullmatch(r"[^\W_]{2}", around), f"{example.group}: {m.label}"


def test_what_is_asked_is_known_and_what_is_found_is_asked_unless_it_is_blurred(
    examples: list[Example],
) -> None:
    heads = {frame.id: set(frame.unvouched) for frame in frames()}
    blurred = {"quantity", "demographic attribute", "identifying detail"}
    assert sum(name.startswith("negative_") for name in heads) >= 100
    for example in examples:
        found = {mention.label for mention in example.mentions}
        assert set(example.asked) <= set(LABELS)
        assert len(set(example.asked)) == len(example.asked)
        assert found - set(example.asked) <= blurred | heads[example.group], example.group
        assert not heads[example.group] & set(example.asked)
        if example.group.startswith("negative_"):
            # Nobody is there, and that is asked.
            assert PERSON in {*example.asked} - found, example.group
    asked = asked_for({"quantity", "dosage", "time"}, ("date",))
    assert {"time", "vehicle VIN", PERSON} <= set(asked)
    assert not {"date", "quantity", "gender"} & set(asked)


SHAPES = {
    "IBAN": r"[A-Z]{2}\d\d[ \dA-Z]{11,40}",
    "email address": r"[\w.-]+@[\w.-]+\.\w+",
    "IP address": r"[\d.]{7,15}|[0-9a-f:]{10,39}",
    "MAC address": r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}",
    "ethereum wallet address": r"0x[0-9a-fA-F]{40}",
    "vehicle VIN": r"[A-HJ-NPR-Z0-9]{17}",
    "credit card number": r"(\d{4}[ -]?){3}\d{4}",
    "phone IMEI": r"\d{15}|\d\d-\d{6}-\d{6}-\d",
    "credit card CVV": r"\d{3,4}",
    "PIN code": r"\d{4}|\d{6}",
    "BIC code": r"[A-Z]{6}[A-Z0-9]{2,5}",
    "currency ISO code": r"[A-Z]{3}",
    "building number": r"[\dA-Z/-]+",
}


def test_what_is_marked_has_the_shape_of_its_label_and_passes_its_check(stage: Stage) -> None:
    for label, shape in SHAPES.items():
        for _ in range(50):
            (value, marked), *_rest = shown(fresh(stage, "{" + label + "}"))
            assert marked == label
            assert re.fullmatch(shape, value), label
            number = re.sub("[ -]", "", value)
            if label in ("credit card number", "phone IMEI"):
                assert luhn.is_valid(number)
            assert label != "IBAN" or mod_97_10.is_valid(number[4:] + number[:4])


def test_every_frame_renders_what_its_slots_put_in(stage: Stage) -> None:
    for frame in frames():
        new = Stage(stage.random, stage.fakers, stage.today)
        # A slot may ask for its value in another case.
        values = Counter(shown(by_character(render(frame.nodes, new), str.lower)))
        for kept in new.values.values():
            assert Counter(shown(by_character(kept, str.lower))) <= values, frame.id


def test_one_person_recurs_in_many_forms_with_an_age_and_an_address_that_fit(stage: Stage) -> None:
    forms = "{p.name}|{p.first}|{p.last}|{p.titled}|{p.short}|{p.reversed}|{p.initials}|{p.first}'s"
    made = fresh(stage, forms)
    name, first, last, titled, *others = made.text.split("|")
    assert name == f"{first} {last}"
    assert titled.endswith(f" {last}")
    assert others == [f"{first[0]}. {last}", f"{last}, {first}", f"{first[0]}.{last[0]}.", f"{first}'s"]
    assert [label for _, label in shown(made)] == [PERSON] * 8
    assert [shown(made)[at][0] for at in (3, 7)] == [last, first]
    for _ in range(50):
        born, age = fresh(stage, "{p.born/iso} {p.age}").text.split()
        years = (stage.today - date.fromisoformat(born)).days / 365.25
        assert abs(years - int(age)) < 1.1
        child, adult = fresh(stage, "{k.age} {p.age}").text.split()
        assert int(child) < 18 < int(adult) + 1
        made = fresh(stage, "at {p.address}, yes")
        whole, *inner = made.mentions
        assert (whole.start, whole.end, whole.label) == (3, len(made.text) - 5, "street address")
        assert {"building number", "city name", "place"} <= {m.label for m in inner}
        assert all(whole.start <= m.start < m.end <= whole.end for m in inner)
    for slot, also in (("date of birth", "date"), ("country", "place"), ("p.link", "URL link")):
        labels = {label for _, label in shown(fresh(stage, "{" + slot + "}"))}
        assert labels == {slot.replace("p.link", "personal web link"), also}, "both that fit are marked"


def test_notation_marks_chooses_escapes_and_draws(stage: Stage) -> None:
    made = fresh(stage, r"\{x\} [the {a|a} baker](identifying detail) [doctor] {^_bytes}")
    assert shown(made) == [("the a baker", "identifying detail")]
    assert made.text.startswith("{x} the a baker [doctor] ")
    assert fresh(stage, "{!p.first}").text.isupper()
    # A key gives one value, and a slot without one gives new ones.
    same = {len(set(fresh(stage, "{IBAN#a} | {IBAN#a} | {IBAN}").text.split(" | "))) for _ in range(5)}
    assert same == {2}
    assert {int(fresh(stage, "{7-9}").text) for _ in range(60)} == {7, 8, 9}
    assert {len(fresh(stage, "{=##|=####}").text) for _ in range(40)} == {2, 4}
    shape = r"A\d[1-9][A-Z][A-Z\d]-[1-9A-Za-z]{12}-[02-9ac-hj-np-z]{6}-[0-9a-f]{4} 0[1-9]0"
    assert all(re.fullmatch(shape, digits(Random(n), "A#%?*-~12-¤6-§4 0%0")) for n in range(20))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a {date", "The brace at character 2 is never closed: close it, or write a backslash before it."),
        ("a } b", "The brace at character 2 was never opened: write a backslash before it."),
        ("{$}", "A slot of 1 characters is no slot: write a label, a style and a key."),
        ("{shoe size}", "There is no list named 'shoe size': add it to lists."),
        ("{p.shoe}", "A person has no form named 'shoe': use one of full, "),
    ],
)
def test_broken_notation_and_unknown_names_are_told(stage: Stage, source: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}"):
        fresh(stage, source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%% -shoe size\nHello", "Frame odd-001 has 1 unknown labels in its head: correct them."),
        ("%%\nfine\n%%\nHello {", "Frame odd-002 cannot be read. The brace at character 6 is never closed"),
    ],
)
def test_a_broken_frame_is_told_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    (tmp_path / "odd.txt").write_text(text, encoding="utf-8")
    monkeypatch.setattr(frame_files, "_FRAMES", tmp_path)
    frame_files.frames.cache_clear()
    try:
        with pytest.raises(ConfigurationError, match=re.escape(message)):
            frames()
    finally:
        frame_files.frames.cache_clear()


def test_without_the_library_or_a_list_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="There is no list named '_none'"):
        word(Random(1), "_none")
    monkeypatch.setitem(sys.modules, "faker", None)
    with pytest.raises(ModelUnavailable, match=r"faker is not installed: pip install 'lethe\[train\]'"):
        next(synthetic_examples(1, seed=1))


TEXTS = st.text(alphabet="abc İß.\nO01lrnm", min_size=1, max_size=40)


@st.composite
def pieces(draw: st.DrawFn) -> MarkedPiece:
    text = draw(TEXTS)
    borders = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(borders, borders), max_size=4))
    mentions = tuple(Mention(min(pair), max(pair), "date") for pair in pairs if pair[0] != pair[1])
    return MarkedPiece(text, mentions)


@given(pieces(), st.integers(0, 10**6))
def test_corruption_loses_no_mention_and_no_character_of_case(piece: MarkedPiece, seed: int) -> None:
    made = corrupted(piece, Random(seed))
    assert [m.label for m in made.mentions] == [m.label for m in piece.mentions]
    assert all(0 <= m.start <= m.end <= len(made.text) for m in made.mentions)
    for case in (str.lower, str.upper):
        assert len(by_character(piece, case).text) == len(piece.text)


def test_pieces_are_joined_tidied_and_edited_with_their_mentions() -> None:
    age, time, rest = mark("18-year-old", "person age"), mark("9 p.m.", "time"), ". An aunt, a 17 and a 8..."
    between = MarkedPiece(" and an union at ")
    made = tidied(join((MarkedPiece("a "), age, between, time, MarkedPiece(rest))))
    assert made.text == "an 18-year-old and a union at 9 p.m. An aunt, a 17 and an 8..."
    assert shown(made) == [("18-year-old", "person age"), ("9 p.m.", "time")]
    inside = mark(mark("c", "time"), "date")
    laid = compose("{one}-{two}", {"one": mark("x", "date"), "two": inside})
    assert (laid.text, shown(laid)) == ("x-c", [("x", "date"), ("c", "date"), ("c", "time")])
    # What would cross the end of a mention is not done.
    edits = [Edit(0, 2, "The "), Edit(3, 5, ""), Edit(13, 15, "!"), Edit(30, 30, "?")]
    edited = apply_edits(made, edits)
    assert edited.text.startswith("The  -year-old and a union at 9 p.m. ")
    assert shown(edited) == [("-year-old", "person age"), ("9 p.m.", "time")]


def test_numbers_are_said_as_people_say_them() -> None:
    assert [number_words(n) for n in (7, 40, 43)] == ["seven", "forty", "forty-three"]
    assert [ordinal_words(n) for n in (5, 21, 30)] == ["fifth", "twenty-first", "thirtieth"]
    years = {1972: "nineteen seventy two", 2005: "two thousand five", 2000: "two thousand"}
    assert {year: year_words(year) for year in years} == years
    assert year_words(1900) == "nineteen hundred"


def test_no_text_is_shown_by_what_holds_it(examples: list[Example], stage: Stage) -> None:
    assert examples[0].text[:12] not in repr(examples[0])
    made = render(parse("{p.full}"), stage)
    assert made.text not in repr(made)
    assert stage.people["p"].family not in repr(stage)
