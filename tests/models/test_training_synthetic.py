"""Invented training texts: what is marked is what was put in, and stays so."""

import os
import re
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from models.corpora.examples import Edit, Example, Mention
from models.errors import ConfigurationError, ModelUnavailable
from models.training.labels import LABELS, PERSON, asked_for
from models.training.synthetic import frames as frame_files
from models.training.synthetic.frames import Choice, Labeled, Node, Slot, frames, parse, phrases, word
from models.training.synthetic.generate import MAKERS, render, synthetic_examples
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
    FORMS,
    Stage,
    digits,
    fakers,
    new_stage,
    number_words,
    ordinal_words,
    year_words,
)

pytest.importorskip("faker", reason="the names of the invented texts come from faker")

COUNT = 5000
NEGATIVE = {frame.id for frame in frames() if frame.id.startswith("negative_")}


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


def slots_in(nodes: tuple[Node, ...]) -> list[Slot]:
    found: list[Slot] = []
    for node in nodes:
        if isinstance(node, Slot):
            found.append(node)
        elif isinstance(node, Labeled):
            found += slots_in(node.nodes)
        elif isinstance(node, Choice):
            for option in node.options:
                found += slots_in(option)
    return found


def test_as_many_as_were_wanted_and_none_twice(examples: list[Example]) -> None:
    assert len(examples) == COUNT
    assert len({example.id for example in examples}) == COUNT
    assert list(synthetic_examples(0, seed=7)) == []


DIGEST = """
import hashlib
from models.training.synthetic.people import italian_towns
from models.training.synthetic.generate import synthetic_examples
made = [italian_towns(), *((e.text, e.mentions, e.asked) for e in synthetic_examples(500, 3))]
print(hashlib.sha256(repr(made).encode()).hexdigest())
"""


def test_another_process_makes_the_same_examples() -> None:
    # The order of sets, which a library of names may go through, differs with the seed of hashes.
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(digests) == 1


def test_the_same_seed_gives_the_same_examples(examples: list[Example]) -> None:
    assert list(synthetic_examples(300, seed=7)) == examples[:300]
    other = list(synthetic_examples(300, seed=8))
    assert [example.text for example in other] != [example.text for example in examples[:300]]


def test_every_frame_is_used_before_one_is_used_again(examples: list[Example]) -> None:
    first = [example.group for example in examples[: len(frames())]]
    assert sorted(first) == sorted(frame.id for frame in frames())
    assert len(frames()) >= 400
    assert {example.corpus for example in examples} == {"synthetic"}


def test_every_label_occurs_often_enough(examples: list[Example]) -> None:
    seen = Counter(label for e in examples for label in {mention.label for mention in e.mentions})
    assert set(seen) == set(LABELS)
    assert {label: count for label, count in seen.items() if count < 20} == {}


def test_mentions_lie_in_the_text_and_hold_no_margin(examples: list[Example]) -> None:
    for example in examples:
        for m in example.mentions:
            value = example.text[m.start : m.end]
            assert 0 <= m.start < m.end <= len(example.text)
            assert value == value.strip(), f"{example.group}: {m.label}"


def test_no_mention_begins_or_ends_inside_a_word(examples: list[Example]) -> None:
    torn = {
        (example.group, mention.label)
        for example in examples
        for mention in example.mentions
        for place in (mention.start, mention.end)
        if re.fullmatch(r"[^\W_]{2}", example.text[max(place - 1, 0) : place + 1])
    }
    assert torn == set()


def test_hard_negatives_hold_nobody_and_say_so(examples: list[Example]) -> None:
    found = [example for example in examples if example.group in NEGATIVE]
    assert len(NEGATIVE) >= 100
    assert found
    for example in found:
        assert PERSON in example.asked, example.group
        assert PERSON not in {mention.label for mention in example.mentions}, example.group


def test_what_is_asked_is_known_and_what_is_found_is_asked_unless_it_is_blurred(
    examples: list[Example],
) -> None:
    heads = {frame.id: set(frame.unvouched) for frame in frames()}
    blurred = {"quantity", "demographic attribute", "identifying detail"}
    for example in examples:
        found = {mention.label for mention in example.mentions}
        assert set(example.asked) <= set(LABELS)
        assert len(set(example.asked)) == len(example.asked)
        assert found - set(example.asked) <= blurred | heads[example.group], example.group
        assert not heads[example.group] & set(example.asked)


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


@pytest.mark.parametrize("label", SHAPES)
def test_what_is_marked_has_the_shape_of_its_label(stage: Stage, label: str) -> None:
    for _ in range(50):
        (value, marked), *_rest = shown(fresh(stage, "{" + label + "}"))
        assert marked == label
        assert re.fullmatch(SHAPES[label], value)


