"""The embedded detector: with a scripted network, and with weights that know six invented names."""

import random
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog import ModelRef
from models.detectors.embedded import WINDOW, EmbeddedDetector, _Job, _Reading, load_detector, load_detectors
from models.detectors.network import WIDEST, label_vectors
from models.detectors.words import FoundSpan, WordHit, pieces_of, words_of
from models.encoders.bert import CLS, SEP, embed, run_layers
from models.encoders.minilm import MiniLM, released
from models.encoders.windows import windows
from models.errors import ConfigurationError, ModelUnavailable
from models.trained import write_trained
from tests.batches import assert_alike, assert_batches_do_not_show, places
from tests.small_models import FILLER, NAMES, PERSON, invented_example, name_detector, random_detector

if TYPE_CHECKING:
    from torch import Tensor

LIMIT = 0.5
HEADS = ("inside", "begin")
LABELS = ("lamp", "town", "zorblax")


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
    """Marks given runs of words as far as a window shows them; each begins where the window first sees it.

    A window is the surer the later it is, so that of two that saw a word the one to be believed about what
    begins is not the one to be believed about the score.
    """

    def __init__(self, runs: Sequence[tuple[int, int]]) -> None:
        super().__init__("scripted", random_detector(), [PERSON], {PERSON: LIMIT})
        self.runs = runs
        self.read: list[tuple[int, int, int]] = []

    def _read(self, jobs: Sequence[_Job]) -> list[_Reading]:
        for job in jobs:
            self.read.append((job.text, job.window.first, job.window.last))
            assert len(job.firsts) == job.window.last - job.window.first
        return [_Reading(job, list(self._seen(job.window.first, job.window.last)), ()) for job in jobs]

    def _seen(self, first: int, last: int) -> Iterator[WordHit]:
        for begin, end in self.runs:
            inside = range(max(begin, first), min(end, last))
            for word in inside:
                yield WordHit(word, PERSON, 1 - 1 / (3 + first), word == inside[0])


@cache
def one_scripted() -> Scripted:
    return Scripted([])


def scripted(runs: Sequence[tuple[int, int]]) -> Scripted:
    """The same one for all examples, since making one reads the labels."""
    model = one_scripted()
    model.runs, model.read = runs, []
    return model


