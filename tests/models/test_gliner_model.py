"""The GLiNER adapter with a tiny trained model. All names and texts here are invented."""

import json
import logging
import random
import shutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest.detection.learned import LearnedDetector
from ingest.documents import UNLINKED, Document, Entity, Identifier, Span
from ingest.protocols import EntityDetector
from models.catalog import ModelRef
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from models.gliner_model import GlinerModel
from models.gliner_model import _limits_of as limits_of
from tests.batches import assert_alike, assert_batches_do_not_show, places
from tests.tiny_gliner import (
    LABELS,
    LONG_FILLER,
    MAX_WORDS,
    invented_text,
    make_tiny_gliner,
    make_two_encoders,
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_gliner(tmp_path_factory.mktemp("tiny_gliner"))


@pytest.fixture(scope="session")
def model(folder: Path) -> GlinerModel:
    return GlinerModel(folder, LABELS)


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of the model's folder, to be spoiled."""
    return Path(shutil.copytree(folder, tmp_path / "copied"))


def edit_settings(folder: Path, **changes: object) -> None:
    path = folder / "gliner_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_finds_names_and_numbers_where_they_are_and_nothing_in_nothing(model: GlinerModel) -> None:
    text = "then Berta told 😀 about 4711\r\nand saw Quorin soon"
    assert model.find([]) == []
    *nothing, found = model.find(["", " \n\t ", text])
    assert nothing == [[], []]
    marks = [(text[s.start : s.end], s.label) for s in found]
    assert marks == [("Berta", "name"), ("4711", "number"), ("Quorin", "name")]
    assert all(0.5 <= span.score <= 1 for span in found)


def test_the_answer_is_the_same_alone_in_any_order_and_in_batches_of_any_size(
    folder: Path, model: GlinerModel
) -> None:
    texts = [invented_text(seed, n_words=3 + 13 * seed) for seed in range(16)]
    together = assert_batches_do_not_show(model.find, texts, assert_alike)
    assert sum(map(len, together)) > 16
    one_by_one = GlinerModel(folder, LABELS, batch_size=1)
    for one, other in zip(one_by_one.find(texts[1:4]), together[1:4], strict=True):
        assert_alike(one, other)


def test_a_higher_threshold_finds_no_more_and_labels_come_once(folder: Path, model: GlinerModel) -> None:
    text = invented_text(5, 120, names=20)
    other = GlinerModel(folder, [*LABELS, LABELS[0]], threshold=0.95)
    assert other.labels == tuple(LABELS)
    (strict,) = other.find([text])
    assert set(places(strict)) < set(places(model.find([text])[0]))
    assert all(span.score >= 0.95 for span in strict)


def test_a_long_text_is_read_to_the_last_character(
    model: GlinerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    inference = model._model.inference

    def record(pieces: list[str], *rest: Any, **options: Any) -> Any:
        given.extend(pieces)
        return inference(pieces, *rest, **options)

    monkeypatch.setattr(model._model, "inference", record)
    # A number every thirtieth word, so that no window's text occurs twice.
    chance = random.Random(0)
    words = [chance.choice(LONG_FILLER) if at % 30 else str(at) for at in range(20_000)]
    text = f"{' '.join(words)} Wexmor"
    assert len(text) > 100_000
    found = model.find([text])[0]
    read = bytearray(len(text))
    for piece in given:
        start = text.index(piece)
        read[start : start + len(piece)] = b"\1" * len(piece)
    assert not [at for at, seen in enumerate(read) if not seen and not text[at].isspace()]
    last_window = next(piece for piece in given if piece.endswith("Wexmor"))
    assert len(last_window) < 2_000
    assert (found[-1].start, found[-1].end, found[-1].label) == (len(text) - 6, len(text), "name")
    short = model.find([last_window])[0][-1]
    assert short.end == len(last_window)
    assert found[-1].score == pytest.approx(short.score, abs=1e-4)


def test_no_word_is_dropped_where_words_have_many_tokens(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 400 words would be allowed, but their letters overrun the text encoder's 512 places.
    edit_settings(copied, max_len=400)
    model = GlinerModel(copied, LABELS)
    processor = model._model.data_processor
    tokenize = processor.tokenize_inputs
    counts: list[tuple[int, int]] = []

    def record(texts: list[list[str]], *rest: Any, **options: Any) -> Any:
        tokenized = tokenize(texts, *rest, **options)
        reached = tokenized["words_mask"].max(dim=1).values.tolist()
        counts.extend(zip(map(len, texts), reached, strict=True))
        return tokenized

    monkeypatch.setattr(processor, "tokenize_inputs", record)
    text = " ".join(["qzkqzkqzkq"] * 300) + " Wexmor " + "x" * 5000 + " Quorin"
    found = model.find([text])[0]
    assert len(counts) > 10
    assert [written for written, _ in counts] == [read for _, read in counts]
    assert {text[span.start : span.end] for span in found} >= {"Wexmor", "Quorin"}


def test_a_word_that_crosses_an_edge_is_found_once(model: GlinerModel) -> None:
    filler = ["then", "saw", "the"] * 40
    texts = [
        " ".join([*filler[:at], "Berta", *filler[at + 1 :]]) for at in range(MAX_WORDS - 12, MAX_WORDS + 12)
    ]
    for text, found in zip(texts, model.find(texts), strict=True):
        assert [text[s.start : s.end] for s in found if s.label == "name"] == ["Berta"]


def test_says_nothing_while_it_loads_and_looks(
    folder: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        GlinerModel(folder, LABELS).find([invented_text(0, 200)])
    assert (*capfd.readouterr(), caplog.text) == ("", "", "")


def test_a_failure_does_not_quote_the_text(model: GlinerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(pieces: list[str], *_: object, **__: object) -> None:
        raise ValueError(pieces[0])

    monkeypatch.setattr(model._model, "inference", fail)
    private = "then Berta Wexmor"
    with pytest.raises(LetheError) as caught:
        model.find([private])
    assert str(caught.value) == (
        "The detector model failed on a batch of 1 texts (ValueError): check that its files are "
        "whole and that it fits into memory."
    )
    traced = traceback.format_exception(caught.value)
    assert "Berta" not in "".join(line for line in traced if "private = " not in line)
    monkeypatch.undo()
    assert len(model.find(["Berta"])[0]) == 1


def test_what_is_no_gliner_is_refused_with_the_remedy(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: ModelRef | Path, message: str) -> None:
        with pytest.raises(ModelUnavailable, match=message):
            GlinerModel(folder, LABELS)

    refused(tmp_path, "is no GLiNER model: its folder needs a gliner_c")
    absent = ModelRef(source="path", name=str(tmp_path / "absent"))
    refused(absent, "absent' is not there: copy the model's files")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "gliner", None)
        refused(copied, "needs the library gliner.*: install gliner")
    (copied / "model.safetensors").write_bytes(b"spoiled")
    refused(copied, r"could not be loaded from its folder \(Safetens")
    edit_settings(copied, auto_map={"AutoModel": "elsewhere--code.Model"})
    refused(copied, r"wants to run code of its own \(auto_map\)")


def test_a_model_that_writes_its_own_labels_is_refused(folder: Path) -> None:
    model = GlinerModel(folder, LABELS)._model
    model.config.labels_decoder = "a-decoder"
    with pytest.raises(ModelUnavailable, match="an unsupported kind of GLiNER"):
        limits_of(model, LABELS, "tiny")


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([], {}, "needs labels to look for: give at least one"),
        (["name", ""], {}, "give at least one, and none empty"),
        (LABELS, {"threshold": 1.5}, "threshold is 1.5: give a number from 0 to 1"),
        (LABELS, {"batch_size": 0}, "batch size is 0: give 1 or more"),
        ([f"label{i}" for i in range(90)], {}, "The 90 labels leave .* room for 0 tokens"),
    ],
)
def test_settings_that_do_not_do_are_refused(
    folder: Path, labels: Sequence[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        GlinerModel(folder, labels, **options)


def test_two_encoders_find_the_same_alone_and_in_a_batch(tmp_path: Path) -> None:
    model = GlinerModel(make_two_encoders(tmp_path), LABELS, threshold=0.3)
    texts = [invented_text(seed, n_words=10 + 30 * seed) for seed in range(5)]
    assert all(assert_batches_do_not_show(model.find, texts, assert_alike))


def test_the_learned_detector_speaks_the_nouns_of_ingest(folder: Path, model: GlinerModel) -> None:
    detector: EntityDetector = LearnedDetector(model)
    documents = [Document("a", "then Berta went"), Document("b", ""), Document("c", "saw 4711")]
    first, second, third = detector.detect(documents)
    assert second == []
    assert third[0].label == "number"
    score = model.find(["then Berta went"])[0][0].score
    assert first[0].confidence == pytest.approx(score, abs=1e-4)
    kept = first[0].confidence
    assert first == [Entity(Span(5, 10), "name", Identifier.QUASI, kept, "model:model", UNLINKED)]
    named = GlinerModel(folder, ["person full name"], threshold=0.01)
    (entities,) = LearnedDetector(named).detect(documents[:1])
    assert {entity.identifier for entity in entities} == {Identifier.DIRECT}