def test_every_frame_renders_what_its_slots_put_in(stage: Stage) -> None:
    for frame in frames():
        new = Stage(stage.random, stage.fakers, stage.today)
        made = render(frame.nodes, new)
        # A slot may ask for its value in another case.
        values = Counter(shown(by_character(made, str.lower)))
        for kept in new.values.values():
            assert Counter(shown(by_character(kept, str.lower))) <= values, frame.id


def test_a_style_that_does_not_exist_is_in_no_frame() -> None:
    known = {*MAKERS, *(name.split("/")[0] for name in phrases())}
    for frame in frames():
        for slot in slots_in(frame.nodes):
            who, dot, form = slot.name.partition(".")
            assert (form in FORMS and len(who) == 1) if dot else slot.name in known, frame.id


def test_one_person_recurs_in_many_forms(stage: Stage) -> None:
    made = fresh(
        stage, "{p.name}|{p.first}|{p.last}|{p.titled}|{p.short}|{p.reversed}|{p.initials}|{p.first}'s"
    )
    name, first, last, titled, short, reverse, initials, owner = made.text.split("|")
    assert name == f"{first} {last}"
    assert titled.endswith(f" {last}")
    assert short == f"{first[0]}. {last}"
    assert reverse == f"{last}, {first}"
    assert initials == f"{first[0]}.{last[0]}."
    assert [label for _, label in shown(made)] == [PERSON] * 8
    assert shown(made)[3][0] == last
    assert shown(made)[7][0] == owner.removesuffix("'s")


def test_an_age_fits_a_date_of_birth(stage: Stage) -> None:
    for _ in range(50):
        new = Stage(stage.random, stage.fakers, stage.today)
        born, age = render(parse("{p.born/iso} {p.age}"), new).text.split()
        years = (stage.today - date.fromisoformat(born)).days / 365.25
        assert abs(years - int(age)) < 1.1


def test_a_key_gives_one_value_and_a_slot_without_gives_new_ones(stage: Stage) -> None:
    same = {len(set(fresh(stage, "{IBAN#a} | {IBAN#a} | {IBAN}").text.split(" | "))) for _ in range(5)}
    assert same == {2}


def test_an_address_is_one_mention_with_its_parts_inside(stage: Stage) -> None:
    for _ in range(40):
        made = fresh(stage, "at {p.address}, yes")
        whole, *inner = made.mentions
        assert (whole.start, whole.end, whole.label) == (3, len(made.text) - 5, "street address")
        assert {"building number", "city name", "place"} <= {m.label for m in inner}
        assert all(whole.start <= m.start < m.end <= whole.end for m in inner)


def test_two_labels_that_fit_are_both_marked(stage: Stage) -> None:
    assert {label for _, label in shown(fresh(stage, "{date of birth}"))} == {"date of birth", "date"}
    assert {label for _, label in shown(fresh(stage, "{country}"))} == {"country", "place"}
    assert {label for _, label in shown(fresh(stage, "{p.link}"))} == {"personal web link", "URL link"}


def test_notation_marks_chooses_and_escapes(stage: Stage) -> None:
    made = fresh(stage, r"\{x\} [the {a|a} baker](identifying detail) [doctor] {^_bytes}")
    assert shown(made) == [("the a baker", "identifying detail")]
    assert made.text.startswith("{x} the a baker [doctor] ")
    assert fresh(stage, "{!p.first}").text.isupper()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a {date", "The brace at character 2 is never closed: close it, or write a backslash before it."),
        ("a } b", "The brace at character 2 was never opened: write a backslash before it."),
        ("{$}", "A slot of 1 characters is no slot: write a label, a style and a key."),
    ],
)
def test_broken_notation_is_told(source: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(source)
    assert str(caught.value) == message


def test_unknown_names_are_told(stage: Stage) -> None:
    with pytest.raises(ConfigurationError, match="There is no list named 'shoe size': add it to lists."):
        fresh(stage, "{shoe size}")
    with pytest.raises(ConfigurationError, match="A person has no form named 'shoe': use one of full, "):
        fresh(stage, "{p.shoe}")
    with pytest.raises(ConfigurationError, match="There is no list named '_none'"):
        word(Random(1), "_none")


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


def test_without_the_library_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
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


@given(
    pieces(),
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 3), st.text("xyz", max_size=3)), max_size=6),
)
def test_edits_change_a_mention_as_they_would_change_it_alone(
    piece: MarkedPiece, planned: list[tuple[int, int, str]]
) -> None:
    edits = [Edit(s, s + n, new) for s, n, new in planned if s + n <= len(piece.text)]
    made = apply_edits(piece, edits)
    for before, after in zip(piece.mentions, made.mentions, strict=True):
        alone = MarkedPiece(piece.text[before.start : before.end])
        # Borders of other mentions hold an edit back wherever they lie, so only what was kept counts.
        inside = [
            Edit(e.start - before.start, e.end - before.start, e.new)
            for e in _kept(piece, edits)
            if before.start <= e.start and e.end <= before.end
        ]
        assert made.text[after.start : after.end] == apply_edits(alone, inside).text


