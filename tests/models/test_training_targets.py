"""What the detector learns of a text: its row, and what each head should say. All texts are invented."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.corpora.examples import SYNTHETIC, Example, Mention
from models.detectors.network import WIDEST
from models.detectors.words import pieces_of, words_of
from models.encoders.bert import CLS, SEP, WIDTH
from models.encoders.minilm import released
from models.training.absences import surely_absent
from models.training.detector import _labels, _loss
from models.training.rows import (
    MOST_TOKENS,
    Row,
    Target,
    asked_of,
    asked_tensor,
    row_of,
    targets_in,
    targets_of,
)
from tests.small_models import random_detector

if TYPE_CHECKING:
    from torch import Tensor

RARE = "religion"
"""A label of which the long texts hold a word here and there, and mentions beside it."""


def long_example(seed: int, words: int) -> Example:
    """Words that are each other than the rest, and mentions of up to thirty-one of them."""
    chance = random.Random(seed)
    kinds = [*"abcdefg" * 40, "temple"]
    text = " ".join(f"{chance.choice(kinds)}{number}" for number in range(words))
    places = words_of(text)
    mentions = []
    for _ in range(8):
        first = chance.randrange(words)
        last = min(words - 1, first + chance.choice([0, 1, 3, 30]))
        mentions.append(Mention(places[first][0], places[last][1], chance.choice(["a", RARE])))
    return Example("x", "invented", "g", text, tuple(mentions), ("a", "b"))


def run_in(row: Row, example: Example) -> tuple[int, int]:
    """Which words of the example the row holds."""
    words = [example.text[start:end] for start, end in words_of(example.text)]
    pieces = pieces_of(released().tokenizer, words)
    own = [row.ids[a:b] for a, b in zip(row.firsts, [*row.firsts[1:], len(row.ids) - 1], strict=True)]
    (first,) = [at for at in range(len(words) - len(own) + 1) if pieces[at : at + len(own)] == own]
    return first, first + len(own)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 600))
def test_a_row_is_a_run_of_words_whose_targets_are_the_mentions_in_it(seed: int, words: int) -> None:
    example = long_example(seed, words)
    row = row_of(example, released(), random.Random(seed))
    assert row.ids[0] == CLS
    assert row.ids[-1] == SEP
    assert len(row.ids) <= MOST_TOKENS + 2
    first, last = run_in(row, example)
    if last - first < words:
        assert len(row.ids) - 2 > MOST_TOKENS - 30
    places = words_of(example.text)[first:last]
    wanted = set()
    for mention in example.mentions:
        inside = [n for n, (start, end) in enumerate(places) if mention.start <= start and end <= mention.end]
        if inside:
            wanted.add((min(inside), len(inside) - 1, mention.label))
    assert row.targets == sorted(wanted)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 600))
def test_a_row_asks_what_its_text_answers_and_what_its_run_surely_lacks(seed: int, words: int) -> None:
    example = long_example(seed, words)
    row = row_of(example, released(), random.Random(seed))
    first, last = run_in(row, example)
    places = words_of(example.text)
    absent = set(surely_absent(example.text[places[first][0] : places[last - 1][1]]))
    marked = {label for _, _, label in row.targets}
    assert row.asked[:2] == example.asked
    assert set(row.asked[2:]) == absent - marked
    assert len(row.asked) == len(set(row.asked))


class From(random.Random):
    """Chooses one number whatever is asked."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return self.number


def test_a_run_may_begin_at_any_word_and_at_the_end_takes_what_fits_before_it() -> None:
    example = long_example(0, 600)
    encoded = released().tokenizer.encode_batch(example.text.split(), add_special_tokens=False)
    words = [encoding.ids for encoding in encoded]
    for first in (0, 1, 300, 590, 599):
        row = row_of(example, released(), From(first))
        own = [row.ids[a:b] for a, b in zip(row.firsts, [*row.firsts[1:], -1], strict=True)]
        begin = min(first, 600 - len(own))
        assert own == words[begin : begin + len(own)]
        assert MOST_TOKENS - 5 < sum(map(len, own)) <= MOST_TOKENS


@pytest.mark.slow
def test_the_beginning_of_a_long_text_is_read_as_often_as_its_middle() -> None:
    example = long_example(0, 2_000)
    rows = [row_of(example, released(), random.Random(seed)) for seed in range(300)]
    runs = [run_in(row, example) for row in rows]
    seen = [sum(first <= at < last for first, last in runs) for at in (5, 1_000, 1_990)]
    assert min(seen) > 0.4 * max(seen) > 0


def test_mentions_are_whole_however_wide_and_come_once() -> None:
    places = [(2 * number, 2 * number + 1) for number in range(40)]
    assert targets_in([Mention(4, 4 + 59, "a")], places) == [(2, 29, "a")]
    assert targets_in([Mention(500, 510, "a")], places) == []
    # Half of a word is in it.
    words = [(10 * number, 10 * number + 9) for number in range(9)]
    assert targets_in([Mention(36, 42, "a"), Mention(36, 42, "a")], words) == [(3, 1, "a")]
    # Between two words there is nothing to find.
    assert targets_in([Mention(9, 10, "a")], words) == []


