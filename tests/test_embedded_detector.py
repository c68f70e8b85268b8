"""The embedded detector: with a scripted network, and with weights that know six invented names."""

import random
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog import ModelRef
from models.embedded_detector import WINDOW, EmbeddedDetector, _Job, disjoint, load_detector, widened
from models.errors import ModelUnavailable
from models.gliner_forward import WIDEST
from models.trained import write_trained
from models.windows import FoundSpan
from models.words import words_of
from tests.small_models import FILLER, NAMES, PERSON, invented_example, name_detector, random_detector

LIMIT = 0.5


@pytest.fixture(scope="module")
def detector() -> EmbeddedDetector:
    """Knows ``NAMES``."""
    return EmbeddedDetector("names", name_detector()[0], [PERSON], {PERSON: LIMIT})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The detector of names as it lies in a user's folder."""
    made = tmp_path_factory.mktemp("detector")
    fitted = {"balanced": {"": 0.4, PERSON: 0.6}, "recall": {"": 0.1, PERSON: 0.2}}
    write_trained(made, "detector", name_detector()[0], {"name": "names", "thresholds": fitted})
    return made


class Scripted(EmbeddedDetector):
    """Marks given runs of words as far as a window shows them, in pieces from the first that it sees.

    So the network learned to mark what is wider than a span.
    """

    def __init__(self, runs: Sequence[tuple[int, int]]) -> None:
        super().__init__("scripted", random_detector(), [PERSON], {PERSON: LIMIT})
        self.runs = runs
        self.read: list[tuple[int, int, int]] = []

    def _hits(self, jobs: Sequence[_Job]) -> tuple[list[list[int]], list[float]]:
        hits = []
        for row, job in enumerate(jobs):
            window = job.window
            self.read.append((job.text, window.first, window.last))
            assert len(job.firsts) == window.last - window.first
            for first, last in self.runs:
                begin, end = max(first, window.first), min(last, window.last)
                for at in range(begin, end, WIDEST):
                    hits.append([row, at - window.first, min(at + WIDEST, end) - at - 1, 0])
        return hits, [3.0 - 0.001 * number for number in range(len(hits))]


@cache
def one_scripted() -> Scripted:
    return Scripted([])


def scripted(runs: Sequence[tuple[int, int]]) -> Scripted:
    """The same one for all examples, since making one reads the labels."""
    model = one_scripted()
    model.runs, model.read = runs, []
    return model


def places(found: Sequence[FoundSpan]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in found]


def assert_alike(one: Sequence[FoundSpan], other: Sequence[FoundSpan]) -> None:
    assert places(one) == places(other)
    assert [span.score for span in one] == pytest.approx([span.score for span in other], abs=1e-4)


def of_words(text: str, words: Sequence[tuple[int, int]], run: tuple[int, int]) -> str:
    return text[words[run[0]][0] : words[run[1] - 1][1]]


@settings(max_examples=60)
@given(st.integers(1, 900), st.data())
def test_a_mention_of_any_width_at_any_place_comes_out_once_and_whole(
    length: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, length - 1))
    last = min(length, first + data.draw(st.integers(1, 300)))
    text = "lamp " * length
    (found,) = scripted([(first, last)]).find([text])
    assert [(span.start, span.end) for span in found] == [(5 * first, 5 * last - 1)]


@pytest.mark.parametrize("width", [1, 2, WIDEST, WIDEST + 1, WINDOW.overlap, WINDOW.overlap + 1, 40])
def test_a_mention_that_crosses_an_edge_comes_out_once_and_whole(width: int) -> None:
    for first in range(WINDOW.tokens - WINDOW.overlap - width - 1, WINDOW.tokens + 2):
        (found,) = scripted([(first, first + width)]).find(["lamp " * 500])
        assert [(span.start, span.end) for span in found] == [(5 * first, 5 * (first + width) - 1)]


@settings(max_examples=60)
@given(st.integers(1, 600), st.integers(1, WIDEST - 1), st.integers(1, WIDEST - 1))
def test_narrow_mentions_that_touch_stay_two(first: int, one: int, other: int) -> None:
    runs = [(first, first + one), (first + one, first + one + other)]
    (found,) = scripted(runs).find(["lamp " * 700])
    assert [(span.start, span.end) for span in found] == [(5 * a, 5 * b - 1) for a, b in runs]


@pytest.mark.parametrize("word", ["lamp", "x" * 900, "東京都", "\u200d", "é-é"], ids=range(5))
def test_every_word_of_a_long_text_is_read(word: str) -> None:
    text = f"{word} " * 7_000 if len(word) < 9 else f"{word} " * 400
    words = words_of(text)
    model = scripted([(0, 1), (len(words) - 1, len(words))])
    found = model.find(["", text])[1]
    read = {at for number, first, last in model.read if number == 1 for at in range(first, last)}
    assert read == set(range(len(words)))
    assert len(model.read) >= 30
    assert found[0].start == 0
    assert found[-1].end == len(text) - 1


