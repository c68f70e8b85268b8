"""What words need: means over places, runs that are marks, and windows joined. Texts are invented."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.corpora.examples import Example, Mention, Need
from models.detectors.embedded import EmbeddedDetector
from models.detectors.need import NOTHING, WordNeeds
from models.detectors.network import IDENTIFIERS, KINDS, MUSTS, NEED
from models.detectors.words import words_of
from models.training.detector import Recipe, train_detector
from models.training.mixture import with_names
from models.training.rows import EITHER, NONE, needs_in

TEXT = "Mr Tobias Keller of Varde has a cough."
PERSON = "person full name"


def needs_of(musts: Sequence[Sequence[float]], kinds: Sequence[int] | None = None) -> WordNeeds:
    places = [(4 * number, 4 * number + 3) for number in range(len(musts))]
    return WordNeeds(
        places,
        np.zeros(len(musts), dtype=np.float32),
        np.array(musts, dtype=np.float32).reshape(-1, MUSTS),
        np.array(kinds or [0] * len(musts)),
        np.zeros(len(musts), dtype=np.int64),
    )


GO, STAY, OUT = (0.0, 0.1, 0.1, 0.8), (0.1, 0.8, 0.1, 0.0), (0.9, 0.1, 0.0, 0.0)


def test_a_place_needs_the_mean_of_its_words() -> None:
    found = needs_of([OUT, GO, STAY]).at(4, 11)
    assert (found.tells, found.should, found.must) == pytest.approx((0.95, 0.5, 0.4))


def test_a_place_without_a_word_needs_nothing() -> None:
    assert needs_of([GO, GO]).at(3, 4) == NOTHING


@given(st.lists(st.sampled_from([GO, STAY, OUT]), max_size=8), st.integers(0, 40), st.integers(1, 12))
def test_needs_never_rise_from_telling_to_having_to_go(
    musts: list[tuple[float, ...]], start: int, length: int
) -> None:
    found = needs_of(musts).at(start, start + length)
    assert 0 <= found.must <= found.should + 1e-6 <= found.tells + 2e-6 <= 1 + 3e-6


def test_marks_are_runs_that_end_where_another_begins_under_the_kind_of_most_words() -> None:
    needs = needs_of([GO, GO, GO, GO, OUT, STAY], [0, 1, 3, 3, 1, 2])
    needs = replace(needs, begins=np.array([0.9, 0.9, 0.1, 0.1, 0.0, 0.2], dtype=np.float32))
    found = [(mark.start, mark.end, mark.kind) for mark in needs.marks()]
    assert found == [(0, 3, KINDS[0]), (4, 15, KINDS[3]), (20, 23, KINDS[2])]


def test_no_mark_begins_or_ends_with_a_weak_word() -> None:
    needs = replace(needs_of([GO, GO, GO, GO, GO, GO]), weak=frozenset({0, 2, 4, 5}))
    assert [(mark.start, mark.end) for mark in needs.marks()] == [(4, 15)]
    assert list(replace(needs_of([GO]), weak=frozenset({0})).marks()) == []


def test_words_have_the_targets_of_their_marks() -> None:
    places = words_of(TEXT)
    needs = [Need(3, 16, "PERSON", "DIRECT", 2), Need(32, 37, "HEALTH", "SENSITIVE", 0)]
    person, cough = (KINDS.index("PERSON"), 0), (KINDS.index("HEALTH"), IDENTIFIERS.index("SENSITIVE"))
    nothing = (0, 0, NONE, NONE)
    assert needs_in(needs, places, direct_only=False) == [
        nothing, (1, 3, *person), (0, 3, *person), *[nothing] * 4, (1, 1, *cough), nothing,
    ]  # fmt: skip
    found = needs_in(needs, places, direct_only=True)
    assert [must for _, must, _, _ in found] == [EITHER, 3, 3, *[EITHER] * 6]


def test_a_swapped_name_moves_the_marks_behind_it() -> None:
    example = Example(
        "x", "needs", "x", TEXT, (Mention(3, 16, PERSON),), (), (Need(20, 25, "LOC", "QUASI", 2),)
    )

    class First:
        def choice(self, pool: Sequence[str]) -> str:
            return pool[0]

    changed = with_names(example, {2: ["Ada Vennström-Lind"]}, First())  # type: ignore[arg-type]
    assert changed.needs is not None
    assert [changed.text[each.start : each.end] for each in changed.needs] == ["Varde"]


def invented(number: int) -> Example:
    """A text in which the town has to go and the village may stay."""
    names = ("Varde", "Skern", "Lemvig", "Thisted")
    town, village = names[number % 4], names[(number // 4) % 4]
    text = f"She lives in {town}. A poem names {village}."
    start, other = text.index(town), text.rindex(village)
    needs = (
        Need(start, start + len(town), "LOC", "QUASI", 2),
        Need(other, other + len(village), "LOC", "QUASI", 0),
    )
    return Example(f"x{number}", "needs", f"x{number}", text, (), (), needs)


def test_what_has_to_go_is_learned_from_the_context() -> None:
    recipe = Recipe(seed=1, steps=40, tokens=256, layer_rate=2e-4, head_rate=5e-3, dropout=0.0)
    weights = train_detector([invented(number) for number in range(16)], recipe, lambda _: None)
    assert f"{NEED}.weight" in weights
    detector = EmbeddedDetector("needs", weights, [PERSON], {PERSON: 0.5})
    example = invented(6)
    ((_, needs),) = detector.judged([example.text])
    assert needs is not None and example.needs is not None
    town, village = (needs.at(each.start, each.end) for each in example.needs)
    assert town.must > 0.8 > 0.2 > village.must
    assert [(mark.start, mark.end) for mark in needs.marks()] == [(e.start, e.end) for e in example.needs]


def test_long_texts_have_a_need_for_every_word() -> None:
    weights = train_detector([invented(0)], Recipe(seed=1, steps=1, tokens=64), lambda _: None)
    detector = EmbeddedDetector("needs", weights, [PERSON], {PERSON: 0.5})
    text = "She lives in Varde. " * 200
    (_, needs), (_, alone) = detector.judged([text, "She lives in Varde."])
    assert needs is not None and alone is not None
    assert len(needs.places) == len(needs.musts) == len(needs.begins) == len(words_of(text)) == 1000
    assert needs.musts.sum(axis=1) == pytest.approx(1.0, abs=1e-4)


def test_a_model_without_the_head_says_nothing_of_needs() -> None:
    recipe = Recipe(seed=1, steps=1, tokens=64)
    weights = train_detector([invented(0)], recipe, lambda _: None)
    bare = {name: weight for name, weight in weights.items() if not name.startswith(NEED)}
    detector = EmbeddedDetector("bare", bare, [PERSON], {PERSON: 0.5})
    assert detector.judged([TEXT])[0][1] is None


def test_no_mark_crosses_a_line() -> None:
    needs = replace(needs_of([GO, GO, GO]), lines=frozenset({2}))
    assert [(mark.start, mark.end) for mark in needs.marks()] == [(0, 7), (8, 11)]


def test_the_lines_of_a_text_are_known() -> None:
    weights = train_detector([invented(0)], Recipe(seed=1, steps=1, tokens=64), lambda _: None)
    detector = EmbeddedDetector("needs", weights, [PERSON], {PERSON: 0.5})
    ((_, needs),) = detector.judged(["Ada Lind\nVarde Point \n\n pays"])
    assert needs is not None and needs.lines == {2, 4}


def test_a_word_that_has_to_go_is_not_diluted_by_those_around_it() -> None:
    assert needs_of([OUT, OUT, OUT, GO, OUT]).at(0, 19).must == pytest.approx(0.8)