def in_words(found: Sequence[FoundSpan]) -> list[tuple[int, int]]:
    """Spans of a text of lamps, in words."""
    return [(span.start // 5, (span.end + 1) // 5) for span in found]


@settings(max_examples=60)
@given(st.integers(1, 900), st.sampled_from(["lamp", "東" * 60]), st.data())
def test_a_mention_of_any_width_at_any_place_comes_out_once_and_whole(
    length: int, word: str, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, length - 1))
    last = min(length, first + data.draw(st.integers(1, 600)))
    (found,) = scripted([(first, last)]).find([f"{word} " * length])
    step = len(word) + 1
    assert [(span.start, span.end) for span in found] == [(step * first, step * last - 1)]


@pytest.mark.parametrize("width", [1, 2, WIDEST + 1, WINDOW.overlap, WINDOW.overlap + 1, 40, 300])
def test_a_mention_that_crosses_an_edge_comes_out_once_and_whole(width: int) -> None:
    for edge in (WINDOW.tokens, 2 * WINDOW.tokens - WINDOW.overlap):
        for first in range(max(0, edge - WINDOW.overlap - width - 1), edge + 2):
            (found,) = scripted([(first, first + width)]).find(["lamp " * 800])
            assert in_words(found) == [(first, first + width)]


@settings(max_examples=60)
@given(st.integers(0, 600), st.lists(st.integers(1, 40), min_size=2, max_size=6))
def test_mentions_that_touch_stay_apart(first: int, widths: list[int]) -> None:
    ends = [first + sum(widths[: number + 1]) for number in range(len(widths))]
    runs = list(zip([first, *ends], ends, strict=False))
    (found,) = scripted(runs).find(["lamp " * 850])
    assert in_words(found) == runs


def test_words_are_hit_window_after_window_whatever_is_read_first() -> None:
    text = "lamp " * 700
    words = words_of(text)
    model = scripted([(0, 700)])
    (hits,) = model.hits([text], [words])
    expected = windows(len(text), words, WINDOW)
    assert [hit.word for hit in hits] == [n for each in expected for n in range(each.first, each.last)]
    # The last window is the shortest, and what is short is read first.
    assert model.read[0][1:] == (expected[-1].first, 700)


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_it_is_the_same_however_few_windows_are_laid_out_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, runs = ["lamp " * 700, "", "lamp " * 300, "lamp " * 501], [(3, 280), (280, 290), (440, 500)]
    expected = scripted(runs).find(texts)
    monkeypatch.setattr("models.detectors.embedded._WINDOWS_AT_ONCE", at_once)
    assert scripted(runs).find(texts) == expected
    assert in_words(expected[3]) == runs
    assert in_words(expected[2]) == [(3, 280), (280, 290)]
    assert expected[1] == []


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
    # Around every edge of a window, and in the middle.
    wanted = sorted(
        {0, len(words) - 1, *(edge + chance.randint(-2, 2) for edge in edges[1:]), *range(125, 6000, step)}
    )
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
    together = assert_batches_do_not_show(detector.find, texts, assert_alike)
    assert sum(map(len, together)) > 20


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


def test_names_that_touch_stay_apart(detector: EmbeddedDetector) -> None:
    text = "then Talvik Quorin Quorin went"
    assert [text[s.start : s.end] for s in detector.find([text])[0]] == ["Talvik", "Quorin", "Quorin"]


def test_labels_keep_their_order_and_come_once() -> None:
    limits = {"b": 0.5, "a": 0.5}
    assert EmbeddedDetector("x", random_detector(), ["b", "a", "b"], limits).labels == ("b", "a")


def test_a_label_without_a_threshold_is_named() -> None:
    with pytest.raises(KeyError, match="town"):
        EmbeddedDetector("x", random_detector(), [PERSON, "town"], {PERSON: 0.5})


def logits_of(text: str, labels: Sequence[str]) -> "dict[str, Tensor]":
    """What the heads of words say of a text that is read alone: shape (words, labels)."""
    import torch

    weights = {**released().weights, **random_detector()}

    def layer(name: str, states: "Tensor") -> "Tensor":
        return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    ids, firsts = [CLS], []
    for piece in pieces_of(released().tokenizer, [text[a:b] for a, b in words_of(text)]):
        firsts.append(len(ids))
        ids += piece
    with torch.inference_mode():
        every = torch.tensor([[*ids, SEP]])
        states = run_layers(weights, embed(weights, every), every > 0)
        words = layer("projection", states[0, firsts])
        vectors = label_vectors(weights, MiniLM().means(labels))
        return {head: layer(f"{head}.3", layer(f"{head}.0", words).relu()) @ vectors.T for head in HEADS}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [invented_example(seed).text for seed in range(12)]


@pytest.fixture(scope="module")
def every_hit(texts: list[str]) -> list[list[WordHit]]:
    """Every word of the texts for every label."""
    model = EmbeddedDetector("x", random_detector(), LABELS, dict.fromkeys(LABELS, 1e-9))
    return model.hits(texts, [words_of(text) for text in texts])


def test_words_of_a_batch_have_the_logits_that_they_have_alone(
    texts: list[str], every_hit: list[list[WordHit]]
) -> None:
    began = 0
    for text, hits in zip(texts, every_hit, strict=True):
        alone = logits_of(text, LABELS)
        assert len(hits) == len({(hit.word, hit.label) for hit in hits}) == alone["inside"].numel()
        for hit in hits:
            column = LABELS.index(hit.label)
            assert hit.score == pytest.approx(float(alone["inside"][hit.word, column].sigmoid()), abs=1e-4)
            begin = float(alone["begin"][hit.word, column])
            assert hit.begins == (begin >= 0) or abs(begin) < 1e-3
        began += sum(hit.begins for hit in hits)
    # Otherwise a constant would do.
    assert 50 < began < sum(map(len, every_hit)) - 50


def test_words_are_hit_that_reach_the_threshold_of_their_label(
    texts: list[str], every_hit: list[list[WordHit]]
) -> None:
    limits = {}
    for label, rank in zip(LABELS, (0.3, 0.6, 0.9), strict=True):
        scores = sorted(hit.score for hits in every_hit for hit in hits if hit.label == label)
        at = int(rank * len(scores))
        # Amid the widest gap near the rank, so that rounding cannot matter.
        limits[label] = max((b - a, (a + b) / 2) for a, b in pairwise(scores[at - 9 : at + 9]))[1]
    model = EmbeddedDetector("x", random_detector(), LABELS, limits)
    for got, every in zip(model.hits(texts, [words_of(text) for text in texts]), every_hit, strict=True):
        wanted = [hit for hit in every if hit.score >= limits[hit.label]]
        assert [(hit.word, hit.label) for hit in got] == [(hit.word, hit.label) for hit in wanted]
        assert [hit.score for hit in got] == pytest.approx([hit.score for hit in wanted], abs=1e-4)


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
    two = load_detectors(ref, [PERSON, "zorblax"], ["balanced", "recall"])
    assert [[round(limit, 4) for limit in each._limits.sigmoid().tolist()] for each in two] == [
        limits("balanced"),
        limits("recall"),
    ]
    assert two[0]._weights is two[1]._weights
    model = load_detector(ref, [PERSON])
    assert model.name == "names"
    assert places(model.find(["then Ostrun went"])[0]) == [(5, 11, PERSON)]


def test_a_detector_of_nothing_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_detector(ModelRef(source="path", name=str(folder)), [])
    assert str(refused.value) == "The detector has no labels to look for: give at least one."


def test_a_card_without_thresholds_is_told(tmp_path: Path) -> None:
    write_trained(tmp_path, "detector", random_detector(), {"name": "names"})
    with pytest.raises(ModelUnavailable, match=r"has no thresholds .*: train it again with 'lethe models"):
        load_detector(ModelRef(source="path", name=str(tmp_path)), [PERSON])


@pytest.mark.parametrize("part", ["inside.0", "out.3"])
def test_a_detector_that_lacks_a_part_is_told(tmp_path: Path, part: str) -> None:
    weights = {name: weight for name, weight in random_detector().items() if name != f"{part}.weight"}
    write_trained(tmp_path, "detector", weights, {"name": "older", "thresholds": {"balanced": {"": 0.5}}})
    with pytest.raises(ModelUnavailable) as caught:
        load_detector(ModelRef(source="path", name=str(tmp_path)), [PERSON])
    assert str(caught.value) == (
        f"The detector model older does not have the part {part} as this version reads it: train it again "
        "with 'lethe models train-detector'."
    )


LOADING = """
import sys, time
import torch
began = time.process_time(), time.perf_counter()
from models.catalog import ModelRef
from models.detectors.embedded import load_detector
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