def test_a_name_at_any_place_of_thirty_windows_is_found_as_when_alone(detector: EmbeddedDetector) -> None:
    step = WINDOW.tokens - WINDOW.overlap
    chance = random.Random(0)
    words = [chance.choice(FILLER) for _ in range(WINDOW.tokens + 29 * step)]
    edges = [edge for start in range(0, 29 * step, step) for edge in (start, start + WINDOW.tokens - 1)]
    # Around every edge of a window, and in the middle: no two names so near that a span could hold both.
    wanted = sorted(
        {0, len(words) - 1, *(edge + chance.randint(-2, 2) for edge in edges[1:]), *range(125, 6000, step)}
    )
    wanted = [wanted[0], *(at for before, at in pairwise(wanted) if at - before > WIDEST)]
    for at in wanted:
        words[at] = chance.choice(NAMES)
    text = " ".join(words)
    assert len(wanted) > 80
    found = detector.find([text])[0]
    assert [(span.start, span.end) for span in found] == [words_of(text)[at] for at in wanted]
    for span in found:
        (alone,) = detector.find([text[span.start : span.end]])[0]
        assert span.score == pytest.approx(alone.score, abs=0.2)


def test_the_answer_is_the_same_alone_in_a_batch_and_in_any_order(detector: EmbeddedDetector) -> None:
    texts = [f"{invented_example(500 + seed).text} " * (1 + seed % 3 * 3) for seed in range(9)]
    together = detector.find(texts)
    assert sum(map(len, together)) > 20
    order = random.Random(0).sample(range(9), 9)
    shuffled = dict(zip(order, detector.find([texts[i] for i in order]), strict=True))
    for index, text in enumerate(texts):
        assert_alike(together[index], detector.find([text])[0])
        assert_alike(together[index], shuffled[index])