def example_of(text: str, *mentions: Mention, corpus: str = "invented") -> Example:
    return Example("x", corpus, "g", text, mentions, ("a", "date of birth"))


def asked_in(example: Example, first: int = 0, last: int | None = None) -> tuple[str, ...]:
    places = words_of(example.text)[first:last]
    return asked_of(example, places, targets_in(example.mentions, places))


def test_what_is_marked_is_not_surely_absent() -> None:
    text = "ask for number seven"
    assert "reference number" in asked_in(example_of(text))
    marked = example_of(text, Mention(15, 20, "reference number"))
    assert "reference number" not in asked_in(marked)
    assert "passport number" in asked_in(marked)
    # Of a part of the text that does not hold it, it is.
    assert "reference number" in asked_in(marked, 0, 3)
    assert asked_in(marked).count("date of birth") == 1


def test_only_the_run_of_words_must_lack_it() -> None:
    example = example_of("then 71234 came and Quorin went")
    assert "reference number" not in asked_in(example)
    assert "reference number" not in asked_in(example, 1, 4)
    assert "reference number" in asked_in(example, 2, 6)


def test_invented_texts_and_empty_ones_say_all_themselves() -> None:
    for example in (example_of("then she went", corpus=SYNTHETIC), example_of(""), example_of(" \n ")):
        assert asked_in(example) == example.asked


@st.composite
def drawn_rows(draw: st.DrawFn) -> list[Row]:
    """Rows of one to fifty words, of which some lie in mentions of "a" to "c"."""
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        words = draw(st.integers(1, 50))
        targets: set[Target] = set()
        for _ in range(draw(st.integers(0, 5))):
            first = draw(st.integers(0, words - 1))
            targets.add((first, draw(st.integers(0, words - 1 - first)), draw(st.sampled_from("abc"))))
        asked = tuple(draw(st.sets(st.sampled_from("abcd"))))
        # Each word is one token.
        firsts = list(range(1, words + 1))
        rows.append(Row([CLS, *[2000 + number for number in firsts], SEP], firsts, sorted(targets), asked))
    return rows


def longest(rows: Sequence[Row]) -> int:
    return max(len(row.firsts) for row in rows)


def is_span(targets: Sequence[Target], first: int, more: int, label: str) -> bool:
    """Whether the words are a mention, or one of the pieces into which a wide one is cut from its start."""
    for begin, further, of in targets:
        end = begin + further + 1
        piece = of == label and begin <= first < end and (first - begin) % WIDEST == 0
        if piece and first + more + 1 == min(first + WIDEST, end):
            return True
    return False


@settings(max_examples=60)
@given(drawn_rows(), st.permutations("abcd"), st.integers(0, 3))
def test_targets_are_those_of_the_slow_version(rows: list[Row], labels: list[str], pad: int) -> None:
    words = longest(rows) + pad
    made = targets_of(rows, labels, words)
    assert made.spans.shape == (len(rows), words, WIDEST, len(labels))
    assert made.inside.shape == made.begin.shape == (len(rows), words, len(labels))
    spans, inside, begin = made.spans.tolist(), made.inside.tolist(), made.begin.tolist()
    for number, row in enumerate(rows):
        for column, label in enumerate(labels):
            of_label = [(first, first + more) for first, more, of in row.targets if of == label]
            for word in range(words):
                assert inside[number][word][column] == any(a <= word <= b for a, b in of_label)
                assert begin[number][word][column] == any(a == word for a, _ in of_label)
                for more in range(WIDEST):
                    assert spans[number][word][more][column] == is_span(row.targets, word, more, label)


def ones(tensor: "Tensor") -> list[tuple[int, ...]]:
    assert set(tensor.unique().tolist()) <= {0, 1}
    return sorted(map(tuple, tensor.nonzero().tolist()))


def test_of_a_mention_wider_than_a_span_the_pieces_touch_and_one_word_begins() -> None:
    row = Row([], list(range(1, 41)), [(4, 2 * WIDEST + 5, "a")], ())
    made = targets_of([row], ["b", "a"], 40)
    pieces = ones(made.spans)
    assert pieces == [
        (0, 4, WIDEST - 1, 1),
        (0, 4 + WIDEST, WIDEST - 1, 1),
        (0, 4 + 2 * WIDEST, 5, 1),
    ]
    assert ones(made.begin) == [(0, 4, 1)]
    assert ones(made.inside) == [(0, word, 1) for word in range(4, 4 + 2 * WIDEST + 6)]


