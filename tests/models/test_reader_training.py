"""What the reader learns from: passages drawn anew, rows, and a training that learns."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from models.catalog import READER, ModelRef
from models.corpora.passages import KINDS, Mark, Passage, parsed, passages
from models.encoders.e5 import splitter_of
from models.encoders.words import Splitter
from models.reader.network import read_reader
from models.training import slots
from models.training.optimizing import Progress
from models.training.reader import ReaderRecipe, train_reader
from models.training.reader_rows import CLINIC_TAG, Item, Rows, tag_sets
from models.training.slots import pools_of, redrawn

pytest.importorskip("faker", reason="needs the extra 'train'")
MARKED = (
    "Dear Ms [[Whitcombe|PERSON|DIRECT|2|1]],\n[[Orla Whitcombe|PERSON|DIRECT|2|1]] "
    "([[OW|PERSON|DIRECT|2|1]]) and [[Tevin Whitcombe|PERSON|DIRECT|2|2]] moved to "
    "[[Ashdale|LOC|QUASI|2|3]] on [[3 May 2021|DATE|QUASI|2|4]]; write to "
    "[[orla.whitcombe@x.example|CONTACT|DIRECT|2|1]]. No toast."
)


@pytest.fixture(scope="module")
def passage() -> Passage:
    text, marks = parsed(MARKED, "x")
    return Passage("x", "letter", "English", "clean", "learn", text, marks)


def said(text: str, marks: Sequence[Mark]) -> list[str]:
    return [text[mark.start : mark.end].casefold() for mark in marks]


def test_all_mentions_of_somebody_get_the_same_words_and_a_full_name_may_stand_as_in_a_list(
    passage: Passage, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools, chance = pools_of(passages("learn")[:200]), random.Random(1)
    surnames = set()
    monkeypatch.setattr(slots, "_noise", lambda pieces, _: pieces)
    monkeypatch.setattr(slots, "IN_LISTS", 0)
    for _ in range(60):
        surname, full, initials, other, *_, mail = said(*redrawn(passage, pools, chance))
        surnames.add(surname)
        assert full.split()[-1] == other.split()[-1] == surname
        assert initials == full[0] + surname[0]
        assert mail.endswith("@x.example")
        assert ("whitcombe" in mail) == (surname == "whitcombe")
    assert len(surnames) > 30
    monkeypatch.setattr(slots, "IN_LISTS", 1)
    drawn = [redrawn(passage, pools_of([passage]), chance) for _ in range(60)]
    forms = [text[marks[1].start : marks[1].end] for text, marks in drawn]
    assert any("," in form for form in forms)
    assert any(form.split()[0].strip(",").isupper() for form in forms)


def test_noise_leaves_kinds_and_needs(passage: Passage) -> None:
    pools, chance = pools_of([passage]), random.Random(2)
    kept = [(mark.kind, mark.must, mark.entity) for mark in passage.marks]
    for _ in range(60):
        text, marks = redrawn(passage, pools, chance)
        assert [(mark.kind, mark.must, mark.entity) for mark in marks] == kept
        assert all("\n" not in words for words in said(text, marks))
    assert redrawn(passage, pools, random.Random(7)) == redrawn(passage, pools, random.Random(7))


def rows_of(*items: Item) -> tuple[dict[str, Any], Splitter]:
    rows, splitter = Rows(), splitter_of(read_reader(ModelRef(name=READER)).encoder)
    rows.add(items, splitter, random.Random(0))
    return rows.arrays(), splitter


def test_rows_have_the_tags_of_the_marks(passage: Passage) -> None:
    arrays, _ = rows_of(Item("passages", passage.text, passage.marks))
    tags = arrays["tags"].tolist()
    assert [KINDS[(tag - 1) // 2] for tag in tags if tag % 2] == [mark.kind for mark in passage.marks]
    assert len(tags) == len(arrays["firsts"]) == len(arrays["musts"])
    assert set(np.unique(arrays["musts"])) == {0, 3}
    # Three mentions of one person, one of another: six pairs, three of them the same.
    assert arrays["pairs"][:, 2].tolist().count(1.0) == 3
    assert len(arrays["pairs"]) == 6


def test_a_long_text_is_cut_into_rows_that_cover_it(passage: Passage) -> None:
    long = "\n".join([passage.text] * 30)
    arrays, splitter = rows_of(Item("passages", long))
    (words,) = splitter.words([long])
    assert len(arrays["tags"]) == len(words.places)
    assert int(np.diff(arrays["ids.ends"], prepend=0).max()) <= 382


def test_the_sets_of_tags() -> None:
    sets = tag_sets()
    assert sets[: sets.shape[1]].sum() == sets.shape[1]
    assert sets[sets.shape[1]].all()
    assert sets[CLINIC_TAG, 0]
    assert not sets[CLINIC_TAG, 1]


@pytest.mark.parametrize("frozen", [0, 1])
def test_training_learns_what_is_not_frozen(passage: Passage, frozen: int) -> None:
    stored = read_reader(ModelRef(name=READER))
    text = "The kettle in Ashdale is cold. " * 3
    mark = Mark(text.index("kettle"), text.index("kettle") + 6, "DRUG", "QUASI", 2, 1)
    two = (Item("passages", text, (mark,)), Item("passages", passage.text, passage.marks))
    arrays, _ = rows_of(*two * 4)
    arrays |= {"names.ids": np.array([0, 9, 2]), "names.ends": np.array([3]), "names.of": np.array([0])}
    seen: list[Progress] = []
    kept = [name for name in stored.weights if ".layer." not in name or ".layer.0." in name]
    start = {name: stored.weights[name] for name in kept}
    recipe = ReaderRecipe(
        layers=1, steps=12, tokens=512, layer_rate=1e-3, head_rate=1e-3, mean_of=0.5, frozen=frozen
    )
    trained = train_reader(arrays, stored.encoder, start, recipe, seen.append, every=4)
    moved = {name for name, weight in trained.items() if not weight.equal(start[name].float())}
    below = {name for name in kept if ".layer." in name or name in ("positions", "gaps", "shapes")}
    assert "tell.weight" in moved
    assert moved.isdisjoint(below) if frozen else moved >= {"gaps", "shapes"}
    assert [each.step for each in seen] == [4, 8, 12]
    assert seen[-1].loss < seen[0].loss * (0.95 if frozen else 0.8)