ODD = [
    "",
    " \n\t ",
    "\x00\x07\x1b[31m",
    "\u200d\u200d",
    "\ufeff",
    "x" * 10_000,
    "\U0001d518" * 9,
    "́" * 70,
    "🏽‍⚕️",
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_odd_texts_hide_nothing_that_stands_beside_them(detector: EmbeddedDetector, odd: str) -> None:
    text = f"then Talvik saw {odd} and Quorin went"
    found = detector.find([odd[:100], text])
    assert all(0 <= span.start < span.end <= len(text) for span in found[1])
    for at, name in ((5, "Talvik"), (len(text) - 11, "Quorin")):
        assert text[at : at + 6] == name
        assert any(span.start <= at and at + 6 <= span.end for span in found[1])


def test_nothing_is_found_in_nothing(detector: EmbeddedDetector) -> None:
    assert detector.find([]) == []
    assert detector.find(["", " \n\t "]) == [[], []]


@pytest.mark.parametrize(
    "before", ["😀😀 then 😀", "שלום soon", "e\u0301e\u0301 the", "\r\n\r\n"], ids=range(4)
)
def test_places_count_code_points(detector: EmbeddedDetector, before: str) -> None:
    text = f"{before} Berta soon 😀 שלום Jorvik"
    assert [text[span.start : span.end] for span in detector.find([text])[0]] == ["Berta", "Jorvik"]


def test_labels_keep_their_order_and_come_once() -> None:
    limits = {"b": 0.5, "a": 0.5}
    assert EmbeddedDetector("x", random_detector(), ["b", "a", "b"], limits).labels == ("b", "a")


def test_a_label_without_a_threshold_is_named() -> None:
    with pytest.raises(KeyError, match="town"):
        EmbeddedDetector("x", random_detector(), [PERSON, "town"], {PERSON: 0.5})


def test_scores_reach_the_threshold_of_their_label() -> None:
    texts = [invented_example(seed).text for seed in range(4)]

    def found(**limits: float) -> list[FoundSpan]:
        model = EmbeddedDetector("x", random_detector(), list(limits), limits)
        return [span for spans in model.find(texts) for span in spans]

    everything = found(lamp=0.01, town=0.01)
    lamp, town = ([span.score for span in everything if span.label == label] for label in ("lamp", "town"))
    assert lamp
    assert town
    middle = sorted(lamp)[len(lamp) // 2]
    strict = found(lamp=middle, town=(1 + max(town)) / 2)
    assert {span.label for span in strict} == {"lamp"}
    assert all(middle - 1e-6 <= span.score < 1 for span in strict)


def test_several_threads_get_the_answers_of_one(detector: EmbeddedDetector) -> None:
    texts = [invented_example(700 + seed).text for seed in range(24)]
    expected = [detector.find([text])[0] for text in texts]
    started = threading.Barrier(4)

    def find(quarter: int) -> list[list[FoundSpan]]:
        started.wait()
        return [detector.find([text])[0] for text in texts[quarter::4]]

    with ThreadPoolExecutor(4) as pool:
        for quarter, answers in enumerate(pool.map(find, range(4))):
            for answer, alone in zip(answers, expected[quarter::4], strict=True):
                assert_alike(answer, alone)


def test_no_socket_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was made")

    monkeypatch.setattr(socket, "socket", refuse)
    model = load_detector(ModelRef(source="path", name=str(folder)), [PERSON])
    assert len(model.find(["then Zilpah went"])[0]) == 1


def test_a_detector_loads_with_the_thresholds_of_its_profile(folder: Path) -> None:
    ref = ModelRef(source="path", name=str(folder))

    def limits(*arguments: Any) -> list[float]:
        chosen = load_detector(ref, [PERSON, "zorblax"], *arguments)._limits.sigmoid().tolist()
        return [round(limit, 4) for limit in chosen]

    assert limits() == limits("balanced") == [0.6, 0.4]
    assert limits("recall") == [0.2, 0.1]
    assert limits("recall", 0.7) == [0.7, 0.7]
    model = load_detector(ref, [PERSON])
    assert model.name == "names"
    assert places(model.find(["then Ostrun went"])[0]) == [(5, 11, PERSON)]


def test_a_card_without_thresholds_is_told(tmp_path: Path) -> None:
    write_trained(tmp_path, "detector", {}, {"name": "names"})
    with pytest.raises(ModelUnavailable, match=r"has no thresholds .*: train it again with 'lethe models"):
        load_detector(ModelRef(source="path", name=str(tmp_path)), [PERSON])


LOADING = """
import sys, time
import torch
began = time.process_time(), time.perf_counter()
from models.catalog import ModelRef
from models.embedded_detector import load_detector
from ingest.labels import LABELS
load_detector(ModelRef(source="path", name=sys.argv[1]), list(LABELS))
print(time.process_time() - began[0])
heavy = {"transformers", "gliner", "sentence_transformers", "huggingface_hub"} & set(sys.modules)
assert not heavy, heavy
"""


def test_it_loads_in_little_time_and_without_the_large_libraries(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOADING, str(folder)], capture_output=True, text=True, check=True, timeout=120
    )
    # Time of the processor; twice what it should take, as the machine may be slow.
    assert float(ran.stdout) < 4.0


drawn_spans = st.lists(
    st.builds(
        lambda start, width, label, score: FoundSpan(2 * start, 2 * (start + width) - 1, label, score),
        *(
            st.integers(0, 60),
            st.integers(1, WIDEST),
            st.sampled_from("ab"),
            st.sampled_from([0.5, 0.7, 0.9]),
        ),
    ),
    max_size=20,
)
WORDS = [(2 * at, 2 * at + 1) for at in range(80)]


def overlap(one: FoundSpan, other: FoundSpan) -> bool:
    return one.label == other.label and one.start < other.end and other.start < one.end


@given(drawn_spans)
def test_disjoint_keeps_the_best_of_what_overlaps(spans: list[FoundSpan]) -> None:
    kept = disjoint(spans)
    assert set(kept) <= set(spans)
    assert not any(overlap(a, b) for number, a in enumerate(kept) for b in kept[:number])
    for span in set(spans) - set(kept):
        assert any(overlap(span, other) and other.score >= span.score for other in kept)
    assert disjoint(kept) == kept


@given(drawn_spans, st.randoms(use_true_random=False))
def test_disjoint_does_not_depend_on_the_order(spans: list[FoundSpan], chance: random.Random) -> None:
    mixed = list(spans)
    chance.shuffle(mixed)
    assert set(disjoint(mixed)) == set(disjoint(spans))


@given(drawn_spans)
def test_widened_loses_nothing_invents_nothing_and_leaves_no_overlap(spans: list[FoundSpan]) -> None:
    done = widened(spans, WORDS)
    assert places(done) == sorted(places(done))
    assert not any(overlap(a, b) for number, a in enumerate(done) for b in done[:number])

    def marked(of: Sequence[FoundSpan]) -> set[tuple[int, str]]:
        return {(at, s.label) for s in of for at in range(s.start, s.end) if at % 2 == 0}

    assert marked(done) == marked(spans)
    for span in done:
        inside = [s for s in spans if s.label == span.label and span.start <= s.start and s.end <= span.end]
        assert span.score == max(s.score for s in inside)


@given(drawn_spans, st.randoms(use_true_random=False))
def test_widened_does_not_depend_on_the_order(spans: list[FoundSpan], chance: random.Random) -> None:
    mixed = list(spans)
    chance.shuffle(mixed)
    assert widened(mixed, WORDS) == widened(spans, WORDS)


def test_only_what_has_full_width_goes_on() -> None:
    full, rest, label = FoundSpan(0, 23, "a", 0.5), FoundSpan(24, 27, "a", 0.9), "b"
    assert widened([full, rest], WORDS) == [FoundSpan(0, 27, "a", 0.9)]
    narrow = FoundSpan(2, 23, "a", 0.5)
    assert widened([narrow, rest], WORDS) == [narrow, rest]
    apart = FoundSpan(26, 27, "a", 0.9)
    assert widened([full, apart], WORDS) == [full, apart]
    other = FoundSpan(24, 27, label, 0.9)
    assert widened([full, other], WORDS) == [full, other]