@pytest.mark.parametrize("width", [1, WIDEST - 1, WIDEST])
def test_a_mention_that_is_no_wider_is_one_span(width: int) -> None:
    made = targets_of([Row([], list(range(1, 21)), [(3, width - 1, "a")], ())], ["a"], 20)
    assert ones(made.spans) == [(0, 3, width - 1, 0)]


def test_mentions_that_touch_begin_each() -> None:
    made = targets_of([Row([], [1, 2, 3, 4], [(0, 1, "a"), (2, 0, "a")], ())], ["a"], 4)
    assert ones(made.begin) == [(0, 0, 0), (0, 2, 0)]
    assert ones(made.inside) == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]


@given(drawn_rows(), st.permutations("abcd").map(lambda labels: labels[:3]))
def test_a_label_is_asked_of_the_rows_that_ask_it(rows: list[Row], labels: list[str]) -> None:
    assert asked_tensor(rows, labels).tolist() == [[label in row.asked for label in labels] for row in rows]


def slow_loss(logits: "Tensor", targets: "Tensor", rows: Sequence[Row], labels: Sequence[str]) -> float:
    """The cross-entropy per positive case, over what a row asks within its words and what is to be found."""
    total, found = 0.0, 0.0
    for place in product(*map(range, targets.shape)):
        number, *words, column = place
        row, target = rows[number], float(targets[place])
        if target or (labels[column] in row.asked and sum(words) < len(row.firsts)):
            total += math.log1p(math.exp(float(logits[place]) * (1 - 2 * target)))
        found += target
    return total / max(1.0, found)


@settings(max_examples=20)
@given(drawn_rows(), st.permutations("abc"), st.integers(0, 99), st.booleans())
def test_what_counts_is_what_was_asked_and_every_mention(
    rows: list[Row], labels: list[str], seed: int, with_spans: bool
) -> None:
    import torch

    targets = targets_of(rows, labels, longest(rows))
    heads = (targets.spans, targets.inside, targets.begin)
    chance = torch.Generator().manual_seed(seed)
    spans, inside, begin = logits = [torch.randn(of_head.shape, generator=chance) for of_head in heads]
    weights = {**released().weights, **random_detector()}
    with (
        patch("models.training.detector.span_logits", lambda *_: spans),
        patch("models.training.detector.word_logits", lambda *_: (inside, begin)),
    ):
        loss = _loss(weights, rows, torch.zeros(3, WIDTH), labels, 0.0, with_spans)
    pairs = list(zip(logits, heads, strict=True))[0 if with_spans else 1 :]
    wanted = sum(slow_loss(*of_head, rows, labels) for of_head in pairs)
    assert float(loss) == pytest.approx(wanted, rel=1e-4)


def test_the_head_for_spans_learns_and_moves_nothing_else() -> None:
    import torch

    rows = [Row([101, 2023, 2003, 102], [1, 2], [(0, 1, "a")], ("a", "b"))]
    gradients = []
    for with_spans in (False, True):
        weights = {name: weight.clone().requires_grad_(True) for name, weight in random_detector().items()}
        loss = _loss(
            {**released().weights, **weights}, rows, torch.ones(2, WIDTH), ["a", "b"], 0.0, with_spans
        )
        loss.backward()
        gradients.append({name: weight.grad for name, weight in weights.items()})
    without, beside = gradients
    moved = {
        name.split(".")[0]
        for name, gradient in beside.items()
        if gradient is not None and (without[name] is None or not torch.allclose(gradient, without[name]))
    }
    assert moved == {"start", "end", "out"}


HELD, ABSENT = {"a", "b", "c"}, tuple(f"absent {number}" for number in range(30))
BATCH = [
    # "a" is asked where it is not held, "b" nowhere.
    Row([], [1, 2, 3], [(0, 1, "a"), (2, 0, "b")], ABSENT[:20]),
    Row([], [1, 2], [(1, 0, "c")], ("a", "c", *ABSENT[10:])),
]


@given(st.integers(0, 10_000))
def test_every_held_label_is_asked_and_no_other_than_the_absent(seed: int) -> None:
    labels = _labels(BATCH, random.Random(seed))
    assert labels == sorted(set(labels))
    assert set(labels) >= HELD
    assert set(labels) <= HELD | set(ABSENT)
    assert labels == _labels(BATCH, random.Random(seed))
    assert _labels(BATCH[::-1], random.Random(seed)) == labels


def test_about_half_of_the_absent_labels_are_asked_each_as_often() -> None:
    chance = random.Random(0)
    drawn = Counter(label for _ in range(600) for label in _labels(BATCH, chance))
    assert all(drawn[label] == 600 for label in HELD)
    assert all(0.4 < drawn[label] / 600 < 0.6 for label in ABSENT)


def test_a_batch_that_holds_nothing_asks_still() -> None:
    rows = [Row([], [1], [], ABSENT)]
    assert 5 < len(_labels(rows, random.Random(1))) < 25
    assert _labels([Row([], [1], [], ())], random.Random(1)) == []