def _kept(piece: MarkedPiece, edits: list[Edit]) -> list[Edit]:
    borders = {place for m in piece.mentions for place in (m.start, m.end)}
    kept: list[Edit] = []
    for edit in sorted(edits):
        crossed = any(edit.start < b < edit.end for b in borders)
        inserted = edit.start == edit.end and edit.start in borders
        if (not kept or edit.start >= kept[-1].end) and not crossed and not inserted:
            kept.append(edit)
    return kept


@given(pieces(), st.integers(0, 10**6))
def test_corruption_loses_no_mention_and_no_character_of_case(piece: MarkedPiece, seed: int) -> None:
    made = corrupted(piece, Random(seed))
    assert [m.label for m in made.mentions] == [m.label for m in piece.mentions]
    assert all(0 <= m.start <= m.end <= len(made.text) for m in made.mentions)
    assert len(by_character(piece, str.lower).text) == len(piece.text)
    assert len(by_character(piece, str.upper).text) == len(piece.text)


def test_articles_and_points_are_set_right_without_a_mention_lost() -> None:
    parts = (
        MarkedPiece("a "),
        mark("18-year-old", "person age"),
        MarkedPiece(" and an union at "),
        mark("9 p.m.", "time"),
    )
    made = tidied(join((*parts, MarkedPiece(". An aunt, a 17 and a 8..."))))
    assert made.text == "an 18-year-old and a union at 9 p.m. An aunt, a 17 and an 8..."
    assert shown(made) == [("18-year-old", "person age"), ("9 p.m.", "time")]


def test_who_is_a_child_is_none_of_the_others(stage: Stage) -> None:
    for _ in range(60):
        child, adult = fresh(stage, "{k.age} {p.age}").text.split()
        assert int(child) < 18 < int(adult) + 1


def test_pieces_are_joined_with_their_mentions_moved() -> None:
    both = join((MarkedPiece("a "), mark("b", "date"), MarkedPiece(" "), mark(mark("c", "time"), "date")))
    assert (both.text, shown(both)) == ("a b c", [("b", "date"), ("c", "date"), ("c", "time")])
    laid = compose("{one}-{two}", {"one": mark("x", "date"), "two": MarkedPiece("y")})
    assert (laid.text, shown(laid)) == ("x-y", [("x", "date")])


def test_what_is_asked_depends_on_what_is_found() -> None:
    asked = asked_for({"quantity", "dosage", "time"}, ("date",))
    assert "time" in asked
    assert "vehicle VIN" in asked
    assert PERSON in asked
    assert "date" not in asked
    assert "quantity" not in asked
    assert "gender" not in asked


def test_numbers_pass_their_checks(stage: Stage) -> None:
    for _ in range(50):
        numbers = fresh(stage, "{credit card number}|{IBAN}|{phone IMEI}").text
        card, account, phone = (re.sub(r"[ -]", "", number) for number in numbers.split("|"))
        assert luhn.is_valid(card)
        assert mod_97_10.is_valid(account[4:] + account[:4])
        assert (len(phone), luhn.is_valid(phone)) == (15, True)


def test_patterns_give_characters_of_their_kinds() -> None:
    random = Random(4)
    for _ in range(20):
        made = digits(random, "A#%?*-~12-¤6-§4 0%0")
        shape = r"A\d[1-9][A-Z][A-Z\d]-[1-9A-Za-z]{12}-[02-9ac-hj-np-z]{6}-[0-9a-f]{4} 0[1-9]0"
        assert re.fullmatch(shape, made)


def test_a_number_lies_between_its_borders(stage: Stage) -> None:
    made = {int(fresh(stage, "{7-9}").text) for _ in range(60)}
    assert made == {7, 8, 9}
    assert {len(fresh(stage, "{=##|=####}").text) for _ in range(40)} == {2, 4}


def test_numbers_are_said_as_people_say_them() -> None:
    assert [number_words(n) for n in (7, 40, 43)] == ["seven", "forty", "forty-three"]
    assert [ordinal_words(n) for n in (5, 21, 30)] == ["fifth", "twenty-first", "thirtieth"]
    assert [year_words(y) for y in (1972, 2005, 2000, 1900)] == [
        "nineteen seventy two",
        "two thousand five",
        "two thousand",
        "nineteen hundred",
    ]


def test_no_text_is_shown_by_what_holds_it(examples: list[Example], stage: Stage) -> None:
    example = examples[0]
    assert example.text[:12] not in repr(example)
    made = fresh(stage, "{p.full}")
    assert made.text not in repr(made)
    render(parse("{p.full}"), stage)
    assert stage.people["p"].family not in repr(stage)
